//! Makes the matrix of a file in the coordinate format.

use std::io;
use std::sync::Mutex;

use super::super::super::arrays::Built;
use super::super::super::assemble::{Ranges, assemble, scratch};
use super::super::super::error::Stop;
use super::super::super::field::Field;
use super::super::super::lines::Block;
use super::chunk::{Buffer, Parser, Store, parse_all};
use super::header::Header;
use crate::memory::ReadBounds;

/// Makes the matrix of the entries in a text. Returns also the size of the text in bytes.
pub fn matrix<'a>(
    header: &Header,
    expand: bool,
    most_entries: u64,
    bounds: ReadBounds,
    blocks: impl Iterator<Item = io::Result<Block<'a>>> + Send,
) -> Result<(Built, u64), Stop> {
    let mirror = header.symmetry.mirror_sign().filter(|_| expand);
    // The number in the header may be wrong, so the length of the text limits the allocation.
    let entries = header.stored.min(most_entries) as usize * if mirror.is_some() { 2 } else { 1 };
    let mut rows = scratch(entries)?;
    let mut columns = scratch(entries)?;
    let mut values = scratch(if header.field == Field::Pattern { 0 } else { entries })?;
    let store = Store(Mutex::new((&mut rows, &mut columns, &mut values)));
    let ranges = Ranges::new(header.rows, entries as u64);
    let parser = || Parser { header, ranges, mirror, store: &store, buffer: Buffer::default() };
    let (chunks, bytes) = parse_all(blocks, parser, |parser, text| parser.parse(text))?;
    if chunks.iter().map(|chunk| chunk.stored).sum::<u64>() != header.stored {
        return Err(None);
    }
    let shape = [header.rows, header.cols];
    let (csr, duplicates) = assemble(shape, ranges, mirror.is_some(), &chunks, bounds)?;
    let above: u64 = chunks.iter().map(|chunk| chunk.above).sum();
    let mirrored = chunks.iter().map(|chunk| chunk.rows.len() as u64).sum::<u64>() - header.stored;
    Ok((Built { csr, duplicates, triangles: [above, mirrored - above] }, bytes))
}

/// Returns the temporary memory of [`matrix`] in bytes: row, column and value of each entry, and one byte
/// per entry for the tables of ranges.
pub fn scratch_bytes(field: Field, entries: u64) -> u64 {
    entries.saturating_mul(if field == Field::Pattern { 2 + 4 + 1 } else { 2 + 4 + 8 + 1 })
}
