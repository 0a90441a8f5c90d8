//! CSR through bulk copies: this project's kernel for the copy engine of NVIDIA GPUs from compute capability 9.0 on
//! (CUDA C++ Programming Guide, asynchronous data copies with the tensor memory accelerator, one-dimensional).
//!
//! As many thread blocks as the GPU can hold at once, up to 9 per multiprocessor, divide the nonzeros into equal spans.
//! A block processes its span in pieces. One thread starts the copy of the columns and values of a piece to one of
//! several buffers in shared memory; it needs no registers, and its bytes do not pass through the first-level cache,
//! which is left to x. When the barrier of the buffer (mbarrier) has counted all bytes, each thread multiplies nonzeros
//! at a stride of the block, so that no bank conflicts occur, and writes the products to shared memory. Then the buffer
//! is free for another piece, and as in CSR-Stream (see `gpu-csr-adaptive`) 1 to 32 threads per row sum the rows that
//! end in the piece. The sum of the row that continues in the next piece is carried in shared memory. If the longest
//! row is much longer than the mean, rows that have more than 16 products of a piece for each of their threads wait,
//! and a warp sums each of them. Threads sum the pieces without row ends in registers.
//!
//! Of a row that several blocks share, each block stores its part; the block that does so last adds them in their
//! order, as in `gpu-merge`. So a product has one launch and repeats itself bit by bit. The last nonzeros of the matrix
//! that do not fill the 16 bytes of the copy's unit are loaded by the threads.
//!
//! Setup finds the first row of each piece, and copies the row offsets to the host for the longest row. Memory: 4 bytes
//! per piece; 4 bytes and two values per block.

use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-csr-bulk",
    source: "this project; CUDA C++ Programming Guide, bulk-asynchronous copies",
    summary: "pieces of CSR copied to shared memory while others are multiplied; compute capability 9.0 or newer",
    parameters: &[
        Parameter { name: "items", values: &["2", "4", "6"], meaning: "nonzeros of a piece per thread; default 4" },
        Parameter {
            name: "buffers",
            values: &["2", "3"],
            meaning: "pieces that are in shared memory or on their way to it; default 2",
        },
    ],
    setup: Setup::Inspection,
    memory: |extent| {
        let pieces = extent.nnz / LEAST_PIECE + 1;
        4 * pieces + pieces.min(MOST_BLOCKS) * (8 + 2 * extent.value)
    },
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

const BLOCK: usize = 128;

/// For the estimate of memory: the number of nonzeros in the smallest pieces, and the most blocks on a large GPU.
const LEAST_PIECE: u64 = 2 * BLOCK as u64;
const MOST_BLOCKS: u64 = 4096;

/// The blocks that should be resident on a multiprocessor, with 64 registers per thread.
const RESIDENT: usize = 8;

/// The most blocks per multiprocessor. With more of them, less of x stays in the caches between the blocks that read
/// it.
const MOST_RESIDENT: usize = 9;

/// The number of nonzeros that any row may have, and the multiple of the mean, before rows count as long.
const LONG: usize = 16;
const LONGER: usize = 4;

/// The number of nonzeros with a multiple of 16 bytes of columns and of values.
const UNIT: usize = 4;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    csr.gpu.require((9, 0), "bulk copies to shared memory")?;
    let number = |name, default| request.number(name).unwrap_or(default);
    let items = number("items", 4);
    let constants = [
        ("BLOCK", BLOCK),
        ("ITEMS", items),
        ("BUFFERS", number("buffers", 2)),
        ("RESIDENT", RESIDENT),
        ("UNIT", UNIT),
        ("LONG", LONG),
        ("LONG_ROWS", usize::from(has_long_rows(&csr.row_offsets.to_vec()?))),
    ];
    let module = csr.gpu.compile::<T>(program!("cuda/csr_bulk.cu"), &constants)?;
    let kernel = module.kernel("csr_bulk")?;
    let (rows, nnz, piece) = (csr.host.rows(), csr.host.nnz(), BLOCK * items);
    let most = MOST_RESIDENT * csr.gpu.facts().multiprocessors as usize;
    let resident = kernel.resident_blocks(BLOCK, 0)?.clamp(1, most);
    let span = nnz.div_ceil(resident).next_multiple_of(UNIT).max(piece);
    let grid = if rows == 0 { 0 } else { nnz.div_ceil(span).max(1) };
    let pieces = span.div_ceil(piece);
    let starts = grid * pieces + 1;
    let first_rows = csr.gpu.allocate::<u32>(starts)?;
    let shape = [rows, nnz, span, pieces].map(|number| number as u32);
    let arguments: [&dyn Argument; 4] = [&shape, &(grid as u32), &csr.row_offsets, &first_rows];
    module.kernel("csr_bulk_first_rows")?.launch(starts.div_ceil(BLOCK), BLOCK, 0, &arguments)?;
    let (heads, tails) = (csr.gpu.allocate::<T>(grid)?, csr.gpu.allocate::<T>(grid)?);
    let arrivals = csr.gpu.zeros::<u32>(grid)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let between: [&dyn Argument; 3] = [&heads, &tails, &arrivals];
        let matrix: [&dyn Argument; 3] = [&shape, &first_rows, csr];
        kernel.launch(grid, BLOCK, 0, &[&matrix, x, y, &alpha, &beta, &between])
    }))
}

/// Returns whether the longest row is much longer than the mean. Then some rows need more threads than others.
fn has_long_rows(row_offsets: &[u32]) -> bool {
    let lengths = row_offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
    let (longest, rows) = (lengths.max().unwrap_or(0), row_offsets.len() - 1);
    longest > LONG && longest * rows > LONGER * row_offsets[rows] as usize
}

#[cfg(test)]
#[test]
fn long_rows_are_longer_than_the_mean() {
    assert!(!has_long_rows(&[0]) && !has_long_rows(&[0, 100, 200, 300]));
    assert!(!has_long_rows(&[0, 16, 16, 16, 16, 16]), "16 nonzeros");
    assert!(has_long_rows(&[0, 17, 17, 17, 17, 17]));
}
