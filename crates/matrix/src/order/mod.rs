//! Orderings of the rows and columns of a square matrix: reverse Cuthill-McKee, Band-k, and those of other programs.

pub mod band_k;
mod file;
mod graph;
mod rcm;
pub mod sizes;

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::csr::{Csr, offsets_of};
use super::interned::interned;
use super::scalar::Scalar;
use band_k::{BandK, Coarsening, band_k};
use graph::Graph;

/// The number of rows that one task copies.
const ROWS_PER_TASK: usize = 1024;

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
    pub const OWN: [Self; 6] =
        [Self::Natural, Self::Rcm, Self::BandK, Self::Band3, Self::BandVolta, Self::BandAmpere];

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

/// A permutation of rows: the row at new position `i` is the old row `old()[i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Permutation {
    /// The old row at each new position. It contains every number below `len` once: methods use it for
    /// gathers without bounds checks.
    old: Vec<u32>,
    new: Vec<u32>,
}

impl Permutation {
    /// Creates a permutation from the old row at each new position. Returns `None` if a row is missing or
    /// occurs twice.
    pub fn new(old: Vec<u32>) -> Option<Self> {
        let mut new = vec![u32::MAX; old.len()];
        for (position, &row) in old.iter().enumerate() {
            let slot = new.get_mut(row as usize).filter(|slot| **slot == u32::MAX)?;
            *slot = position as u32;
        }
        Some(Self { old, new })
    }

    #[allow(clippy::len_without_is_empty)] // `is_empty` is not needed.
    pub fn len(&self) -> usize {
        self.old.len()
    }

    pub fn old(&self) -> &[u32] {
        &self.old
    }

    pub fn new_of_old(&self) -> &[u32] {
        &self.new
    }

    pub fn inverse(self) -> Self {
        Self { old: self.new, new: self.old }
    }

    pub fn apply<V: Clone>(&self, values: &[V]) -> Vec<V> {
        assert_eq!(values.len(), self.len(), "a value per row");
        self.old.iter().map(|&old| values[old as usize].clone()).collect()
    }
}

/// Converts the old rows in their new order, as returned by an ordering algorithm.
impl From<Vec<u32>> for Permutation {
    /// Panics if a row is missing or occurs twice, which would be a bug in the algorithm.
    fn from(old: Vec<u32>) -> Self {
        Self::new(old).expect("an order holds every row once")
    }
}

impl<T: Scalar> Csr<T> {
    /// Computes P·A·Pᵀ: the matrix with its rows and columns in the new order. Panics if the matrix is not square or
    /// the permutation has another size.
    pub fn permuted(&self, permutation: &Permutation) -> Self {
        let len = permutation.len();
        assert_eq!((self.rows, self.cols), (len, len), "a permutation of the matrix' size");
        let length = |&old: &u32| self.row(old as usize).len();
        let row_offsets = offsets_of(permutation.old.iter().map(|old| length(old) as u32));
        let (mut column_indices, mut values) = (vec![0; self.nnz()], vec![T::zero(); self.nnz()]);
        let (mut columns_left, mut values_left) = (&mut column_indices[..], &mut values[..]);
        let mut tasks = Vec::new();
        for old in permutation.old.chunks(ROWS_PER_TASK) {
            let entries = old.iter().map(length).sum();
            let columns = columns_left.split_off_mut(..entries).expect("entries remain");
            let values = values_left.split_off_mut(..entries).expect("entries remain");
            tasks.push((old, columns, values));
        }
        tasks.into_par_iter().for_each(|(old, columns, values)| {
            self.move_rows(old, &permutation.new, columns, values);
        });
        let permuted = Self { rows: len, cols: len, row_offsets, column_indices, values };
        debug_assert!(permuted.is_valid());
        permuted
    }

    /// Writes the rows `old` one after another, with their columns renumbered and sorted.
    fn move_rows(&self, old: &[u32], new: &[u32], columns: &mut [u32], values: &mut [T]) {
        let mut row = Vec::new();
        let mut slots = columns.iter_mut().zip(values);
        for &old in old {
            row.clear();
            row.extend(
                self.row(old as usize)
                    .map(|k| (new[self.column_indices[k] as usize], self.values[k])),
            );
            row.sort_unstable_by_key(|entry| entry.0);
            for (entry, (column, value)) in row.iter().zip(&mut slots) {
                (*column, *value) = *entry;
            }
        }
    }
}
