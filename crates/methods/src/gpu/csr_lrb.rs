//! CSR with logarithmic radix binning (LRB): after rocSPARSE's csrmv with LRB, of which only a summary was known, with
//! the binning of Green, Fox, Watkins et al. 2018.
//!
//! A thread's share of a row is two nonzeros or more. Bin b has the rows with 2^b to 2^(b+1) - 1 shares, and bin 0 also
//! shorter and empty ones. Setup copies the row offsets to the host and sorts the numbers of the rows by bin with a
//! counting sort, the longest rows first. Rows of a bin remain in their order, so that neighbouring threads mostly
//! process neighbouring rows. A row of bin b has
//!
//! - 2^b threads up to a warp, and also a warp in the bins for which that is less than a block;
//! - a block in longer bins;
//! - several blocks, each with at least 2048 nonzeros, in the longest: each block stores the sum of its part, and the
//!   block that does so last adds them in their order.
//!
//! A product is one launch. For each thread block a table states its rows and the threads per row. Blocks of long rows
//! come first. The other blocks are in the order of their first row, so that rows which are near each other in memory
//! are processed at about the same time, also if their bins differ. The table has the first row of a block of
//! neighbouring rows, so that it does not load the order.
//!
//! Memory: 4 bytes per row, 16 per block, and 4 and a value for each block of a divided row.
//!
//! Departures: there is one launch instead of one for each class of bins; the parts of long rows are added in their
//! order, so that a product repeats itself bit by bit; the order of blocks, the shares, the threads per row and the
//! length from which rows are divided are this project's. Bins of which all rows have one thread are one bin, because
//! rows that are apart in memory need more sectors.

use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-csr-lrb",
    source: "rocSPARSE documentation, csrmv with LRB; Green, Fox, Watkins et al. 2018",
    summary: "rows in bins by the logarithm of their length, with threads per row by bin; one kernel",
    parameters: &[
        Parameter {
            name: "share",
            values: &["1", "2", "4", "8"],
            meaning: "nonzeros per thread in the shortest row of a bin with up to 32 threads per row; default 2",
        },
        Parameter { name: "block", values: &["128", "256", "512"], meaning: "threads per block; default 256" },
    ],
    setup: Setup::Inspection,
    memory: |extent| {
        let (rows, nnz) = (extent.rows, extent.nnz);
        4 * rows + (rows + nnz) / 128 * 16 + nnz / PART as u64 * (4 + extent.value) + 512
    },
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// The number of bins: one for each possible logarithm of the number of shares.
const BINS: usize = 32;

/// The smallest number of nonzeros that a block processes of a row that several blocks divide.
const PART: usize = 2048;

/// In place of the first row of a block whose rows are no neighbours.
const SCATTERED: u32 = u32::MAX;

/// The threads that should be resident on a multiprocessor, with 32 registers each: the most on large GPUs.
const THREADS: usize = 2048;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = request.number("block").unwrap_or(256);
    let share = request.number("share").unwrap_or(2);
    let constants = [("BLOCK", block), ("RESIDENT", THREADS / block), ("DEPTH", (2 * share).min(4))];
    let kernel = csr.compile(program!("cuda/csr_lrb.cu"), &constants)?.kernel("csr_lrb")?;
    let Work { order, pieces, divided } = Work::new(&csr.row_offsets.to_vec()?, share, block);
    let parts = csr.gpu.allocate::<T>(divided)?;
    let arrivals = csr.gpu.zeros::<u32>(divided)?;
    let blocks = pieces.len();
    let (order, pieces) = (csr.gpu.upload(&order)?, csr.gpu.upload(pieces.as_flattened())?);
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let arguments: [&dyn Argument; 9] = [&pieces, &order, csr, x, y, &alpha, &beta, &parts, &arrivals];
        kernel.launch(blocks, block, 0, &arguments)
    }))
}

fn bin(length: u32, share: usize) -> usize {
    (length / share as u32).checked_ilog2().unwrap_or(0) as usize
}

/// Returns the threads per row of a bin: up to a warp, or whole blocks.
fn threads(bin: usize, share: usize, block: usize) -> usize {
    let threads = 1 << bin;
    if threads < block { threads.min(WARP) } else { (threads * share / PART).max(1) * block }
}

/// The rows by bin, the longest first, and their division among thread blocks.
#[derive(Debug, PartialEq)]
struct Work {
    order: Vec<u32>,
    /// For each block the first place in `order` and the end of its places, the threads per row, and the number of its
    /// part of a divided row, or the first row if its rows are neighbours, otherwise [`SCATTERED`]. Blocks of rows with
    /// a block or several come first, then the others by their first row.
    pieces: Vec<[u32; 4]>,
    /// The number of blocks that process a part of a row. They are the first ones.
    divided: usize,
}

impl Work {
    /// Sorts the rows by bin and divides the rows of each bin among thread blocks of `block` threads.
    fn new(row_offsets: &[u32], share: usize, block: usize) -> Self {
        let bins = row_offsets.windows(2).map(|bounds| bin(bounds[1] - bounds[0], share));
        let mut rows = [0; BINS];
        bins.clone().for_each(|bin| rows[bin] += 1);
        let (mut pieces, mut next) = (Vec::new(), [0; BINS]);
        let (mut place, mut divided, mut whole) = (0, 0, 0);
        for bin in (0..BINS).rev().filter(|&bin| rows[bin] > 0) {
            let (end, threads) = (place + rows[bin], threads(bin, share, block));
            next[bin] = place;
            for first in (place..end).step_by((block / threads).max(1)) {
                let parts = 0..threads.div_ceil(block);
                pieces.extend(parts.map(|part| [first, end, threads, part].map(|n| n as u32)));
            }
            divided = if threads > block { pieces.len() } else { divided };
            whole = if threads >= block { pieces.len() } else { whole };
            place = end;
        }
        let mut order = vec![0; place];
        for (row, bin) in bins.enumerate() {
            order[next[bin]] = row as u32;
            next[bin] += 1;
        }
        for [first, end, threads, part] in &mut pieces[whole..] {
            let last = (*first + block as u32 / *threads).min(*end) - 1;
            let [first_row, last_row] = [*first, last].map(|place| order[place as usize]);
            *part = if last_row - first_row == last - *first { first_row } else { SCATTERED };
        }
        pieces[whole..].sort_by_key(|&[first, ..]| order[first as usize]);
        Self { order, pieces, divided }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_ends_below_a_power_of_two() {
        let bins = |lengths: [u32; 7], share| lengths.map(|length| bin(length, share));
        assert_eq!(bins([0, 1, 2, 3, 4, 7, 8], 1), [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!(bins([0, 1, 3, 4, 7, 8, u32::MAX], 2), [0, 0, 0, 1, 1, 2, 30]);
        assert_eq!(bin(u32::MAX, 1), BINS - 1);
    }

    #[test]
    fn a_row_has_part_of_a_warp_a_warp_or_whole_blocks() {
        let threads = |bin| threads(bin, 2, 256);
        assert_eq!([0, 1, 4, 5, 7].map(threads), [1, 2, 16, 32, 32]);
        assert_eq!([8, 10, 11, 12].map(threads), [256, 256, 512, 1024]);
    }

    /// Rows of 3, 0, 70, 9000, 2, 40 and 5 nonzeros, in blocks of 64 threads.
    #[test]
    fn rows_of_a_bin_keep_their_order_and_longer_rows_come_first() {
        let offsets = [0, 3, 3, 73, 9073, 9075, 9115, 9120];
        let work = Work::new(&offsets, 2, 64);
        let order = vec![3, 2, 5, 6, 0, 1, 4];
        let parts = (0..4).map(|part| [0, 1, 256, part]);
        let others = [[4, 7, 1, SCATTERED], [1, 2, 32, 2], [2, 3, 16, 5], [3, 4, 2, 6]];
        let pieces = parts.chain(others).collect();
        assert_eq!(work, Work { order, pieces, divided: 4 });
        let none = Work { order: vec![], pieces: vec![], divided: 0 };
        assert_eq!(Work::new(&[0], 2, 64), none);
    }
}
