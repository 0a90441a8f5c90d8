//! SELL-C-σ: Kreutzer et al., A unified sparse matrix data format (2014).
//!
//! Rows are sorted by descending length inside windows of σ rows and divided into chunks of C rows. A chunk is stored
//! column by column and padded to its longest row. C is 32, the size of a warp, by default. Each thread owns one row,
//! so a warp loads 32 neighbouring entries at once. y is written through the permutation, in the original row order.
//! Padding has the column index 0xffffffff; a thread that loads it has reached the end of its row.
//!
//! Memory: the padded matrix, the permutation, and an offset per chunk, counted in columns of C entries, so that 32
//! bits are enough for every matrix. Departures from the source: a thread loads four entries of its row at a time.

use super::convert::{Converter, DeviceStrips};
use super::ell::{BLOCK, block};
use super::prelude::*;
use crate::formats::strips::{self, SIGMA, sigma};

pub const METHOD: Method = Method {
    name: "gpu-sell",
    source: "Kreutzer et al. 2014, SELL-C-σ",
    summary: "rows sorted by length in windows, then side by side in chunks, a thread per row",
    parameters: &[Parameter { name: "c", values: &["32", "64"], meaning: "rows of a chunk; default 32" }, SIGMA, BLOCK],
    setup: Setup::Conversion,
    memory: strips::memory,
    may_refuse: |extent| strips::may_refuse(extent, extent.number("c").unwrap_or(CHUNK)),
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// The rows of a chunk.
const CHUNK: u64 = 32;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let (rows, block) = (csr.host.rows(), block(request));
    let chunk = request.number("c").unwrap_or(CHUNK as usize);
    let constants = [("CHUNK", chunk), ("BLOCK", block)];
    let kernel = csr.compile(program!("cuda/sell.cu"), &constants)?.kernel("sell")?;
    let strips = Converter::new(csr)?.sell(chunk, sigma(request, rows))?;
    let note = strips::note(csr.host.nnz(), strips.values.len());
    let product = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let DeviceStrips { offsets, order, column_indices, values } = &strips;
        let matrix: [&dyn Argument; 4] = [offsets, order, column_indices, values];
        let grid = rows.div_ceil(block);
        kernel.launch(grid, block, 0, &[&csr.rows(), &matrix, x, y, &alpha, &beta])
    });
    Ok(product.with_note(note))
}
