//! The invariants of a window, on which the unchecked accesses of the kernel rely.
//!
//! | name | invariant |
//! |---|---|
//! | WIDTH | the window is packed for registers of 1 to `MAX_LANES` values |
//! | ROWS | all stored rows are in the window; each row is stored exactly once, unless it is too long |
//! | BANDS | x has a column for each row of a band and each of its diagonals |
//! | SLICES | the numbers of slices, of steps, of lanes of the partial steps, of masks and of blocks agree with the segments; a partial step has fewer lanes than a register; a consecutive slice has one row per lane, in order |
//! | FACTORS | from each index at which the kernel loads factors, the stream has a whole register |
//! | CODES | each code is an index into its table |
//! | COLUMNS | from each index at which the kernel loads column indices, the stream has a whole register, and all of these are columns of the matrix |

use std::mem::replace;

use anyhow::{Context, Result, ensure};

use super::factors::Factors;
use super::kernel::Position;
use super::window::{Band, Columns, MAX_HEIGHT, Segment, Slice, Window};
use crate::formats::check_columns;
use crate::simd::{Index, MAX_LANES, Mask};
use spmv_matrix::Csr;

impl<T> Window<T> {
    pub fn check(&self, csr: &Csr<T>, longest: usize) -> Result<()> {
        let width = self.width;
        ensure!((1..=MAX_LANES).contains(&width), "WIDTH: registers of {width} values");
        let mut walk = Walk {
            window: self,
            stored: vec![false; self.rows],
            at: Position::default(),
            factors_end: 0,
            columns_end: 0,
        };
        for band in &self.bands {
            walk.band(band, csr.cols())?;
        }
        for segment in &self.segments {
            walk.segment(segment)?;
        }
        for &(row, length) in &self.long_rows {
            walk.long_row(row.into(), length as usize)?;
        }
        let at = walk.at;
        let read = [at.slice, at.lanes, at.mask, at.block];
        let Self { slices, lanes, masks, block_rows, .. } = self;
        let stored = [slices.len(), lanes.len(), masks.len(), block_rows.len()];
        ensure!(read == stored, "SLICES: {read:?} of {stored:?} elements are read");
        walk.streams_suffice(csr.cols())?;
        for (row, stored) in walk.stored.into_iter().enumerate() {
            let length = csr.row(self.first_row + row).len();
            ensure!(
                stored == (length <= longest),
                "ROWS: row {row} of length {length}, stored: {stored}"
            );
        }
        Ok(())
    }
}

/// A traversal of the streams in the same order as in the kernel.
struct Walk<'w, T> {
    window: &'w Window<T>,
    stored: Vec<bool>,
    at: Position,
    /// The end of the factors that the kernel has loaded, always whole registers. `columns_end` is that of
    /// the column indices.
    factors_end: usize,
    columns_end: usize,
}

impl<T> Walk<'_, T> {
    fn row(&mut self, row: usize) -> Result<()> {
        let stored = self.stored.get_mut(row);
        let stored = stored.with_context(|| format!("ROWS: row {row} is not in the window"))?;
        ensure!(!replace(stored, true), "ROWS: row {row} is stored twice");
        Ok(())
    }

    fn factors(&mut self, lanes: usize) {
        self.factors_end = self.at.factor + self.window.width;
        self.at.factor += lanes;
    }

    fn band(&mut self, band: &Band, cols: usize) -> Result<()> {
        let Window { width, first_row, diagonals, .. } = self.window;
        let diagonals = diagonals
            .get(band.diagonals.clone())
            .with_context(|| format!("BANDS: no list of diagonals for {band:?}"))?;
        for row in (band.row..).step_by(*width).take(band.slices) {
            (row..row + width).try_for_each(|row| self.row(row))?;
            for diagonal in diagonals {
                let first = (first_row + row) as i64 + i64::from(diagonal.offset);
                let inside = first >= 0 && first + *width as i64 <= cols as i64;
                ensure!(inside, "BANDS: {diagonal:?} at row {row} leaves the {cols} columns");
                self.factors(*width);
            }
        }
        Ok(())
    }

    fn segment(&mut self, segment: &Segment) -> Result<()> {
        let Segment { height, holes, slices } = *segment;
        ensure!((1..=MAX_HEIGHT).contains(&height), "SLICES: blocks of {height} rows");
        let masked = holes && height > 1;
        let slices = self.window.slices.get(self.at.slice..self.at.slice + slices);
        for slice in slices.with_context(|| format!("SLICES: too few slices for {segment:?}"))? {
            for _ in 0..slice.full {
                self.step(self.window.width, height, masked)?;
            }
            for _ in 0..slice.partial {
                let lanes = self.window.lanes.get(self.at.lanes).copied().unwrap_or(0);
                let is_part = (1..self.window.width).contains(&lanes.into());
                ensure!(is_part, "SLICES: {lanes} lanes in partial step {}", self.at.lanes);
                self.at.lanes += 1;
                self.step(lanes.into(), height, masked)?;
            }
            self.at.factor = self.at.factor.next_multiple_of(self.window.width);
            self.blocks(slice, height)?;
            self.at.slice += 1;
        }
        Ok(())
    }

    fn step(&mut self, lanes: usize, height: usize, masked: bool) -> Result<()> {
        self.columns_end = self.at.column + self.window.width;
        self.at.column += lanes;
        (0..height).for_each(|_| self.factors(lanes));
        if masked {
            let masks = self.window.masks.get(self.at.mask..self.at.mask + height);
            let masks = masks.with_context(|| format!("SLICES: no mask {}", self.at.mask))?;
            let is_beyond = |&mask: &Mask| u32::from(mask) >> lanes != 0;
            ensure!(!masks.iter().any(is_beyond), "SLICES: masks {masks:x?} for {lanes} lanes");
            self.at.mask += height;
        }
        Ok(())
    }

    fn blocks(&mut self, slice: &Slice, height: usize) -> Result<()> {
        let (width, count) = (self.window.width, usize::from(slice.blocks));
        ensure!(count <= width, "SLICES: {count} blocks in one slice");
        let rows = self.window.block_rows.get(self.at.block..self.at.block + count);
        let rows = rows.with_context(|| format!("SLICES: too few blocks for {slice:?}"))?;
        let rows: Vec<_> = rows.iter().map(|&row| usize::from(row)).collect();
        for &row in &rows {
            (row..row + height).try_for_each(|row| self.row(row))?;
        }
        let first = rows.first().copied().unwrap_or(0);
        let consecutive = rows.iter().copied().eq(first..first + width);
        ensure!(!slice.consecutive || consecutive, "SLICES: rows {rows:?} are not consecutive");
        self.at.block += count;
        Ok(())
    }

    /// Checks a long row as whole registers and a remainder. The kernel's two accumulators make no difference here.
    fn long_row(&mut self, row: usize, length: usize) -> Result<()> {
        let width = self.window.width;
        self.row(row)?;
        for start in (0..length).step_by(width) {
            self.step(width.min(length - start), 1, false)?;
        }
        self.at.factor = self.at.factor.next_multiple_of(width);
        Ok(())
    }

    fn streams_suffice(&self, cols: usize) -> Result<()> {
        let (loaded, factors) = (self.factors_end, &self.window.factors);
        if let Factors::Coded8(table, codes) = factors {
            check_codes(table, codes)?;
        }
        if let Factors::Coded16(table, codes) = factors {
            check_codes(table, codes)?;
        }
        let count = factors.count_and_bytes().0.unwrap_or(loaded);
        ensure!(loaded <= count, "FACTORS: {loaded} of {count} are loaded");
        let columns: Vec<u32> = match &self.window.columns {
            Columns::Near { base, deltas } => {
                deltas.iter().map(|&delta| base + u32::from(delta)).collect()
            }
            Columns::Far(columns) => columns.clone(),
        };
        let (loaded, count) = (self.columns_end, columns.len());
        let columns = columns.get(..loaded);
        let columns =
            columns.with_context(|| format!("COLUMNS: {loaded} of {count} are loaded"))?;
        check_columns(columns, cols)
    }
}

fn check_codes<T>(table: &[T], codes: &[impl Index]) -> Result<()> {
    let most = codes.iter().map(|code| code.offset()).max().unwrap_or(0);
    ensure!(most < table.len(), "CODES: code {most} for a table of {}", table.len());
    Ok(())
}
