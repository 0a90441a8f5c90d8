//! Patterns of pruned neural networks (DLMC): `ROWS, COLUMNS, NONZEROS`, the row offsets, and the column indices, both
//! counted from 0. All values are 1.

use super::super::entry::Entry;
use super::super::error::Fault;
use super::super::header::{Field, Symmetry, check_count};
use super::super::text::Text;
use super::triplets::push;
use super::words::Words;
use super::{Stored, Triplets};
use crate::csr::MAX_INDEX;
use crate::memory::ReadBounds;

pub fn read<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let mut words = Words::of(text);
    let mut sizes = [0; 3];
    for (size, things) in sizes.iter_mut().zip(["rows", "columns", "nonzeros"]) {
        *size = words.number(&format!("the number of {things}"), u64::MAX)?;
        check_count(*size, things).map_err(|defect| words.fault(defect))?;
    }
    let [rows, cols, nonzeros] = sizes;
    if nonzeros > rows * cols {
        let size = format!("a matrix of {rows} x {cols}");
        return Err(words.fault(format!("{nonzeros} nonzeros are too many for {size}")));
    }
    let bounds = text.input.bounds;
    let offsets = offsets(&mut words, rows, nonzeros, bounds)?;
    let mut entries = Triplets::new(false, bounds);
    entries.hold(size_of_val(&offsets[..]) as u64)?;
    for (row, ends) in offsets.windows(2).enumerate() {
        for _ in ends[0]..ends[1] {
            let col = words.number("a column index", cols - 1)? as u32;
            entries.push(Entry { row: row as u32, col, value: 1.0 })?;
        }
    }
    words.expect_end()?;
    Ok(Stored {
        rows: rows as usize,
        cols: cols as usize,
        field: Field::Pattern,
        symmetry: Symmetry::General,
        entries,
        bytes: words.bytes,
        remarks: Vec::new(),
    })
}

/// Reads offsets that ascend from 0 to the number of nonzeros. They are stored as they come, because the number of rows
/// may be wrong.
fn offsets(
    words: &mut Words,
    rows: u64,
    nonzeros: u64,
    bounds: ReadBounds,
) -> Result<Vec<u32>, Fault> {
    let mut offsets: Vec<u32> = Vec::new();
    for row in 0..=rows {
        let offset = words.number("a row offset", MAX_INDEX as u64)?;
        let before = offsets.last().copied().map_or(0, u64::from);
        let is_right = match row {
            0 => offset == 0,
            _ => offset >= before && offset <= nonzeros,
        };
        if !is_right || row == rows && offset != nonzeros {
            return Err(words.fault(format!(
                "row offset {offset} follows {before}: the offsets must ascend from 0 to {nonzeros}"
            )));
        }
        push(&mut offsets, offset as u32, bounds)?;
    }
    Ok(offsets)
}
