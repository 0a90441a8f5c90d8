//! BCCOO: dense blocks in coordinate order with a bit in place of their row, and one kernel that sums
//! them up. Ours, after yaSpMV (Yan, Li, Zhang and Zhou 2014) and its code.
//!
//! Blocks of h × w, h and w of 1, 2 and 4, stand by row of blocks, then column. A bit says which is the
//! last of its row; a row of blocks without entries has a block of zeros, so that rows need no other
//! trace. A thread has some blocks after each other, stored so that neighbouring threads load
//! neighbouring values, and the number of the row that it begins in. It sums them up one after the
//! other, stores the rows that begin and end with it, and keeps its first and its last sum; a segmented
//! scan over the thread block joins those. From one thread block to the next the open row goes by
//! adjacent synchronisation: each waits for what the one before published, and publishes its own sum
//! first if a row ends in it. Thread blocks number themselves from a counter, which like their flags
//! is cleared in each product.
//!
//! Setup reads CSR back, counts the blocks of all nine shapes and takes the one that needs the fewest
//! bytes; the last tile is filled up with zeros. Memory per block: its values, 4 bytes for the column
//! and a bit; 4 per thread; 4 and h values per tile.
//!
//! Departures: α and β; both precisions; shapes by bytes instead of by timing hundreds of kernels; no
//! slices of the matrix (BCCOO+), no compressed columns, no textures; finished rows are stored as they
//! come and not kept; a matrix whose blocks would be mostly fill is refused. An entry that is zero
//! counts as fill: whatever x holds there, its product is 0.

mod blocks;

use blocks::{Blocks, Tiling, fewest_bytes};

use crate::device::buffer::Value;
use crate::device::{Argument, DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};
use crate::methods::register_blocks::shape;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-bccoo",
    source: "ours, after yaSpMV (Yan, Li, Zhang and Zhou 2014) and its code",
    summary: "dense blocks with a bit for the last of a row; segmented sums in one kernel",
    parameters: &[
        Parameter {
            name: "block",
            values: blocks::SHAPES,
            meaning: "rows x columns of a block; the fewest bytes unless given",
        },
        Parameter {
            name: "items",
            values: &["4", "8", "16"],
            meaning: "blocks per thread; unless given 16 of 1x1, 8 of side 2, 4 of side 4",
        },
        Parameter {
            name: "threads",
            values: &["64", "128", "256", "512"],
            meaning: "threads per tile; 128 unless given",
        },
        Parameter {
            name: "carry",
            values: &["adjacent", "kernel"],
            meaning: "how an open row goes from tile to tile: the next waits for it unless given, or \
                      a second kernel adds it",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: blocks::memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "bccoo.cu", source: include_str!("../../../cuda/bccoo.cu") };

/// Threads per block of the second kernel.
const SEAMS_BLOCK: usize = 128;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let gpu = &csr.gpu;
    let host = csr.download()?;
    let shape = request.word("block").map_or_else(|| fewest_bytes(&host), shape);
    let threads = request.number("threads").unwrap_or(128);
    let items = request.number("items").unwrap_or(16 / shape.rows.max(shape.cols));
    let adjacent = request.word("carry") != Some("kernel");
    let blocks = Blocks::of(&host, Tiling { shape, threads, items })?;
    let constants = [
        ("BLOCK", threads),
        ("ITEMS", items),
        ("BLOCK_ROWS", shape.rows),
        ("BLOCK_COLS", shape.cols),
        ("ADJACENT", usize::from(adjacent)),
    ];
    let module = gpu.compile::<T>(&PROGRAM, &constants)?;
    let (multiply, add_carries) = (module.kernel("bccoo_tiles")?, module.kernel("bccoo_carries")?);

    let tiles = blocks.first_rows.len() / threads;
    let seams = if adjacent { 0 } else { tiles.saturating_sub(1) as u32 };
    let carries = gpu.allocate::<T>(tiles * shape.rows)?;
    let mut state = gpu.allocate::<u32>(if adjacent { tiles + 1 } else { 0 })?;
    let first_rows = gpu.upload(&blocks.first_rows)?;
    let ends = gpu.upload(&blocks.ends)?;
    let columns = gpu.upload(&blocks.columns)?;
    let values = gpu.upload(&blocks.values)?;
    let note = format!("blocks of {shape}");

    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        state.fill(0)?;
        let (rows, cols) = (&csr.rows(), &csr.cols());
        let matrix: [&dyn Argument; 6] = [rows, cols, &first_rows, &ends, &columns, &values];
        let vectors: [&dyn Argument; 4] = [x, y, &alpha, &beta];
        let between: [&dyn Argument; 2] = [&carries, &state];
        multiply.launch(tiles, threads, 0, &[&matrix[..], &vectors, &between].concat())?;
        let left: [&dyn Argument; 5] = [&seams, &first_rows, &carries, y, &alpha];
        add_carries.launch((seams as usize).div_ceil(SEAMS_BLOCK), SEAMS_BLOCK, 0, &left)
    })
    .noting(note))
}
