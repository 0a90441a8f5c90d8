//! Chooses one of this project's GPU methods by the lengths of the rows and the diagonals.
//!
//! Rows are regular if none is longer than four times the mean and 128 nonzeros. If the rows are regular and so many
//! that a thread for each fills the GPU, `gpu-dia` is chosen if the diagonals have fewer bytes than CSR, otherwise
//! `gpu-ell` if padding is a twentieth at most. For other regular rows it is `gpu-csr-vector`, and for irregular rows
//! `gpu-csr5`. A run of few products chooses only among methods that convert nothing: `gpu-csr-vector` and `gpu-merge`.
//!
//! The record of an H200 decided on the methods and the limits: see `docs/gpu.md`. The rows and diagonals are counted
//! on the device, in less time than a few products. Memory: that of the chosen method.

use super::convert::Converter;
use super::prelude::*;
use super::{csr_vector, csr5, dia, ell, merge};

pub const NAME: &str = METHOD.name;

pub const METHOD: Method = Method {
    name: "gpu-auto",
    source: "this project",
    summary: "dia, ell, csr-vector, csr5 or merge, by row lengths, diagonals and planned products",
    setup: Setup::Inspection,
    memory,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

static CANDIDATES: [Method; 5] = [csr_vector::METHOD, merge::METHOD, csr5::METHOD, ell::METHOD, dia::METHOD];

/// The largest number of nonzeros of a regular row.
const MAX_REGULAR_ROW: usize = 128;
/// The number of planned products from which conversions pay.
const PAYS: usize = 100;

fn memory(extent: &Extent) -> u64 {
    CANDIDATES.iter().map(|method| (method.memory)(extent)).max().unwrap_or_default()
}

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let (method, why) = choose(csr, request.expected_products)?;
    let prepared = method.prepare_on_device(csr, request)?;
    let csr_bytes = method.csr_bytes(csr.host.bytes(), &prepared);
    Ok(prepared.picked(method.name.into()).with_note(why).with_csr_bytes(csr_bytes))
}

/// Returns the method for so many products, and the reason.
fn choose<T: Value>(csr: &DeviceCsr<T>, products: usize) -> Result<(&'static Method, String), Unprepared> {
    let [csr_vector, merge, csr5, ell, dia] = &CANDIDATES;
    let converter = Converter::new(csr)?;
    let (rows, nnz) = (csr.host.rows(), csr.host.nnz());
    let limit = (4 * nnz).div_ceil(rows.max(1)).clamp(4, MAX_REGULAR_ROW);
    let irregular = converter.longer(&csr.row_offsets, limit)?;
    if irregular > 0 {
        let why = format!("{irregular} rows are longer than {limit} nonzeros");
        return Ok(if products < PAYS {
            (merge, format!("{why}, and {products} products do not pay for a conversion"))
        } else {
            (csr5, why)
        });
    }
    let why = format!("no row is longer than {limit} nonzeros");
    if products < PAYS || 2 * rows < csr.gpu.facts().most_threads() {
        return Ok((csr_vector, why));
    }
    let diagonals = match converter.diagonals(false) {
        Err(Unprepared::Unavailable(_)) => None,
        found => Some(found?.len()),
    };
    let is_smaller = |count: &usize| ((count * rows * size_of::<T>()) as u64) < csr.host.bytes();
    if let Some(count) = diagonals.filter(is_smaller) {
        return Ok((dia, format!("{why}, and all are on {count} diagonals")));
    }
    let longest = converter.width(&csr.row_offsets, 0)?;
    Ok(if 20 * longest * rows <= 21 * nnz {
        (ell, format!("almost all rows have {longest} nonzeros"))
    } else {
        (csr_vector, why)
    })
}
