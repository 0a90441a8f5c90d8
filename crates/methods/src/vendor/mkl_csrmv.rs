//! MKL's classic CSR product, the CPU baseline of merge-spmv-sc16: `mkl_cspblas_?csrgemv`. `mkl_?csrmv` is used for
//! α ≠ 1 or β ≠ 0, which the former does not support, and for the transpose, which it supports only for square
//! matrices. No setup, no additional memory. Exported up to MKL 2025.

use std::ffi::{c_char, c_int};

use super::mkl;
use crate::cpu::prelude::*;

pub const METHOD: Method = Method {
    name: "mkl-csrmv",
    source: "Intel MKL, mkl_cspblas_?csrgemv; merge-spmv-sc16's baseline",
    summary: "MKL's classic product (mkl_?csrmv when alpha is not 1 or beta not 0); removed in MKL 2026",
    operations: Operations::Both,
    memory: mkl::memory,
    may_refuse: |extent| extent.rows * extent.cols == 0,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

const NO_TRANSPOSE: *const c_char = c"N".as_ptr();
const TRANSPOSE: *const c_char = c"T".as_ptr();
/// The description of a general matrix with zero-based indices.
const GENERAL_ZERO_BASED: *const c_char = c"G  C  ".as_ptr();

fn prepare<'a, T: Scalar>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let mkl = mkl::mkl()?;
    let routines = mkl.routines::<T>();
    let (Some(csrgemv), Some(csrmv)) = (&routines.csrgemv, &routines.csrmv) else {
        let version = &mkl.version;
        return Err(Unavailable(format!(
            "{version} no longer exports mkl_cspblas_?csrgemv: `pip install mkl==2025.3.1`"
        )));
    };
    mkl.set_threads(request.team.len());
    let (rows, cols) = (csr.rows() as c_int, csr.cols() as c_int);
    let starts = csr.row_offsets().as_ptr().cast::<c_int>();
    let columns = csr.column_indices().as_ptr().cast::<c_int>();
    let values = csr.values().as_ptr();
    let transpose = request.transpose;
    let product = Prepared::new(csr, 0, move |alpha, x, beta, y| {
        let (x, y) = (x.as_ptr(), y.as_mut_ptr());
        // SAFETY: the arrays live as long as `csr`; indices are below 2^31, so a u32 has the same bits as an int; x and
        // y have cols and rows values (or the reverse for the transpose).
        unsafe {
            if alpha == T::one() && beta == T::zero() && !transpose {
                csrgemv(NO_TRANSPOSE, &rows, values, starts, columns, x, y);
            } else {
                csrmv(
                    if transpose { TRANSPOSE } else { NO_TRANSPOSE },
                    &rows,
                    &cols,
                    &alpha,
                    GENERAL_ZERO_BASED,
                    values,
                    columns,
                    starts,
                    starts.add(1),
                    x,
                    &beta,
                    y,
                );
            }
        }
        Ok(())
    });
    Ok(mkl.computing(product.transposing(transpose)))
}
