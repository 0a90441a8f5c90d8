//! Merge-based CSR on the GPU: merge-spmv-sc16, section III-E, as in merge-spmv's code (CUB).
//!
//! The merge path of row ends and nonzeros (see the CPU method `merge`) is divided into tiles with equal numbers of
//! steps. There are two kernels. The search computes the start of each tile. In the second kernel a thread block owns a
//! tile: it copies the products of the tile to shared memory, each thread walks an equal share of the path, a scan over
//! the block passes each thread the partial sum of its first row from the threads before, and the rows that end in the
//! tile are stored. Of a row that several tiles share, each tile stores its partial sum (carry); the tile that does so
//! last adds them in the order of the tiles. So a product repeats itself bit by bit. If the search would need fewer
//! blocks than the GPU has multiprocessors (with a thread per tile), it is skipped and two warps of each tile's block
//! search for its ends.
//!
//! Memory: per tile 8 bytes for its start if there is a search kernel, 4 bytes and two values for its carries.
//! Departures: one tile per block, as in the code, whereas in the paper each block of a resident wave processes
//! several; products are always staged in shared memory (the code's "direct" mode for f64 is omitted); matrices with
//! one column have no separate kernel. The published method has a third kernel, the fix-up, which adds the carries. The
//! ends of rows mark their steps of the path in a bit map and threads count the marks before theirs, which gives the
//! points that the published threads search for.
//!
//! `shape=cub` is the published method, see `merge_cub`.
//!
//! `gpu-merge-bits` stores in setup what a thread of a tile then need not compute: the starts of the tiles, and for
//! each thread a descriptor of 4 bytes with a bit field of the steps that end rows and the number of rows that end in
//! the threads before it. A product reads the row offsets only of rows that tiles share.

use super::merge_cub;
use super::merge_search::{SEARCH_BLOCK, Search};
use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-merge",
    source: "merge-spmv-sc16, III-E; merge-spmv's code (CUB)",
    summary: "equal tiles of the merge path per block; search and tiles kernels",
    parameters: &[
        Parameter {
            name: "block",
            values: &["32", "64", "128", "256"],
            meaning: "threads per tile; default 128 (128 in the paper; 128 for f32, 64 for f64 in its code)",
        },
        Parameter {
            name: "items",
            values: &["4", "5", "6", "7", "8", "10", "12"],
            meaning: "steps per thread; default 8 (7 in the paper; 7 for f32, 6 for f64 in its code)",
        },
        Parameter {
            name: "search",
            values: &["kernel", "tiles"],
            meaning: "where tiles are searched: in a kernel of its own or in each tile; default by their number",
        },
        Parameter {
            name: "shape",
            values: &["cub"],
            meaning: "cub: the published method, of 128 x 7 steps, with a search per thread and a fix-up kernel",
        },
    ],
    memory: |extent| (extent.rows + extent.nnz) / 128 * (12 + 2 * extent.value),
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

pub const METHOD_BITS: Method = Method {
    name: "gpu-merge-bits",
    source: "MERBIT, arXiv 2605.07391, of which only the summary was known",
    summary: "tiles of the merge path, whose threads read which of their steps end rows from a bit field",
    parameters: &[Parameter { name: "items", values: &["8", "12"], meaning: "steps per thread; default 8" }],
    setup: Setup::Inspection,
    memory: |extent| (METHOD.memory)(extent) + (extent.rows + extent.nnz) / 8 * 4 + 1024,
    code: Code::Gpu { f64: prepare_bits, f32: prepare_bits },
    ..METHOD
};

/// The threads that search the start of a tile together.
const SEARCH_LANES: usize = 8;

/// Threads per tile and steps per thread that the model prefers in both precisions on V100, A100 and H200.
const BLOCK: usize = 128;
const ITEMS: usize = 8;

/// The threads that should be resident on a multiprocessor: with 64 registers each, so that a thread has all its loads
/// in flight at once (with 32, the compiler put them into groups that wait for each other), and fewer for more than
/// `FEW_ITEMS` steps per thread, which need up to 80 registers.
const THREADS: [usize; 2] = [1024, 768];
const FEW_ITEMS: usize = 8;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    if request.word("shape") == Some("cub") {
        return merge_cub::prepare(csr, request);
    }
    let tiles = Tiles::new(csr, request, false)?;
    let search = Search::new(csr, request, (&tiles.module, tiles.count, SEARCH_LANES))?;
    let descriptors = csr.gpu.allocate::<u32>(0)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        search.run(csr)?;
        let points: [&dyn Argument; 2] = [&search.starts, &descriptors];
        tiles.multiply(csr, &search.kernel, [x, y, &alpha, &beta], points)
    }))
}

fn prepare_bits<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let tiles = Tiles::new(csr, request, true)?;
    let starts = csr.gpu.allocate::<u64>(tiles.count + 1)?;
    let descriptors = csr.gpu.allocate::<u32>(tiles.count * tiles.block)?;
    let arguments: [&dyn Argument; 5] = [&csr.rows(), &csr.nnz(), &csr.row_offsets, &starts, &descriptors];
    tiles.module.kernel("merge_describe")?.launch(tiles.count, tiles.block, 0, &arguments)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        tiles.multiply(csr, None, [x, y, &alpha, &beta], [&starts, &descriptors])
    }))
}

/// The tiles, and what they leave of the rows that they share.
struct Tiles<T: Value> {
    module: Module,
    kernel: Kernel,
    count: usize,
    block: usize,
    heads: Buffer<T>,
    tails: Buffer<T>,
    arrivals: Buffer<u32>,
}

impl<T: Value> Tiles<T> {
    fn new(csr: &DeviceCsr<T>, request: &Request, described: bool) -> Result<Self, Unprepared> {
        let block = request.number("block").unwrap_or(BLOCK);
        let items = request.number("items").unwrap_or(ITEMS);
        let threads = THREADS[usize::from(items > FEW_ITEMS)];
        let constants = [
            ("BLOCK", block),
            ("ITEMS", items),
            ("SEARCH_BLOCK", SEARCH_BLOCK),
            ("SEARCH_LANES", SEARCH_LANES),
            ("RESIDENT", (threads / block).min(32)),
            ("DESCRIBED", usize::from(described)),
        ];
        let module = csr.compile(program!("cuda/merge.cu"), &constants)?;
        let count = (csr.host.rows() + csr.host.nnz()).div_ceil(block * items);
        let arrivals = csr.gpu.zeros(count)?;
        Ok(Self {
            kernel: module.kernel("merge_tiles")?,
            module,
            count,
            block,
            heads: csr.gpu.allocate(count)?,
            tails: csr.gpu.allocate(count)?,
            arrivals,
        })
    }

    /// Launches the tiles kernel with x, y, α and β, and with the starts of the tiles and the descriptors, after the
    /// kernel that finds the starts.
    fn multiply<'k>(
        &self,
        csr: &DeviceCsr<T>,
        after: impl Into<Option<&'k Kernel>>,
        vectors: [&dyn Argument; 4],
        points: [&dyn Argument; 2],
    ) -> Result<(), Failed> {
        let between: [&dyn Argument; 3] = [&self.heads, &self.tails, &self.arrivals];
        let arguments: [&dyn Argument; 6] = [&csr.rows(), &csr.nnz(), csr, &vectors, &points, &between];
        self.kernel.launch_after(after, self.count, self.block, 0, &arguments)
    }
}
