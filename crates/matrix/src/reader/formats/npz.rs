//! Sparse matrices that scipy stored (`scipy.sparse.save_npz`): a zip archive of arrays with the names `format`,
//! `shape`, `data`, and `indices` and `indptr` (CSR, CSC) or `row` and `col` (COO).

use super::super::arrays::check_count;
use super::super::container::ZIP_MAGIC;
use super::super::entry::Entry;
use super::super::error::{Fault, name_damage};
use super::super::field::Field;
use super::super::input::Input;
use super::super::text::Text;
use super::super::zip;
use super::format::Format;
use super::npy::{Array, INDICES, TEXTS, VALUES};
use super::stored::Stored;
use super::triplets::Triplets;
use crate::memory::SizeHint;

pub static FORMAT: Format = Format {
    name: "scipy",
    extensions: &[".npz"],
    common_extensions: &[],
    document: [
        "the arrays of `save_npz`",
        "as stored",
        "`csr`, `csc` and `coo`; real, integer and boolean (a byte that is not 0 or 1 is refused)",
    ],
    // Of other zip archives, the text is the file in them.
    sniff: |signs| signs.head.starts_with(ZIP_MAGIC),
    size_hint: None,
    read: |text, options| stored(text)?.matrix(text, options),
};

fn stored<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let archive = Archive::open(&text.input)?;
    let format = archive.array("format", TEXTS)?.text()?;
    let [rows, cols] = archive.shape()?;
    let data = archive.array("data", VALUES)?;
    let field = if data.is_integer() { Field::Integer } else { Field::Real };
    let scratch = data.length.saturating_mul(size_of::<Entry>() as u64);
    let sizes = [rows, cols].map(|size| size as usize);
    let needs = SizeHint { rows: sizes[0], cols: sizes[1], nnz: data.length, scratch }.bytes();
    text.input.bounds.allow(needs)?;
    let mut entries = Triplets::new(true, text.input.bounds);
    let mut push = |row: u64, col: u64, value: f64| entries.push(Entry { row: row as u32, col: col as u32, value });
    match &*format {
        "csr" => archive.compressed(data, [rows, cols], push)?,
        "csc" => archive.compressed(data, [cols, rows], |col, row, value| push(row, col, value))?,
        "coo" => archive.coordinates(data, [rows, cols], push)?,
        _ => {
            let mend = "save it as CSR: `save_npz(file, matrix.tocsr())`";
            return Err(format!("format.npy: the format {format:?} is not read; {mend}").into());
        }
    }
    let bytes = archive.files.iter().map(|file| file.size).sum();
    Ok(Stored::general(sizes, field, entries, bytes))
}

struct Archive<'a> {
    input: &'a Input<'a>,
    files: Vec<zip::File>,
}

impl<'a> Archive<'a> {
    fn open(input: &'a Input) -> Result<Self, Fault> {
        let files = zip::files(input).map_err(|error| name_damage(error, "zip data"))?;
        Ok(Self { input, files })
    }

    fn array(&self, name: &str, letters: &str) -> Result<Array<'a>, Fault> {
        let wanted = format!("{name}.npy");
        let Some(file) = self.files.iter().find(|file| file.name == wanted) else {
            let mend = "`scipy.sparse.save_npz` writes what is read";
            return Err(format!("the archive has no {wanted}: {mend}").into());
        };
        Array::open(wanted, file.decompress(self.input), file.size, letters)
    }

    fn shape(&self) -> Result<[u64; 2], Fault> {
        let mut shape = self.array("shape", INDICES)?;
        shape.expect(2, "the numbers of rows and columns")?;
        let mut sizes = [0; 2];
        for (size, things) in sizes.iter_mut().zip(["rows", "columns"]) {
            *size = shape.index(u64::MAX)?;
            check_count(*size, things).map_err(|defect| shape.fault(defect))?;
        }
        shape.end()?;
        Ok(sizes)
    }

    /// Reads a matrix in CSR or CSC, which has so many lines (rows or columns) with indices below `end`.
    fn compressed(
        &self,
        mut data: Array,
        [lines, end]: [u64; 2],
        mut take: impl FnMut(u64, u64, f64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut offsets = self.array("indptr", INDICES)?;
        let mut indices = self.array("indices", INDICES)?;
        let nonzeros = data.length;
        offsets.expect(lines + 1, "one for each row of CSR or column of CSC, and one more")?;
        indices.expect(nonzeros, "one for each element of data.npy")?;
        let mut before = 0;
        for line in 0..=lines {
            let offset = offsets.index(nonzeros + 1)?;
            let is_right = offset >= before && (line > 0 || offset == 0);
            if !is_right || line == lines && offset != nonzeros {
                let what = format!("the offsets must ascend from 0 to {nonzeros}");
                return Err(offsets.fault(format!("{offset} follows {before}: {what}")));
            }
            for _ in before..offset {
                take(line - 1, indices.index(end)?, data.value()?)?;
            }
            before = offset;
        }
        [offsets, indices, data].into_iter().try_for_each(Array::end)
    }

    fn coordinates(
        &self,
        mut data: Array,
        [rows, cols]: [u64; 2],
        mut take: impl FnMut(u64, u64, f64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut row = self.array("row", INDICES)?;
        let mut col = self.array("col", INDICES)?;
        for indices in [&row, &col] {
            indices.expect(data.length, "one for each element of data.npy")?;
        }
        for _ in 0..data.length {
            take(row.index(rows)?, col.index(cols)?, data.value()?)?;
        }
        [row, col, data].into_iter().try_for_each(Array::end)
    }
}
