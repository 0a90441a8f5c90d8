//! cuSPARSE itself: found, opened, and with a handle in a device's stream.

mod stream;

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use cudarc::cusparse::sys::libraryPropertyType::{self, MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
use cudarc::cusparse::sys::{
    self, cudaDataType, cudaStream_t, cusparseConstDnVecDescr_t, cusparseConstSpMatDescr_t,
    cusparseDnVecDescr_t, cusparseHandle_t, cusparseIndexBase_t, cusparseIndexType_t,
    cusparseOperation_t, cusparseSpMVAlg_t, cusparseSpMatDescr_t,
};
use libloading::os::unix::Library;

use super::libraries::{self, Found, Sought, StatusText, functions};
use crate::method::{Failed, Unavailable};
pub(super) use stream::InStream;

const SOUGHT: Sought = Sought {
    title: "cuSPARSE",
    names: &["libcusparse.so.12"],
    how_to_get: "pip install 'nvidia-cusparse==12.6.*' or set SPMV_BENCH_LIBRARY_PATH",
    helpers: "libnvJitLink.so.*",
};

functions! {
    /// cuSPARSE's functions.
    Functions {
        cusparseGetProperty(libraryPropertyType, *mut c_int);
        cusparseCreate(*mut cusparseHandle_t);
        cusparseDestroy(cusparseHandle_t);
        cusparseSetStream(cusparseHandle_t, cudaStream_t);
        cusparseCreateCsr(
            *mut cusparseSpMatDescr_t,
            i64,
            i64,
            i64,
            *mut c_void,
            *mut c_void,
            *mut c_void,
            cusparseIndexType_t,
            cusparseIndexType_t,
            cusparseIndexBase_t,
            cudaDataType,
        );
        cusparseCreateCoo(
            *mut cusparseSpMatDescr_t,
            i64,
            i64,
            i64,
            *mut c_void,
            *mut c_void,
            *mut c_void,
            cusparseIndexType_t,
            cusparseIndexBase_t,
            cudaDataType,
        );
        cusparseCreateSlicedEll(
            *mut cusparseSpMatDescr_t,
            i64,
            i64,
            i64,
            i64,
            i64,
            *mut c_void,
            *mut c_void,
            *mut c_void,
            cusparseIndexType_t,
            cusparseIndexType_t,
            cusparseIndexBase_t,
            cudaDataType,
        );
        cusparseDestroySpMat(cusparseConstSpMatDescr_t);
        cusparseCreateDnVec(*mut cusparseDnVecDescr_t, i64, *mut c_void, cudaDataType);
        cusparseDnVecSetValues(cusparseDnVecDescr_t, *mut c_void);
        cusparseDestroyDnVec(cusparseConstDnVecDescr_t);
        cusparseSpMV_bufferSize(
            cusparseHandle_t,
            cusparseOperation_t,
            *const c_void,
            cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t,
            *const c_void,
            cusparseDnVecDescr_t,
            cudaDataType,
            cusparseSpMVAlg_t,
            *mut usize,
        );
        cusparseSpMV_preprocess(
            cusparseHandle_t,
            cusparseOperation_t,
            *const c_void,
            cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t,
            *const c_void,
            cusparseDnVecDescr_t,
            cudaDataType,
            cusparseSpMVAlg_t,
            *mut c_void,
        );
        cusparseSpMV(
            cusparseHandle_t,
            cusparseOperation_t,
            *const c_void,
            cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t,
            *const c_void,
            cusparseDnVecDescr_t,
            cudaDataType,
            cusparseSpMVAlg_t,
            *mut c_void,
        );
    }
}

/// The library, open.
pub struct CuSparseLibrary {
    /// For example `cuSPARSE 12.6.3`.
    pub version: String,
    /// Where it was found.
    pub folder: PathBuf,
    functions: Functions,
    error_name: StatusText,
    error_string: StatusText,
}

/// The library, or how to get it; needs neither a GPU nor a driver.
pub fn library() -> Result<&'static CuSparseLibrary, Unavailable> {
    static LIBRARY: OnceLock<Result<CuSparseLibrary, Unavailable>> = OnceLock::new();
    LIBRARY.get_or_init(CuSparseLibrary::open).as_ref().map_err(Clone::clone)
}

impl CuSparseLibrary {
    fn open() -> Result<Self, Unavailable> {
        let Found { library, folder } = SOUGHT.open()?;
        let incomplete = libraries::incomplete("cuSPARSE", SOUGHT.how_to_get);
        let cusparse = Self::find(&library, folder).map_err(incomplete)?;
        // Its functions are used until the process ends.
        std::mem::forget(library);
        Ok(cusparse)
    }

    fn find(library: &Library, folder: PathBuf) -> Result<Self, libloading::Error> {
        let functions = Functions::find(library)?;
        let part = |which| {
            let mut value = 0;
            // SAFETY: a number to write to.
            unsafe { (functions.cusparseGetProperty)(which, &mut value) };
            value
        };
        let [major, minor, patch] = [MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL].map(part);
        let version = format!("cuSPARSE {major}.{minor}.{patch}");
        // SAFETY: the signatures are those of its header, where the argument is an enum of 32 bits.
        let (error_name, error_string) = unsafe {
            (*library.get(b"cusparseGetErrorName")?, *library.get(b"cusparseGetErrorString")?)
        };
        Ok(Self { version, folder, functions, error_name, error_string })
    }

    fn check(&self, call: &str, status: u32) -> Result<(), Failed> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: they take any status and return literals.
        let (name, meaning) = unsafe {
            (
                libraries::text((self.error_name)(status)),
                libraries::text((self.error_string)(status)),
            )
        };
        Err(Failed(format!("{call}: {name} ({meaning})")))
    }
}
