//! DIA: Bell & Garland (2009).
//!
//! Each diagonal that holds a nonzero is stored whole, as long as there are rows, with its offset and
//! without column indices; diagonals are a multiple of 32 places apart. A thread owns a row, so that a warp
//! loads 32 neighbouring values and as many of x at once; the offsets pass through shared memory, as many
//! at a time as a block has threads. Transposed, the diagonals are those of Aᵀ.
//!
//! Memory: the diagonals and their offsets. Departures: α and β; a value of zero counts as fill, whose x,
//! which may be no number, is left out; a matrix whose diagonals would be mostly fill is refused.

use super::ell;
use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};
use crate::methods::diagonals::{self, Diagonals};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-dia",
    source: "Bell & Garland 2009, DIA",
    summary: "whole diagonals without column indices, a thread per row",
    parameters: &[ell::BLOCK],
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory: diagonals::memory_of_values,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program = Program { name: "dia.cu", source: include_str!("../../../cuda/dia.cu") };

/// Rows whose values are loaded together.
const WARP: usize = 32;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let (gpu, block) = (&csr.gpu, ell::block(request));
    let kernel = gpu.compile::<T>(&PROGRAM, &[("BLOCK", block)])?.kernel("dia")?;
    let diagonals = Diagonals::new(&csr.download()?, request.transpose, WARP)?;
    let Diagonals { rows, cols, pitch, .. } = diagonals;
    // The kernel adds them to rows, and what is negative wraps around.
    let offsets: Vec<u32> = diagonals.offsets.iter().map(|&offset| offset as u32).collect();
    let offsets = gpu.upload(&offsets)?;
    let values = gpu.upload(&diagonals.values)?;
    let shape = [rows, cols, pitch, offsets.len()].map(|n| n as u32);
    let product = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let [rows, cols, pitch, diagonals] = &shape;
        kernel.launch(
            y.len().div_ceil(block),
            block,
            0,
            &[rows, cols, pitch, diagonals, &offsets, &values, x, y, &alpha, &beta],
        )
    });
    Ok(product.transposing(request.transpose))
}
