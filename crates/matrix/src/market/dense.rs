//! The array format: all elements column by column, without indices.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chunk::{Entries, parse_all};
use super::error::{Fault, Stop};
use super::header::{Field, Header, Symmetry, check_count};
use super::line::line_at;
use super::text::Block;
use super::window::Window;
use super::{entry, memory, scan};
use crate::Csr;

/// Parses the elements of a file in the array format and builds the matrix.
pub fn array<'a>(
    header: &Header,
    expand: bool,
    blocks: impl Iterator<Item = io::Result<Block<'a>>> + Send,
) -> Result<Entries, Stop> {
    let found = AtomicU64::new(0);
    let parse = |text: &[u8]| {
        let chunk = elements(text, header)?;
        let size = chunk.elements.len() as u64;
        let all = found.fetch_add(size, Ordering::Relaxed) + size;
        // Surplus elements are not stored: a small compressed file can contain very many.
        (all <= header.stored).then_some(chunk)
    };
    let chunks = parse_all(blocks, || (), |(), text| parse(text))?;
    let bytes = chunks.iter().map(|chunk| chunk.bytes).sum();
    let elements: Vec<Vec<f64>> = chunks.into_iter().map(|chunk| chunk.elements).collect();
    let elements = elements.concat();
    if elements.len() as u64 != header.stored {
        return Err(Stop::Defect);
    }
    let csr = by_rows(header, expand, &elements)?;
    Ok(Entries { csr, duplicates: 0, triangles: [0; 2], bytes })
}

/// Returns the temporary memory of `array` in bytes: the vectors of the chunks and their concatenation.
pub fn scratch_bytes(elements: u64) -> u64 {
    elements * (16 + 8)
}

struct Chunk {
    elements: Vec<f64>,
    bytes: u64,
}

fn elements(text: &[u8], header: &Header) -> Option<Chunk> {
    let (mut elements, mut at, mut room) = (Vec::new(), 0, Window::room());
    while at < text.len() {
        let quick = scan::element(Window::new(&text[at..], &mut room));
        let quick = quick.filter(|q| header.field != Field::UnsignedInteger || q.0 >= 0.0);
        let (element, length) = match quick {
            Some((element, length)) => (Some(element), length),
            None => {
                let line = line_at(text, at)?;
                (entry::element(line, header).ok()?, line.len())
            }
        };
        elements.extend(element);
        at += length;
    }
    let bytes = text.len() as u64;
    Some(Chunk { elements, bytes })
}

/// Returns the index of element (row, col) in the array and the sign by which it is multiplied.
fn stored_at(header: &Header, row: usize, col: usize) -> (usize, f64) {
    let (low, high) = (row.min(col), row.max(col));
    let rows = header.rows;
    match header.symmetry {
        Symmetry::General => (col * rows + row, 1.0),
        // The columns before column `low` have rows, rows - 1, ... elements.
        Symmetry::Symmetric => (low * (2 * rows - low + 1) / 2 + high - low, 1.0),
        Symmetry::SkewSymmetric => {
            let sign = if row < col { -1.0 } else { 1.0 };
            (low * (2 * rows - low - 1) / 2 + high - low - 1, sign)
        }
    }
}

/// Returns the columns of row `row` that have an entry.
fn columns(header: &Header, expand: bool, row: usize) -> impl Iterator<Item = usize> {
    let last = match header.symmetry {
        Symmetry::General => header.cols,
        _ if expand => header.cols,
        _ => row + 1,
    };
    let skip = header.symmetry == Symmetry::SkewSymmetric;
    (0..last).filter(move |&col| !(skip && col == row))
}

fn by_rows(header: &Header, expand: bool, elements: &[f64]) -> Result<Csr<f64>, Fault> {
    let mirrored = expand && header.symmetry != Symmetry::General;
    let diagonal = match header.symmetry {
        Symmetry::Symmetric => header.rows,
        _ => 0,
    };
    let nnz = if mirrored { 2 * elements.len() - diagonal } else { elements.len() };
    check_count(nnz as u64, "nonzeros")?;
    let mut row_offsets = memory::zeros(header.rows + 1)?;
    let mut column_indices = Vec::with_capacity(nnz);
    let mut values = Vec::with_capacity(nnz);
    for row in 0..header.rows {
        for col in columns(header, expand, row) {
            let (place, sign) = stored_at(header, row, col);
            column_indices.push(col as u32);
            values.push(sign * elements[place]);
        }
        row_offsets[row + 1] = values.len() as u32;
    }
    let (rows, cols) = (header.rows, header.cols);
    Ok(Csr { rows, cols, row_offsets, column_indices, values })
}
