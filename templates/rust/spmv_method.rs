//! The structures of spmv_method.h, which documents them.

#![allow(dead_code)]

use std::ffi::{c_char, c_int, c_void};

pub const ABI: u32 = 1;
pub const OK: c_int = 0;
pub const UNSUITABLE: c_int = 1;
pub const ERROR: c_int = -1;

pub const F64: u64 = 0x1;
pub const F32: u64 = 0x2;
pub const TRANSPOSED: u64 = 0x4;
pub const SEQUENTIAL: u64 = 0x8;
pub const INSPECTION: u64 = 0x10;
pub const CONVERSION: u64 = 0x20;
pub const ORDERING: u64 = 0x40;

#[repr(C)]
pub struct Csr {
    pub size: u32,
    pub precision: u32,
    pub offset_bytes: u32,
    pub index_bytes: u32,
    pub rows: i64,
    pub cols: i64,
    pub nnz: i64,
    pub row_offsets: *const c_void,
    pub column_indices: *const c_void,
    pub values: *const c_void,
}

pub type Body = unsafe extern "C" fn(*mut c_void, u32);

#[repr(C)]
pub struct Context {
    pub size: u32,
    pub threads: u32,
    pub cpus: *const i32,
    pub transpose: i32,
    pub reserved: u32,
    pub alpha: f64,
    pub beta: f64,
    pub expected_products: i64,
    pub stream: *mut c_void,
    pub allocate: unsafe extern "C" fn(*const Context, usize, usize) -> *mut c_void,
    pub release: unsafe extern "C" fn(*const Context, *mut c_void),
    pub parallel: unsafe extern "C" fn(*const Context, Body, *mut c_void) -> c_int,
    pub parameter: unsafe extern "C" fn(*const Context, *const c_char) -> *const c_char,
    pub explain: unsafe extern "C" fn(*const Context, *const c_char),
}

#[repr(C)]
pub struct Info {
    pub size: u32,
    pub reserved: u32,
    pub extra_bytes: i64,
    pub csr_bytes: i64,
    pub note: *const c_char,
    pub library: *const c_char,
}

#[repr(C)]
pub struct Parameter {
    pub name: *const c_char,
    pub values: *const *const c_char,
    pub meaning: *const c_char,
}

#[repr(C)]
pub struct Method {
    pub abi: u32,
    pub size: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub source: *const c_char,
    pub license: *const c_char,
    pub summary: *const c_char,
    pub flags: u64,
    pub parameters: *const Parameter,
    pub prepare:
        Option<unsafe extern "C" fn(*const Context, *const Csr, *mut *mut c_void) -> c_int>,
    pub multiply: Option<
        unsafe extern "C" fn(*mut c_void, f64, *const c_void, f64, *mut c_void) -> c_int,
    >,
    pub info: Option<unsafe extern "C" fn(*mut c_void, *mut Info) -> c_int>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// A method that is never changed, so that all threads may read it.
pub struct SyncMethod(pub Method);

unsafe impl Sync for SyncMethod {}
