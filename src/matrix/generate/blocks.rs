//! The rows of a generated matrix, block by block.

use std::ops::Range;

use rand::RngExt;
use rayon::prelude::*;

use super::Generator;
use super::columns::{Columns, row_random};
use super::combinatorial::{Board, de_bruijn, design};
use super::pattern::{Pattern, Rows};
use super::rmat::rmat;
use super::stencil::{around, diagonals, mycielski, neighbours, wheel};

/// About so many entries make a block.
const BLOCK: usize = 1 << 20;
/// R-MAT graphs are drawn once per block: so many draws fit into half a gigabyte.
const DRAWS: usize = 1 << 26;

/// A generator at work.
pub struct Blocks<'g> {
    generator: &'g Generator,
    pub rows: usize,
    pub cols: usize,
    /// Of patterns that have a law for them.
    lengths: Option<(Vec<u32>, Columns)>,
}

/// Some rows of a matrix.
pub struct Block {
    pub first_row: usize,
    /// One more than there are rows; the first is 0.
    pub row_offsets: Vec<u32>,
    pub column_indices: Vec<u32>,
    /// None if all are 1.
    pub values: Vec<f64>,
}

impl<'g> Blocks<'g> {
    /// Makes ready.
    ///
    /// # Errors
    /// Row lengths that cannot be.
    pub fn new(generator: &'g Generator) -> Result<Self, String> {
        let pattern = &generator.pattern;
        let (rows, cols) = pattern.shape();
        let lengths = match pattern.rows() {
            Some(Rows { law, columns }) => {
                let units = rows / columns.alike;
                Some((law.lengths(units, cols, columns.seed)?, columns))
            }
            None => None,
        };
        Ok(Self { generator, rows, cols, lengths })
    }

    /// The number of entries, where the row lengths are known beforehand.
    pub fn nnz(&self) -> Option<usize> {
        let (lengths, columns) = self.lengths.as_ref()?;
        Some(columns.alike * lengths.iter().map(|&length| length as usize).sum::<usize>())
    }

    /// No more entries than these.
    pub fn most_entries(&self) -> usize {
        self.nnz().unwrap_or_else(|| self.generator.pattern.most_entries() as usize)
    }

    /// Hands all blocks to `take`, in order; several are made at a time.
    ///
    /// # Errors
    /// The first of `take`.
    pub fn each<E>(&self, take: impl FnMut(Block) -> Result<(), E>) -> Result<(), E> {
        self.each_of(0..self.rows, take)
    }

    /// The same of some rows.
    ///
    /// # Errors
    /// The first of `take`.
    pub fn each_of<E>(
        &self,
        rows: Range<usize>,
        mut take: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<(), E> {
        let ranges = self.ranges(rows);
        // The blocks of an R-MAT graph are large and made by all threads.
        let at_once = match self.generator.pattern {
            Pattern::Rmat { .. } => 1,
            _ => 2 * rayon::current_num_threads(),
        };
        for some in ranges.chunks(at_once) {
            let blocks: Vec<_> = some.par_iter().map(|rows| self.block(rows.clone())).collect();
            blocks.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }

    fn ranges(&self, of: Range<usize>) -> Vec<Range<usize>> {
        let block = match self.generator.pattern {
            Pattern::Rmat { .. } => DRAWS,
            _ => BLOCK,
        };
        let rows = self.rows as u128 * block as u128 / self.most_entries().max(1) as u128;
        let rows = rows.clamp(1, self.rows as u128) as usize;
        of.clone().step_by(rows).map(|first| first..of.end.min(first + rows)).collect()
    }

    fn block(&self, rows: Range<usize>) -> Block {
        let mut block = Block {
            first_row: rows.start,
            row_offsets: Vec::with_capacity(rows.len() + 1),
            column_indices: Vec::new(),
            values: Vec::new(),
        };
        block.row_offsets.push(0);
        match self.generator.pattern {
            Pattern::Rmat { scale, seed, .. } => {
                let draws = self.generator.pattern.most_entries() as usize;
                block.take_edges(&rmat(scale, draws, seed, rows.clone()), rows);
            }
            _ => {
                for row in rows {
                    self.append(row, &mut block.column_indices);
                    block.row_offsets.push(block.column_indices.len() as u32);
                }
            }
        }
        if let Some(seed) = self.generator.random {
            block.draw_values(seed);
        }
        block
    }

    fn append(&self, row: usize, columns: &mut Vec<u32>) {
        if let Some((lengths, place)) = &self.lengths {
            return place.append(row, lengths[row / place.alike] as usize, columns);
        }
        match self.generator.pattern {
            Pattern::Dense { .. } => columns.extend(0..self.cols as u32),
            Pattern::Grid2d { points, .. } | Pattern::Grid3d { points, .. } => {
                let sides @ [nx, ny, nz] = self.generator.pattern.sides();
                match points {
                    9 | 27 => around(row, sides, (0, 3), columns),
                    18 => around(row, sides, (1, 2), columns),
                    _ => {
                        let own = matches!(points, 5 | 7);
                        neighbours(row, &[nx * ny * nz, nx * ny, nx, 1], own, columns);
                    }
                }
            }
            Pattern::Mycielski { .. } => mycielski(row, self.rows, columns),
            Pattern::DeBruijn { bits } => de_bruijn(row, bits, columns),
            Pattern::Bibd { n, k } => design(row, n, k, columns),
            Pattern::Chessboard { m, n, rooks } => Board { m, n }.boundary(row, rooks, columns),
            Pattern::Wheel { spokes } => wheel(row, spokes, columns),
            Pattern::Diagonals { ref offsets, .. } => diagonals(row, self.cols, offsets, columns),
            _ => unreachable!("patterns without a stencil have a law of row lengths or are R-MAT"),
        }
    }
}

impl Block {
    /// Rows in the upper, columns in the lower halves, ascending.
    fn take_edges(&mut self, edges: &[u64], rows: Range<usize>) {
        self.column_indices = edges.par_iter().map(|edge| *edge as u32).collect();
        let ends = rows.map(|row| edges.partition_point(|edge| (edge >> 32) as usize <= row));
        self.row_offsets.extend(ends.map(|end| end as u32));
    }

    fn draw_values(&mut self, seed: u64) {
        self.values.reserve_exact(self.column_indices.len());
        for (at, pair) in self.row_offsets.windows(2).enumerate() {
            let mut random = row_random(seed, self.first_row + at);
            let drawn = (pair[0]..pair[1]).map(|_| random.random_range(-1.0..1.0));
            self.values.extend(drawn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before any of them is made.
    #[test]
    fn too_many_entries_are_refused() {
        let spec = "power-law,rows=50000,longest=50000,shortest=49999,exponent=1";
        let generator = Generator::parse(spec).unwrap();
        let refusal = generator.generate().unwrap_err().to_string();
        assert!(refusal.contains(": 2499950001 nonzeros; there can be 2147483647 at most"));
    }

    /// As in a matrix that is too large for one block.
    #[test]
    fn any_blocks_are_the_same_rows() {
        for spec in [
            "rmat,scale=7,edges=2000,random=5",
            "hubs,n=128,length=9,random=1",
            "block,n=128,r=4,c=2,nnz=1024,random=2",
            "grid2d,n=12,points=9,random=3",
        ] {
            let generator = Generator::parse(spec).unwrap();
            let (blocks, whole) = (Blocks::new(&generator).unwrap(), generator.generate().unwrap());
            let ends = [0, 1, 50, 51, blocks.rows];
            for pair in ends.windows(2) {
                let block = blocks.block(pair[0]..pair[1]);
                assert_eq!(
                    (block.first_row, block.row_offsets.len()),
                    (pair[0], pair[1] - pair[0] + 1)
                );
                for (row, offsets) in (pair[0]..).zip(block.row_offsets.windows(2)) {
                    let (here, there) = (offsets[0] as usize..offsets[1] as usize, whole.row(row));
                    let columns = &block.column_indices[here.clone()];
                    assert_eq!(columns, &whole.column_indices[there.clone()], "{spec}: {row}");
                    assert_eq!(block.values[here], whole.values[there], "{spec}: {row}");
                }
            }
        }
    }
}
