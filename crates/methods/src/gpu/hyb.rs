//! HYB: Bell & Garland (2009). The first entries of each row are stored in ELL, the others in coordinate format.
//!
//! The width of ELL is chosen as in cusp: the smallest width that fewer than a third of the rows, or fewer than 4096
//! rows, exceed. The first kernel multiplies the ELL part and writes y, the second adds the coordinate part. This
//! method represents cuSPARSE's HYB (csr2hyb, hybmv), which was removed after CUDA 10 and which older papers measure.
//!
//! Memory: the ELL part with padding, and the coordinate part with row indices. Departures from the sources: those of
//! `gpu-ell` and `gpu-coo`; the bound of 4096 rows does not grow with the number of threads of newer GPUs. Matrices
//! with fewer than 4096 rows have an empty ELL part.

use super::convert::{Converter, DeviceEntries};
use super::coo::{Adding, STEPS};
use super::ell::{BLOCK, Ell, block};
use super::prelude::*;
use crate::formats::coordinates::{WIDTH, few};
use crate::formats::strips;

pub const METHOD: Method = Method {
    name: "gpu-hyb",
    source: "Bell & Garland 2009, HYB; width as in cusp",
    summary: "the first entries of each row in ELL, the rest in coordinates, as in cuSPARSE's former HYB",
    parameters: &[WIDTH, BLOCK],
    setup: Setup::Conversion,
    memory: |extent| strips::memory(extent) + extent.csr() + extent.indices(),
    may_refuse: strips::may_refuse_width,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = block(request);
    let module = csr.compile(program!("cuda/hyb.cu"), &[("BLOCK", block), ("STEPS", STEPS)])?;
    let converter = Converter::new(csr)?;
    let width = match request.number(WIDTH.name) {
        Some(width) => width.min(converter.width(&csr.row_offsets, 0)?),
        None => converter.width(&csr.row_offsets, few(csr.host.rows()))?,
    };
    let ell = Ell::new(csr, &converter, width, module.kernel("hyb_ell")?, block)?;
    let rest = converter.rest(width)?;
    let adding = Adding::new(module.kernel("hyb_coo")?, block, rest.values.len(), None)?;
    let note = format!("{width} entries of a row in ELL, {} in coordinates", rest.values.len());
    let product = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        ell.run([x, y, &alpha, &beta])?;
        let DeviceEntries { row_indices, column_indices, values } = &rest;
        adding.run(&ell.kernel, [row_indices, column_indices, values], [x, y, &alpha, &beta])
    });
    Ok(product.with_note(note))
}
