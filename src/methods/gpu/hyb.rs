//! HYB: Bell & Garland (2009). The first entries of each row in ELL, the rest in coordinates.
//!
//! The width of ELL is cusp's: the smallest that less than a third of the rows, or fewer than 4096,
//! exceed. The first kernel multiplies ELL and writes y, the second adds the rest to it. It stands for
//! cuSPARSE's HYB (csr2hyb, hybmv), which ended with CUDA 10 and which papers up to then measure.
//!
//! Memory: ELL's places, the rest with row indices. Departures: those of gpu-ell and gpu-coo; the 4096 rows
//! are kept as they are on GPUs that have more threads, so that ELL is empty for matrices of fewer rows.

use super::coo::Adding;
use super::ell::{BLOCK, Ell, block};
use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};
use crate::methods::coordinates::{Rest, WIDTH, width};
use crate::methods::strips;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-hyb",
    source: "Bell & Garland 2009, HYB; width as in cusp",
    summary: "the first entries of each row in ELL, the rest in coordinates: once cuSPARSE's HYB",
    parameters: &[WIDTH, BLOCK],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: |extent| strips::memory(extent) + extent.csr() + extent.indices(),
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program = Program { name: "hyb.cu", source: include_str!("../../../cuda/hyb.cu") };

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let (gpu, block) = (&csr.gpu, block(request));
    let module = gpu.compile::<T>(&PROGRAM, &[("BLOCK", block)])?;
    let host = csr.download()?;
    let width = width(&host, request);
    let (ell, _) = Ell::new(csr, &host, width, module.kernel("hyb_ell")?, block)?;
    let rest = Rest::of(&host, width);
    let adding = Adding::new(module.kernel("hyb_coo")?, block, rest.values.len(), None)?;
    let note = format!("{width} entries of a row in ELL, {} in coordinates", rest.values.len());
    let row_indices = gpu.upload(&rest.row_indices)?;
    let column_indices = gpu.upload(&rest.column_indices)?;
    let values = gpu.upload(&rest.values)?;
    let product = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        ell.run(alpha, x, beta, y)?;
        adding.run((&row_indices, &column_indices, &values), alpha, x, y)
    });
    Ok(product.noting(note))
}
