//! COO: Bell & Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors
//! (2009), as in cusp's flat kernel.
//!
//! Every nonzero is stored with its row and column. The nonzeros are divided into as many equal intervals as there are
//! resident warps. A warp processes 32 products of its interval at a time: a segmented scan sums runs of equal rows,
//! the sums of runs that end are written to y, and the sum of the last run is carried to the next step. A first kernel
//! computes y ← βy for the rows at the ends of intervals and those without nonzeros.
//!
//! Memory: a row index per nonzero, and 4 bytes for each row of the first kernel: up to two per interval, and those
//! without nonzeros. Departures from the source: loads run four steps ahead; the scan has only as many steps as the
//! longest run needs. The sums of the first and the last row of each warp are added by atomic operations without a
//! return value (the paper has a second kernel for the last): such an operation is executed by the cache, and the
//! thread does not wait. Therefore the order of summation varies in rows that several warps share. The other rows are
//! stored, not added to.

use super::convert::Converter;
use super::ell::{BLOCK, block};
use super::prelude::*;
use super::start_rows::StartRows;

pub const METHOD: Method = Method {
    name: "gpu-coo",
    source: "Bell & Garland 2009, COO; cusp's flat kernel",
    summary: "nonzeros with their rows, an interval per warp; segmented scan; shared rows added atomically",
    parameters: &[
        BLOCK,
        Parameter {
            name: "interval",
            values: &["128", "512", "2048"],
            meaning: "nonzeros per warp; default an equal share for every warp that fits on the GPU",
        },
    ],
    setup: Setup::Conversion,
    memory: |extent| extent.indices() + 4 * extent.rows,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// The number of nonzeros that a thread loads at a time.
pub const STEPS: usize = 4;
/// Intervals are multiples of the number of nonzeros that a warp loads at a time.
const UNIT: usize = STEPS * WARP;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = block(request);
    let constants = [("BLOCK", block), ("STEPS", STEPS)];
    let kernel = csr.compile(program!("cuda/coo.cu"), &constants)?.kernel("coo")?;
    let adding = Adding::new(kernel, block, csr.host.nnz(), request.number("interval"))?;
    let last = csr.host.nnz().saturating_sub(1);
    let start = StartRows::of_pieces(csr, adding.sizes[1] as usize, last)?;
    let row_indices = Converter::new(csr)?.rows_of(csr.host.nnz(), 0, 1)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        start.run(beta, y)?;
        let entries: [&dyn Argument; 3] = [&row_indices, &csr.column_indices, &csr.values];
        adding.run(&start.kernel, entries, [x, y, &alpha, &beta])
    })
    .with_csr_bytes(csr.host.entry_bytes()))
}

/// The launch that adds the products of coordinate entries to y.
pub struct Adding {
    kernel: Kernel,
    block: usize,
    grid: usize,
    /// The number of entries, and those of a warp.
    sizes: [u32; 2],
}

impl Adding {
    /// Chooses the grid for `nnz` entries in blocks of `block` threads. The default interval fills one resident wave.
    pub fn new(kernel: Kernel, block: usize, nnz: usize, interval: Option<usize>) -> Result<Self, Failed> {
        let warps = block / WARP;
        let resident = warps * kernel.resident_blocks(block, 0)?;
        let interval = interval.unwrap_or_else(|| share(nnz, resident));
        let grid = nnz.div_ceil(interval).div_ceil(warps);
        Ok(Self { kernel, block, grid, sizes: [nnz as u32, interval as u32] })
    }

    /// Enqueues y ← y + αAx for the entries, given by the arrays of their rows, columns and values, after `earlier`,
    /// which computes what is added to. Only a kernel that owns rows of y uses β.
    pub fn run(
        &self,
        earlier: &Kernel,
        entries: [&dyn Argument; 3],
        vectors: [&dyn Argument; 4],
    ) -> Result<(), Failed> {
        let arguments: [&dyn Argument; 3] = [&self.sizes, &entries, &vectors];
        self.kernel.launch_after(earlier, self.grid, self.block, 0, &arguments)
    }
}

/// Returns the entries per warp if all warps are resident.
fn share(nnz: usize, warps: usize) -> usize {
    nnz.div_ceil(warps * UNIT).max(1) * UNIT
}

#[cfg(test)]
#[test]
fn shares_are_whole_loads_and_not_more_than_warps() {
    assert_eq!([0, 1, 1280, 1281, 2560].map(|nnz| share(nnz, 10)), [128, 128, 128, 256, 256]);
    // The largest supported number of nonzeros on an H200 with 132 x 64 warps.
    assert_eq!(share((1 << 31) - 1, 8448), 1986 * 128);
}
