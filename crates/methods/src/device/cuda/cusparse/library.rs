//! Finds and opens cuSPARSE.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use cudarc::cusparse::sys::libraryPropertyType::{self, MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
use cudarc::cusparse::sys::{
    self, cudaDataType, cudaStream_t, cusparseConstDnVecDescr_t, cusparseConstSpMatDescr_t, cusparseDnVecDescr_t,
    cusparseHandle_t, cusparseIndexBase_t, cusparseIndexType_t, cusparseOperation_t, cusparseOrder_t,
    cusparseSpMVAlg_t, cusparseSpMatDescr_t,
};
use libloading::os::unix::Library;

use super::op_functions::OpFunctions;
use super::version::{Version, named};
use crate::device::cuda::editions::{Edition, Sought, Target};
use crate::device::cuda::libraries::{self, StatusText, functions};
use crate::device::{Failed, Unavailable, Unprepared};

pub static SOUGHT: Sought<CuSparseLibrary> = Sought {
    opened: OnceLock::new(),
    title: "cuSPARSE",
    // CUDA 12 and CUDA 13 use the same file name.
    names: &["libcusparse.so.12"],
    symbol: "cusparseGetProperty",
    packages: ["nvidia-cusparse-cu12==12.5.*", "nvidia-cusparse==12.6.*"],
    helpers: "libnvJitLink.so.*",
};

functions! {
    Functions {
        cusparseGetProperty(libraryPropertyType, *mut c_int);
        cusparseCreate(*mut cusparseHandle_t);
        cusparseDestroy(cusparseHandle_t);
        cusparseSetStream(cusparseHandle_t, cudaStream_t);
        cusparseCreateCsr(
            *mut cusparseSpMatDescr_t, i64, i64, i64, *mut c_void, *mut c_void, *mut c_void,
            cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType,
        );
        cusparseCreateCoo(
            *mut cusparseSpMatDescr_t, i64, i64, i64, *mut c_void, *mut c_void, *mut c_void,
            cusparseIndexType_t, cusparseIndexBase_t, cudaDataType,
        );
        cusparseDestroySpMat(cusparseConstSpMatDescr_t);
        cusparseCreateDnVec(*mut cusparseDnVecDescr_t, i64, *mut c_void, cudaDataType);
        cusparseDnVecSetValues(cusparseDnVecDescr_t, *mut c_void);
        cusparseDestroyDnVec(cusparseConstDnVecDescr_t);
        cusparseSpMV_bufferSize(
            cusparseHandle_t, cusparseOperation_t, *const c_void, cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t, *const c_void, cusparseDnVecDescr_t, cudaDataType,
            cusparseSpMVAlg_t, *mut usize,
        );
        cusparseSpMV(
            cusparseHandle_t, cusparseOperation_t, *const c_void, cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t, *const c_void, cusparseDnVecDescr_t, cudaDataType,
            cusparseSpMVAlg_t, *mut c_void,
        );
    }
    optional {
        cusparseCreateSlicedEll(
            *mut cusparseSpMatDescr_t, i64, i64, i64, i64, i64, *mut c_void, *mut c_void,
            *mut c_void, cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t,
            cudaDataType,
        );
        cusparseCreateBsr(
            *mut cusparseSpMatDescr_t, i64, i64, i64, i64, i64, *mut c_void, *mut c_void,
            *mut c_void, cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t,
            cudaDataType, cusparseOrder_t,
        );
        cusparseSpMV_preprocess(
            cusparseHandle_t, cusparseOperation_t, *const c_void, cusparseConstSpMatDescr_t,
            cusparseConstDnVecDescr_t, *const c_void, cusparseDnVecDescr_t, cudaDataType,
            cusparseSpMVAlg_t, *mut c_void,
        );
    }
}

pub const NOT_SUPPORTED: u32 = sys::cusparseStatus_t::CUSPARSE_STATUS_NOT_SUPPORTED as u32;

pub const SLICED_ELL_SINCE: Version = [12, 1, 0];
pub const PREPROCESS_SINCE: Version = [12, 3, 0];
/// The first version whose `cusparseSpMV` supports block CSR; the descriptor of such a matrix appeared earlier.
pub const BSR_SINCE: Version = [12, 6, 3];

pub struct CuSparseLibrary {
    pub version: Version,
    pub file: PathBuf,
    pub functions: Functions,
    pub op: Result<OpFunctions, Unavailable>,
    error_name: StatusText,
    error_string: StatusText,
}

/// Returns all installed libraries, the best first, or how to get one.
pub fn libraries() -> Result<&'static [CuSparseLibrary], Unavailable> {
    SOUGHT.all()
}

/// Returns the newest library that works for `target`, or why none does, and which one to get.
pub fn library(target: &Target) -> Result<&'static CuSparseLibrary, Unavailable> {
    SOUGHT.choose(target)
}

impl CuSparseLibrary {
    pub fn name(&self) -> String {
        named(self.version)
    }

    pub fn check(&self, call: &str, status: u32) -> Result<(), Failed> {
        if status == 0 {
            return Ok(());
        }
        let text = |of: StatusText| {
            // SAFETY: the functions accept any status and return literals.
            unsafe { libraries::text(of(status)) }
        };
        Err(Failed(format!("{call}: {} ({})", text(self.error_name), text(self.error_string))))
    }

    /// Converts a status during the setup: a product that the library does not support is unavailable, not failed.
    pub fn check_support(&self, call: &str, status: u32) -> Result<(), Unprepared> {
        self.check(call, status).map_err(|failed| match status {
            NOT_SUPPORTED => Unavailable(failed.0).into(),
            _ => failed.into(),
        })
    }
}

/// Writes for example `cuSPARSE 12.6.3 (/usr/lib/libcusparse.so.12)`.
impl fmt::Display for CuSparseLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.file.display())
    }
}

impl Edition for CuSparseLibrary {
    fn find(library: &Library, file: PathBuf) -> Result<Self, libloading::Error> {
        let functions = Functions::find(library)?;
        let part = |which| {
            let mut value = 0;
            // SAFETY: the pointer is valid for writes.
            unsafe { (functions.cusparseGetProperty)(which, &mut value) };
            value
        };
        let version = [MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL].map(part);
        let op = OpFunctions::find(library, version);
        // SAFETY: the signatures are those of the library's header, where the argument is a 32-bit enum.
        let (error_name, error_string) =
            unsafe { (*library.get(b"cusparseGetErrorName")?, *library.get(b"cusparseGetErrorString")?) };
        Ok(Self { version, file, functions, op, error_name, error_string })
    }

    fn version(&self) -> (u32, u32) {
        (self.version[0].unsigned_abs(), self.version[1].unsigned_abs())
    }

    fn refusal(&self, target: &Target) -> Option<String> {
        // Versions up to 12.5 belong to CUDA 12, those from 12.6 on to CUDA 13.
        let cuda = if self.version() < (12, 6) { 12 } else { 13 };
        (cuda > target.newest_cuda()).then(|| format!("belongs to CUDA {cuda}"))
    }
}
