//! cuSPARSE itself: found, opened, and with a handle in a device's stream.

mod arguments;
#[cfg(test)]
mod headers;
mod op;
mod op_functions;
mod stream;

use std::ffi::{c_int, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use cudarc::cusparse::sys::libraryPropertyType::{self, MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
use cudarc::cusparse::sys::{
    self, cudaDataType, cudaStream_t, cusparseConstDnVecDescr_t, cusparseConstSpMatDescr_t,
    cusparseDnVecDescr_t, cusparseHandle_t, cusparseIndexBase_t, cusparseIndexType_t,
    cusparseOperation_t, cusparseOrder_t, cusparseSpMVAlg_t, cusparseSpMatDescr_t,
};
use libloading::os::unix::Library;

use super::editions::{Edition, Opened, Sought, Target};
use super::libraries::{self, StatusText, functions};
use crate::method::{Failed, Unavailable, Unprepared};
use op_functions::OpFunctions;
pub(super) use stream::InStream;

const SOUGHT: Sought = Sought {
    title: "cuSPARSE",
    // CUDA 12 and CUDA 13 share this name.
    names: &["libcusparse.so.12"],
    symbol: "cusparseGetProperty",
    packages: ["nvidia-cusparse-cu12==12.5.*", "nvidia-cusparse==12.6.*"],
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
    optional {
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
        cusparseCreateBsr(
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
            cusparseOrder_t,
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
    }
}

const NOT_SUPPORTED: u32 = sys::cusparseStatus_t::CUSPARSE_STATUS_NOT_SUPPORTED as u32;

/// The major, minor and patch number of a version.
type Version = [c_int; 3];

/// The first version with `cusparseCreateSlicedEll`.
const SLICED_ELL_SINCE: Version = [12, 1, 0];
/// The first version with `cusparseSpMV_preprocess`.
const PREPROCESS_SINCE: Version = [12, 3, 0];
/// The first version whose `cusparseSpMV` takes block CSR; the descriptor of such a matrix is older.
const BSR_SINCE: Version = [12, 6, 3];

/// A library, open.
pub struct CuSparseLibrary {
    version: Version,
    /// Where it was found.
    pub file: PathBuf,
    functions: Functions,
    op: Result<OpFunctions, Unavailable>,
    error_name: StatusText,
    error_string: StatusText,
}

fn opened() -> &'static Opened<CuSparseLibrary> {
    static OPENED: OnceLock<Opened<CuSparseLibrary>> = OnceLock::new();
    OPENED.get_or_init(|| SOUGHT.open_all(CuSparseLibrary::find))
}

/// All libraries that were found, the best first; needs neither a GPU nor a driver.
///
/// # Errors
/// How to get one.
pub fn libraries() -> Result<&'static [CuSparseLibrary], Unavailable> {
    SOUGHT.all(opened())
}

/// The newest library that works for `target`.
///
/// # Errors
/// What those that were found lack, and which one to get.
pub fn library(target: &Target) -> Result<&'static CuSparseLibrary, Unavailable> {
    SOUGHT.choose(opened(), target)
}

impl CuSparseLibrary {
    fn find(library: &Library, file: PathBuf) -> Result<Self, libloading::Error> {
        let functions = Functions::find(library)?;
        let part = |which| {
            let mut value = 0;
            // SAFETY: a number to write to.
            unsafe { (functions.cusparseGetProperty)(which, &mut value) };
            value
        };
        let version = [MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL].map(part);
        let op = OpFunctions::find(library, version);
        // SAFETY: the signatures are those of its header, where the argument is an enum of 32 bits.
        let (error_name, error_string) = unsafe {
            (*library.get(b"cusparseGetErrorName")?, *library.get(b"cusparseGetErrorString")?)
        };
        Ok(Self { version, file, functions, op, error_name, error_string })
    }

    /// For example `cuSPARSE 12.6.3`.
    pub fn name(&self) -> String {
        named(self.version)
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

    /// The same while a product is prepared: what the library does not support is no error.
    fn check_support(&self, call: &str, status: u32) -> Result<(), Unprepared> {
        self.check(call, status).map_err(|failed| match status {
            NOT_SUPPORTED => Unavailable(failed.0).into(),
            _ => failed.into(),
        })
    }

    /// An optional function, which cuSPARSE has since `since`.
    fn newer<F: Copy>(
        &self,
        function: Option<F>,
        name: &str,
        since: Version,
    ) -> Result<F, Unavailable> {
        function.ok_or_else(|| lacks(self.version, name, since))
    }
}

fn named([major, minor, patch]: Version) -> String {
    format!("cuSPARSE {major}.{minor}.{patch}")
}

/// What a version lacks, as a reason.
fn lacks(version: Version, what: &str, since: Version) -> Unavailable {
    Unavailable(format!("{} lacks {what}, which {} has", named(version), named(since)))
}

/// For example `cuSPARSE 12.6.3 (/usr/lib/libcusparse.so.12)`.
impl fmt::Display for CuSparseLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.file.display())
    }
}

impl Edition for CuSparseLibrary {
    fn version(&self) -> (u32, u32) {
        (self.version[0].unsigned_abs(), self.version[1].unsigned_abs())
    }

    fn refusal(&self, target: &Target) -> Option<String> {
        // Its versions up to 12.5 belong to CUDA 12, those from 12.6 on to CUDA 13.
        let cuda = if self.version() < (12, 6) { 12 } else { 13 };
        (cuda > target.newest_cuda()).then(|| format!("is of CUDA {cuda}"))
    }
}
