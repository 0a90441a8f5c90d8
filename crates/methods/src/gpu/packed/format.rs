//! The format of `gpu-packed`: slices, their lists of steps, and the conversion from CSR.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{Range, RangeInclusive};

use rayon::prelude::*;

use super::steps::{Entries, LANES, Stream, band, by_rows};
use crate::gpu::prelude::*;

/// The number of rows among which rows of similar length are brought together.
const WINDOW: usize = 4096;
/// The bounds of the number of steps that the slices of a matrix have at most, apart from bands and long rows.
const STEPS: RangeInclusive<usize> = 4..=32;
/// The smallest number of steps of a part of a row, because the parts of a row must be added.
const PART_STEPS: usize = 8;

/// The flags of a head, as in `cuda/packed.cu`, and the first bits of the logarithm of the lanes per row and of the
/// number of steps.
const LISTED: u32 = 1;
const DIVIDED: u32 = 2;
const NO_OFFSETS: u32 = 4;
const SHIFT: u32 = 3;
const COUNT: u32 = 6;
/// The largest number of consecutive slices with the same steps and no offsets that a warp owns.
const RUN: usize = 4;
/// The distance of a lane without a row in a listed slice.
const NO_LANE: u16 = u16::MAX;

/// The positions of a slice in the arrays: its list of steps, its nonzeros, its words, and its first row. A slice without
/// words has the number of the slices behind it that have the same steps and belong to it.
pub type Slice = [u32; 4];

#[derive(Default)]
pub struct Packed {
    /// The slices; those of divided rows come first.
    pub slices: Vec<Slice>,
    /// The flags of each slice, the logarithm of its lanes per row, and the number of its steps.
    pub heads: Vec<u32>,
    /// Lists of steps. Equal lists are stored once.
    pub steps: Vec<[u32; 2]>,
    /// What the slices store besides values: the rows, and the offsets of columns.
    pub words: Vec<u32>,
    /// The index in CSR of each stored nonzero.
    pub entries: Vec<u32>,
    /// The number of slices of divided rows.
    pub parts: usize,
}

impl Packed {
    /// Converts a matrix for a GPU that should have work for at least `warps` warps. Up to `run` slices are one; the default
    /// follows the number of rows.
    pub fn of<T: Scalar>(csr: &Csr<T>, warps: usize, run: Option<usize>) -> Self {
        let most = (csr.nnz() / LANES / warps).clamp(*STEPS.start(), *STEPS.end());
        let run = run.unwrap_or_else(|| (csr.rows() / LANES / warps).clamp(1, RUN)) as u32;
        let windows = csr.rows().div_ceil(WINDOW);
        let rows = |index: usize| index * WINDOW..csr.rows().min((index + 1) * WINDOW);
        let mut packed: Self = Self::default();
        let mut known = HashMap::new();
        for row in (0..csr.rows()).filter(|&row| csr.row(row).len() > part(most)) {
            packed.append(divide(csr, row, part(most), packed.slices.len()), 1, &mut known);
        }
        packed.parts = packed.slices.len();
        let windows: Vec<_> =
            (0..windows).into_par_iter().map(|index| pack(csr, rows(index), most)).collect();
        windows.into_iter().for_each(|window| packed.append(window, run, &mut known));
        // A thread may read the word after the last.
        packed.words.extend([0; 2]);
        packed
    }

    /// Appends the slices of `window`, whose positions are those in the window. Up to `run` consecutive ones with the same
    /// steps and without words become one.
    fn append(&mut self, window: Self, run: u32, known: &mut HashMap<u64, u32>) {
        let (entries, words) = (self.entries.len() as u32, self.words.len() as u32);
        for ([list, entry, word, row], head) in window.slices.into_iter().zip(window.heads) {
            let steps = (head >> COUNT) as usize;
            let list = self.list_of(&window.steps[list as usize..][..steps], known);
            let wordless = head & (LISTED | DIVIDED | NO_OFFSETS) == NO_OFFSETS;
            if let (Some([last_list, .., more, start]), Some(last_head)) =
                (self.slices.last_mut(), self.heads.last())
                && wordless
                && (*last_list, *last_head) == (list, head)
                && *more + 1 < run
                && row == *start + (*more + 1) * LANES as u32
            {
                *more += 1;
                continue;
            }
            let words = if wordless { 0 } else { words + word };
            self.slices.push([list, entries + entry, words, row]);
            self.heads.push(head);
        }
        self.entries.extend(window.entries);
        self.words.extend(window.words);
    }

    /// Returns the position of a list of steps, and stores the list if it is new.
    fn list_of(&mut self, list: &[[u32; 2]], known: &mut HashMap<u64, u32>) -> u32 {
        let mut hasher = DefaultHasher::new();
        list.hash(&mut hasher);
        let new = self.steps.len() as u32;
        let place = *known.entry(hasher.finish()).or_insert(new);
        if self.steps[place as usize..].starts_with(list) {
            return place;
        }
        self.steps.extend(list);
        new
    }

    /// Adds a slice: the flags of its head, its words before the offsets, its first row, and the nonzeros of its steps.
    fn push<T>(&mut self, csr: &Csr<T>, flags: u32, words: &[u32], row: usize, steps: &[Entries]) {
        let slice = [self.steps.len(), self.entries.len(), self.words.len(), row];
        self.slices.push(slice.map(|place| place as u32));
        self.words.extend(words);
        let mut stream = Stream::new(row as u32, &mut self.words);
        let step = |entries| stream.step(csr.column_indices(), entries);
        let codes: Vec<_> = steps.iter().map(step).collect();
        let no_offsets = if stream.is_empty() { NO_OFFSETS } else { 0 };
        self.heads.push(flags | no_offsets | (codes.len() as u32) << COUNT);
        self.steps.extend(codes);
        self.entries.extend(steps.iter().flatten().flatten());
    }

    /// Adds a slice of neighbouring rows with `lanes` lanes each.
    fn push_rows<T>(&mut self, csr: &Csr<T>, rows: Range<usize>, lanes: usize) {
        let ranges: Vec<_> = rows.clone().map(|row| csr.row(row)).collect();
        self.push(csr, lanes.ilog2() << SHIFT, &[], rows.start, &by_rows(&ranges, lanes));
    }

    /// Adds a slice of any rows of a window, which starts at row `first`, with `lanes` lanes each.
    fn push_listed<T>(&mut self, csr: &Csr<T>, first: usize, rows: &[usize], lanes: usize) {
        let distance = |k: usize| rows.get(k).map_or(NO_LANE, |row| (row - first) as u16);
        let pair = |k: usize| u32::from(distance(2 * k)) | u32::from(distance(2 * k + 1)) << 16;
        let distances: Vec<_> = (0..LANES / lanes / 2).map(pair).collect();
        let ranges: Vec<_> = rows.iter().map(|&row| csr.row(row)).collect();
        let flags = LISTED | lanes.ilog2() << SHIFT;
        self.push(csr, flags, &distances, first, &by_rows(&ranges, lanes));
    }
}

/// Returns the largest number of nonzeros of a row that is not divided, for slices of at most `most` steps.
fn part(most: usize) -> usize {
    LANES * most.max(PART_STEPS)
}

/// Divides a long row into slices of `part` nonzeros, of which the first has the number `first`.
fn divide<T>(csr: &Csr<T>, row: usize, part: usize, first: usize) -> Packed {
    let Range { start, end } = csr.row(row);
    let starts = (start..end).step_by(part);
    let of_row = [first as u32, starts.len() as u32];
    let flags = DIVIDED | LANES.ilog2() << SHIFT;
    let mut packed = Packed::default();
    for start in starts {
        let range = start..end.min(start + part);
        packed.push(csr, flags, &of_row, row, &by_rows(&[range], LANES));
    }
    packed
}

/// Packs the rows of a window that are not divided, in slices of at most `most` steps, or bands of four times as many.
fn pack<T>(csr: &Csr<T>, window: Range<usize>, most: usize) -> Packed {
    let length = |row: usize| csr.row(row).len();
    let mut packed = Packed::default();
    let mut others = Vec::new();
    for start in window.clone().step_by(LANES) {
        let rows = start..window.end.min(start + LANES);
        let longest = rows.clone().map(length).max().unwrap_or(0);
        let nonzeros: usize = rows.clone().map(length).sum();
        let fits = |steps: usize| 4 * nonzeros >= 3 * rows.len() * steps;
        let lanes = lanes(longest, most);
        if longest <= 4 * most
            && let Some(steps) = band(csr, rows.clone(), longest + longest / 4)
            && fits(steps.len() * 4 / 5)
        {
            packed.push(csr, 0, &[], start, &steps);
        } else if longest <= part(most) && fits(longest) {
            let starts = rows.clone().step_by(LANES / lanes);
            starts.for_each(|row| {
                packed.push_rows(csr, row..rows.end.min(row + LANES / lanes), lanes)
            });
        } else {
            others.extend(rows.filter(|&row| length(row) <= part(most)));
        }
    }
    others.sort_by_key(|&row| Reverse(length(row)));
    let mut others = &others[..];
    while let Some(&row) = others.first() {
        let lanes = lanes(length(row), most);
        let (rows, rest) = others.split_at(others.len().min(LANES / lanes));
        match rows {
            [row] => packed.push_rows(csr, *row..row + 1, LANES),
            _ => packed.push_listed(csr, window.start, rows, lanes),
        }
        others = rest;
    }
    packed
}

/// Returns how many lanes a row of a slice has, so that a row of `longest` nonzeros has at most `most` steps if possible.
fn lanes(longest: usize, most: usize) -> usize {
    longest.div_ceil(most).next_power_of_two().clamp(1, LANES)
}

/// Bounds the bytes of the format with `value` bytes per nonzero.
pub fn memory(extent: &Extent, value: u64) -> u64 {
    let Extent { rows, nnz, longest, .. } = *extent;
    let (lanes, steps) = (LANES as u64, *STEPS.end() as u64);
    // At most 32 bits of an offset; a step for each 16 nonzeros, because few lanes are idle; less for heads and slices.
    let entries = nnz * (value + 4 + 2);
    // Of each window, one slice more for each number of lanes per row.
    let windows = rows.div_ceil(WINDOW as u64) * (2 * longest.min(steps * lanes) * 8 / lanes + 128);
    let parts = nnz / (lanes * PART_STEPS as u64) * (extent.value + 4);
    entries + rows * 4 + windows + parts
}
