//! Makes the matrix of a file in the array format: all elements column by column, without indices.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::super::arrays::{Built, check_count, zeros};
use super::super::super::error::{Fault, Stop};
use super::super::super::field::{Field, Symmetry};
use super::super::super::lines::Block;
use super::super::super::syntax::line_at;
use super::chunk::parse_all;
use super::header::Header;
use super::line::element;
use super::scan;
use crate::Csr;

/// Makes the matrix of the elements in a text. Returns also the size of the text in bytes.
pub fn matrix<'a>(
    header: &Header,
    expand: bool,
    blocks: impl Iterator<Item = io::Result<Block<'a>>> + Send,
) -> Result<(Built, u64), Stop> {
    let found = AtomicU64::new(0);
    let (chunks, bytes) = parse_all(
        blocks,
        || (),
        |(), text| {
            let chunk = elements(text, header)?;
            let size = chunk.len() as u64;
            let all = found.fetch_add(size, Ordering::Relaxed) + size;
            // Surplus elements are not stored: a small compressed file can contain very many.
            (all <= header.stored).then_some(chunk)
        },
    )?;
    let elements = chunks.concat();
    if elements.len() as u64 != header.stored {
        return Err(None);
    }
    let csr = by_rows(header, expand, &elements)?;
    Ok((Built { csr, duplicates: 0, triangles: [0; 2] }, bytes))
}

/// Returns the temporary memory of [`matrix`] in bytes: the vectors of the chunks and their concatenation.
pub fn scratch_bytes(elements: u64) -> u64 {
    elements.saturating_mul(16 + 8)
}

fn elements(text: &[u8], header: &Header) -> Option<Vec<f64>> {
    let mut elements = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let quick = scan::element(&text[at..]);
        let quick = quick.filter(|q| header.field != Field::UnsignedInteger || q.0 >= 0.0);
        let (found, length) = match quick {
            Some((element, length)) => (Some(element), length),
            None => {
                let line = line_at(text, at)?;
                (element(line, header).ok()?, line.len())
            }
        };
        elements.extend(found);
        at += length;
    }
    Some(elements)
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
    let nnz = (0..header.rows).map(|row| columns(header, expand, row).count()).sum::<usize>();
    check_count(nnz as u64, "nonzeros")?;
    let mut row_offsets = zeros(header.rows + 1)?;
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
    let rows = header.rows;
    let cols = header.cols;
    Ok(Csr { rows, cols, row_offsets, column_indices, values })
}
