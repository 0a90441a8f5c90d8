//! DIA: Bell & Garland (2009).
//!
//! Each diagonal that contains a nonzero is stored completely, with one value per row, with its offset and without
//! column indices. The diagonals have a stride that is a multiple of 32. Each thread owns one row, so a warp loads 32
//! neighbouring values and 32 neighbouring elements of x at once. A block reads the offsets through shared memory, as
//! many at a time as it has threads. For the transposed product the diagonals are those of Aᵀ.
//!
//! Memory: the diagonals and their offsets, and for the setup a bit for each possible diagonal. Departures from the
//! source: a stored zero counts as padding, and its x (which may be NaN or infinite) is ignored.

use super::convert::{Converter, DeviceDiagonals};
use super::ell;
use super::prelude::*;
use crate::formats::diagonals;

pub const METHOD: Method = Method {
    name: "gpu-dia",
    source: "Bell & Garland 2009, DIA",
    summary: "whole diagonals without column indices, a thread per row",
    parameters: &[ell::BLOCK],
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory: |extent| diagonals::memory_of_values(extent) + (extent.rows + extent.cols) / 8,
    may_refuse: diagonals::may_refuse,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = ell::block(request);
    let kernel = csr.compile(program!("cuda/dia.cu"), &[("BLOCK", block)])?.kernel("dia")?;
    let DeviceDiagonals { pitch, offsets, values } = Converter::new(csr)?.dia(request.transpose)?;
    let product = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let grid = y.len().div_ceil(block);
        let shape = [y.len(), x.len(), pitch, offsets.len()].map(|n| n as u32);
        kernel.launch(grid, block, 0, &[&shape, &offsets, &values, x, y, &alpha, &beta])
    });
    Ok(product.transposing(request.transpose))
}
