//! BCCOO: dense blocks in coordinate order, with one bit instead of a row index, and one kernel with segmented sums.
//! This project's implementation, after yaSpMV (Yan, Li, Zhang and Zhou 2014) and its code.
//!
//! Blocks of h × w, with h and w of 1, 2 or 4, are ordered by row of blocks, then column. A bit marks the last block of
//! each row of blocks; a row of blocks without entries has one block of zeros, so that no row indices are needed. A
//! thread owns several consecutive blocks, stored so that neighbouring threads load neighbouring values, and the number
//! of its first row of blocks. It sums its blocks in order, stores the rows that lie completely in its share, and keeps
//! the sums of its first and last row; a segmented scan over the thread block combines these. The sum of a row that
//! continues in the next thread block is passed on by adjacent synchronisation: each thread block publishes its sum; if
//! a row ends in it, it also waits for the sums that the thread blocks before have published, back to the nearest in
//! which a row ends. Words of 8 bytes contain half a value or a whole one and a mark, so that no fence is needed, which
//! would empty the first-level cache. Thread blocks take their numbers from a counter, which runs through two products
//! before it is cleared. So a word's mark also states whether it is of this product or of the one before, and neither
//! counter nor words are cleared by a separate operation. A product that fails in its kernel leaves other values, but
//! also an unusable context.
//!
//! Setup copies CSR to the host, counts the blocks of all nine shapes and uses the shape with the fewest bytes. The
//! last tile is padded with zeros. Memory: per block its values, 4 bytes for the column and one bit; 4 bytes per
//! thread; per tile 2 h values with their marks.
//!
//! Departures from the source: both precisions; the shape is chosen by bytes instead of by timing hundreds of kernels;
//! no slices of the matrix (BCCOO+), no compressed columns, no textures; complete rows are stored immediately instead
//! of being buffered; a thread block in which no row ends does not wait. A stored zero counts as padding: its product
//! is 0 even if x is NaN or infinite.

mod blocks;

use blocks::{Blocks, Tiling, fewest_bytes};

use super::prelude::*;
use crate::formats::register_blocks::shape;

pub const METHOD: Method = Method {
    name: "gpu-bccoo",
    source: "this project, after yaSpMV (Yan, Li, Zhang and Zhou 2014) and its code",
    summary: "dense blocks with a bit for the last of a row; segmented sums in one kernel",
    parameters: &[
        Parameter {
            name: "block",
            values: blocks::SHAPES,
            meaning: "rows x columns of a block; default: the shape with the fewest bytes",
        },
        Parameter {
            name: "items",
            values: &["4", "8", "16"],
            meaning: "blocks per thread; default 16 of 1x1, 8 if the longer side is 2, 4 if it is 4",
        },
        Parameter { name: "threads", values: &["64", "128", "256", "512"], meaning: "threads per tile; default 128" },
        Parameter {
            name: "carry",
            values: &["adjacent", "kernel"],
            meaning: "how the sum of a row that spans tiles is passed on: the next tile waits for it \
                      (adjacent, default), or a second kernel adds it",
        },
    ],
    setup: Setup::Conversion,
    memory: blocks::memory,
    may_refuse: blocks::may_refuse,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

const SEAMS_BLOCK: usize = 128;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let gpu = &csr.gpu;
    let host = csr.download()?;
    let shape = request.word("block").map_or_else(|| fewest_bytes(&host), shape);
    let threads = request.number("threads").unwrap_or(128);
    let items = request.number("items").unwrap_or(16 / shape.rows.max(shape.cols));
    let adjacent = request.word("carry") != Some("kernel");
    let blocks = Blocks::of(&host, Tiling { shape, threads, items })?;
    let constants = [
        ("BLOCK", threads),
        ("SEAMS_BLOCK", SEAMS_BLOCK),
        ("ITEMS", items),
        ("BLOCK_ROWS", shape.rows),
        ("BLOCK_COLS", shape.cols),
        ("ADJACENT", usize::from(adjacent)),
    ];
    let module = csr.compile(program!("cuda/bccoo.cu"), &constants)?;
    let (multiply, add_carries) = (module.kernel("bccoo_tiles")?, module.kernel("bccoo_carries")?);

    let tiles = blocks.first_rows.len() / threads;
    let seams = if adjacent { 0 } else { tiles.saturating_sub(1) as u32 };
    let carries = gpu.allocate::<T>(if adjacent { 0 } else { tiles * shape.rows })?;
    let words = shape.rows * size_of::<T>() / 4;
    let state = gpu.zeros::<u64>(if adjacent { words * tiles + 1 } else { 0 })?;
    let first_rows = gpu.upload(&blocks.first_rows)?;
    let ends = gpu.upload(&blocks.ends)?;
    let columns = gpu.upload(&blocks.columns)?;
    let values = gpu.upload(&blocks.values)?;
    let note = format!("blocks of {shape}");

    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let (rows, cols) = (&csr.rows(), &csr.cols());
        let matrix: [&dyn Argument; 6] = [rows, cols, &first_rows, &ends, &columns, &values];
        let arguments: [&dyn Argument; 7] = [&matrix, x, y, &alpha, &beta, &carries, &state];
        multiply.launch(tiles, threads, 0, &arguments)?;
        let left: [&dyn Argument; 5] = [&seams, &first_rows, &carries, y, &alpha];
        add_carries.launch((seams as usize).div_ceil(SEAMS_BLOCK), SEAMS_BLOCK, 0, &left)
    })
    .with_note(note))
}
