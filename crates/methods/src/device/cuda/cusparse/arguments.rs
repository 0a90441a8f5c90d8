//! Converts this program's types to the arguments of the library's functions.

use std::ffi::c_void;

use cudarc::cusparse::sys::cudaDataType::{self, CUDA_R_32F, CUDA_R_64F};
use cudarc::cusparse::sys::cusparseOperation_t::{
    self, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
};
use cudarc::cusparse::sys::cusparseOrder_t;
use cudarc::cusparse::sys::cusparseSpMVAlg_t::{self, *};

use crate::device::cusparse::{Algorithm, Order, SparseLayout};
use crate::device::driver::Address;
use spmv_matrix::scalar::Precision;

/// α or β in the product's precision, as the library reads it.
pub enum Number {
    F32(f32),
    F64(f64),
}

impl Number {
    pub fn new(value: f64, precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32(value as f32),
            Precision::F64 => Self::F64(value),
        }
    }

    pub fn pointer(&self) -> *const c_void {
        match self {
            Self::F32(value) => std::ptr::from_ref(value).cast(),
            Self::F64(value) => std::ptr::from_ref(value).cast(),
        }
    }
}

pub fn shape(layout: &SparseLayout) -> [i64; 3] {
    [layout.rows, layout.cols, layout.nnz].map(|count| count as i64)
}

pub fn pointer(address: Address) -> *mut c_void {
    address as *mut c_void
}

pub fn data_type(precision: Precision) -> cudaDataType {
    match precision {
        Precision::F32 => CUDA_R_32F,
        Precision::F64 => CUDA_R_64F,
    }
}

pub fn operation(transpose: bool) -> cusparseOperation_t {
    if transpose { CUSPARSE_OPERATION_TRANSPOSE } else { CUSPARSE_OPERATION_NON_TRANSPOSE }
}

pub fn algorithm(algorithm: Algorithm) -> cusparseSpMVAlg_t {
    match algorithm {
        Algorithm::Default => CUSPARSE_SPMV_ALG_DEFAULT,
        Algorithm::CooAlg1 => CUSPARSE_SPMV_COO_ALG1,
        Algorithm::CsrAlg1 => CUSPARSE_SPMV_CSR_ALG1,
        Algorithm::CsrAlg2 => CUSPARSE_SPMV_CSR_ALG2,
        Algorithm::CooAlg2 => CUSPARSE_SPMV_COO_ALG2,
        Algorithm::SellAlg1 => CUSPARSE_SPMV_SELL_ALG1,
        Algorithm::BsrAlg1 => CUSPARSE_SPMV_BSR_ALG1,
    }
}

pub fn block_order(order: Order) -> cusparseOrder_t {
    match order {
        Order::Column => cusparseOrder_t::CUSPARSE_ORDER_COL,
        Order::Row => cusparseOrder_t::CUSPARSE_ORDER_ROW,
    }
}
