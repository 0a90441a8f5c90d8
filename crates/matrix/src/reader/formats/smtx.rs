//! Patterns of pruned neural networks (DLMC): `ROWS, COLUMNS, NONZEROS`, the row offsets, and the column indices, both
//! counted from 0. All values are 1.

use super::super::arrays::{check_count, push};
use super::super::entry::Entry;
use super::super::error::Fault;
use super::super::field::Field;
use super::super::text::Text;
use super::edges::comments::is_konect;
use super::format::Format;
use super::stored::Stored;
use super::triplets::Triplets;
use super::words::Words;
use crate::csr::MAX_INDEX;
use crate::memory::ReadBounds;

pub static FORMAT: Format = Format {
    name: "DLMC",
    extensions: &[".smtx"],
    common_extensions: &[],
    document: ["its extension", "1", ""],
    sniff: |signs| signs.is_named && !is_konect(signs.head),
    size_hint: None,
    read: |text, options| Words::read(text, |words| stored(text, words))?.matrix(text, options),
};

fn stored<'c>(text: &Text<'c>, words: &mut Words) -> Result<Stored<'c>, Fault> {
    let mut sizes = [0; 3];
    for (size, things) in sizes.iter_mut().zip(["rows", "columns", "nonzeros"]) {
        *size = words.number(&format!("the number of {things}"), u64::MAX)?;
        check_count(*size, things)?;
    }
    let [rows, cols, nonzeros] = sizes;
    if nonzeros > rows * cols {
        let size = format!("a matrix of {rows} x {cols}");
        return Err(format!("{nonzeros} nonzeros are too many for {size}").into());
    }
    let bounds = text.input.bounds;
    let offsets = offsets(words, rows, nonzeros, bounds)?;
    let mut entries = Triplets::new(false, bounds);
    entries.hold(size_of_val(&offsets[..]) as u64)?;
    for (row, ends) in offsets.windows(2).enumerate() {
        for _ in ends[0]..ends[1] {
            let col = words.number("a column index", cols - 1)? as u32;
            entries.push(Entry { row: row as u32, col, value: 1.0 })?;
        }
    }
    words.expect_end()?;
    Ok(Stored::general([rows, cols].map(|size| size as usize), Field::Pattern, entries, words.bytes))
}

/// Reads offsets that ascend from 0 to the number of nonzeros. They are stored as they come, because the number of rows
/// may be wrong.
fn offsets(words: &mut Words, rows: u64, nonzeros: u64, bounds: ReadBounds) -> Result<Vec<u32>, Fault> {
    let mut offsets: Vec<u32> = Vec::new();
    for row in 0..=rows {
        let offset = words.number("a row offset", MAX_INDEX as u64)?;
        let before = offsets.last().copied().map_or(0, u64::from);
        let is_right = match row {
            0 => offset == 0,
            _ => offset >= before && offset <= nonzeros,
        };
        if !is_right || row == rows && offset != nonzeros {
            let what = format!("row offset {offset} follows {before}");
            return Err(format!("{what}: the offsets must ascend from 0 to {nonzeros}").into());
        }
        push(&mut offsets, offset as u32, bounds)?;
    }
    Ok(offsets)
}
