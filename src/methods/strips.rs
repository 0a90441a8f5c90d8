//! Rows side by side: what ELL, the ELL part of HYB and SELL-C-σ store.
//!
//! A strip is as many rows as there are lanes, stored column by column, so that no lane waits for another.
//! A row that is shorter than its strip is filled up with zeros.

use std::cmp::Reverse;
use std::ops::Range;

use anyhow::ensure;
use rayon::prelude::*;

use super::fill;
use crate::matrix::Csr;
use crate::matrix::order::Permutation;
use crate::memory::extent::Extent;
use crate::method::{Parameter, Request, Unavailable};
use crate::scalar::Scalar;
use crate::simd::MOST_LANES;
use crate::team::DisjointMut;

/// How the strips lie in memory.
pub enum Layout {
    /// One after the other, each as wide as its longest row: columns before each strip, and in all.
    Sliced(Vec<u32>),
    /// All of the same width, the columns of the whole matrix `pitch` places apart.
    Whole {
        /// Places between a row's entries.
        pitch: usize,
        /// Entries per row.
        width: usize,
    },
}

/// Where a strip lies.
#[derive(Clone, Copy)]
pub struct Strip {
    /// The first place of the first row.
    pub start: usize,
    /// Places between a row's entries.
    pub stride: usize,
    /// Entries per row.
    pub width: usize,
}

/// Rows stored in strips.
pub struct Strips<T> {
    /// Rows of a strip.
    pub lanes: usize,
    /// Rows of the matrix.
    pub rows: usize,
    /// Where each strip lies.
    pub layout: Layout,
    /// The row of each lane, where it is not the lane's own number.
    pub order: Option<Vec<u32>>,
    /// The column of each place.
    pub column_indices: Vec<u32>,
    /// The value of each place.
    pub values: Vec<T>,
}

impl<T: Scalar> Strips<T> {
    /// ELL: the first `width` entries of every row. See [`Strips::new`].
    pub fn whole(
        csr: &Csr<T>,
        lanes: usize,
        (pitch, width): (usize, usize),
        no_entry: Option<u32>,
    ) -> Result<Self, Unavailable> {
        fill::check(width as u64 * csr.rows as u64, csr.nnz())?;
        Ok(Self::new(csr, lanes, Layout::Whole { pitch, width }, None, no_entry))
    }

    /// SELL-C-σ: C is `lanes`, and rows are sorted by length within windows of `sigma`. See
    /// [`Strips::new`].
    pub fn sliced(
        csr: &Csr<T>,
        lanes: usize,
        sigma: usize,
        no_entry: Option<u32>,
    ) -> Result<Self, Unavailable> {
        let order = (sigma > 1).then(|| sorted(csr, sigma));
        let offsets = strip_offsets(csr, lanes, order.as_deref());
        fill::check(u64::from(offsets[offsets.len() - 1]) * lanes as u64, csr.nnz())?;
        Ok(Self::new(csr, lanes, Layout::Sliced(offsets), order, no_entry))
    }

    /// The matrix, or of each row as many entries as the layout has room for. What is left of the room
    /// is given the column `no_entry`, or else the row's last.
    fn new(
        csr: &Csr<T>,
        lanes: usize,
        layout: Layout,
        order: Option<Vec<u32>>,
        no_entry: Option<u32>,
    ) -> Self {
        let places = match &layout {
            Layout::Sliced(offsets) => offsets[offsets.len() - 1] as usize * lanes,
            Layout::Whole { pitch, width } => pitch * width,
        };
        let (mut column_indices, mut values) = (vec![0; places], vec![T::zero(); places]);
        let strips = Self {
            lanes,
            rows: csr.rows,
            layout,
            order,
            column_indices: Vec::new(),
            values: Vec::new(),
        };
        let arrays = (DisjointMut::new(&mut column_indices), DisjointMut::new(&mut values));
        (0..strips.len()).into_par_iter().with_min_len(64).for_each(|index| {
            for (lane, row) in strips.lanes_of(index).enumerate() {
                // SAFETY: a place belongs to one lane of one strip.
                unsafe { strips.fill(csr, (index, lane), row, no_entry, &arrays) };
            }
        });
        Self { column_indices, values, ..strips }
    }

    /// Copies what has room of a row to a lane of a strip, and fills up.
    ///
    /// # Safety
    /// No other thread fills this lane.
    unsafe fn fill(
        &self,
        csr: &Csr<T>,
        (index, lane): (usize, usize),
        row: usize,
        no_entry: Option<u32>,
        (column_indices, values): &(DisjointMut<u32>, DisjointMut<T>),
    ) {
        let Strip { start, stride, width } = self.strip(index);
        let entries = entries(csr, row, width);
        let mut last = 0;
        for place in 0..width {
            let to = start + place * stride + lane;
            // SAFETY: inside the arrays, which have room for every strip; and the caller's promise.
            unsafe {
                if place < entries.len() {
                    last = csr.column_indices[entries.start + place];
                    *values.at(to) = csr.values[entries.start + place];
                } else if let Some(column) = no_entry {
                    last = column;
                }
                *column_indices.at(to) = last;
            }
        }
    }

    /// The number of strips.
    pub fn len(&self) -> usize {
        self.rows.div_ceil(self.lanes)
    }

    /// Checks the invariants that the product on a CPU relies on, of strips of a matrix with `cols` columns:
    /// LANES, a strip has at most the widest register's; PLACES, each column of a strip is a register of places
    /// with their column indices; COLUMNS, these are columns of the matrix; ORDER, each row has one lane.
    ///
    /// # Errors
    /// The first invariant that does not hold, by its name.
    pub fn check(&self, cols: usize) -> anyhow::Result<()> {
        ensure!((1..=MOST_LANES).contains(&self.lanes), "LANES: {}", self.lanes);
        let places = self.values.len();
        ensure!(places == self.column_indices.len(), "PLACES: {places} have values");
        for index in 0..self.len() {
            let Strip { start, stride, width } = self.strip(index);
            let inside = |column: usize| start + column * stride + self.lanes <= places;
            ensure!((0..width).all(inside), "PLACES: strip {index} is beyond {places}");
        }
        let most = self.column_indices.iter().max().map_or(0, |&column| column as usize + 1);
        ensure!(most <= cols, "COLUMNS: column {} of {cols}", most - 1);
        if let Some(order) = &self.order {
            let is_permutation = Permutation::new(order.clone()).is_some();
            ensure!(is_permutation && order.len() == self.rows, "ORDER: {} rows", order.len());
        }
        Ok(())
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> usize {
        let order = self.order.as_deref().unwrap_or_default();
        size_of_val(self.offsets())
            + size_of_val(order)
            + size_of_val(&self.column_indices[..])
            + size_of_val(&self.values[..])
    }

    /// Columns before each strip, and in all; nothing where all strips are as wide.
    pub fn offsets(&self) -> &[u32] {
        if let Layout::Sliced(offsets) = &self.layout { offsets } else { &[] }
    }

    /// How full the places are with the nonzeros of a matrix.
    pub fn note(&self, nnz: usize) -> String {
        format!("{:.2} nonzeros per place", nnz as f64 / self.values.len().max(1) as f64)
    }

    /// Where a strip lies.
    pub fn strip(&self, index: usize) -> Strip {
        match &self.layout {
            Layout::Sliced(offsets) => {
                let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
                Strip { start: start * self.lanes, stride: self.lanes, width: end - start }
            }
            &Layout::Whole { pitch, width } => {
                Strip { start: index * self.lanes, stride: pitch, width }
            }
        }
    }

    /// The rows of a strip.
    pub fn lanes_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let first = index * self.lanes;
        let lanes = first..(first + self.lanes).min(self.rows);
        lanes.map(|lane| self.order.as_ref().map_or(lane, |order| order[lane] as usize))
    }
}

/// What strips of up to 64 lanes take, with what sorts their rows.
pub fn memory(extent: &Extent) -> u64 {
    fill::most_places_of_rows(extent, 64) * (extent.value + 4) + extent.rows * 13
}

/// The first `width` entries of a row.
pub fn entries<T>(csr: &Csr<T>, row: usize, width: usize) -> Range<usize> {
    let Range { start, end } = csr.row(row);
    start..end.min(start + width)
}

/// SELL-C-σ's σ. The default is as good as any other in the mean of real matrices.
pub const SIGMA: Parameter = Parameter {
    name: "sigma",
    values: &["1", "32", "512", "4096", "16384", "all"],
    meaning: "rows of a window that is sorted by length; 1: none; default 512",
};

/// The σ that was asked for.
pub fn sigma(request: &Request, rows: usize) -> usize {
    match request.word(SIGMA.name) {
        Some("all") => rows,
        _ => request.number(SIGMA.name).unwrap_or(512),
    }
}

/// The rows, those of each window of `sigma` by descending length and else in their order.
fn sorted<T: Scalar>(csr: &Csr<T>, sigma: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..csr.rows as u32).collect();
    let length = |&row: &u32| Reverse(csr.row(row as usize).len());
    if sigma < csr.rows {
        order.par_chunks_mut(sigma).for_each(|window| window.sort_by_key(length));
    } else {
        order.par_sort_by_key(length);
    }
    order
}

/// The columns before each strip, and in all. They fit, for a strip's columns are one row's entries.
fn strip_offsets<T: Scalar>(csr: &Csr<T>, lanes: usize, order: Option<&[u32]>) -> Vec<u32> {
    let length = |place: usize| csr.row(order.map_or(place, |order| order[place] as usize)).len();
    let strip = |strip: usize| {
        let places = strip * lanes..((strip + 1) * lanes).min(csr.rows);
        places.map(length).max().unwrap_or(0) as u32
    };
    let strips = csr.rows.div_ceil(lanes);
    // One more, of no rows, whose offset is the end.
    let mut offsets: Vec<u32> =
        (0..strips + 1).into_par_iter().with_min_len(256).map(strip).collect();
    let mut before = 0;
    for offset in &mut offsets {
        before += std::mem::replace(offset, before);
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 3, 0, 1, 2 and 1 entries.
    fn ragged() -> Csr<f64> {
        let entries = [(0, 0), (0, 2), (0, 4), (2, 3), (3, 1), (3, 4), (4, 4)];
        let triplets: Vec<_> =
            entries.iter().enumerate().map(|(k, &(row, col))| (row, col, k as f64 + 1.0)).collect();
        Csr::from_triplets(5, 5, &triplets)
    }

    #[test]
    fn fill_repeats_the_rows_last_column() {
        let sliced = Strips::new(&ragged(), 2, Layout::Sliced(vec![0, 3, 5, 6]), None, None);
        assert_eq!(sliced.column_indices, [0, 0, 2, 0, 4, 0, 3, 1, 3, 4, 4, 0]);
        assert_eq!(sliced.values, [1., 0., 2., 0., 3., 0., 4., 5., 0., 6., 7., 0.]);
        let order = Some(vec![0, 3, 2, 4, 1]);
        let sorted = Strips::new(&ragged(), 2, Layout::Sliced(vec![0, 3, 4, 4]), order, None);
        assert_eq!(sorted.column_indices, [0, 1, 2, 4, 4, 4, 3, 4]);
        assert_eq!(sorted.bytes(), 8 * 8 + 8 * 4 + 4 * 4 + 5 * 4);
        let whole = Strips::whole(&ragged(), 2, (6, 2), None).unwrap();
        assert_eq!(whole.values, [1., 0., 4., 5., 7., 0., 2., 0., 0., 6., 0., 0.]);
    }

    #[test]
    fn fill_has_the_column_asked_for() {
        let whole = Strips::whole(&ragged(), 2, (6, 3), Some(9)).unwrap();
        assert_eq!(whole.column_indices[..6], [0, 9, 3, 1, 4, 0], "the last is no row's");
        assert_eq!(whole.column_indices[6..11], [2, 9, 9, 4, 9]);
        assert_eq!(whole.column_indices[12..17], [4, 9, 9, 9, 9]);
        let sliced = Strips::sliced(&ragged(), 2, 4, Some(9)).unwrap();
        assert_eq!(sliced.order, Some(vec![0, 3, 2, 1, 4]));
        assert_eq!(sliced.column_indices, [0, 1, 2, 4, 4, 9, 3, 9, 4, 0]);
    }

    #[test]
    fn each_broken_invariant_is_named() {
        type Break = fn(&mut Strips<f64>);
        let cases: [(&str, Break); 7] = [
            ("LANES", |strips| strips.lanes = 17),
            ("PLACES", |strips| _ = strips.values.pop()),
            ("PLACES", |strips| strips.layout = Layout::Sliced(vec![0, 3, 4, 6])),
            ("COLUMNS", |strips| strips.column_indices[3] = 5),
            ("ORDER", |strips| strips.order = Some(vec![0, 1, 2, 3, 3])),
            ("ORDER", |strips| strips.order = Some(vec![0, 1, 2, 3, 5])),
            ("ORDER", |strips| strips.order = Some(vec![0, 1, 2, 3])),
        ];
        for (name, break_it) in cases {
            let mut strips = Strips::sliced(&ragged(), 2, 4, None).unwrap();
            strips.check(5).unwrap();
            break_it(&mut strips);
            let broken = strips.check(5).expect_err(name).to_string();
            assert!(broken.starts_with(name), "{name}: {broken}");
        }
    }

    /// Rows of 1, 3, 0, 3, 2, 1, 0 entries.
    fn uneven() -> Csr<f64> {
        let lengths = [1, 3, 0, 3, 2, 1, 0].into_iter().enumerate();
        let triplets: Vec<_> =
            lengths.flat_map(|(row, length)| (0..length).map(move |col| (row, col, 1.0))).collect();
        Csr::from_triplets(7, 3, &triplets)
    }

    #[test]
    fn windows_are_sorted_by_descending_length_and_stably() {
        assert_eq!(sorted(&uneven(), 3), [1, 0, 2, 3, 4, 5, 6]);
        assert_eq!(sorted(&uneven(), 4), [1, 3, 0, 2, 4, 5, 6]);
        assert_eq!(sorted(&uneven(), 7), [1, 3, 4, 0, 5, 2, 6]);
    }

    #[test]
    fn a_strip_is_as_wide_as_its_longest_row() {
        assert_eq!(strip_offsets(&uneven(), 2, None), [0, 3, 6, 8, 8]);
        assert_eq!(strip_offsets(&uneven(), 2, Some(&sorted(&uneven(), 7))), [0, 3, 5, 6, 6]);
    }
}
