//! The invariants of a chunk, on which the unchecked accesses of the kernel rely.
//!
//! | name | invariant |
//! |---|---|
//! | TILES | each tile has its row, its flags, ω offsets, and ω · σ column indices and values |
//! | COLUMNS | all column indices are columns of the matrix |
//! | FLAGS | a tile has no more flags than nonzeros, and none if it is within one row; the offset of a lane is the number of flags in the lanes before it |
//! | ROWS | the row that starts at a flag is one of the rows that the chunk writes |

use anyhow::{Context, Result, ensure};

use super::Shape;
use super::format::{Chunk, DIRTY};
use spmv_matrix::scalar::Scalar;

impl<T: Scalar> Chunk<T> {
    /// Checks the invariants of a chunk of a matrix with `cols` columns.
    ///
    /// # Errors
    /// Returns an error that names the first invariant that does not hold.
    pub fn check(&self, shape: Shape, cols: usize) -> Result<()> {
        let tiles = self.tiles();
        let values = self.values.len().checked_sub(self.values_start);
        let lengths =
            [self.flags.len(), self.y_offsets.len(), self.empty_starts.len(), self.columns.len()];
        let of_tile = [shape.words(), shape.lanes, 1, shape.nonzeros()];
        let right = lengths == of_tile.map(|length| length * tiles);
        ensure!(
            right && values == Some(self.columns.len()),
            "TILES: arrays of lengths {lengths:?} for {tiles} tiles"
        );
        let most = self.columns.iter().max().map_or(0, |&column| column as usize + 1);
        ensure!(most <= cols, "COLUMNS: column {} in a matrix of {cols} columns", most - 1);
        (0..tiles).try_for_each(|tile| self.check_tile(shape, tile))
    }

    fn check_tile(&self, shape: Shape, tile: usize) -> Result<()> {
        let words = &self.flags[tile * shape.words()..][..shape.words()];
        let has_flag = |bit: usize| words[bit / 64] >> (bit % 64) & 1 == 1;
        let in_lane = |lane: usize| {
            (0..shape.sigma).filter(|step| has_flag(step * shape.lanes + lane)).count()
        };
        let mut before = 0;
        for (lane, &offset) in
            self.y_offsets[tile * shape.lanes..][..shape.lanes].iter().enumerate()
        {
            ensure!(
                usize::from(offset) == before,
                "FLAGS: tile {tile}, lane {lane}: offset {offset}, not {before}"
            );
            before += in_lane(lane);
        }
        let all = words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        ensure!(before == all, "FLAGS: {} flags after the nonzeros of tile {tile}", all - before);
        let within_row = self.row(tile) == self.row(tile + 1);
        ensure!(
            !within_row || all == 0,
            "FLAGS: {all} flags in tile {tile}, which is within one row"
        );
        self.check_rows(tile, all)
    }

    fn check_rows(&self, tile: usize, flags: usize) -> Result<()> {
        let row = self.row(tile) + 1;
        ensure!(
            row >= self.rows.start,
            "ROWS: tile {tile} begins in row {}, before the chunk",
            row - 1
        );
        let offsets: Vec<usize> = match self.tile_rows[tile] & DIRTY {
            0 => (0..flags).collect(),
            _ => {
                let start = self.empty_starts[tile] as usize;
                let offsets = self.empty_offsets.get(start..start + flags);
                let offsets =
                    offsets.with_context(|| format!("ROWS: too few offsets for tile {tile}"))?;
                offsets.iter().map(|&offset| offset as usize).collect()
            }
        };
        for offset in offsets {
            ensure!(
                row + offset < self.rows.end,
                "ROWS: tile {tile} writes row {}, after the chunk",
                row + offset
            );
        }
        Ok(())
    }
}
