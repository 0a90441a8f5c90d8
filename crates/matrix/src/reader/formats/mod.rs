//! The formats beside Matrix Market. Each has a reader in a file of its own, which returns the entries as [`Stored`];
//! here they become a matrix.

mod dimacs;
mod edges;
mod harwell_boeing;
mod metis;
mod npy;
mod npz;
mod octave;
mod smtx;
mod triplets;
mod words;

#[cfg(test)]
mod tests;

pub use edges::{Edges, Names, konect};
pub use octave::is_octave;

use super::contents::Contents;
use super::error::Fault;
use super::header::{Field, Symmetry};
use super::text::Text;
use super::{Options, ReadMatrix};
use triplets::Triplets;

/// The entries of a file in its order, and what the file says about them.
struct Stored<'c> {
    rows: usize,
    cols: usize,
    field: Field,
    symmetry: Symmetry,
    entries: Triplets<'c>,
    /// The size of the text in bytes.
    bytes: u64,
    remarks: Vec<String>,
}

/// Reads a file of any format but Matrix Market.
pub fn read(contents: Contents, text: &Text, options: &Options) -> Result<ReadMatrix, Fault> {
    let stored = match contents {
        Contents::EdgeList => edges::read(text, options.edges)?,
        Contents::Metis => metis::read(text)?,
        Contents::Smtx => smtx::read(text)?,
        Contents::HarwellBoeing => harwell_boeing::read(text)?,
        Contents::Octave => octave::read(text)?,
        Contents::Dimacs => dimacs::read(text)?,
        Contents::Npz => npz::read(text)?,
        Contents::Market => unreachable!("the caller reads Matrix Market files"),
    };
    let Stored { rows, cols, field, symmetry, entries, bytes, remarks } = stored;
    let count = entries.len() as u64;
    let mirror = symmetry.mirror_sign().filter(|_| options.expand);
    let mut built = entries.into_csr(rows, cols, mirror)?;
    match contents {
        Contents::Metis => metis::check(&built.csr, text)?,
        Contents::Dimacs if field == Field::Pattern => dimacs::count_once(&mut built),
        _ => {}
    }
    Ok(ReadMatrix {
        csr: built.csr,
        field,
        symmetry,
        stored: count,
        kind: None,
        duplicates: built.duplicates,
        triangles: built.triangles,
        text_bytes: bytes,
        file_bytes: text.input.size,
        remarks,
    })
}
