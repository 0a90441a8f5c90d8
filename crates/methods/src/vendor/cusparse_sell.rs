//! cuSPARSE's product with sliced ELL: slices of 32 rows, each padded to its longest row and stored column by column.
//! Setup copies CSR to the host, builds the slices and uploads them.

use super::cusparse;
use crate::device::cusparse::{Algorithm, SparseFormat};
use crate::formats::strips::{Layout, Strips, strip_offsets};
use crate::gpu::prelude::*;

pub const METHOD: Method = Method {
    name: "cusparse-sell",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_SELL_ALG1",
    summary: "NVIDIA's product on sliced ELL, 32 rows a slice; the conversion counts as setup",
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory,
    may_refuse,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

const SLICE: usize = 32;
/// The largest number of stored entries per nonzero; a matrix with more padding is refused.
const MOST_PADDING: usize = 8;
/// The column index of padding.
const PADDING: u32 = u32::MAX;

/// The number of stored entries if all rows are as long as the longest.
fn full(extent: &Extent) -> u64 {
    extent.longest.saturating_mul(extent.rows + SLICE as u64)
}

fn may_refuse(extent: &Extent) -> bool {
    extent.nnz == 0 || full(extent) > MOST_PADDING as u64 * extent.nnz
}

/// Bounds the bytes of the stored entries, an offset per slice, and the memory of the library.
fn memory(extent: &Extent) -> u64 {
    let places = full(extent).min((MOST_PADDING as u64 * extent.nnz).max(SLICE as u64));
    places * (extent.value + 4) + extent.rows + cusparse::memory(extent)
}

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    cusparse::library(csr)?;
    let host = csr.download()?;
    let offsets = slice_offsets(&host)?;
    let starts: Vec<_> = offsets.iter().map(|columns| columns * SLICE as u32).collect();
    let strips = Strips::new(&host, SLICE, Layout::Sliced(offsets), None, Some(PADDING));
    let Strips { column_indices, values, .. } = strips;
    let (gpu, stored) = (&csr.gpu, values.len() as u64);
    let arrays = (gpu.upload(&starts)?, gpu.upload(&column_indices)?, gpu.upload(&values)?);
    let addresses = [arrays.0.address(), arrays.1.address(), arrays.2.address()];
    let format = SparseFormat::SlicedEll { slice_rows: SLICE as u64, stored };
    let call = (Algorithm::CUSPARSE_SPMV_SELL_ALG1, false);
    cusparse::prepare(csr, request, call, format, addresses, arrays)
}

/// Returns the number of columns before each slice, followed by that of all slices, if these store few enough entries.
fn slice_offsets<T: Value>(csr: &Csr<T>) -> Result<Vec<u32>, Unavailable> {
    let offsets = strip_offsets(csr, SLICE, None);
    let (stored, nnz) = (offsets[offsets.len() - 1] as usize * SLICE, csr.nnz());
    if stored > (MOST_PADDING * nnz).max(SLICE) || stored > i32::MAX as usize {
        return Err(Unavailable(format!(
            "sliced ELL would store {stored} entries for {nnz} nonzeros, more than {MOST_PADDING} times as many"
        )));
    }
    Ok(offsets)
}
