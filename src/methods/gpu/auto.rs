//! Chooses one of this project's GPU methods by the row lengths and the expected number of products.
//!
//! Regular rows (nearly equal lengths) need no load balancing: `gpu-csr-vector` assigns several threads to each row.
//! If enough products are expected to pay for a conversion, `gpu-sell` is used, which needs no reduction. Irregular
//! rows (a variance of the row lengths above csr-k's bound, or a row too long for a warp) use `gpu-hola`, which assigns
//! the same number of nonzeros to every thread block. Setup copies the row offsets to the host and then runs the setup
//! of the chosen method. Memory: that of the chosen method.
//!
//! The thresholds come from publications, not from measurements of this program's methods.

use super::{csr_vector, hola, sell};
use crate::device::DeviceCsr;
use crate::device::buffer::Value;
use crate::method::{Code, Method, Operations, PreparedOnGpu, Request, Setup, Unprepared};

/// The method `gpu-auto`, which the module documentation describes.
pub const METHOD: Method = Method {
    name: "gpu-auto",
    source: "this project",
    summary: "gpu-csr-vector, gpu-sell or gpu-hola, by the row lengths and the expected number of products",
    parameters: &[],
    operations: Operations::Plain,
    setup: Setup::Inspection,
    memory: sell::METHOD.memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

/// The largest variance of the row lengths of a regular matrix (csr-k, section 5.3).
const REGULAR: f64 = 10.0;
/// The largest row length of a regular matrix. The warp of a longer row would still run when all others have ended.
const LONGEST: u32 = 1024;
/// The number of expected products from which a conversion on the host pays. The published conversions on the device
/// cost as much as 19 products (HYB, merge-spmv-sc16) and up to 30 (CSR5, hola-spmv-ics17).
const FOR_CONVERSION: usize = 100;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let offsets = csr.row_offsets.to_vec()?;
    let picked = |method: &Method| {
        let prepare = method.prepare_on_gpu::<T>().expect("a method of the GPU");
        let prepared = prepare(csr, request)?.with_note(format!("picked {}", method.name));
        let csr_bytes = method.csr_bytes(csr.host.bytes(), &prepared);
        Ok(prepared.with_csr_bytes(csr_bytes))
    };
    if !is_regular(&offsets) {
        return picked(&hola::METHOD);
    }
    if request.expected_products < FOR_CONVERSION {
        return picked(&csr_vector::METHOD);
    }
    match picked(&sell::METHOD) {
        // The format would be mostly padding: there are few rows, or windows that contain a long row.
        Err(Unprepared::Unavailable(_)) => picked(&csr_vector::METHOD),
        prepared => prepared,
    }
}

fn is_regular(row_offsets: &[u32]) -> bool {
    let rows = (row_offsets.len() - 1).max(1) as f64;
    let lengths = || row_offsets.windows(2).map(|bounds| bounds[1] - bounds[0]);
    let mean = f64::from(lengths().sum::<u32>()) / rows;
    let variance = lengths().map(|length| (f64::from(length) - mean).powi(2)).sum::<f64>() / rows;
    variance <= REGULAR && lengths().max().unwrap_or(0) <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_rows_vary_little_and_are_not_long() {
        let regular = |lengths: &[u32]| {
            let mut offsets = vec![0];
            lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
            is_regular(&offsets)
        };
        assert!(regular(&[]) && regular(&[5, 5]) && regular(&[1024; 3]));
        // Variances of 9 and 12.25.
        assert!(regular(&[0, 6]) && !regular(&[0, 7]));
        assert!(!regular(&[1025; 3]));
    }
}
