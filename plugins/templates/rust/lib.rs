//! The method @NAME@: the product row by row from CSR, with the rows divided among the threads.

#[allow(dead_code)] // the structures of spmv_method.h
mod spmv_method;

use std::ffi::{c_int, c_void};
use std::ops::{Add, Mul};
use std::ptr::null;
use std::slice::from_raw_parts;

use spmv_method::{Csr, Ctx, Info, Method, ABI, F32, F64, OK};

/// A matrix that was prepared, with the arguments of the product that runs now.
struct Product {
    ctx: *const Ctx,
    csr: *const Csr,
    alpha: f64,
    beta: f64,
    x: *const c_void,
    y: *mut c_void,
}

unsafe extern "C" fn prepare(
    ctx: *const Ctx,
    csr: *const Csr,
    handle: *mut *mut c_void,
) -> c_int {
    let (x, y) = (null(), std::ptr::null_mut());
    let product = Box::new(Product { ctx, csr, alpha: 0.0, beta: 0.0, x, y });
    unsafe { *handle = Box::into_raw(product).cast() };
    OK
}

unsafe extern "C" fn multiply(
    handle: *mut c_void,
    alpha: f64,
    x: *const c_void,
    beta: f64,
    y: *mut c_void,
) -> c_int {
    let product = unsafe { &mut *handle.cast::<Product>() };
    (product.alpha, product.beta, product.x, product.y) = (alpha, beta, x, y);
    unsafe { ((*product.ctx).parallel)(product.ctx, Some(share), handle) }
}

/// Runs on every thread.
unsafe extern "C" fn share(argument: *mut c_void, rank: u32) {
    let product = unsafe { &*argument.cast::<Product>() };
    let (alpha, beta) = (product.alpha, product.beta);
    match u64::from(unsafe { (*product.csr).precision }) {
        F64 => unsafe { rows(product, rank, alpha, beta) },
        _ => unsafe { rows(product, rank, alpha as f32, beta as f32) },
    }
}

/// Computes the rows of one thread. With beta = 0, y is not read.
unsafe fn rows<T>(product: &Product, rank: u32, alpha: T, beta: T)
where
    T: Copy + Default + PartialEq + Add<Output = T> + Mul<Output = T>,
{
    let (ctx, csr) = unsafe { (&*product.ctx, &*product.csr) };
    let (rows, nnz) = (csr.rows as usize, csr.nnz as usize);
    let offsets = unsafe { from_raw_parts(csr.row_offsets.cast::<i32>(), rows + 1) };
    let columns = unsafe { from_raw_parts(csr.column_indices.cast::<i32>(), nnz) };
    let values = unsafe { from_raw_parts(csr.values.cast::<T>(), nnz) };
    let x = unsafe { from_raw_parts(product.x.cast::<T>(), csr.cols as usize) };
    let zero = T::default();
    let (rank, threads) = (rank as usize, ctx.threads as usize);
    for row in rows * rank / threads..rows * (rank + 1) / threads {
        let entries = offsets[row] as usize..offsets[row + 1] as usize;
        let sum = entries.fold(zero, |sum, k| sum + values[k] * x[columns[k] as usize]);
        let y = unsafe { product.y.cast::<T>().add(row) };
        unsafe {
            *y = if beta == zero { alpha * sum } else { alpha * sum + beta * *y };
        }
    }
}

/// The memory of Rust is not counted by the program, so the method states it: the matrix is not stored again.
unsafe extern "C" fn info(_: *mut c_void, info: *mut Info) -> c_int {
    unsafe { (*info).extra_bytes = 0 };
    OK
}

unsafe extern "C" fn destroy(handle: *mut c_void) {
    drop(unsafe { Box::from_raw(handle.cast::<Product>()) });
}

/// A method that is never changed, so that all threads may read it.
struct Constant(Method);

unsafe impl Sync for Constant {}

static METHOD: Constant = Constant(Method {
    abi: ABI,
    size: size_of::<Method>() as u32,
    name: c"@NAME@".as_ptr(),
    version: c"0.1".as_ptr(),
    source: c"your paper".as_ptr(),
    license: null(),
    summary: c"CSR row by row, the rows divided among the threads".as_ptr(),
    flags: F64 | F32,
    parameters: null(),
    prepare: Some(prepare),
    multiply: Some(multiply),
    info: Some(info),
    destroy: Some(destroy),
});

/// Lists the methods: one, with number 0.
#[no_mangle]
pub extern "C" fn spmv_method_v1(index: u32) -> *const Method {
    if index == 0 { &METHOD.0 } else { null() }
}
