//! Sparse matrices that scipy stored (`scipy.sparse.save_npz`): a zip archive of arrays with the names `format`,
//! `shape`, `data`, and `indices` and `indptr` (CSR, CSC) or `row` and `col` (COO).

use std::io::Read;

use super::super::entry::Entry;
use super::super::error::{Defect, Fault, name_damage};
use super::super::header::{Field, Symmetry, check_count};
use super::super::text::Text;
use super::super::zip::File;
use super::npy::Array;
use super::{Stored, Triplets};

pub fn read<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let archive = Archive { text };
    let format = archive.array("format")?.text();
    let [rows, cols] = archive.array("shape")?.indices()?[..] else {
        return Err(Defect::from("shape.npy must contain the numbers of rows and columns").into());
    };
    check_count(rows, "rows")?;
    check_count(cols, "columns")?;
    let data = archive.array("data")?;
    let [row_of, col_of] = match &*format {
        "csr" | "csc" => {
            let indices = archive.array("indices")?.indices()?;
            let lines = if format == "csr" { rows } else { cols };
            let owners = owners(&archive.array("indptr")?.indices()?, lines, indices.len())?;
            if format == "csr" { [owners, indices] } else { [indices, owners] }
        }
        "coo" => [archive.array("row")?.indices()?, archive.array("col")?.indices()?],
        _ => {
            let mend = "save it as CSR: `save_npz(file, matrix.tocsr())`";
            return Err(Defect::from(format!("the format {format:?} is not read; {mend}")).into());
        }
    };
    let values = data.values()?;
    if values.len() != row_of.len() || values.len() != col_of.len() {
        let (values, rows, cols) = (values.len(), row_of.len(), col_of.len());
        let found = format!("{values} values, {rows} rows and {cols} columns");
        return Err(Defect::from(format!("the arrays have {found} of entries")).into());
    }
    let mut entries = Triplets::new(true, text.input.bounds);
    for ((row, col), value) in row_of.into_iter().zip(col_of).zip(values) {
        if row >= rows || col >= cols {
            let place = format!("({row}, {col}), counted from 0,");
            let size = format!("a matrix of {rows} x {cols}");
            return Err(Defect::from(format!("entry {place} lies outside {size}")).into());
        }
        if !value.is_finite() {
            return Err(Defect::from(format!(
                "the value {value} of entry ({row}, {col}) is not finite"
            ))
            .into());
        }
        entries.push(Entry { row: row as u32, col: col as u32, value })?;
    }
    Ok(Stored {
        rows: rows as usize,
        cols: cols as usize,
        field: if data.is_integer() { Field::Integer } else { Field::Real },
        symmetry: Symmetry::General,
        entries,
        bytes: text.arrays.iter().map(|file| file.size).sum(),
        remarks: Vec::new(),
    })
}

struct Archive<'a, 'c> {
    text: &'a Text<'c>,
}

impl Archive<'_, '_> {
    fn array(&self, name: &str) -> Result<Array, Fault> {
        let wanted = format!("{name}.npy");
        let file = self.text.arrays.iter().find(|file| file.name == wanted).ok_or_else(|| {
            Defect::from(format!(
                "the archive has no {wanted}: `scipy.sparse.save_npz` writes what is read"
            ))
        })?;
        let bytes = self.contents(file)?;
        Array::parse(bytes).map_err(|defect| Defect::from(format!("{wanted}: {defect}")).into())
    }

    fn contents(&self, file: &File) -> Result<Vec<u8>, Fault> {
        // The bytes, the numbers made of them, and the entries are in memory at the same time.
        let needs = file.size.saturating_mul(6);
        self.text.input.bounds.allow(needs).map_err(std::io::Error::from)?;
        let mut bytes = Vec::new();
        let read = file.decompress(&self.text.input).read_to_end(&mut bytes);
        read.map_err(|error| name_damage(error, "zip"))?;
        Ok(bytes)
    }
}

/// Returns the row of each entry of CSR, or the column of each entry of CSC.
fn owners(offsets: &[u64], lines: u64, nonzeros: usize) -> Result<Vec<u64>, Defect> {
    let is_valid = offsets.len() as u64 == lines + 1
        && offsets.first() == Some(&0)
        && offsets.last() == Some(&(nonzeros as u64))
        && offsets.is_sorted();
    if !is_valid {
        let wanted = format!("{} offsets that ascend from 0 to {nonzeros}", lines + 1);
        return Err(format!("indptr.npy must contain {wanted}").into());
    }
    let lines = offsets.windows(2).zip(0..);
    Ok(lines.flat_map(|(ends, line)| (ends[0]..ends[1]).map(move |_| line)).collect())
}
