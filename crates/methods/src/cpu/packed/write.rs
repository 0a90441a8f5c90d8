//! Writes the streams of a window after its rows have been divided into bands, slices and long rows.
//!
//! A slice is written step by step. The number of lanes that have not ended differs between steps, and a loop over that
//! many lanes would often be predicted wrongly. So each step writes a whole register, and the next one begins behind
//! the lanes that count.

use std::iter::repeat_n;

use super::blocks::{Block, Blocks};
use super::factors::{Factors, Form};
use super::window::{Columns, MAX_HEIGHT, Window};
use crate::cpu::prelude::*;
use crate::simd::{Aligned, MAX_LANES, Mask, prefetch};

pub struct Writer<'a, T, const LANES: usize> {
    pub csr: &'a Csr<T>,
    pub blocks: &'a Blocks,
    /// The blocks of all slices of several rows per block.
    pub stored: &'a [Block],
    /// The window, without the streams that are written.
    pub window: &'a Window<T>,
    /// The number of column indices of all slices and long rows.
    pub columns: usize,
    /// The range of the column indices.
    pub within: Range<u32>,
    /// The number of factors.
    pub factors: usize,
    pub form: Form<T>,
}

/// How many lanes count in each step.
struct Steps<'a> {
    /// The number of steps in which all lanes count.
    full: usize,
    /// The number of lanes that count in each further step.
    partial: &'a [u8],
}

/// A slice of the window.
struct Part<'a> {
    steps: Steps<'a>,
    height: usize,
    /// Whether the columns are those of blocks with holes.
    holes: bool,
    /// The first row of each block.
    rows: &'a [u16],
    /// The blocks; none if they are single rows.
    blocks: &'a [Block],
}

/// The type in which column indices are stored.
trait Stored: Copy + Default {
    fn of(column: u32, base: u32) -> Self;

    /// Stores a register of columns: those of `all` with these indices.
    ///
    /// # Safety
    /// They are in `all`, and `to` has room for a register.
    #[inline(always)]
    unsafe fn store<const LANES: usize>(all: &[u32], indices: &[u32; LANES], base: u32, to: *mut Self) {
        for (lane, &k) in indices.iter().enumerate() {
            // SAFETY: the caller guarantees it.
            unsafe { to.add(lane).write(Self::of(*all.get_unchecked(k as usize), base)) };
        }
    }
}

impl Stored for u16 {
    #[inline(always)]
    fn of(column: u32, base: u32) -> Self {
        // In lanes that do not count, the column may be of another row, below the base.
        column.wrapping_sub(base) as u16
    }

    /// Reads are volatile, so that compilers do not choose the instruction that gathers: it takes half as long again.
    #[inline(always)]
    unsafe fn store<const LANES: usize>(all: &[u32], indices: &[u32; LANES], base: u32, to: *mut Self) {
        for (lane, &k) in indices.iter().enumerate() {
            // SAFETY: the caller guarantees it.
            unsafe { to.add(lane).write(Self::of(all.as_ptr().add(k as usize).read_volatile(), base)) };
        }
    }
}

impl Stored for u32 {
    #[inline(always)]
    fn of(column: u32, _: u32) -> Self {
        column
    }
}

impl<T: Scalar, const LANES: usize> Kernel<T> for Writer<'_, T, LANES> {
    type Output = (Columns, Factors<T>, Vec<Mask>);

    #[inline(always)]
    fn run<V: Vector<T>>(self) -> Self::Output {
        assert_eq!(V::LANES, LANES);
        let Range { start: base, end } = self.within;
        let columns = if end - base <= u16::MAX.into() {
            Columns::Near { base, deltas: self.columns(base) }
        } else {
            Columns::Far(self.columns(base))
        };
        let mut masks = Vec::new();
        let mut all = Aligned::with_capacity(self.factors + LANES);
        self.factors::<V>(all.buffer(), &mut masks);
        (columns, self.form.store(all), masks)
    }
}

impl<'a, T: Scalar, const LANES: usize> Writer<'a, T, LANES> {
    #[inline(always)]
    fn columns<I: Stored>(&self, base: u32) -> Vec<I> {
        let mut to = Vec::with_capacity(self.columns + LANES);
        let mut ahead = self.csr.row_offsets()[self.window.first_row] as usize;
        for part in self.parts() {
            let before = to.len();
            let all = if part.holes { self.blocks.unions().0 } else { self.csr.column_indices() };
            let starts = self.column_starts(&part);
            let clamp = exceed(&starts, part.steps.len(), all.len());
            for (step, lanes) in part.steps.all::<LANES>() {
                // SAFETY: a whole register is written. These are indices of columns, as `exceed` has checked.
                unsafe {
                    let to = add::<I, LANES>(&mut to, lanes);
                    if clamp {
                        I::store(all, &at(&starts, step, all.len()), base, to);
                    } else {
                        I::store(all.get_unchecked(step..), &starts, base, to);
                    }
                }
            }
            // The values are written next. Rows that are sorted by length are not read in order, so the hardware would
            // not fetch them in advance.
            let end = ahead + (to.len() - before) * part.height;
            for value in (ahead..end).step_by(LANES) {
                prefetch::<1>(self.csr.values().as_ptr().wrapping_add(value));
            }
            ahead = end;
        }
        for &(row, _) in &self.window.long_rows {
            let columns = &self.csr.column_indices()[self.row(row)];
            to.extend(columns.iter().map(|&column| I::of(column, base)));
        }
        // Loads of whole registers may read past the end.
        to.extend([I::default(); LANES]);
        to
    }

    #[inline(always)]
    fn factors<V: Vector<T>>(&self, to: &mut Vec<T>, masks: &mut Vec<Mask>) {
        let (values, filler) = (self.csr.values(), self.form.filler());
        self.bands::<V>(to, filler);
        for part in self.parts() {
            let before = to.len();
            let mut rows = [[0; LANES]; MAX_HEIGHT];
            for (r, starts) in rows.iter_mut().take(part.height).enumerate() {
                *starts = self.starts(part.rows, r as u16);
            }
            let rows = &mut rows[..part.height];
            if !part.holes {
                interleave::<T, V, LANES>(values, rows, &part.steps, to);
            } else {
                let (unions, present) = self.blocks.unions();
                let starts = self.column_starts(&part);
                for (step, lanes) in part.steps.all::<LANES>() {
                    let present = at(&starts, step, unions.len()).map(|k| present[k as usize]);
                    for (r, starts) in rows.iter_mut().enumerate() {
                        let mask = mask_of(present, r) & Mask::MAX >> (MAX_LANES - lanes);
                        place::<T, V, LANES>(values, starts, mask, filler, lanes, to);
                        masks.push(mask);
                    }
                }
            }
            align::<T, LANES>(to, before, filler);
        }
        for &(row, _) in &self.window.long_rows {
            let before = to.len();
            to.extend_from_slice(&values[self.row(row)]);
            align::<T, LANES>(to, before, filler);
        }
        // Loads of whole registers may read past the end.
        to.extend([filler; LANES]);
    }

    /// Writes the values of the bands, two slices at a time: the kernel reads both together, and one stream is faster
    /// than two.
    #[inline(always)]
    fn bands<V: Vector<T>>(&self, to: &mut Vec<T>, filler: T) {
        for band in &self.window.bands {
            let diagonals = &self.window.diagonals[band.diagonals.clone()];
            let is_full = diagonals.iter().all(|diagonal| diagonal.mask == V::ALL);
            let steps = Steps { full: diagonals.len(), partial: &[] };
            for slice in (0..band.slices).step_by(2) {
                let mut rows = [[0; LANES]; 2];
                let count = (band.slices - slice).min(2);
                let first = self.window.first_row + band.row + slice * LANES;
                for (starts, offsets) in rows.iter_mut().take(count).zip(self.csr.row_offsets()[first..].chunks(LANES))
                {
                    starts.copy_from_slice(offsets);
                }
                let rows = &mut rows[..count];
                if is_full {
                    interleave::<T, V, LANES>(self.csr.values(), rows, &steps, to);
                } else {
                    for diagonal in diagonals {
                        for starts in &mut *rows {
                            place::<T, V, LANES>(self.csr.values(), starts, diagonal.mask, filler, LANES, to);
                        }
                    }
                }
            }
        }
    }

    /// Returns all slices.
    #[inline(always)]
    fn parts(&self) -> impl Iterator<Item = Part<'a>> {
        let segments = self.window.segments.iter().flat_map(|segment| repeat_n(segment, segment.slices));
        let (mut lanes, mut rows, mut blocks) = (&self.window.lanes[..], &self.window.block_rows[..], self.stored);
        segments.zip(&self.window.slices).map(move |(segment, slice)| {
            let count = usize::from(slice.blocks);
            let partial = next(&mut lanes, slice.partial as usize);
            let steps = Steps { full: slice.full as usize, partial };
            let blocks = next(&mut blocks, if segment.height > 1 { count } else { 0 });
            Part { steps, height: segment.height, holes: segment.holes, rows: next(&mut rows, count), blocks }
        })
    }

    /// Returns where the columns of each lane begin.
    #[inline(always)]
    fn column_starts(&self, part: &Part) -> [u32; LANES] {
        let mut starts = self.starts(part.rows, 0);
        if part.holes {
            for (lane, start) in starts.iter_mut().enumerate() {
                *start = part.blocks.get(lane).unwrap_or(&part.blocks[0]).range().start as u32;
            }
        }
        starts
    }

    /// Returns where the rows that are `below` these begin. A lane without a row has the start of the first one: what
    /// is written there does not count.
    #[inline(always)]
    fn starts(&self, rows: &[u16], below: u16) -> [u32; LANES] {
        let offsets = &self.csr.row_offsets()[self.window.first_row + usize::from(below)..];
        let mut starts = [offsets[usize::from(rows[0])]; LANES];
        for (start, &row) in starts.iter_mut().zip(rows) {
            *start = offsets[usize::from(row)];
        }
        starts
    }

    fn row(&self, row: u16) -> Range<usize> {
        self.csr.row(self.window.first_row + usize::from(row))
    }
}

impl Steps<'_> {
    fn len(&self) -> usize {
        self.full + self.partial.len()
    }

    /// Returns the steps and their numbers of lanes that count.
    #[inline(always)]
    fn all<const LANES: usize>(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.len()).map(|step| match step.checked_sub(self.full) {
            None => (step, LANES),
            Some(partial) => (step, self.partial[partial].into()),
        })
    }
}

/// Returns whether a lane that begins at one of these indices could exceed `len` elements in so many steps. Those that
/// count do not, but the others are read, too.
#[inline(always)]
fn exceed<const LANES: usize>(starts: &[u32; LANES], steps: usize, len: usize) -> bool {
    starts.iter().any(|&start| start as usize + steps > len)
}

/// Returns the index of the element of each lane in a step, if they begin at `starts`; also in lanes that do not count,
/// that of one of `len` elements.
#[inline(always)]
fn at<const LANES: usize>(starts: &[u32; LANES], step: usize, len: usize) -> [u32; LANES] {
    assert!(len > 0, "a step has elements");
    let mut at = *starts;
    for k in &mut at {
        *k += step as u32;
        *k = if (*k as usize) < len { *k } else { len as u32 - 1 };
    }
    at
}

/// Appends the values of rows that begin at these indices step by step: in each step those of the first row in all
/// lanes that count, then those of the next row.
#[inline(always)]
fn interleave<T: Scalar, V: Vector<T>, const LANES: usize>(
    values: &[T],
    rows: &[[u32; LANES]],
    steps: &Steps,
    to: &mut Vec<T>,
) {
    // The last row of a block begins last.
    let clamp = exceed(&rows[rows.len() - 1], steps.len(), values.len());
    for (step, lanes) in steps.all::<LANES>() {
        for starts in rows {
            // SAFETY: a whole register is written, of `LANES` values, as `run` checks. These are indices of values, as
            // `exceed` has checked.
            unsafe {
                let values = if clamp {
                    V::gather(values, &at(starts, step, values.len()), 0)
                } else {
                    V::gather(values.get_unchecked(step..), starts, 0)
                };
                values.store(add::<T, LANES>(to, lanes));
            }
        }
    }
}

/// Appends the next values of the lanes whose bit is set. In the others, the slot contains the `filler`.
#[inline(always)]
fn place<T: Scalar, V: Vector<T>, const LANES: usize>(
    values: &[T],
    starts: &mut [u32; LANES],
    mask: Mask,
    filler: T,
    lanes: usize,
    to: &mut Vec<T>,
) {
    // SAFETY: a whole register is written, of `LANES` values, as `run` checks. `at` returns indices of values.
    unsafe {
        let values = V::gather(values, &at(starts, 0, values.len()), 0);
        values.select(V::splat(filler), mask).store(add::<T, LANES>(to, lanes));
    }
    for (lane, start) in starts.iter_mut().enumerate() {
        *start += u32::from(mask >> lane & 1);
    }
}

/// Returns the lanes in which bit `r` is set.
#[inline(always)]
fn mask_of<const LANES: usize>(present: [u8; LANES], r: usize) -> Mask {
    let mut mask = 0;
    for (group, lanes) in present.chunks(8).enumerate() {
        let mut bytes = [0; 8];
        bytes[..lanes.len()].copy_from_slice(lanes);
        // The product has the lowest bit of byte k in bit 56 + k.
        let bits = (u64::from_le_bytes(bytes) >> r & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= (bits as Mask) << (8 * group);
    }
    mask
}

/// Adds the first `count` elements of a register, and returns where the register is to be written.
///
/// # Safety
/// The caller writes them.
#[inline(always)]
unsafe fn add<E, const LANES: usize>(to: &mut Vec<E>, count: usize) -> *mut E {
    let len = to.len();
    assert!(count <= LANES && to.capacity() - len >= LANES, "a register has room after each element");
    // SAFETY: there is room for a register, of which the caller writes the elements that are added.
    unsafe {
        to.set_len(len + count);
        to.as_mut_ptr().add(len)
    }
}

/// Fills the slots up to a multiple of a register after those before index `first`.
#[inline(always)]
fn align<E: Copy, const LANES: usize>(to: &mut Vec<E>, first: usize, filler: E) {
    let len = (to.len() - first).next_multiple_of(LANES);
    to.resize(first + len, filler);
}

/// Splits off the next `count` elements.
#[inline(always)]
fn next<'a, E>(rest: &mut &'a [E], count: usize) -> &'a [E] {
    rest.split_off(..count).expect("the window has the elements of its slices")
}
