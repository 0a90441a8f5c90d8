//! The blocks and the choice of their size: sections 3 and 4 of the paper.

use rayon::prelude::*;

use crate::cpu::prelude::*;

/// The smallest number of block rows per thread, for load balance.
pub const SLACKNESS: usize = 8;
/// The largest bytes of the part of x or y that belongs to a block: a second-level cache, as the original assumes.
const CACHE: usize = 256 * 1024;
/// The largest log₂ β: a row or column within a block must fit in 16 bits.
const MOST_BITS: u32 = 16;
/// The smallest average number of nonzeros per block. With fewer, the overhead of a block exceeds its work.
const NONZEROS_PER_BLOCK: usize = 8;

pub fn log_beta<T: Scalar>(csr: &Csr<T>, threads: usize) -> u32 {
    let bits = |n: usize| n.max(1).next_power_of_two().ilog2();
    let (rows, cols) = (bits(csr.rows()), bits(csr.cols()));
    let halved = rows.min(cols).saturating_sub(1);
    let slack = if threads > 1 { rows.saturating_sub(bits(SLACKNESS * threads)) } else { MOST_BITS };
    let cached = (CACHE / size_of::<T>()).ilog2();
    let dimension = (csr.rows() as f64 * csr.cols() as f64).sqrt().max(1.0);
    let root = dimension.sqrt().log2().ceil() as u32 + 2;
    let mut log_beta = halved.min(slack).min(cached).min(root).min(MOST_BITS);
    let nearly_empty = |blocks: usize| blocks > 1 && blocks * NONZEROS_PER_BLOCK > csr.nnz();
    while log_beta < MOST_BITS && nearly_empty(blocks(csr, log_beta)) {
        log_beta += 1;
    }
    log_beta
}

/// Bounds the bytes of [`Blocks`] while they are sorted, and of the tasks and temporaries of their products.
pub fn memory(extent: &Extent) -> u64 {
    let Extent { rows, cols, nnz, value, .. } = *extent;
    let of_size = |beta: u64| rows.div_ceil(beta) * cols.div_ceil(beta);
    let by_rule = || (nnz / NONZEROS_PER_BLOCK as u64).max(of_size(1 << MOST_BITS)) + 1;
    let blocks = extent.number("beta").map_or_else(by_rule, of_size).min(most_blocks(nnz));
    // The matrix of blocks is square, except for the shape of the matrix, so the number of lines is about
    // the square root.
    let shape = rows.max(cols) as f64 / rows.min(cols).max(1) as f64;
    let lines = ((blocks as f64 * shape).sqrt() as u64).min(blocks) + 64 * extent.threads;
    let entries = nnz * (value + 4) + nnz * 2 * value;
    entries + nnz / 2 * value + 8 * blocks + 300 * lines
}

/// Returns whether blocks of the requested size, or of the largest one, are too many.
pub fn may_refuse(extent: &Extent) -> bool {
    let beta = extent.number("beta").unwrap_or(1 << MOST_BITS);
    extent.rows.div_ceil(beta) * extent.cols.div_ceil(beta) > most_blocks(extent.nnz)
}

fn most_blocks(nnz: u64) -> u64 {
    (8 * nnz).max(1 << 16)
}

fn blocks<T>(csr: &Csr<T>, log_beta: u32) -> usize {
    csr.rows().div_ceil(1 << log_beta) * csr.cols().div_ceil(1 << log_beta)
}

pub struct Blocks<T> {
    /// log₂ β, where β is the number of rows and columns of a block.
    pub log_beta: u32,
    pub rows: usize,
    pub cols: usize,
    /// The index of the first nonzero of each block, block row by block row, and at the end the number of nonzeros.
    pub starts: Vec<u32>,
    /// The position of each nonzero within its block: the row in the upper 16 bits, the column in the
    /// lower. The nonzeros of a block are in Morton order.
    pub indices: Vec<u32>,
    pub values: Vec<T>,
}

impl<T: Scalar> Blocks<T> {
    /// Refuses many times more blocks than nonzeros.
    pub fn new(csr: &Csr<T>, log_beta: u32) -> Result<Self, Unavailable> {
        let (beta, nnz) = (1usize << log_beta, csr.nnz());
        let (rows, cols) = (csr.rows().div_ceil(beta), csr.cols().div_ceil(beta));
        let most = most_blocks(nnz as u64);
        if (rows * cols) as u64 > most {
            let blocks = rows * cols;
            return Err(Unavailable(format!(
                "would have {blocks} blocks of {beta} x {beta} for {nnz} nonzeros; more than {most} are refused"
            )));
        }
        let (mut starts, mut indices) = (vec![0; rows * cols + 1], vec![0; nnz]);
        let mut values = vec![T::zero(); nnz];
        starts[rows * cols] = nnz as u32;
        let (mut indices_left, mut values_left) = (&mut indices[..], &mut values[..]);
        let block_rows = starts[..rows * cols].chunks_mut(cols.max(1)).enumerate();
        let block_rows: Vec<_> = block_rows
            .map(|(row, starts)| {
                let rows = row * beta..csr.rows().min((row + 1) * beta);
                let nnz = entries_of(csr, &rows).len();
                let indices = indices_left.split_off_mut(..nnz).expect("an index per nonzero");
                let values = values_left.split_off_mut(..nnz).expect("a value per nonzero");
                (rows, starts, indices, values)
            })
            .collect();
        block_rows.into_par_iter().for_each(|(rows, starts, indices, values)| {
            fill(csr, log_beta, rows, starts, indices, values);
        });
        Ok(Self { log_beta, rows, cols, starts, indices, values })
    }

    pub fn beta(&self) -> usize {
        1 << self.log_beta
    }

    /// Returns the range of the nonzeros of block `k` of a block row, or with `transpose` of a block column.
    #[inline(always)]
    pub fn nonzeros(&self, transpose: bool, line: usize, k: usize) -> Range<usize> {
        let (row, col) = if transpose { (k, line) } else { (line, k) };
        let block = row * self.cols + col;
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.indices[..]) + size_of_val(&self.values[..])
    }
}

fn fill<T: Scalar>(
    csr: &Csr<T>,
    log_beta: u32,
    rows: Range<usize>,
    starts: &mut [u32],
    indices: &mut [u32],
    values: &mut [T],
) {
    let nonzeros = entries_of(csr, &rows);
    let first = nonzeros.start as u32;
    for col in &csr.column_indices()[nonzeros] {
        starts[(col >> log_beta) as usize] += 1;
    }
    let mut sum = 0;
    for start in &mut *starts {
        (*start, sum) = (sum, sum + *start);
    }
    let mut next = starts.to_vec();
    // Each nonzero as its position along the Morton curve and its index: such numbers are sorted faster than pairs.
    let mut entries = vec![0u64; sum as usize];
    for row in rows.clone() {
        for k in csr.row(row) {
            let col = csr.column_indices()[k] as usize;
            let slot = &mut next[col >> log_beta];
            let key = morton(row - rows.start, col & ((1 << log_beta) - 1));
            entries[*slot as usize] = u64::from(key) << 32 | k as u64;
            *slot += 1;
        }
    }
    let mut start = 0;
    for &end in &next {
        entries[start..end as usize].sort_unstable();
        start = end as usize;
    }
    for ((entry, index), value) in entries.into_iter().zip(indices).zip(values) {
        (*index, *value) = (halves((entry >> 32) as u32), csr.values()[entry as u32 as usize]);
    }
    starts.iter_mut().for_each(|start| *start += first);
}

/// Returns the position along the Morton (Z) curve: the bits of row and column interleaved.
pub fn morton(row: usize, col: usize) -> u32 {
    let spread = |n: usize| {
        let n = (n | n << 8) & 0x00ff_00ff;
        let n = (n | n << 4) & 0x0f0f_0f0f;
        let n = (n | n << 2) & 0x3333_3333;
        (n | n << 1) & 0x5555_5555
    };
    (spread(row) << 1 | spread(col)) as u32
}

/// Returns the row in the upper half and the column in the lower half, from a position along the Morton curve.
fn halves(morton: u32) -> u32 {
    let gather = |n: u32| {
        let n = n & 0x5555_5555;
        let n = (n | n >> 1) & 0x3333_3333;
        let n = (n | n >> 2) & 0x0f0f_0f0f;
        let n = (n | n >> 4) & 0x00ff_00ff;
        (n | n >> 8) & 0xffff
    };
    gather(morton >> 1) << 16 | gather(morton)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::of_cells;

    #[test]
    fn positions_along_the_curve() {
        let quadrants = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert_eq!(quadrants.map(|(row, col)| morton(row, col)), [0, 1, 2, 3]);
        for (row, col) in [(0, 0xffff), (0xffff, 0), (0x1234, 0xfedc), (1, 2)] {
            assert_eq!(halves(morton(row, col)), (row << 16 | col) as u32);
        }
    }

    /// A 5 × 6 matrix in blocks of 4 × 4. The expected values were computed by hand.
    #[test]
    fn blocks_of_a_small_matrix() {
        let cells = [(0, 0), (0, 2), (0, 5), (1, 0), (1, 1), (2, 0), (4, 3), (4, 4), (4, 5)];
        let blocks = Blocks::new(&of_cells(5, 6, &cells), 2).unwrap();
        assert_eq!((blocks.rows, blocks.cols), (2, 2));
        assert_eq!(blocks.starts, [0, 5, 6, 7, 9]);
        // (0,0) (1,0) (1,1) (0,2) (2,0) | (0,1) | (0,3) | (0,0) (0,1)
        assert_eq!(blocks.values, [1.0, 4.0, 5.0, 2.0, 6.0, 3.0, 7.0, 8.0, 9.0]);
        let index = |row: u32, col: u32| row << 16 | col;
        assert_eq!(blocks.indices[1..5], [index(1, 0), index(1, 1), index(0, 2), index(2, 0)]);
        assert_eq!(blocks.nonzeros(true, 0, 1), 6..7, "the lower left block");
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn block_sizes_follow_the_rules() {
        let diagonal = |n: usize, per_row: usize| {
            let cells = (0..n).flat_map(|row| (0..per_row).map(move |k| (row, (row + k) % n, 1.0)));
            Csr::<f64>::from_triplets(n, n, &cells.collect::<Vec<_>>())
        };
        // 2^12 rows: √4096 · 4 = 2^8, and 8 · 4 block rows of 2^7.
        let csr = diagonal(4096, 2);
        assert_eq!((log_beta(&csr, 1), log_beta(&csr, 4)), (8, 7));
        // 8 · 64 block rows of 8 are 2^18 blocks, too many for 2^13 nonzeros: 2^10 are not.
        assert_eq!(log_beta(&csr, 64), 7);
        assert_eq!((log_beta(&diagonal(1, 1), 7), log_beta(&diagonal(6, 1), 7)), (0, 3));
        assert_eq!(log_beta(&Csr::<f64>::from_triplets(0, 0, &[]), 3), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn too_many_blocks_are_refused() {
        let csr = Csr::<f64>::from_triplets(70_000, 70_000, &[(5, 5, 1.0)]);
        let Err(Unavailable(reason)) = Blocks::new(&csr, 4) else { panic!("accepted") };
        assert!(reason.contains("19140625 blocks") && reason.contains("1 nonzeros"), "{reason}");
        assert!(Blocks::new(&csr, 16).is_ok());
    }
}
