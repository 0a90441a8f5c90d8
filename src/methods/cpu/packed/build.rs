//! Packs a window: decides for each of its rows how it is stored, and writes the streams.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::window::{
    Band, Columns, Diagonal, Factors, LANE_SUM, MAX_HEIGHT, STEP, Segment, Slice, Window,
};
use crate::matrix::Csr;
use crate::methods::debug_check;
use crate::scalar::Scalar;
use crate::simd::{Aligned, Mask};

/// A band is used if at least this fraction of its slots contains nonzeros.
const BAND_FILL: f64 = 0.6;
/// A row joins the block above it if at least this fraction of the block's slots still contains nonzeros.
const BLOCK_FILL: f64 = 0.85;
/// Rows shorter than this do not join a block.
const BLOCK_WIDTH: usize = 4;
/// The settings by which windows are packed.
#[derive(Clone, Copy)]
pub struct Packing {
    /// The number of values per register.
    pub lanes: usize,
    /// Whether values are compressed: stored once if all are equal, replaced by codes if at most 256 differ.
    pub coded: bool,
    /// Rows with more nonzeros than this are not packed: all threads share them.
    pub longest: usize,
}

/// A block of rows that share their columns.
struct Block {
    row: usize,
    height: usize,
    columns: Vec<u32>,
    /// Whether some row has no nonzero in one of the columns.
    holes: bool,
}

impl Block {
    fn of_row<T>(csr: &Csr<T>, row: usize) -> Self {
        let columns = csr.column_indices[csr.row(row)].to_vec();
        Self { row, height: 1, columns, holes: false }
    }
}

/// The streams as far as they have been written.
struct Builder<'a, T> {
    csr: &'a Csr<T>,
    packing: Packing,
    first_row: usize,
    columns: Vec<u32>,
    values: Vec<T>,
    /// The position of each list of diagonals in the window's `diagonals`.
    lists: HashMap<Vec<Diagonal>, Range<usize>>,
    window: Window<T>,
}

/// Packs the rows `rows`, at most 2^16.
pub fn pack<T: Scalar>(csr: &Csr<T>, rows: Range<usize>, packing: Packing) -> Window<T> {
    let window = Window {
        first_row: rows.start,
        rows: rows.len(),
        width: packing.lanes,
        factors: Factors::Full(Aligned::new(&[], 0)),
        columns: Columns::Far(Vec::new()),
        bands: Vec::new(),
        diagonals: Vec::new(),
        segments: Vec::new(),
        slices: Vec::new(),
        lanes: Vec::new(),
        masks: Vec::new(),
        block_rows: Vec::new(),
        long_rows: Vec::new(),
    };
    let mut builder = Builder {
        csr,
        packing,
        first_row: rows.start,
        columns: Vec::new(),
        values: Vec::new(),
        lists: HashMap::new(),
        window,
    };
    let rest = builder.bands(rows);
    let blocks = builder.blocks(&rest);
    builder.segments(blocks);
    let window = builder.finish();
    debug_check(|| window.check(csr, packing.longest));
    window
}

impl<T: Scalar> Builder<'_, T> {
    /// Stores slices of consecutive rows that are on few diagonals as bands, and returns the other rows.
    fn bands(&mut self, rows: Range<usize>) -> Vec<usize> {
        let lanes = self.packing.lanes;
        let mut rest = Vec::new();
        let mut start = rows.start;
        while start + lanes <= rows.end {
            match self.diagonals_of(start..start + lanes) {
                Some(diagonals) => {
                    self.push_band_slice(start, diagonals);
                    start += lanes;
                }
                None => {
                    rest.extend(start..start + lanes);
                    start += lanes;
                }
            }
        }
        rest.extend(start..rows.end);
        rest
    }

    /// Returns the diagonals of the rows, if the rows fill them well enough and all of each diagonal is
    /// inside the matrix.
    fn diagonals_of(&self, rows: Range<usize>) -> Option<Vec<Diagonal>> {
        let csr = self.csr;
        let nonzeros = csr.row(rows.start).start..csr.row(rows.end - 1).end;
        let most = (nonzeros.len() as f64 / BAND_FILL) as usize / rows.len();
        let longest = rows.clone().map(|row| csr.row(row).len()).max()?;
        if longest == 0 || longest > most.min(self.packing.longest) {
            return None;
        }
        let mut offsets: Vec<(i32, usize)> = Vec::with_capacity(nonzeros.len());
        for (lane, row) in rows.clone().enumerate() {
            let columns = &csr.column_indices[csr.row(row)];
            offsets.extend(columns.iter().map(|&column| (column as i32 - row as i32, lane)));
        }
        offsets.sort_unstable();
        let mut diagonals: Vec<Diagonal> = Vec::new();
        for (offset, lane) in offsets {
            match diagonals.last_mut().filter(|last| last.offset == offset) {
                Some(last) => last.mask |= 1 << lane,
                None => diagonals.push(Diagonal { offset, mask: 1 << lane }),
            }
        }
        let first = rows.start as i64 + i64::from(diagonals.first()?.offset);
        let last = rows.end as i64 + i64::from(diagonals.last()?.offset);
        let inside = first >= 0 && last <= csr.cols as i64;
        (diagonals.len() <= most && inside).then_some(diagonals)
    }

    fn push_band_slice(&mut self, row: usize, diagonals: Vec<Diagonal>) {
        let (csr, lanes) = (self.csr, self.packing.lanes);
        // The value of an empty slot is not used, but it should not be an additional distinct value.
        let filler = csr.values[csr.row(row).start.min(csr.nnz() - 1)];
        let mut next: Vec<_> = (row..row + lanes).map(|row| csr.row(row).start).collect();
        for diagonal in &diagonals {
            for (lane, k) in next.iter_mut().enumerate() {
                let present = diagonal.mask >> lane & 1 == 1;
                self.values.push(if present { csr.values[*k] } else { filler });
                *k += usize::from(present);
            }
        }
        let list = self.list_of(diagonals);
        let row = row - self.first_row;
        match self.window.bands.last_mut() {
            Some(band) if band.row + band.slices * lanes == row && band.diagonals == list => {
                band.slices += 1;
            }
            _ => self.window.bands.push(Band { row, slices: 1, diagonals: list }),
        }
    }

    /// Returns the position of a list of diagonals, and stores the list if it is new.
    fn list_of(&mut self, diagonals: Vec<Diagonal>) -> Range<usize> {
        let all = &mut self.window.diagonals;
        let list = all.len()..all.len() + diagonals.len();
        match self.lists.entry(diagonals) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                all.extend(new.key());
                new.insert(list).clone()
            }
        }
    }

    /// Groups the rows into blocks of one to four neighbours with (nearly) the same columns.
    fn blocks(&self, rows: &[usize]) -> Vec<Block> {
        let csr = self.csr;
        let mut blocks: Vec<Block> = Vec::new();
        for &row in rows {
            let columns = &csr.column_indices[csr.row(row)];
            if columns.len() > self.packing.longest {
                continue;
            }
            if let Some(block) = blocks.last_mut()
                && block.row + block.height == row
                && block.height < MAX_HEIGHT
                && columns.len() >= BLOCK_WIDTH
            {
                let start = csr.row(block.row).start;
                if let Some(joined) =
                    joined(&block.columns, columns, csr.row(row).end - start, block.height + 1)
                {
                    block.holes |=
                        joined.len() != columns.len() || joined.len() != block.columns.len();
                    block.columns = joined;
                    block.height += 1;
                    continue;
                }
            }
            blocks.push(Block::of_row(csr, row));
        }
        blocks
    }

    /// Stores the blocks in slices, the blocks with most rows first. Blocks whose slice would have too few
    /// lanes are split into rows. Rows that differ too much in length are stored last, one by one.
    fn segments(&mut self, mut blocks: Vec<Block>) {
        let mut long = Vec::new();
        for height in (1..=MAX_HEIGHT).rev() {
            let (mut segment, rest) = blocks.into_iter().partition(|block| block.height == height);
            blocks = rest;
            segment.sort_by_key(|block: &Block| Reverse(block.columns.len()));
            let holes = segment.iter().any(|block| block.holes);
            let mut slices = 0;
            for slice in segment.chunks(self.packing.lanes) {
                if !self.pays_by_rows(slice) {
                    self.push_slice(slice, holes);
                    slices += 1;
                } else if height == 1 {
                    long.extend(slice.iter().map(|block| block.row));
                } else {
                    let rows = slice.iter().flat_map(|block| block.row..block.row + height);
                    blocks.extend(rows.map(|row| Block::of_row(self.csr, row)));
                }
            }
            if slices > 0 {
                self.window.segments.push(Segment { height, holes, slices });
            }
        }
        for row in long {
            self.push_long_row(row);
        }
    }

    /// Returns whether these blocks are faster to multiply row by row, because they are few or differ too
    /// much in length.
    fn pays_by_rows(&self, slice: &[Block]) -> bool {
        let Block { height, ref columns, .. } = slice[0];
        let row = |row: usize| {
            self.csr.row(row).len().div_ceil(self.packing.lanes) * (STEP + 1) + LANE_SUM
        };
        let rows = slice.iter().flat_map(|block| block.row..block.row + height);
        columns.len() * (STEP + height) + height * LANE_SUM > rows.map(row).sum::<usize>()
    }

    fn push_slice(&mut self, blocks: &[Block], holes: bool) {
        let (csr, height) = (self.csr, blocks[0].height);
        let lanes_at = |step: usize| blocks.partition_point(|block| block.columns.len() > step);
        let steps = blocks[0].columns.len();
        let mut full = 0;
        let rows_of = |block: &Block, r: usize| csr.row(block.row + r);
        let mut next: Vec<_> =
            blocks.iter().flat_map(|block| (0..height).map(|r| rows_of(block, r).start)).collect();
        for step in 0..steps {
            let lanes = lanes_at(step);
            if lanes == self.packing.lanes {
                full += 1;
            } else {
                self.window.lanes.push(lanes as u8);
            }
            self.columns.extend(blocks[..lanes].iter().map(|block| block.columns[step]));
            for r in 0..height {
                let mut mask: Mask = 0;
                for (lane, block) in blocks[..lanes].iter().enumerate() {
                    let k = &mut next[lane * height + r];
                    let range = rows_of(block, r);
                    let present = *k < range.end && csr.column_indices[*k] == block.columns[step];
                    let filler = csr.values[range.start.min(csr.nnz() - 1)];
                    self.values.push(if present { csr.values[*k] } else { filler });
                    *k += usize::from(present);
                    mask |= Mask::from(present) << lane;
                }
                if holes {
                    self.window.masks.push(mask);
                }
            }
        }
        self.align();
        let window = &mut self.window;
        window.block_rows.extend(blocks.iter().map(|b| (b.row - self.first_row) as u16));
        let (partial, blocks) = ((steps - full) as u32, blocks.len() as u8);
        window.slices.push(Slice { full: full as u32, partial, blocks });
    }

    /// Pads the values to a whole register.
    fn align(&mut self) {
        let filler = self.values.last().copied().unwrap_or_default();
        self.values.resize(self.values.len().next_multiple_of(self.packing.lanes), filler);
    }

    fn push_long_row(&mut self, row: usize) {
        let nonzeros = self.csr.row(row);
        self.columns.extend(&self.csr.column_indices[nonzeros.clone()]);
        self.values.extend(&self.csr.values[nonzeros.clone()]);
        self.align();
        self.window.long_rows.push(((row - self.first_row) as u16, nonzeros.len() as u32));
    }

    fn finish(self) -> Window<T> {
        let Packing { lanes, coded, .. } = self.packing;
        Window {
            columns: Columns::of(self.columns, lanes),
            factors: factors(self.values, coded, lanes),
            ..self.window
        }
    }
}

/// Returns the union of two ascending lists of columns, if `nonzeros` nonzeros fill `height` rows of it well enough.
fn joined(a: &[u32], b: &[u32], nonzeros: usize, height: usize) -> Option<Vec<u32>> {
    let most = (nonzeros as f64 / BLOCK_FILL) as usize / height;
    if a == b {
        return Some(a.to_vec());
    }
    if a.len().max(b.len()) > most {
        return None;
    }
    let mut union = Vec::with_capacity(most + 1);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&a), Some(&b)) => a.min(b),
            (Some(&only), None) | (None, Some(&only)) => only,
            (None, None) => unreachable!("one of the lists has not ended"),
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        union.push(next);
        if union.len() > most {
            return None;
        }
    }
    Some(union)
}

/// Stores the values unchanged or, if `coded`, in the smallest form. `slack` elements are appended, so that
/// loads of whole registers may read past the end.
fn factors<T: Scalar>(values: Vec<T>, coded: bool, slack: usize) -> Factors<T> {
    let bits = |value: T| value.widen().to_bits();
    let first = values.first().copied().unwrap_or_default();
    if !coded {
        return Factors::Full(Aligned::new(&values, slack));
    }
    if values.iter().all(|&value| bits(value) == bits(first)) {
        return Factors::Same(first);
    }
    if let Some((table, mut codes)) = code(&values) {
        codes.resize(codes.len() + slack, 0);
        return Factors::Coded { table, codes };
    }
    Factors::Full(Aligned::new(&values, slack))
}

/// Returns a table of the distinct values and the index of each value in it, or `None` if there are more than 256.
fn code<T: Scalar>(values: &[T]) -> Option<(Vec<T>, Vec<u8>)> {
    let mut table = Vec::new();
    let mut known = HashMap::new();
    let mut codes = Vec::with_capacity(values.len());
    for &value in values {
        let code = *known.entry(value.widen().to_bits()).or_insert_with(|| {
            table.push(value);
            table.len() - 1
        });
        codes.push(u8::try_from(code).ok()?);
    }
    Some((table, codes))
}
