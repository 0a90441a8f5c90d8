//! Packs a window: decides for each of its rows how it is stored, and writes the streams.
//!
//! The setup should cost no more than a few products, so each nonzero is read once to decide and once to write, the
//! comparisons stop as early as possible, and blocks are sorted by counting. Lists that a window needs only while it is
//! packed are kept for the next one.

use std::array;
use std::mem::{replace, take};
use std::ops::Range;

use super::blocks::{BLOCK_FILL, Block, Blocks};
use super::diagonals::Diagonals;
use super::factors::Form;
use super::place::Place;
use super::window::{Band, Columns, LANE_SUM, MAX_HEIGHT, STEP, Segment, Slice, Window};
use crate::debug_check;
use crate::simd::Aligned;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

/// Returns the smallest fraction of the slots of a band that contain nonzeros. Below it, the empty slots have more bytes
/// than the 16-bit column indices of slices.
fn band_fill<T>() -> f64 {
    size_of::<T>() as f64 / (size_of::<T>() + size_of::<u16>()) as f64
}

/// The settings by which windows are packed.
#[derive(Clone, Copy)]
pub struct Packing {
    /// The number of values per register: 4, 8 or 16.
    pub lanes: usize,
    /// The largest number of values in a table of codes; `None` if values are stored unchanged.
    pub table: Option<usize>,
    /// Rows with more nonzeros than this are not packed: all threads share them.
    pub longest: usize,
}

/// Packs windows one after the other. A thread uses one packer for all of its windows.
pub struct Packer<T> {
    packing: Packing,
    /// How the window's values are stored in the end.
    form: Form<T>,
    /// The values of the window.
    values: Aligned<T>,
    diagonals: Diagonals,
    blocks: Blocks,
    /// The rows of the window that are in no band.
    rest: Vec<usize>,
    long: Vec<usize>,
    /// The buffer for a pair of slices of a band.
    pair: Vec<T>,
    /// The buffer of [`Place`].
    partial: Vec<(usize, usize)>,
    window: Window<T>,
}

impl<T: Scalar> Packer<T> {
    /// Creates a packer.
    pub fn new(packing: Packing) -> Self {
        Self {
            packing,
            form: Form::Full,
            values: Aligned::with_capacity(0),
            diagonals: Diagonals::default(),
            blocks: Blocks::default(),
            rest: Vec::new(),
            long: Vec::new(),
            pair: Vec::new(),
            partial: Vec::new(),
            window: Window::default(),
        }
    }

    /// Packs the rows `rows`, at most 2^16.
    pub fn pack(&mut self, csr: &Csr<T>, rows: Range<usize>) -> Window<T> {
        let window = match self.packing.lanes {
            4 => self.pack_for::<4>(csr, rows),
            8 => self.pack_for::<8>(csr, rows),
            16 => self.pack_for::<16>(csr, rows),
            lanes => unreachable!("no register has {lanes} values"),
        };
        debug_check(|| window.check(csr, self.packing.longest));
        window
    }

    fn pack_for<const LANES: usize>(&mut self, csr: &Csr<T>, rows: Range<usize>) -> Window<T> {
        self.window.first_row = rows.start;
        self.window.rows = rows.len();
        self.window.width = LANES;
        if let Some(most) = self.packing.table {
            let (first, end) = (csr.row_offsets()[rows.start], csr.row_offsets()[rows.end]);
            self.form = Form::of(&csr.values()[first as usize..end as usize], most);
        }
        self.reserve::<LANES>(csr, rows.clone());
        self.bands::<LANES>(csr, rows);
        self.blocks.find(csr, &self.rest, self.packing.longest);
        self.segments::<LANES>(csr);
        let mut window = take(&mut self.window);
        window.columns.end(LANES);
        let values = replace(&mut self.values, Aligned::with_capacity(0));
        window.factors = self.form.store(values, LANES);
        window
    }

    /// Reserves memory for the values with their empty slots, about one more per row to align them, and for the columns in
    /// their narrowest type. Pages to which nothing is written cost nothing.
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

    /// Stores slices of consecutive rows that are on few diagonals as bands, and lists the other rows.
    fn bands<const LANES: usize>(&mut self, csr: &Csr<T>, rows: Range<usize>) {
        self.rest.clear();
        self.diagonals.clear();
        let fill = band_fill::<T>();
        let mut start = rows.start;
        while start + LANES <= rows.end {
            let slice = start..start + LANES;
            if self.diagonals.find(csr, slice.clone(), fill, self.packing.longest) {
                self.push_band_slice::<LANES>(csr, start);
            } else {
                self.rest.extend(slice);
            }
            start += LANES;
        }
        self.rest.extend(start..rows.end);
    }

    fn push_band_slice<const LANES: usize>(&mut self, csr: &Csr<T>, row: usize) {
        let diagonals = self.diagonals.of_slice();
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
                    self.long.extend(rows);
                } else {
                    rows.for_each(|row| self.blocks.of_height[0].push(Block::of_row(csr, row)));
                }
            }
            if slices > 0 {
                self.window.segments.push(Segment { height, holes, slices });
            }
            self.blocks.of_height[height - 1] = blocks;
        }
        let mut long = take(&mut self.long);
        long.drain(..).for_each(|row| self.push_long_row::<LANES>(csr, row));
        self.long = long;
    }

    fn push_slice<const LANES: usize>(&mut self, csr: &Csr<T>, slice: &[Block], holes: bool) {
        let (first, steps, height) = (slice[0].rows().start, slice[0].width(), slice[0].height());
        let place = Place::of::<LANES>(slice, take(&mut self.partial));
        let count = place.count();
        let slots = (count * height).next_multiple_of(LANES);
        let values = self.values.append(slots, self.form.filler());
        let masks = append(&mut self.window.masks, if holes { steps * height } else { 0 }, 0);
        let unions = array::from_fn(|lane| match slice.get(lane) {
            Some(block) => self.blocks.columns(csr, block),
            None => &[],
        });
        match &mut self.window.columns {
            Columns::Near { base, deltas } => {
                let deltas = append(deltas, count, 0);
                place.spread::<_, _, LANES>(unions, deltas, 1, 0, |column| (column - *base) as u16);
            }
            Columns::Far(columns) => {
                place.spread::<_, _, LANES>(unions, append(columns, count, 0), 1, 0, |column| {
                    column
                });
            }
        }
        for r in 0..height {
            let rows = array::from_fn(|lane| match slice.get(lane) {
                Some(block) => csr.row(block.rows().start + r),
                None => 0..0,
            });
            if !holes {
                let rows = rows.map(|row| &csr.values()[row]);
                place.spread::<_, _, LANES>(rows, values, height, r, |value| value);
                continue;
            }
            for (lane, row) in rows.into_iter().enumerate() {
                let mut entries =
                    row.map(|k| (csr.column_indices()[k], csr.values()[k])).peekable();
                for (step, &column) in unions[lane].iter().enumerate() {
                    if let Some((_, value)) = entries.next_if(|&(own, _)| own == column) {
                        values[place.index::<LANES>(step, height, r) + lane] = value;
                        masks[step * height + r] |= 1 << lane;
                    }
                }
            }
        }
        let window = &mut self.window;
        let rows = slice.iter().map(|block| block.rows().start);
        let consecutive = slice.len() == LANES && rows.clone().eq(first..first + LANES);
        window.lanes.extend(place.partial_lanes());
        window.block_rows.extend(rows.map(|row| (row - window.first_row) as u16));
        window.slices.push(Slice {
            full: place.full() as u32,
            partial: (steps - place.full()) as u32,
            blocks: slice.len() as u8,
            consecutive,
        });
        self.partial = place.into_buffer();
    }

    fn push_long_row<const LANES: usize>(&mut self, csr: &Csr<T>, row: usize) {
        let nonzeros = csr.row(row);
        let columns = csr.column_indices()[nonzeros.clone()].iter();
        match &mut self.window.columns {
            Columns::Near { base, deltas } => {
                deltas.extend(columns.map(|column| (column - *base) as u16))
            }
            Columns::Far(all) => all.extend(columns),
        }
        let slots = nonzeros.len().next_multiple_of(LANES);
        let values = self.values.append(slots, self.form.filler());
        values[..nonzeros.len()].copy_from_slice(&csr.values()[nonzeros.clone()]);
        self.window.long_rows.push(((row - self.window.first_row) as u16, nonzeros.len() as u32));
    }
}

/// Writes the registers of two slices in turn: the kernel reads both at the same time, and one stream is read faster from
/// memory than two.
fn interleave<E: Copy, const LANES: usize>(slices: &[E], to: &mut [E]) {
    let (a, b) = slices.split_at(slices.len() / 2);
    let registers = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0);
    for ((a, b), to) in registers.zip(to.chunks_exact_mut(2 * LANES)) {
        to[..LANES].copy_from_slice(a);
        to[LANES..].copy_from_slice(b);
    }
}

/// Appends `count` elements and returns them.
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
