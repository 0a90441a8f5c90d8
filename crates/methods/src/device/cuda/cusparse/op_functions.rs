//! The functions of cusparseSpMVOp. The bindings, which are generated from the header of CUDA 13.0, do not contain
//! them. Only the tests in `headers` compare these declarations with NVIDIA's headers.

use std::ffi::c_void;

use cudarc::cusparse::sys::{
    cudaDataType, cusparseConstDnVecDescr_t, cusparseConstSpMatDescr_t, cusparseDnVecDescr_t, cusparseHandle_t,
    cusparseOperation_t,
};
use libloading::os::unix::Library;

use super::version::{Version, lacks};
use crate::device::Unavailable;
use crate::device::cuda::libraries::table;
use crate::library;

pub const SINCE: Version = [12, 7, 3];
/// The first version with `cusparseSpMVOpAlg_t` and with support for f32.
pub const NAMED_SINCE: Version = [12, 8, 1];

#[allow(non_camel_case_types)] // the name is the library's
type cusparseSpMVOpDescr_t = *mut c_void;
#[allow(non_camel_case_types)] // the name is the library's
type cusparseSpMVOpPlan_t = *mut c_void;
#[allow(non_camel_case_types)] // the name is the library's
type cusparseSpMVOpAlg_t = u32;

table! {
    /// The functions that are the same in all versions since [`SINCE`].
    Common {
        cusparseSpMVOp_destroyDescr(cusparseSpMVOpDescr_t);
        cusparseSpMVOp_createPlan(
            cusparseHandle_t, cusparseSpMVOpDescr_t, *mut cusparseSpMVOpPlan_t, *const c_void,
            usize,
        );
        cusparseSpMVOp_destroyPlan(cusparseSpMVOpPlan_t);
        cusparseSpMVOp(
            cusparseHandle_t, cusparseSpMVOpPlan_t, *const c_void, *const c_void,
            cusparseConstDnVecDescr_t, cusparseConstDnVecDescr_t, cusparseDnVecDescr_t,
        );
    }
}

table! {
    /// The other functions in versions before [`NAMED_SINCE`].
    Unnamed {
        cusparseSpMVOp_bufferSize(
            cusparseHandle_t, cusparseOperation_t, cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType,
            *mut usize,
        );
        cusparseSpMVOp_createDescr(
            cusparseHandle_t, *mut cusparseSpMVOpDescr_t, cusparseOperation_t,
            cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, cusparseDnVecDescr_t,
            cusparseDnVecDescr_t, cudaDataType, *mut c_void,
        );
    }
}

table! {
    /// The other functions since [`NAMED_SINCE`], with an argument for the algorithm.
    Named {
        cusparseSpMVOp_bufferSize(
            cusparseHandle_t, cusparseOperation_t, cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType,
            cusparseSpMVOpAlg_t, *mut usize,
        );
        cusparseSpMVOp_createDescr(
            cusparseHandle_t, *mut cusparseSpMVOpDescr_t, cusparseOperation_t,
            cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, cusparseDnVecDescr_t,
            cusparseDnVecDescr_t, cudaDataType, cusparseSpMVOpAlg_t, *mut c_void,
        );
    }
}

pub struct OpFunctions {
    pub common: Common,
    pub analysis: Analysis,
}

/// The functions that prepare a product. Newer ones have a further argument for the algorithm, but the same symbols.
pub enum Analysis {
    Unnamed(Unnamed),
    Named(Named),
}

impl OpFunctions {
    pub fn find(library: &Library, version: Version) -> Result<Self, Unavailable> {
        if version < SINCE {
            return Err(lacks(version, "cusparseSpMVOp_bufferSize", SINCE));
        }
        let find = || {
            let analysis = if version < NAMED_SINCE {
                Analysis::Unnamed(Unnamed::find(library)?)
            } else {
                Analysis::Named(Named::find(library)?)
            };
            Ok(Self { common: Common::find(library)?, analysis })
        };
        find().map_err(|error| Unavailable(library::words(&error)))
    }
}
