//! A choice among this project's methods on a GPU by the rows' statistics and the number of products
//! planned.
//!
//! Rows of nearly one length need no balancing: a vector of threads per row, or where enough products
//! are planned, rows side by side without any reduction. Uneven rows, by csr-k's bound on their
//! variance, or a row too long for a warp take equal nonzeros for every block, which needs no luck with
//! the rows. Setup reads the row offsets back, and is that of the method chosen. Memory: the chosen
//! method's.
//!
//! The thresholds are other people's figures, not measurements of this program's methods.

use super::{csr_vector, hola, sell};
use crate::device::DeviceCsr;
use crate::device::buffer::Value;
use crate::method::{Code, Method, Operations, PreparedOnGpu, Request, Setup, Unprepared};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-auto",
    source: "this project",
    summary: "gpu-csr-vector, gpu-sell or gpu-hola, by the rows' lengths and the products planned",
    parameters: &[],
    operations: Operations::Plain,
    setup: Setup::Inspection,
    memory: sell::METHOD.memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

/// csr-k's bound between regular and irregular matrices (section 5.3): the variance of the row lengths.
const REGULAR: f64 = 10.0;
/// A longer row would keep its warp busy when the others are long done.
const LONGEST: u32 = 1024;
/// Products from which a conversion on the host pays: merge-spmv-sc16 gives HYB's as 19 products, and
/// hola-spmv-ics17 CSR5's as up to 30, both on the device.
const FOR_CONVERSION: usize = 100;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let offsets = csr.row_offsets.to_vec()?;
    let picked = |method: &Method| {
        let prepare = method.prepare_on_gpu::<T>().expect("a method of the GPU");
        let prepared = prepare(csr, request)?.noting(format!("picked {}", method.name));
        let csr_bytes = method.csr_bytes(csr.host.bytes(), &prepared);
        Ok(prepared.reading_csr(csr_bytes))
    };
    if !is_regular(&offsets) {
        return picked(&hola::METHOD);
    }
    if request.expected_products < FOR_CONVERSION {
        return picked(&csr_vector::METHOD);
    }
    match picked(&sell::METHOD) {
        // Mostly fill: few rows, or windows with a long one.
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
        // A variance of 9, of 12.25.
        assert!(regular(&[0, 6]) && !regular(&[0, 7]));
        assert!(!regular(&[1025; 3]));
    }
}
