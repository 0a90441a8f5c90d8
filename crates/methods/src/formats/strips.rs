//! Rows stored in strips: the format of ELL, of the ELL part of HYB, and of SELL-C-σ.
//!
//! A strip has as many rows as there are SIMD lanes and is stored column by column, so that each lane sums
//! one row. Rows that are shorter than the strip are padded with zeros. A place is a position in the
//! arrays, with a value and a column index; it contains an entry or padding.

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;

use super::coordinates::WIDTH;
use super::{fill, offsets_of};
use crate::method::{Parameter, Request, Unavailable};
use crate::simd::MAX_LANES;
use spmv_matrix::Csr;
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;

pub enum Layout {
    /// Strips one after the other, each as wide as its longest row (SELL). For each strip the number of
    /// columns in the strips before it, and the total at the end.
    Sliced(Vec<u32>),
    /// Strips of equal width (ELL): the columns of the whole matrix follow each other, `pitch` places apart.
    Whole {
        /// The number of places from one entry of a row to the next.
        pitch: usize,
        width: usize,
    },
}

/// The position of a strip in the arrays.
#[derive(Clone, Copy)]
pub struct Strip {
    pub start: usize,
    /// The number of places from one entry of a row to the next.
    pub stride: usize,
    pub width: usize,
}

/// Rows in strips. The product on a CPU relies on these invariants:
/// - PLACES: each column of a strip is a register of places with their column indices;
/// - COLUMNS: the column indices are columns of the matrix;
/// - ORDER: each row has exactly one lane.
pub struct Strips<T> {
    pub lanes: usize,
    pub rows: usize,
    pub layout: Layout,
    /// The row of each lane, counted over all strips; `None` if row i is in lane i.
    pub order: Option<Vec<u32>>,
    pub column_indices: Vec<u32>,
    pub values: Vec<T>,
}

impl<T: Scalar> Strips<T> {
    /// Creates ELL with the first `width` entries of every row. See [`Strips::new`].
    pub fn whole(csr: &Csr<T>, lanes: usize, width: usize) -> Result<Self, Unavailable> {
        fill::check(width as u64 * csr.rows() as u64, csr.nnz())?;
        let layout = Layout::Whole { pitch: pitch(csr.rows()), width };
        Ok(Self::new(csr, lanes, layout, None, None))
    }

    /// Creates SELL-C-σ, where C is `lanes` and rows are sorted by length in windows of `sigma` rows. See
    /// [`Strips::new`].
    pub fn sliced(csr: &Csr<T>, lanes: usize, sigma: usize) -> Result<Self, Unavailable> {
        let order = (sigma > 1).then(|| sorted(csr.row_offsets(), sigma));
        let offsets = strip_offsets(csr, lanes, order.as_deref());
        fill::check(u64::from(offsets[offsets.len() - 1]) * lanes as u64, csr.nnz())?;
        Ok(Self::new(csr, lanes, Layout::Sliced(offsets), order, None))
    }

    /// Stores the matrix in strips, or as many entries of each row as the layout can store. The column index of padding
    /// and of places without a row is `no_entry` if given, or else that of the row's last entry, and 0.
    pub fn new(csr: &Csr<T>, lanes: usize, layout: Layout, order: Option<Vec<u32>>, no_entry: Option<u32>) -> Self {
        let places = match &layout {
            Layout::Sliced(offsets) => offsets[offsets.len() - 1] as usize * lanes,
            Layout::Whole { pitch, width } => pitch * width,
        };
        let mut column_indices = vec![no_entry.unwrap_or(0); places];
        let mut values = vec![T::zero(); places];
        let rows = csr.rows();
        let strips = Self { lanes, rows, layout, order, column_indices: vec![], values: vec![] };
        let arrays = (DisjointMut::new(&mut column_indices), DisjointMut::new(&mut values));
        (0..strips.len()).into_par_iter().with_min_len(64).for_each(|index| {
            let Strip { start, stride, width } = strips.strip(index);
            for (lane, row) in strips.lanes_of(index).enumerate() {
                let entries = entries(csr, row, width);
                let mut last = 0;
                for place in 0..width {
                    let to = start + place * stride + lane;
                    // SAFETY: the arrays have all places of every strip, each of which belongs to one lane of one
                    // strip.
                    let (column_index, value) = unsafe { (arrays.0.at(to), arrays.1.at(to)) };
                    if place < entries.len() {
                        last = csr.column_indices()[entries.start + place];
                        *value = csr.values()[entries.start + place];
                    } else if let Some(column) = no_entry {
                        last = column;
                    }
                    *column_index = last;
                }
            }
        });
        Self { column_indices, values, ..strips }
    }

    pub fn len(&self) -> usize {
        self.rows.div_ceil(self.lanes)
    }

    pub fn bytes(&self) -> usize {
        let order = self.order.as_deref().unwrap_or_default();
        size_of_val(self.offsets())
            + size_of_val(order)
            + size_of_val(&self.column_indices[..])
            + size_of_val(&self.values[..])
    }

    /// Returns for each strip the number of columns in the strips before it, and the total at the end;
    /// empty if all strips have the same width.
    pub fn offsets(&self) -> &[u32] {
        if let Layout::Sliced(offsets) = &self.layout { offsets } else { &[] }
    }

    pub fn strip(&self, index: usize) -> Strip {
        match &self.layout {
            Layout::Sliced(offsets) => {
                let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
                Strip { start: start * self.lanes, stride: self.lanes, width: end - start }
            }
            &Layout::Whole { pitch, width } => Strip { start: index * self.lanes, stride: pitch, width },
        }
    }

    pub fn lanes_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let first = index * self.lanes;
        let lanes = first..(first + self.lanes).min(self.rows);
        lanes.map(|lane| self.order.as_ref().map_or(lane, |order| order[lane] as usize))
    }
}

/// Returns the number of places from one entry of a row to the next: an odd number of registers, because
/// with powers of two all entries of a row would map to the same cache set.
fn pitch(rows: usize) -> usize {
    (rows.div_ceil(MAX_LANES) | 1) * MAX_LANES
}

pub fn note(nnz: usize, places: usize) -> String {
    format!("{:.2} nonzeros per place", nnz as f64 / places.max(1) as f64)
}

/// Returns an upper bound of the bytes of strips of up to 64 lanes, including the sorting of the rows.
pub fn memory(extent: &Extent) -> u64 {
    fill::most_places_of_rows(extent, 64) * (extent.value + 4) + extent.rows * 13
}

/// Returns whether strips of `lanes` rows, all as long as the longest row, are refused.
pub fn may_refuse(extent: &Extent, lanes: u64) -> bool {
    let rows = extent.rows.next_multiple_of(lanes);
    fill::is_refused(rows.saturating_mul(extent.longest), extent.nnz)
}

/// Returns whether strips of the requested width are refused. Those of the default width never are.
pub fn may_refuse_width(extent: &Extent) -> bool {
    let width = extent.number(WIDTH.name).unwrap_or(0).min(extent.longest);
    fill::is_refused(extent.rows * width, extent.nnz)
}

/// Returns the range of the first `width` entries of a row.
pub fn entries<T>(csr: &Csr<T>, row: usize, width: usize) -> Range<usize> {
    let Range { start, end } = csr.row(row);
    start..end.min(start + width)
}

/// The parameter `sigma` of SELL-C-σ. No other value was better than the default in the mean over real matrices.
pub const SIGMA: Parameter = Parameter {
    name: "sigma",
    values: &["1", "32", "512", "4096", "16384", "all"],
    meaning: "the number of rows in a window that is sorted by length; 1: no sorting; default 512",
};

pub fn sigma(request: &Request, rows: usize) -> usize {
    match request.word(SIGMA.name) {
        Some("all") => rows,
        _ => request.number(SIGMA.name).unwrap_or(512),
    }
}

/// Returns the rows, sorted by descending length within each window of `sigma` rows. The sort is stable.
pub fn sorted(row_offsets: &[u32], sigma: usize) -> Vec<u32> {
    let rows = row_offsets.len() - 1;
    let mut order: Vec<u32> = (0..rows as u32).collect();
    let length = |&row: &u32| Reverse(row_offsets[row as usize + 1] - row_offsets[row as usize]);
    if sigma < rows {
        order.par_chunks_mut(sigma).for_each(|window| window.sort_by_key(length));
    } else {
        order.par_sort_by_key(length);
    }
    order
}

/// Returns for each strip the number of columns in the strips before it, and the total at the end. The
/// total fits in `u32` because the number of columns of a strip is the length of one row.
pub fn strip_offsets<T: Scalar>(csr: &Csr<T>, lanes: usize, order: Option<&[u32]>) -> Vec<u32> {
    let length = |place: usize| csr.row(order.map_or(place, |order| order[place] as usize)).len();
    let strip = |strip: usize| {
        let places = strip * lanes..((strip + 1) * lanes).min(csr.rows());
        places.map(length).max().unwrap_or(0) as u32
    };
    // One more strip without rows is appended. Its offset is the total.
    let strips = (0..csr.rows().div_ceil(lanes) + 1).into_par_iter().with_min_len(256);
    offsets_of(strips.map(strip).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::{of_cells, of_lengths};

    /// Returns a matrix whose rows have 3, 0, 1, 2 and 1 entries.
    fn ragged() -> Csr<f64> {
        of_cells(5, 5, &[(0, 0), (0, 2), (0, 4), (2, 3), (3, 1), (3, 4), (4, 4)])
    }

    #[test]
    fn padding_repeats_the_rows_last_column() {
        let sliced = Strips::new(&ragged(), 2, Layout::Sliced(vec![0, 3, 5, 6]), None, None);
        assert_eq!(sliced.column_indices, [0, 0, 2, 0, 4, 0, 3, 1, 3, 4, 4, 0]);
        assert_eq!(sliced.values, [1., 0., 2., 0., 3., 0., 4., 5., 0., 6., 7., 0.]);
        let order = Some(vec![0, 3, 2, 4, 1]);
        let sorted = Strips::new(&ragged(), 2, Layout::Sliced(vec![0, 3, 4, 4]), order, None);
        assert_eq!(sorted.column_indices, [0, 1, 2, 4, 4, 4, 3, 4]);
        assert_eq!(sorted.bytes(), 8 * 8 + 8 * 4 + 4 * 4 + 5 * 4);
        let layout = Layout::Whole { pitch: 6, width: 2 };
        let whole = Strips::new(&ragged(), 2, layout, None, None);
        assert_eq!(whole.values, [1., 0., 4., 5., 7., 0., 2., 0., 0., 6., 0., 0.]);
        let marked = Strips::new(&ragged(), 2, Layout::Sliced(vec![0, 3, 5, 6]), None, Some(9));
        assert_eq!(marked.column_indices, [0, 9, 2, 9, 4, 9, 3, 1, 9, 4, 4, 9]);
    }

    #[test]
    fn windows_are_sorted_stably_and_a_strip_is_as_wide_as_its_longest_row() {
        let uneven = of_lengths(3, [1, 3, 0, 3, 2, 1, 0]);
        let sorted = |sigma| sorted(uneven.row_offsets(), sigma);
        assert_eq!(sorted(3), [1, 0, 2, 3, 4, 5, 6]);
        assert_eq!(sorted(4), [1, 3, 0, 2, 4, 5, 6]);
        assert_eq!(sorted(7), [1, 3, 4, 0, 5, 2, 6]);
        assert_eq!(strip_offsets(&uneven, 2, None), [0, 3, 6, 8, 8]);
        assert_eq!(strip_offsets(&uneven, 2, Some(&sorted(7))), [0, 3, 5, 6, 6]);
    }
}
