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
use super::window::{Band, Columns, MAX_HEIGHT, Segment, Slice, Window};
use crate::simd::{Index, MAX_LANES, Mask};
use spmv_matrix::Csr;

impl<T> Window<T> {
    /// Checks the invariants of a window that was packed from `csr`. Rows with more than `longest` entries
    /// are not packed.
    ///
    /// # Errors
    /// Returns an error that names the first invariant that does not hold.
    pub fn check(&self, csr: &Csr<T>, longest: usize) -> Result<()> {
        let width = self.width;
        ensure!((1..=MAX_LANES).contains(&width), "WIDTH: registers of {width} values");
        let mut walk = Walk::new(self);
        for band in &self.bands {
            walk.band(band, csr.cols())?;
        }
        for segment in &self.segments {
            walk.segment(segment)?;
        }
        for &(row, length) in &self.long_rows {
            walk.long_row(row.into(), length as usize)?;
        }
        walk.slices_end()?;
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
    /// Whether each row has been found.
    stored: Vec<bool>,
    /// The current index in the stream of factors; the following fields are those of the other streams.
    factor: usize,
    column: usize,
    slice: usize,
    lanes: usize,
    mask: usize,
    block: usize,
    /// The end of the factors that the kernel has loaded, always whole registers. `columns_end` is that of
    /// the column indices.
    factors_end: usize,
    columns_end: usize,
}

impl<'w, T> Walk<'w, T> {
    fn new(window: &'w Window<T>) -> Self {
        Self {
            window,
            stored: vec![false; window.rows],
            factor: 0,
            column: 0,
            slice: 0,
            lanes: 0,
            mask: 0,
            block: 0,
            factors_end: 0,
            columns_end: 0,
        }
    }

    fn row(&mut self, row: usize) -> Result<()> {
        let stored = self.stored.get_mut(row);
        let stored = stored.with_context(|| format!("ROWS: row {row} is not in the window"))?;
        ensure!(!replace(stored, true), "ROWS: row {row} is stored twice");
        Ok(())
    }

    fn factors(&mut self, lanes: usize) {
        self.factors_end = self.factor + self.window.width;
        self.factor += lanes;
    }

    fn band(&mut self, band: &Band, cols: usize) -> Result<()> {
        let Window { width, first_row, .. } = *self.window;
        let diagonals = self.window.diagonals.get(band.diagonals.clone());
        let diagonals =
            diagonals.with_context(|| format!("BANDS: no list of diagonals for {band:?}"))?;
        for row in (band.row..).step_by(width).take(band.slices) {
            (row..row + width).try_for_each(|row| self.row(row))?;
            for diagonal in diagonals {
                let first = (first_row + row) as i64 + i64::from(diagonal.offset);
                let inside = first >= 0 && first + width as i64 <= cols as i64;
                ensure!(inside, "BANDS: {diagonal:?} at row {row} leaves the {cols} columns");
                self.factors(width);
            }
        }
        Ok(())
    }

    fn segment(&mut self, segment: &Segment) -> Result<()> {
        let Segment { height, holes, slices } = *segment;
        ensure!((1..=MAX_HEIGHT).contains(&height), "SLICES: blocks of {height} rows");
        let slices = self.window.slices.get(self.slice..self.slice + slices);
        for slice in slices.with_context(|| format!("SLICES: too few slices for {segment:?}"))? {
            for _ in 0..slice.full {
                self.step(self.window.width, height, holes && height > 1)?;
            }
            for _ in 0..slice.partial {
                let lanes = self.window.lanes.get(self.lanes).copied().unwrap_or(0);
                let is_part = (1..self.window.width).contains(&lanes.into());
                ensure!(is_part, "SLICES: {lanes} lanes in partial step {}", self.lanes);
                self.lanes += 1;
                self.step(lanes.into(), height, holes && height > 1)?;
            }
            self.factor = self.factor.next_multiple_of(self.window.width);
            self.blocks(slice, height)?;
            self.slice += 1;
        }
        Ok(())
    }

    fn step(&mut self, lanes: usize, height: usize, masked: bool) -> Result<()> {
        self.columns_end = self.column + self.window.width;
        self.column += lanes;
        for _ in 0..height {
            self.factors(lanes);
        }
        if masked {
            let masks = self.window.masks.get(self.mask..self.mask + height);
            let masks = masks.with_context(|| format!("SLICES: no mask {}", self.mask))?;
            let is_beyond = |&mask: &Mask| u32::from(mask) >> lanes != 0;
            ensure!(!masks.iter().any(is_beyond), "SLICES: masks {masks:x?} for {lanes} lanes");
            self.mask += height;
        }
        Ok(())
    }

    fn blocks(&mut self, slice: &Slice, height: usize) -> Result<()> {
        let count = usize::from(slice.blocks);
        ensure!(count <= self.window.width, "SLICES: {count} blocks in one slice");
        let rows = self.window.block_rows.get(self.block..self.block + count);
        let rows = rows.with_context(|| format!("SLICES: too few blocks for {slice:?}"))?;
        for &row in rows {
            let row = usize::from(row);
            (row..row + height).try_for_each(|row| self.row(row))?;
        }
        let first = usize::from(rows.first().copied().unwrap_or(0));
        let consecutive =
            rows.iter().map(|&row| usize::from(row)).eq(first..first + self.window.width);
        ensure!(!slice.consecutive || consecutive, "SLICES: rows {rows:?} are not consecutive");
        self.block += count;
        Ok(())
    }

    /// Checks a long row as whole registers and a remainder. The kernel's two accumulators make no difference here.
    fn long_row(&mut self, row: usize, length: usize) -> Result<()> {
        let width = self.window.width;
        self.row(row)?;
        for start in (0..length).step_by(width) {
            self.step(width.min(length - start), 1, false)?;
        }
        self.factor = self.factor.next_multiple_of(width);
        Ok(())
    }

    fn slices_end(&self) -> Result<()> {
        let Window { slices, lanes, masks, block_rows, .. } = self.window;
        let read = [self.slice, self.lanes, self.mask, self.block];
        let stored = [slices.len(), lanes.len(), masks.len(), block_rows.len()];
        ensure!(read == stored, "SLICES: {read:?} of {stored:?} elements are read");
        Ok(())
    }

    fn streams_suffice(&self, cols: usize) -> Result<()> {
        let factors = match &self.window.factors {
            Factors::Same(_) => self.factors_end,
            Factors::Int8(values) => values.len(),
            Factors::Int16(values) => values.len(),
            Factors::Single(values) => values.len(),
            Factors::Coded8(table, codes) => codes_of(table, codes)?,
            Factors::Coded16(table, codes) => codes_of(table, codes)?,
            Factors::Full(values) => values.len(),
        };
        ensure!(
            self.factors_end <= factors,
            "FACTORS: {} of {factors} are loaded",
            self.factors_end
        );
        let columns: Vec<usize> = match &self.window.columns {
            Columns::Near { base, deltas } => {
                deltas.iter().map(|&delta| *base as usize + usize::from(delta)).collect()
            }
            Columns::Far(columns) => columns.iter().map(|&column| column as usize).collect(),
        };
        let read = columns.get(..self.columns_end);
        let read = read.with_context(|| {
            format!("COLUMNS: {} of {} are loaded", self.columns_end, columns.len())
        })?;
        ensure!(
            read.iter().all(|&column| column < cols),
            "COLUMNS: {read:?} in a matrix of {cols} columns"
        );
        Ok(())
    }
}

/// Checks that each code is an index into the table, and returns the number of codes.
fn codes_of<T>(table: &[T], codes: &[impl Index]) -> Result<usize> {
    let most = codes.iter().map(|code| code.offset()).max().unwrap_or(0);
    ensure!(most < table.len(), "CODES: code {most} for a table of {}", table.len());
    Ok(codes.len())
}
