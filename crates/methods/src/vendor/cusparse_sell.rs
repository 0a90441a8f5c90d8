//! cuSPARSE's product with sliced ELL: slices of 32 rows, each padded to its longest row and stored column by column.
//! Setup copies CSR to the host, builds the slices and uploads them.

use super::cusparse;
use crate::device::cusparse::{Algorithm, SparseFormat};
use crate::gpu::prelude::*;

pub const METHOD: Method = Method {
    name: "cusparse-sell",
    source: "NVIDIA cuSPARSE, cusparseSpMV, CUSPARSE_SPMV_SELL_ALG1",
    summary: "NVIDIA's product on sliced ELL, 32 rows a slice; the conversion counts as setup",
    parameters: &[],
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

const SLICE: usize = 32;
/// The largest number of stored entries per nonzero; a matrix with more padding is refused.
const MOST_PADDING: usize = 8;
/// The column index of padding.
const PADDING: u32 = u32::MAX;

/// Bounds the bytes of the stored entries, an offset per slice, and the memory of the library.
fn memory(extent: &Extent) -> u64 {
    let full = extent.longest.saturating_mul(extent.rows + SLICE as u64);
    let places = full.min((MOST_PADDING as u64 * extent.nnz).max(SLICE as u64));
    places * (extent.value + 4) + extent.rows + cusparse::memory(extent)
}

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    cusparse::library(csr)?;
    let host = csr.download()?;
    let offsets = slice_offsets(host.row_offsets())?;
    let (columns, values) = slices(&host, &offsets);
    let (gpu, stored) = (&csr.gpu, values.len() as u64);
    let arrays = (gpu.upload(&offsets)?, gpu.upload(&columns)?, gpu.upload(&values)?);
    let addresses = [arrays.0.address(), arrays.1.address(), arrays.2.address()];
    let format = SparseFormat::SlicedEll { slice_rows: SLICE as u64, stored };
    let call = (Algorithm::CUSPARSE_SPMV_SELL_ALG1, false);
    cusparse::prepare(csr, request, call, format, addresses, arrays)
}

/// Returns the start of each slice, followed by the number of stored entries.
fn slice_offsets(row_offsets: &[u32]) -> Result<Vec<u32>, Unavailable> {
    let lengths: Vec<_> = row_offsets.windows(2).map(|bounds| bounds[1] - bounds[0]).collect();
    let nnz = row_offsets[lengths.len()] as usize;
    let mut offsets = vec![0];
    let mut stored = 0;
    for slice in lengths.chunks(SLICE) {
        stored += SLICE * slice.iter().copied().max().unwrap_or(0) as usize;
        offsets.push(stored as u32);
    }
    if stored > (MOST_PADDING * nnz).max(SLICE) || stored > i32::MAX as usize {
        return Err(Unavailable(format!(
            "sliced ELL would store {stored} entries for {nnz} nonzeros, more than {MOST_PADDING} \
             times as many"
        )));
    }
    Ok(offsets)
}

/// Returns the columns and the values of the slices that start at `offsets`.
fn slices<T: Value>(csr: &Csr<T>, offsets: &[u32]) -> (Vec<u32>, Vec<T>) {
    let stored = offsets[offsets.len() - 1] as usize;
    let (mut column_indices, mut values) = (vec![PADDING; stored], vec![T::zero(); stored]);
    for row in 0..csr.rows() {
        let first = offsets[row / SLICE] as usize + row % SLICE;
        for (place, k) in csr.row(row).enumerate() {
            column_indices[first + place * SLICE] = csr.column_indices()[k];
            values[first + place * SLICE] = csr.values()[k];
        }
    }
    (column_indices, values)
}
