//! MKL's inspector-executor product, `mkl_sparse_?_mv`, as two methods: without a hint, where it uses the CSR arrays
//! unchanged, and with a hint and `mkl_sparse_optimize`, where it may copy the matrix into an internal format. Creating
//! the handle, the hint and the optimisation are setup.

use std::ffi::c_int;
use std::ptr::null_mut;

use super::mkl::{self, GENERAL, Handle, Mkl, SparseMv, check};
use crate::cpu::prelude::*;
use crate::method::Failed;

pub const METHOD: Method = Method {
    name: "mkl-ie",
    source: "Intel MKL, mkl_sparse_?_mv",
    summary: "MKL's inspector-executor on plain CSR, without hint",
    operations: Operations::Both,
    memory: mkl::memory,
    may_refuse: |extent| extent.rows * extent.cols == 0,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare::<_, false>, f32: prepare::<_, false> })
};

pub const METHOD_OPT: Method = Method {
    name: "mkl-ie-opt",
    setup: Setup::Inspection,
    summary: "mkl-ie after mkl_sparse_set_mv_hint and mkl_sparse_optimize, which count as setup",
    // Of the copy that mkl_sparse_optimize makes, MKL does not report the size: the process of MKL 2025.3 grew by 15 to
    // 28 bytes per nonzero in f64 and 11 to 20 in f32; the largest values are for three diagonals.
    memory: |extent| extent.nnz * (2 * extent.value + 9) + 16 * extent.rows + mkl::memory(extent),
    code: Code::Cpu { parallel: true, f64: prepare::<_, true>, f32: prepare::<_, true> },
    ..METHOD
};

struct Matrix {
    handle: Handle,
    /// MKL's constant for A or Aᵀ.
    operation: c_int,
    mkl: &'static Mkl,
}

impl Drop for Matrix {
    fn drop(&mut self) {
        // SAFETY: the handle was made by create_csr and is destroyed once. Its status is ignored: nothing can be done.
        unsafe { (self.mkl.destroy)(self.handle) };
    }
}

fn prepare<'a, T: Scalar, const OPTIMISE: bool>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let mkl = mkl::mkl()?;
    mkl.set_threads(request.team.len());
    let unavailable = |Failed(reason)| Unavailable(reason);
    let matrix = Matrix::create(mkl, csr, request.transpose).map_err(unavailable)?;
    if OPTIMISE {
        matrix.inspect(request.expected_products).map_err(unavailable)?;
    }
    let mv = &mkl.routines::<T>().mv;
    let product = move |alpha, x: &[T], beta, y: &mut [T]| matrix.multiply(mv, (alpha, x), (beta, y));
    Ok(mkl.computing(Prepared::new(csr, 0, product).transposing(request.transpose)))
}

impl Matrix {
    fn create<T: Scalar>(mkl: &'static Mkl, csr: &Csr<T>, transpose: bool) -> Result<Self, Failed> {
        let mut handle: Handle = null_mut();
        let (rows, cols) = (csr.rows() as c_int, csr.cols() as c_int);
        let starts = csr.row_offsets().as_ptr().cast::<c_int>();
        let columns = csr.column_indices().as_ptr().cast::<c_int>();
        let values = csr.values().as_ptr();
        let create = &mkl.routines::<T>().create_csr;
        // SAFETY: the arrays outlive the handle, because the product that owns it borrows the matrix; MKL does not
        // write to them; indices are below 2^31, so a u32 has the same bits as an int.
        let status = unsafe { create(&mut handle, 0, rows, cols, starts, starts.add(1), columns, values) };
        check("mkl_sparse_?_create_csr", status)?;
        let operation = if transpose { mkl::TRANSPOSE } else { mkl::NON_TRANSPOSE };
        Ok(Self { handle, operation, mkl })
    }

    fn inspect(&self, expected_products: usize) -> Result<(), Failed> {
        let calls = c_int::try_from(expected_products).unwrap_or(c_int::MAX);
        // SAFETY: the handle is alive.
        let status = unsafe { (self.mkl.set_mv_hint)(self.handle, self.operation, GENERAL, calls) };
        check("mkl_sparse_set_mv_hint", status)?;
        // SAFETY: the handle is alive.
        check("mkl_sparse_optimize", unsafe { (self.mkl.optimize)(self.handle) })
    }

    /// Multiplies. x and y must have cols and rows values, or the reverse for the transpose.
    fn multiply<T>(&self, mv: &SparseMv<T>, (alpha, x): (T, &[T]), (beta, y): (T, &mut [T])) -> Result<(), Failed> {
        let (x, y) = (x.as_ptr(), y.as_mut_ptr());
        // SAFETY: the handle is alive, and the caller guarantees the lengths.
        let status = unsafe { mv(self.operation, alpha, self.handle, GENERAL, x, beta, y) };
        check("mkl_sparse_?_mv", status)
    }
}
