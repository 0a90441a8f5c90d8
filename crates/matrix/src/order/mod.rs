//! Orderings of the rows and columns of a square matrix: reverse Cuthill-McKee and Band-k.

pub mod band_k;
mod graph;
mod permutation;
mod rcm;

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Csr;
use band_k::{Coarsening, SUPER_ROW, band_k};
use graph::Graph;
pub use permutation::Permutation;

/// The order of the rows and columns of a matrix.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The order of the file or the generator.
    #[default]
    Natural,
    /// Reverse Cuthill-McKee.
    Rcm,
    /// Band-k, the order of the csr-k paper, with super-rows of 96 rows.
    BandK,
}

impl Order {
    /// Returns the name on the command line and in the CSV file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Rcm => "rcm",
            Self::BandK => "band-k",
        }
    }

    /// Computes the permutation that brings a square matrix into this order; `None` for the natural order.
    pub fn permutation<T: Sync>(self, csr: &Csr<T>) -> Option<Permutation> {
        match self {
            Self::Natural => None,
            Self::Rcm => Some(rcm::reverse_cuthill_mckee(&Graph::of(csr)).into()),
            Self::BandK => Some(band_k(csr, Coarsening::Hand, &[SUPER_ROW]).permutation),
        }
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
