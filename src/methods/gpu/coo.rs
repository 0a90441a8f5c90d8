//! COO: Bell & Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors
//! (2009), as in cusp's flat kernel.
//!
//! Every nonzero has its row beside its column. The nonzeros are cut into as many equal intervals as there
//! are resident warps. A warp takes its interval 32 products at a time, sums them up by runs of the same
//! row in a segmented scan, adds the runs that end to y, and carries the last one on. y ← βy comes first.
//!
//! Memory: a row index per nonzero. Departures: α and β; what is loaded is four steps ahead; the scan has
//! as many steps as the longest run needs. Sums are added by atomic operations that return nothing, not by
//! a load and a store, and so are the warps' last ones, which the paper leaves to a second kernel: on GPUs
//! of today such an operation is sent to the cache and not waited for, and two per warp are few. Rows that
//! warps share are therefore summed in an order that varies.

use super::start::Start;
use crate::device::buffer::Value;
use crate::device::{Buffer, DeviceCsr, Kernel, Program};
use crate::method::{
    Code, Failed, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup,
    Unprepared,
};
use crate::methods::coordinates::row_indices;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-coo",
    source: "Bell & Garland 2009, COO; cusp's flat kernel",
    summary: "nonzeros with their rows, an interval per warp; segmented scan, sums added atomically",
    parameters: &[
        Parameter {
            name: "block",
            values: &["128", "256", "512"],
            meaning: "threads per block; 256 unless given, as in cusp",
        },
        Parameter {
            name: "interval",
            values: &["128", "512", "2048"],
            meaning: "nonzeros per warp; an equal share of one resident wave unless given",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: |extent| extent.indices(),
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program = Program { name: "coo.cu", source: include_str!("../../../cuda/coo.cu") };

const WARP: usize = 32;
/// Intervals are multiples of what a warp loads at a time.
const UNIT: usize = 4 * WARP;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let gpu = &csr.gpu;
    let block = request.number("block").unwrap_or(256);
    let kernel = gpu.compile::<T>(&PROGRAM, &[("BLOCK", block)])?.kernel("coo")?;
    let adding = Adding::new(kernel, block, csr.host.nnz(), request.number("interval"))?;
    let start = Start::of::<T>(gpu)?;
    let row_indices = gpu.upload(&row_indices(&csr.row_offsets.to_vec()?))?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        start.run(beta, y)?;
        let DeviceCsr { column_indices, values, .. } = csr;
        adding.run((&row_indices, column_indices, values), alpha, x, y)
    })
    .reading_csr(csr.host.entry_bytes()))
}

/// The launch that adds the products of entries to y.
pub struct Adding {
    kernel: Kernel,
    block: usize,
    grid: usize,
    interval: usize,
}

impl Adding {
    /// For `nnz` entries in blocks of `block` threads.
    pub fn new(
        kernel: Kernel,
        block: usize,
        nnz: usize,
        interval: Option<usize>,
    ) -> Result<Self, Failed> {
        let warps = block / WARP;
        let resident = warps * kernel.resident_blocks(block, 0)?;
        let interval = interval.unwrap_or_else(|| share(nnz, resident));
        let grid = nnz.div_ceil(interval).div_ceil(warps);
        Ok(Self { kernel, block, grid, interval })
    }

    /// Enqueues y ← y + αAx for the entries with these rows, columns and values.
    pub fn run<T: Value>(
        &self,
        (row_indices, column_indices, values): (&Buffer<u32>, &Buffer<u32>, &Buffer<T>),
        alpha: T,
        x: &Buffer<T>,
        y: &Buffer<T>,
    ) -> Result<(), Failed> {
        let (nnz, interval) = (values.len() as u32, self.interval as u32);
        self.kernel.launch(
            self.grid,
            self.block,
            0,
            &[&nnz, &interval, row_indices, column_indices, values, x, y, &alpha],
        )
    }
}

/// Entries per warp when all are resident.
fn share(nnz: usize, warps: usize) -> usize {
    nnz.div_ceil(warps * UNIT).max(1) * UNIT
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_whole_loads_and_as_few_as_warps() {
        assert_eq!([0, 1, 1280, 1281, 2560].map(|nnz| share(nnz, 10)), [128, 128, 128, 256, 256]);
        // The most nonzeros on an H200's 132 x 64 warps.
        assert_eq!(share((1 << 31) - 1, 8448), 1986 * 128);
    }
}
