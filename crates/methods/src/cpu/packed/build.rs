//! Packs a window: decides for each of its rows how it is stored, and writes the streams.
//!
//! The setup should cost no more than a few products, so each nonzero is read once to decide and once to write, the
//! comparisons stop as early as possible, and blocks are sorted by counting. Lists that a window needs only while it is
//! packed are kept for the next one.

use std::array;
use std::mem::take;
use std::ops::Range;

use super::blocks::{BLOCK_FILL, Block, Blocks};
use super::diagonals::Diagonals;
use super::factors::Form;
use super::window::{Band, Columns, LANE_SUM, MAX_HEIGHT, STEP, Segment, Slice, Window};
use crate::formats::entries_of;
use crate::simd::Aligned;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

/// Returns the smallest fraction of the slots of a band that contain nonzeros. Below it, the empty slots have more
/// bytes than the 16-bit column indices of slices.
fn band_fill<T>() -> f64 {
    size_of::<T>() as f64 / (size_of::<T>() + size_of::<u16>()) as f64
}

#[derive(Clone, Copy, Default)]
pub struct Packing {
    /// The number of values per register: 4, 8 or 16.
    pub lanes: usize,
    /// The largest number of values in a table of codes; `None` if values are stored unchanged.
    pub table: Option<usize>,
    /// Rows with more nonzeros than this are not packed: all threads share them.
    pub longest: usize,
}

#[derive(Default)]
pub struct Packer<T> {
    packing: Packing,
    form: Form<T>,
    values: Aligned<T>,
    diagonals: Diagonals,
    blocks: Blocks,
    pair: Vec<T>,
    partial: Vec<(usize, usize)>,
    window: Window<T>,
}

impl<T: Scalar> Packer<T> {
    pub fn new(packing: Packing) -> Self {
        Self { packing, ..Self::default() }
    }

    /// Packs the rows `rows`, at most 2^16.
    pub fn pack(&mut self, csr: &Csr<T>, rows: Range<usize>) -> Window<T> {
        match self.packing.lanes {
            4 => self.pack_for::<4>(csr, rows),
            8 => self.pack_for::<8>(csr, rows),
            16 => self.pack_for::<16>(csr, rows),
            lanes => unreachable!("no register has {lanes} values"),
        }
    }

    fn pack_for<const LANES: usize>(&mut self, csr: &Csr<T>, rows: Range<usize>) -> Window<T> {
        self.window.first_row = rows.start;
        self.window.rows = rows.len();
        self.window.width = LANES;
        if let Some(most) = self.packing.table {
            self.form = Form::of(&csr.values()[entries_of(csr, &rows)], most);
        }
        self.reserve::<LANES>(csr, rows.clone());
        let rest = self.bands::<LANES>(csr, rows);
        self.blocks.find(csr, &rest, self.packing.longest);
        self.segments::<LANES>(csr);
        let mut window = take(&mut self.window);
        window.columns.end(LANES);
        window.factors = self.form.store(take(&mut self.values), LANES);
        window
    }

    /// Reserves memory for the values with their empty slots, about one more per row to align them, and for the columns
    /// in their narrowest type. Pages to which nothing is written cost nothing.
    fn reserve<const LANES: usize>(&mut self, csr: &Csr<T>, rows: Range<usize>) {
        let (mut first, mut last, mut nonzeros) = (u32::MAX, 0, 0);
        for row in rows.clone().map(|row| csr.row(row)) {
            if (1..=self.packing.longest).contains(&row.len()) {
                first = first.min(csr.column_indices()[row.start]);
                last = last.max(csr.column_indices()[row.end - 1]);
                nonzeros += row.len();
            }
        }
        let slots = (nonzeros as f64 / band_fill::<T>().min(BLOCK_FILL)) as usize;
        self.window.columns = Columns::between(first.min(last), last, slots + LANES);
        self.values = Aligned::with_capacity(slots + rows.len());
    }

    /// Stores slices of consecutive rows that are on few diagonals as bands, and returns the other rows.
    fn bands<const LANES: usize>(&mut self, csr: &Csr<T>, rows: Range<usize>) -> Vec<usize> {
        self.diagonals.clear();
        let fill = band_fill::<T>();
        let (mut start, mut rest) = (rows.start, Vec::new());
        while start + LANES <= rows.end {
            let slice = start..start + LANES;
            if self.diagonals.find(csr, slice.clone(), fill, self.packing.longest) {
                self.push_band_slice::<LANES>(csr, start);
            } else {
                rest.extend(slice);
            }
            start += LANES;
        }
        rest.extend(start..rows.end);
        rest
    }

    fn push_band_slice<const LANES: usize>(&mut self, csr: &Csr<T>, row: usize) {
        let diagonals = &self.diagonals.of_slice;
        let count = diagonals.len() * LANES;
        let values = self.values.append(count, self.form.filler());
        let (registers, _) = values.as_chunks_mut::<LANES>();
        for lane in 0..LANES {
            let own = &csr.values()[csr.row(row + lane)];
            if own.len() == diagonals.len() {
                registers.iter_mut().zip(own).for_each(|(register, &value)| register[lane] = value);
            } else {
                let with_nonzero = registers.iter_mut().zip(diagonals);
                let with_nonzero = with_nonzero.filter(|(_, d)| d.mask >> lane & 1 == 1);
                with_nonzero.zip(own).for_each(|((register, _), &value)| register[lane] = value);
            }
        }
        let list = self.diagonals.list_in(&mut self.window.diagonals);
        let row = row - self.window.first_row;
        match self.window.bands.last_mut() {
            Some(band) if band.row + band.slices * LANES == row && band.diagonals == list => {
                band.slices += 1;
                if band.slices % 2 == 0 {
                    let first = self.values.len() - 2 * count;
                    self.pair.clear();
                    self.pair.extend_from_slice(&self.values[first..]);
                    interleave::<_, LANES>(&self.pair, &mut self.values[first..]);
                }
            }
            _ => self.window.bands.push(Band { row, slices: 1, diagonals: list }),
        }
    }

    /// Stores the blocks in slices, the blocks with most rows first. Blocks whose slice would have too few
    /// lanes are split into rows. Rows that differ too much in length are stored last, one by one.
    fn segments<const LANES: usize>(&mut self, csr: &Csr<T>) {
        let mut long = Vec::new();
        for height in (1..=MAX_HEIGHT).rev() {
            self.blocks.sort::<LANES>(height);
            let blocks = take(&mut self.blocks.of_height[height - 1]);
            let holes = blocks.iter().any(|block| block.holes);
            let mut slices = 0;
            for slice in blocks.chunks(LANES) {
                let rows = slice.iter().flat_map(Block::rows);
                if !pays_by_rows(csr, slice, LANES) {
                    self.push_slice::<LANES>(csr, slice, holes);
                    slices += 1;
                } else if height == 1 {
                    long.extend(rows);
                } else {
                    rows.for_each(|row| self.blocks.of_height[0].push(Block::of_row(csr, row)));
                }
            }
            if slices > 0 {
                self.window.segments.push(Segment { height, holes, slices });
            }
            self.blocks.of_height[height - 1] = blocks;
        }
        long.into_iter().for_each(|row| self.push_long_row::<LANES>(csr, row));
    }

    fn push_slice<const LANES: usize>(&mut self, csr: &Csr<T>, slice: &[Block], holes: bool) {
        let (first, steps, height) = (slice[0].rows().start, slice[0].width(), slice[0].height());
        let place = Place::<LANES>::of(slice, take(&mut self.partial));
        let slots = (place.count * height).next_multiple_of(LANES);
        let values = self.values.append(slots, self.form.filler());
        let masks = append(&mut self.window.masks, if holes { steps * height } else { 0 }, 0);
        let unions = array::from_fn(|lane| match slice.get(lane) {
            Some(block) => self.blocks.columns(csr, block),
            None => &[],
        });
        place.spread_columns(unions, &mut self.window.columns);
        for r in 0..height {
            let rows: [_; LANES] =
                array::from_fn(|lane| slice.get(lane).map_or(0..0, |block| csr.row(block.rows().start + r)));
            if !holes {
                let rows = rows.map(|row| &csr.values()[row]);
                place.spread(rows, values, height, r, |value| value);
                continue;
            }
            for (lane, row) in rows.into_iter().enumerate() {
                let mut entries = row.map(|k| (csr.column_indices()[k], csr.values()[k])).peekable();
                for (step, &column) in unions[lane].iter().enumerate() {
                    if let Some((_, value)) = entries.next_if(|&(own, _)| own == column) {
                        values[place.index(step, height, r) + lane] = value;
                        masks[step * height + r] |= 1 << lane;
                    }
                }
            }
        }
        let window = &mut self.window;
        let rows = slice.iter().map(|block| block.rows().start);
        let consecutive = slice.len() == LANES && rows.clone().eq(first..first + LANES);
        window.lanes.extend(place.partial.iter().map(|&(_, lanes)| lanes as u8));
        window.block_rows.extend(rows.map(|row| (row - window.first_row) as u16));
        window.slices.push(Slice {
            full: place.full as u32,
            partial: (steps - place.full) as u32,
            blocks: slice.len() as u8,
            consecutive,
        });
        self.partial = place.partial;
    }

    fn push_long_row<const LANES: usize>(&mut self, csr: &Csr<T>, row: usize) {
        let nonzeros = csr.row(row);
        let columns = csr.column_indices()[nonzeros.clone()].iter();
        match &mut self.window.columns {
            Columns::Near { base, deltas } => deltas.extend(columns.map(|c| (c - *base) as u16)),
            Columns::Far(all) => all.extend(columns),
        }
        let slots = nonzeros.len().next_multiple_of(LANES);
        let values = self.values.append(slots, self.form.filler());
        values[..nonzeros.len()].copy_from_slice(&csr.values()[nonzeros.clone()]);
        self.window.long_rows.push(((row - self.window.first_row) as u16, nonzeros.len() as u32));
    }
}

/// Where the elements of a slice belong in its streams. A slice is stored step by step; in each step the lanes that
/// have not ended, one after the other; of a block of several rows, its columns once and its values row by row.
struct Place<const LANES: usize> {
    /// The number of steps in which all lanes have a block.
    full: usize,
    /// For each further step, the number of columns before it and the number of lanes that have not ended.
    partial: Vec<(usize, usize)>,
    /// The number of columns of all steps.
    count: usize,
}

impl<const LANES: usize> Place<LANES> {
    /// Returns the place of the elements of a slice of blocks, the widest first. `partial` is reused.
    fn of(slice: &[Block], mut partial: Vec<(usize, usize)>) -> Self {
        let full = if slice.len() == LANES { slice[LANES - 1].width() } else { 0 };
        partial.clear();
        let (mut count, mut lanes) = (full * LANES, slice.len());
        for step in full..slice[0].width() {
            while slice[lanes - 1].width() <= step {
                lanes -= 1;
            }
            partial.push((count, lanes));
            count += lanes;
        }
        Self { full, partial, count }
    }

    /// Returns the index of the first lane's element of row `r` of blocks of `height` rows.
    fn index(&self, step: usize, height: usize, r: usize) -> usize {
        match step.checked_sub(self.full) {
            None => (step * height + r) * LANES,
            Some(step) => self.partial[step].0 * height + r * self.partial[step].1,
        }
    }

    /// Appends the columns of all lanes to a stream.
    fn spread_columns(&self, lanes: [&[u32]; LANES], to: &mut Columns) {
        match to {
            Columns::Near { base, deltas } => {
                let deltas = append(deltas, self.count, 0);
                self.spread(lanes, deltas, 1, 0, |column| (column - *base) as u16);
            }
            Columns::Far(columns) => {
                self.spread(lanes, append(columns, self.count, 0), 1, 0, |column| column);
            }
        }
    }

    /// Writes the elements of row `r` of blocks of `height` rows, given for each lane, step by step, in the form in
    /// which they are `stored`.
    fn spread<E: Copy, S>(
        &self,
        elements: [&[E]; LANES],
        to: &mut [S],
        height: usize,
        r: usize,
        stored: impl Fn(E) -> S,
    ) {
        let (registers, _) = to[..self.full * height * LANES].as_chunks_mut::<LANES>();
        assert!(self.full == 0 || elements.iter().all(|of_lane| of_lane.len() >= self.full));
        for (step, register) in registers.iter_mut().skip(r).step_by(height).enumerate() {
            for (element, of_lane) in register.iter_mut().zip(elements) {
                // SAFETY: each lane has at least `full` elements, as asserted, and there are as many steps.
                *element = stored(unsafe { *of_lane.get_unchecked(step) });
            }
        }
        for (step, &(start, lanes)) in self.partial.iter().enumerate() {
            let to = &mut to[start * height + r * lanes..][..lanes];
            for (element, of_lane) in to.iter_mut().zip(elements) {
                *element = stored(of_lane[self.full + step]);
            }
        }
    }
}

/// Writes the registers of two slices in turn: the kernel reads both together, and one stream is faster than two.
fn interleave<E: Copy, const LANES: usize>(slices: &[E], to: &mut [E]) {
    let (a, b) = slices.split_at(slices.len() / 2);
    let registers = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0);
    for ((a, b), to) in registers.zip(to.chunks_exact_mut(2 * LANES)) {
        to[..LANES].copy_from_slice(a);
        to[LANES..].copy_from_slice(b);
    }
}

fn append<E: Copy>(to: &mut Vec<E>, count: usize, element: E) -> &mut [E] {
    let first = to.len();
    to.resize(first + count, element);
    &mut to[first..]
}

/// Returns whether these blocks are faster to multiply row by row, because they are few or differ too much in length.
fn pays_by_rows<T>(csr: &Csr<T>, slice: &[Block], lanes: usize) -> bool {
    let (height, width) = (slice[0].height(), slice[0].width());
    let row = |row: usize| csr.row(row).len().div_ceil(lanes) * (STEP + 1) + LANE_SUM;
    let rows = slice.iter().flat_map(Block::rows);
    width * (STEP + height) + height * LANE_SUM > rows.map(row).sum::<usize>()
}
