//! The classes of rows of DASP, and their arrays.

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;

use crate::gpu::ell::NO_ENTRY;
use crate::gpu::prelude::*;
use spmv_matrix::disjoint::DisjointMut;

/// The rows of a block of the format, which are also the rows of a group.
pub const GROUP_ROWS: usize = 8;
const WIDTH: usize = 4;
const PLACES: usize = GROUP_ROWS * WIDTH;
/// The smallest number of entries of a block of medium rows: 75 %, as published.
const FULL: usize = 24;
/// The largest number of entries of a row that is not long, as published.
const LONGEST: usize = 256;
/// The most blocks of a group that shares a warp with others.
const WIDE: usize = 4;
/// The blocks of a long row that a warp sums.
const CHUNK_BLOCKS: usize = 8;
/// The rows of blocks that a warp owns of paired rows: those of two blocks.
const UNIT_PAIRS: usize = 2 * GROUP_ROWS;

/// The rows of each class. The pairs have one entry and three, or two and two.
pub struct Classes {
    pub long: Vec<u32>,
    /// In descending order of their lengths.
    pub medium: Vec<u32>,
    pub pairs: [Vec<[u32; 2]>; 2],
    pub singles: Vec<u32>,
    pub empty: Vec<u32>,
}

impl Classes {
    pub fn of<T: Scalar>(csr: &Csr<T>) -> Self {
        let lengths: Vec<usize> = csr.row_lengths().map(|length| length as usize).collect();
        let of = |wanted: Range<usize>| -> Vec<u32> {
            let is_wanted = |&row: &u32| wanted.contains(&lengths[row as usize]);
            (0..csr.rows() as u32).filter(is_wanted).collect()
        };
        let (mut ones, twos, mut threes) = (of(1..2), of(2..3), of(3..4));
        let partners = ones.len().min(threes.len());
        let singles = ones.split_off(partners);
        let mut medium = of(WIDTH..LONGEST + 1);
        medium.par_sort_by_key(|&row| Reverse(lengths[row as usize]));
        medium.extend(threes.split_off(partners));
        let uneven = ones.into_iter().zip(threes).map(|(one, three)| [one, three]).collect();
        let even = twos.chunks(2).map(|two| [two[0], two.get(1).copied().unwrap_or(NO_ENTRY)]);
        Self {
            long: of(LONGEST + 1..usize::MAX),
            medium,
            pairs: [uneven, even.collect()],
            singles,
            empty: of(0..1),
        }
    }

    /// Returns the number of units of two blocks of each kind of pairs.
    pub fn pair_units(&self) -> [usize; 2] {
        self.pairs.each_ref().map(|pairs| pairs.len().div_ceil(UNIT_PAIRS))
    }
}

/// The arrays of the format, which the kernel describes.
#[derive(Default)]
pub struct Format<T> {
    /// The first block of each chunk of a long row, and the end.
    pub chunk_starts: Vec<u32>,
    /// The first chunk of each long row, and the end.
    pub first_chunks: Vec<u32>,
    /// For each group its first block and its first irregular entry, and the ends.
    pub starts: Vec<u32>,
    /// For each medium row the place of its irregular entries in those of the group, shifted by 16, and their number.
    pub pieces: Vec<u32>,
    /// The rows in the order of their classes, but the long ones.
    pub order: Vec<u32>,
    /// The groups at the beginning that have a warp each.
    pub wide: usize,
    /// The other groups of each warp.
    pub groups: usize,
    /// The warps of these groups.
    pub bundles: usize,
    /// The first block of paired rows.
    pub first_pair: usize,
    pub columns: Vec<u32>,
    pub values: Vec<T>,
    pub rest_columns: Vec<u32>,
    pub rest_values: Vec<T>,
}

impl<T: Scalar> Format<T> {
    /// Converts a matrix. A warp owns as many groups that are not wide as `groups` returns for their rows.
    pub fn of(csr: &Csr<T>, classes: &Classes, groups: impl FnOnce(usize) -> usize) -> Self {
        let mut format = Self {
            chunk_starts: vec![0],
            first_chunks: vec![0],
            order: order(classes),
            ..Self::default()
        };
        format.measure(csr, classes, groups);
        let pairs: usize = classes.pair_units().iter().sum();
        let places = (format.first_pair + 2 * pairs) * PLACES + classes.singles.len();
        (format.columns, format.values) = (vec![NO_ENTRY; places], vec![T::zero(); places]);
        let rest = format.starts[format.starts.len() - 1] as usize;
        (format.rest_columns, format.rest_values) = (vec![0; rest], vec![T::zero(); rest]);
        format.fill(csr, classes);
        format
    }

    fn measure(&mut self, csr: &Csr<T>, classes: &Classes, groups: impl FnOnce(usize) -> usize) {
        let (mut block, mut rest) = (0, 0);
        for &row in &classes.long {
            let blocks = csr.row(row as usize).len().div_ceil(PLACES);
            let ends = (CHUNK_BLOCKS..blocks).step_by(CHUNK_BLOCKS).chain([blocks]);
            self.chunk_starts.extend(ends.map(|end| (block + end) as u32));
            self.first_chunks.push(self.chunk_starts.len() as u32 - 1);
            block += blocks;
        }
        for group in classes.medium.chunks(GROUP_ROWS) {
            self.starts.extend([block as u32, rest as u32]);
            let lengths = || group.iter().map(|&row| csr.row(row as usize).len());
            let blocks = regular_blocks(lengths);
            self.wide += usize::from(blocks > WIDE);
            let mut before = 0;
            for length in lengths() {
                let irregular = length.saturating_sub(WIDTH * blocks);
                self.pieces.push((before << 16 | irregular) as u32);
                before += irregular;
            }
            (block, rest) = (block + blocks, rest + before);
        }
        let narrow_rows = classes.medium.len().saturating_sub(self.wide * GROUP_ROWS);
        self.groups = groups(narrow_rows);
        self.bundles = narrow_rows.div_ceil(self.groups * GROUP_ROWS);
        while self.starts.len() < 2 * (self.wide + self.bundles * self.groups + 1) {
            self.starts.extend([block as u32, rest as u32]);
        }
        self.first_pair = block;
    }

    fn fill(&mut self, csr: &Csr<T>, classes: &Classes) {
        let arrays = Arrays::of(csr, &mut self.columns, &mut self.values);
        let rest = Arrays::of(csr, &mut self.rest_columns, &mut self.rest_values);
        let (chunk_starts, first_chunks) = (&self.chunk_starts, &self.first_chunks);
        classes.long.par_iter().zip(first_chunks).for_each(|(&row, &chunk)| {
            let first = chunk_starts[chunk as usize] as usize * PLACES;
            arrays.copy(csr.row(row as usize), |k| first + k);
        });
        let groups = classes.medium.par_chunks(GROUP_ROWS).zip(self.pieces.par_chunks(GROUP_ROWS));
        groups.zip(self.starts.par_chunks(2)).for_each(|((rows, pieces), starts)| {
            for (slot, (&row, &piece)) in rows.iter().zip(pieces).enumerate() {
                let row = csr.row(row as usize);
                let irregular = row.end - (piece & 0xffff) as usize;
                let first = starts[0] as usize * PLACES + slot * WIDTH;
                let other = starts[1] as usize + (piece >> 16) as usize;
                arrays.copy(row.start..irregular, |k| first + k / WIDTH * PLACES + k % WIDTH);
                rest.copy(irregular..row.end, |k| other + k);
            }
        });
        let mut first = self.first_pair * PLACES;
        for (pairs, (units, split)) in
            classes.pairs.iter().zip(classes.pair_units().into_iter().zip([1, 2]))
        {
            pairs.par_iter().enumerate().for_each(|(slot, &[one, other])| {
                let place = first + slot * WIDTH;
                arrays.copy(csr.row(one as usize), |k| place + k);
                if other != NO_ENTRY {
                    arrays.copy(csr.row(other as usize), |k| place + split + k);
                }
            });
            first += 2 * units * PLACES;
        }
        classes.singles.par_iter().enumerate().for_each(|(place, &row)| {
            arrays.copy(csr.row(row as usize), |_| first + place);
        });
    }

    pub fn note(&self, classes: &Classes) -> String {
        let (long, medium) = (classes.long.len(), classes.medium.len());
        format!(
            "{long} long and {medium} medium rows, {} irregular entries",
            self.rest_values.len()
        )
    }
}

/// Copies entries of a matrix to places of two arrays.
struct Arrays<'a, T> {
    csr: &'a Csr<T>,
    columns: DisjointMut<'a, u32>,
    values: DisjointMut<'a, T>,
}

impl<'a, T: Scalar> Arrays<'a, T> {
    fn of(csr: &'a Csr<T>, columns: &'a mut [u32], values: &'a mut [T]) -> Self {
        Self { csr, columns: DisjointMut::new(columns), values: DisjointMut::new(values) }
    }

    /// Copies entries to the places that a function of their position returns.
    fn copy(&self, entries: Range<usize>, place: impl Fn(usize) -> usize) {
        for (k, entry) in entries.enumerate() {
            // SAFETY: each place is inside the arrays and belongs to one entry, and each entry to one row.
            unsafe {
                *self.columns.at(place(k)) = self.csr.column_indices()[entry];
                *self.values.at(place(k)) = self.csr.values()[entry];
            }
        }
    }
}

/// Returns the number of blocks of a group: as long as a block is full enough.
fn regular_blocks<I: Iterator<Item = usize>>(lengths: impl Fn() -> I) -> usize {
    let filled = |block: usize| {
        lengths().map(|length| length.saturating_sub(WIDTH * block).min(WIDTH)).sum::<usize>()
    };
    (0..).take_while(|&block| filled(block) >= FULL).count()
}

/// Returns the medium rows, the paired rows as the lanes of their warps store them, and those with one entry or none.
fn order(classes: &Classes) -> Vec<u32> {
    let mut order = classes.medium.clone();
    for unit in classes.pairs.iter().flat_map(|pairs| pairs.chunks(UNIT_PAIRS)) {
        for block in 0..2 {
            for part in 0..2 {
                let slots = block * GROUP_ROWS..(block + 1) * GROUP_ROWS;
                order.extend(slots.map(|slot| unit.get(slot).map_or(NO_ENTRY, |pair| pair[part])));
            }
        }
    }
    order.extend(classes.singles.iter().chain(&classes.empty));
    order
}

/// Bounds the bytes of the format. At most a quarter of the places is padding, but for the last units of pairs.
pub fn memory(extent: &Extent) -> u64 {
    let places = extent.nnz * 4 / 3 + 4 * PLACES as u64;
    let chunks = extent.nnz / LONGEST as u64 * 2;
    places * (extent.value + 4) + 9 * extent.rows + chunks * (extent.value + 12) + 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::of_lengths;

    #[test]
    fn rows_are_classified_by_length() {
        let csr = of_lengths(600, [3, 1, 0, 257, 2, 256, 4, 1, 2, 5, 1, 2, 0, 256]);
        let classes = Classes::of(&csr);
        assert_eq!(classes.long, [3]);
        assert_eq!(classes.medium, [5, 13, 9, 6]);
        assert_eq!(classes.pairs, [vec![[1, 0]], vec![[4, 8], [11, NO_ENTRY]]]);
        assert_eq!((classes.singles, classes.empty), (vec![7, 10], vec![2, 12]));
        // Rows of 3 without a partner have a block.
        assert_eq!(Classes::of(&of_lengths(600, [3, 4, 1, 3])).medium, [1, 3]);
    }

    #[test]
    fn blocks_of_medium_rows_are_full_enough() {
        let blocks = |lengths: &[usize]| regular_blocks(|| lengths.iter().copied());
        assert_eq!([blocks(&[3; 8]), blocks(&[4, 3, 3, 3, 3, 3, 3, 1])], [1, 0]);
        assert_eq!([blocks(&[7; 8]), blocks(&[6; 8]), blocks(&[100; 5])], [2, 1, 0]);
    }

    #[test]
    fn a_warp_owns_the_published_share_of_each_class() {
        let of = |lengths: &[usize], groups| {
            let csr = of_lengths(600, lengths.iter().copied());
            Format::of(&csr, &Classes::of(&csr), |_| groups)
        };
        // A group of 8 rows with a block and 12 irregular entries, one of a row without a block, and the end.
        let medium = of(&[5, 5, 5, 5, 5, 5, 5, 6, 8], 2);
        assert_eq!(medium.starts, [0, 0, 1, 12, 1, 17]);
        assert_eq!((medium.wide, medium.bundles), (0, 1));
        let long = of(&[600, 257, 40, 3], 1);
        assert_eq!(long.chunk_starts, [0, 8, 16, 19, 27, 28]);
        assert_eq!(long.first_chunks, [0, 3, 5]);
        assert_eq!(Classes::of(&of_lengths(600, [1, 3, 2, 2, 1, 0])).pair_units(), [1, 1]);
    }
}
