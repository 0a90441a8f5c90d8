//! Sparse matrices that scipy stored (`scipy.sparse.save_npz`): a zip archive of arrays with the names `format`,
//! `shape`, `data`, and `indices` and `indptr` (CSR, CSC) or `row` and `col` (COO).

use super::super::entry::Entry;
use super::super::error::{Defect, Fault};
use super::super::header::{Field, Symmetry, check_count};
use super::super::text::Text;
use super::npy::{Array, INDICES, TEXTS, VALUES};
use super::{Stored, Triplets};
use crate::memory::SizeHint;

pub fn read<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let archive = Archive { text };
    let format = archive.array("format", TEXTS)?.text()?;
    let [rows, cols] = archive.shape()?;
    let data = archive.array("data", VALUES)?;
    let field = if data.is_integer() { Field::Integer } else { Field::Real };
    let scratch = data.length.saturating_mul(size_of::<Entry>() as u64);
    let sizes = [rows, cols].map(|size| size as usize);
    let needs = SizeHint { rows: sizes[0], cols: sizes[1], nnz: data.length, scratch }.bytes();
    text.input.bounds.allow(needs)?;
    let mut entries = Triplets::new(true, text.input.bounds);
    let mut push = |row: u64, col: u64, value: f64| {
        entries.push(Entry { row: row as u32, col: col as u32, value })
    };
    match &*format {
        "csr" => archive.compressed(data, [rows, cols], push)?,
        "csc" => archive.compressed(data, [cols, rows], |col, row, value| push(row, col, value))?,
        "coo" => archive.coordinates(data, [rows, cols], push)?,
        _ => {
            let mend = "save it as CSR: `save_npz(file, matrix.tocsr())`";
            let what = format!("format.npy: the format {format:?} is not read; {mend}");
            return Err(Defect::from(what).into());
        }
    }
    Ok(Stored {
        rows: sizes[0],
        cols: sizes[1],
        field,
        symmetry: Symmetry::General,
        entries,
        bytes: text.arrays.iter().map(|file| file.size).sum(),
        remarks: Vec::new(),
    })
}

struct Archive<'a, 'c> {
    text: &'a Text<'c>,
}

impl<'a> Archive<'a, '_> {
    fn array(&self, name: &str, letters: &str) -> Result<Array<'a>, Fault> {
        let wanted = format!("{name}.npy");
        let file = self.text.arrays.iter().find(|file| file.name == wanted).ok_or_else(|| {
            Defect::from(format!(
                "the archive has no {wanted}: `scipy.sparse.save_npz` writes what is read"
            ))
        })?;
        Array::open(wanted, file.decompress(&self.text.input), file.size, letters)
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
        let (mut row, mut col) = (self.array("row", INDICES)?, self.array("col", INDICES)?);
        for indices in [&row, &col] {
            indices.expect(data.length, "one for each element of data.npy")?;
        }
        for _ in 0..data.length {
            take(row.index(rows)?, col.index(cols)?, data.value()?)?;
        }
        [row, col, data].into_iter().try_for_each(Array::end)
    }
}
