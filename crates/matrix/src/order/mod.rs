//! Orderings of the rows and columns of a square matrix: reverse Cuthill-McKee, Band-k, and those of other programs.

pub mod band_k;
mod file;
mod graph;
mod permutation;
mod rcm;
pub mod sizes;

#[cfg(test)]
mod tests;

use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::csr::Csr;
use crate::interned::interned;
use band_k::{BandK, Coarsening, band_k};
use graph::Graph;
pub use permutation::Permutation;

/// The order of the rows and columns of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Order {
    /// The order of the file or the generator.
    #[default]
    Natural,
    /// Reverse Cuthill-McKee.
    Rcm,
    /// Band-k, the order of the csr-k paper, for CSR-2 on CPUs: with super-rows.
    BandK,
    /// Band-k for CSR-3 on CPUs: with super-rows and super-super-rows.
    #[cfg_attr(feature = "clap", value(name = "band-3"))]
    Band3,
    /// Band-k for CSR-3 on NVIDIA Volta.
    BandVolta,
    /// Band-k for CSR-3 on NVIDIA Ampere.
    BandAmpere,
    /// An order that another program computed. The text is its whole name, such as `file:perm.txt`.
    #[cfg_attr(feature = "clap", value(skip))]
    File(&'static str),
}

impl Order {
    /// The orders that this program computes, and the natural one.
    pub const OWN: [Self; 6] = [Self::Natural, Self::Rcm, Self::BandK, Self::Band3, Self::BandVolta, Self::BandAmpere];

    /// Returns the order with this name on the command line and in the CSV file: one of [`OWN`](Self::OWN), `file:PATH`
    /// or `inverse-file:PATH`.
    pub fn named(name: &str) -> Option<Self> {
        let own = Self::OWN.into_iter().find(|order| order.name() == name);
        own.or_else(|| file::parts(name).map(|_| Self::File(interned(name.into()))))
    }

    /// Returns the name on the command line and in the CSV file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Rcm => "rcm",
            Self::BandK => "band-k",
            Self::Band3 => "band-3",
            Self::BandVolta => "band-volta",
            Self::BandAmpere => "band-ampere",
            Self::File(name) => name,
        }
    }

    /// Computes the permutation that brings a square matrix into this order, with the groups of Band-k; `None` for the
    /// natural order and for one that is [read](Self::read).
    pub fn compute<T: Sync>(self, csr: &Csr<T>) -> Option<BandK> {
        let mean_length = csr.nnz() as f64 / csr.rows().max(1) as f64;
        let sizes = match self {
            Self::Natural | Self::File(_) => return None,
            Self::Rcm => {
                let permutation = rcm::reverse_cuthill_mckee(&Graph::of(csr)).into();
                return Some(BandK { permutation, levels: Vec::new() });
            }
            Self::BandK => vec![sizes::CPU[0]],
            Self::Band3 => sizes::CPU.to_vec(),
            Self::BandVolta => sizes::gpu(true, mean_length, sizes::case(mean_length)).to_vec(),
            Self::BandAmpere => sizes::gpu(false, mean_length, sizes::case(mean_length)).to_vec(),
        };
        Some(band_k(csr, Coarsening::Hand, &sizes))
    }

    /// Returns the path, if the order is read from a file or from a folder with a file per matrix.
    pub fn path(self) -> Option<&'static Path> {
        file::parts(self.name()).map(|(path, _)| path)
    }

    /// Returns an error if the order is read from a file and there is no such file or folder.
    pub fn check(self) -> Result<(), String> {
        let Some(path) = self.path() else { return Ok(()) };
        path.metadata().map(drop).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads the permutation of a matrix with this name and number of rows, which in a folder is in `NAME.perm`, or
    /// `NAME.iperm` for the inverse; `None` if the order is not in a file. An error names the file, the line and what
    /// is wrong.
    pub fn read(self, matrix: &str, rows: usize) -> Result<Option<Permutation>, String> {
        file::parts(self.name()).map(|parts| file::read(parts, matrix, rows)).transpose()
    }
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::named(&name).ok_or_else(|| {
            let own = Self::OWN.map(|order| format!("`{}`", order.name())).join(", ");
            serde::de::Error::custom(format!(
                "unknown order `{name}`, expected {own}, `file:PATH` or `inverse-file:PATH`"
            ))
        })
    }
}

/// Returns the bandwidth: the largest distance |row − column| of an entry from the diagonal.
pub fn bandwidth<T: Sync>(csr: &Csr<T>) -> usize {
    let of_row = |row: usize| {
        let columns = &csr.column_indices[csr.row(row)];
        let ends = [columns.first(), columns.last()].into_iter().flatten();
        ends.map(|&col| row.abs_diff(col as usize)).max().unwrap_or(0)
    };
    (0..csr.rows).into_par_iter().with_min_len(4096).map(of_row).max().unwrap_or(0)
}

/// Returns the profile: the sum over all rows of the distance from the first entry to the diagonal. Rows without an
/// entry below the diagonal count as 0.
pub fn profile<T: Sync>(csr: &Csr<T>) -> u64 {
    let of_row = |row: usize| {
        let first = csr.column_indices[csr.row(row)].first();
        first.map_or(0, |&col| (row as u64).saturating_sub(col.into()))
    };
    (0..csr.rows).into_par_iter().with_min_len(4096).map(of_row).sum()
}
