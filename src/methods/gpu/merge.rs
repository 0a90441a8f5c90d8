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
//! Departures: α and β are supported; one tile per block, as in the code, whereas in the paper each block of a resident
//! wave processes several; products are always staged in shared memory (the code's "direct" mode for f64 is omitted);
//! matrices with one column have no separate kernel. The published method has a third kernel, the fix-up, which adds
//! the carries. The ends of rows mark their steps of the path in a bit map and threads count the marks before theirs,
//! which gives the points that the published threads search for.

use crate::device::buffer::Value;
use crate::device::{Argument, DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};

/// The method `gpu-merge`, which the module documentation describes.
pub const METHOD: Method = Method {
    name: "gpu-merge",
    source: "merge-spmv-sc16, III-E; merge-spmv's code (CUB)",
    summary: "equal tiles of the merge path per block; search and tiles kernels",
    parameters: &[
        Parameter {
            name: "block",
            values: &["32", "64", "128", "256"],
            meaning: "threads per tile; default 256 (128 in the paper; 128 for f32, 64 for f64 in its code)",
        },
        Parameter {
            name: "items",
            values: &["4", "5", "6", "7", "8", "10", "12"],
            meaning: "steps per thread; default 7 (7 in the paper; 7 for f32, 6 for f64 in its code)",
        },
        Parameter {
            name: "search",
            values: &["kernel", "tiles"],
            meaning: "where tiles are searched: in a kernel of its own or in each tile; default by their number",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory: |extent| (extent.rows + extent.nnz) / 128 * (12 + 2 * extent.value),
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "merge.cu", source: include_str!("../../../cuda/merge.cu") };

/// Threads per block of the search kernel, and threads per tile.
const SEARCH_BLOCK: usize = 128;
const SEARCH_LANES: usize = 8;

/// Threads per tile and steps per thread that the model prefers in both precisions on V100, A100 and H200.
const BLOCK: usize = 256;
const ITEMS: usize = 7;

/// The threads that should be resident on a multiprocessor: the most on large GPUs, with 32 registers each, and half
/// of them for more than `FEW_ITEMS` steps per thread, which need up to 64 registers.
const THREADS: [usize; 2] = [2048, 1024];
const FEW_ITEMS: usize = 8;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let (gpu, facts) = (&csr.gpu, csr.gpu.facts());
    let block = request.number("block").unwrap_or(BLOCK);
    let items = request.number("items").unwrap_or(ITEMS);
    let threads = THREADS[usize::from(items > FEW_ITEMS)];
    let resident = (threads / block).min(32);
    let constants = [("BLOCK", block), ("ITEMS", items), ("RESIDENT", resident)];
    let module = gpu.compile::<T>(&PROGRAM, &constants)?;
    let search = module.kernel("merge_search")?;
    let multiply = module.kernel("merge_tiles")?;

    let tiles = (csr.host.rows() + csr.host.nnz()).div_ceil(block * items);
    let in_kernel = match request.word("search") {
        Some(place) => place == "kernel",
        None => (tiles + 1).div_ceil(SEARCH_BLOCK) >= facts.multiprocessors as usize,
    };
    let starts = gpu.allocate::<u64>(if in_kernel { tiles + 1 } else { 0 })?;
    let heads = gpu.allocate::<T>(tiles)?;
    let tails = gpu.allocate::<T>(tiles)?;
    let mut arrivals = gpu.allocate::<u32>(tiles)?;
    arrivals.fill(0)?;
    let search_grid = (starts.len() * SEARCH_LANES).div_ceil(SEARCH_BLOCK);
    let tile_count = tiles as u32;

    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
        let (rows, nnz) = (&csr.rows(), &csr.nnz());
        let points: [&dyn Argument; 5] = [&tile_count, rows, nnz, row_offsets, &starts];
        search.launch(search_grid, SEARCH_BLOCK, 0, &points)?;
        let matrix: [&dyn Argument; 5] = [rows, nnz, row_offsets, column_indices, values];
        let vectors: [&dyn Argument; 4] = [x, y, &alpha, &beta];
        let between: [&dyn Argument; 4] = [&starts, &heads, &tails, &arrivals];
        multiply.launch(tiles, block, 0, &[&matrix[..], &vectors, &between].concat())
    }))
}
