//! cuSPARSE itself, in a device's stream.

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::OnceLock;

use cudarc::cusparse::sys::cudaDataType::{CUDA_R_32F, CUDA_R_64F};
use cudarc::cusparse::sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO as BASE;
use cudarc::cusparse::sys::cusparseIndexType_t::CUSPARSE_INDEX_32I as INDEX;
use cudarc::cusparse::sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;
use cudarc::cusparse::sys::cusparseSpMVAlg_t::{self, *};
use cudarc::cusparse::sys::libraryPropertyType::{self, MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
use cudarc::cusparse::sys::{
    self, cudaDataType, cudaStream_t, cusparseConstDnVecDescr_t, cusparseConstSpMatDescr_t,
    cusparseDnVecDescr_t, cusparseHandle_t, cusparseIndexBase_t, cusparseIndexType_t,
    cusparseOperation_t, cusparseSpMatDescr_t,
};
use libloading::os::unix::Library;

use super::context::Context;
use super::libraries::{self, Found, Sought, StatusText, functions};
use crate::device::cusparse::{
    Algorithm, CuSparse, DenseVector, SparseFormat, SparseLayout, SparseMatrix, SparseProduct,
};
use crate::device::driver::Address;
use crate::method::{Failed, Unavailable};
use crate::scalar::Precision;

const SOUGHT: Sought = Sought {
    title: "cuSPARSE",
    names: &["libcusparse.so.12"],
    how_to_get: "pip install 'nvidia-cusparse==12.6.*' or set SPMV_BENCH_LIBRARY_PATH",
    helpers: |folder| {
        libraries::open_helpers(folder, "libnvJitLink.so.*");
        // The layout of CUDA 12's wheels.
        libraries::open_helpers(&folder.join("../../nvjitlink/lib"), "libnvJitLink.so.*");
    },
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

/// The library with a handle in the stream of a context.
pub struct InStream {
    library: &'static CuSparseLibrary,
    context: Rc<Context>,
    handle: cusparseHandle_t,
}

impl InStream {
    /// Makes the handle.
    pub fn open(context: Rc<Context>) -> Result<Self, Unavailable> {
        let library = library()?;
        let unavailable = |Failed(reason)| Unavailable(reason);
        let mut handle = null_mut();
        context.enter();
        // SAFETY: the context is the current one.
        let status = unsafe { (library.functions.cusparseCreate)(&mut handle) };
        library.check("cusparseCreate", status).map_err(unavailable)?;
        let opened = Self { library, context, handle };
        let stream = opened.context.stream.cast();
        // SAFETY: both are alive.
        let status = unsafe { (library.functions.cusparseSetStream)(handle, stream) };
        library.check("cusparseSetStream", status).map_err(unavailable)?;
        Ok(opened)
    }

    /// The functions, with the context the current one.
    fn enter(&self) -> &'static Functions {
        self.context.enter();
        &self.library.functions
    }

    /// Calls `cusparseSpMV`, its preparation, or with another type of buffer the question for it.
    fn product<B>(
        &self,
        call: &str,
        function: SpMv<B>,
        product: &SparseProduct,
        buffer: *mut B,
    ) -> Result<(), Failed> {
        let SparseProduct { matrix, x, y, precision, .. } = *product;
        let [alpha, beta] =
            [product.alpha, product.beta].map(|value| Number::new(value, precision));
        // SAFETY: the descriptors are alive, and the arrays behind them are their owners' word. α
        // and β are on the host, which is a new handle's mode, and read before it returns.
        let status = unsafe {
            function(
                self.handle,
                CUSPARSE_OPERATION_NON_TRANSPOSE,
                alpha.pointer(),
                matrix.0 as _,
                x.0 as _,
                beta.pointer(),
                y.0 as _,
                data_type(precision),
                algorithm(product.algorithm),
                buffer,
            )
        };
        self.library.check(call, status)
    }
}

impl Drop for InStream {
    fn drop(&mut self) {
        // SAFETY: created with it, destroyed once. A status here changes nothing any more.
        unsafe { (self.enter().cusparseDestroy)(self.handle) };
    }
}

/// `cusparseSpMV` and what prepares it: they differ in what the last argument points to.
type SpMv<B> = unsafe extern "C" fn(
    cusparseHandle_t,
    cusparseOperation_t,
    *const c_void,
    cusparseConstSpMatDescr_t,
    cusparseConstDnVecDescr_t,
    *const c_void,
    cusparseDnVecDescr_t,
    cudaDataType,
    cusparseSpMVAlg_t,
    *mut B,
) -> u32;

impl CuSparse for InStream {
    fn version(&self) -> String {
        self.library.version.clone()
    }

    fn create_matrix(&self, layout: &SparseLayout) -> Result<SparseMatrix, Failed> {
        let f = self.enter();
        let mut matrix: cusparseSpMatDescr_t = null_mut();
        let [rows, cols, nnz] = [layout.rows, layout.cols, layout.nnz].map(|n| n as i64);
        let of = data_type(layout.precision);
        let at = |address: Address| address as *mut c_void;
        let m = &mut matrix;
        // SAFETY: a descriptor only remembers the addresses; the arrays are their owner's word.
        let (call, status) = unsafe {
            match layout.format {
                SparseFormat::Csr { row_offsets: r, column_indices: c, values: v } => {
                    let (r, c, v) = (at(r), at(c), at(v));
                    let create = f.cusparseCreateCsr;
                    let status = create(m, rows, cols, nnz, r, c, v, INDEX, INDEX, BASE, of);
                    ("cusparseCreateCsr", status)
                }
                SparseFormat::Coo { row_indices: r, column_indices: c, values: v } => {
                    let (r, c, v) = (at(r), at(c), at(v));
                    let create = f.cusparseCreateCoo;
                    ("cusparseCreateCoo", create(m, rows, cols, nnz, r, c, v, INDEX, BASE, of))
                }
                SparseFormat::SlicedEll {
                    slice_rows,
                    stored,
                    slice_offsets: o,
                    column_indices: c,
                    values: v,
                } => {
                    let (size, slice) = (stored as i64, slice_rows as i64);
                    let (o, c, v) = (at(o), at(c), at(v));
                    let create = f.cusparseCreateSlicedEll;
                    let status =
                        create(m, rows, cols, nnz, size, slice, o, c, v, INDEX, INDEX, BASE, of);
                    ("cusparseCreateSlicedEll", status)
                }
            }
        };
        self.library.check(call, status)?;
        Ok(SparseMatrix(matrix as usize))
    }

    fn destroy_matrix(&self, matrix: SparseMatrix) {
        // SAFETY: made by `create_matrix`, destroyed once. A status changes nothing any more.
        unsafe { (self.enter().cusparseDestroySpMat)(matrix.0 as _) };
    }

    fn create_vector(
        &self,
        len: u64,
        values: Address,
        precision: Precision,
    ) -> Result<DenseVector, Failed> {
        let mut vector: cusparseDnVecDescr_t = null_mut();
        let create = self.enter().cusparseCreateDnVec;
        // SAFETY: a descriptor only remembers the address.
        let status = unsafe { create(&mut vector, len as i64, values as _, data_type(precision)) };
        self.library.check("cusparseCreateDnVec", status)?;
        Ok(DenseVector(vector as usize))
    }

    fn set_vector(&self, vector: DenseVector, values: Address) -> Result<(), Failed> {
        // SAFETY: the descriptor is alive and only remembers the address.
        let status = unsafe { (self.enter().cusparseDnVecSetValues)(vector.0 as _, values as _) };
        self.library.check("cusparseDnVecSetValues", status)
    }

    fn destroy_vector(&self, vector: DenseVector) {
        // SAFETY: made by `create_vector`, destroyed once. A status changes nothing any more.
        unsafe { (self.enter().cusparseDestroyDnVec)(vector.0 as _) };
    }

    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Failed> {
        let mut bytes = 0;
        let ask = self.enter().cusparseSpMV_bufferSize;
        self.product("cusparseSpMV_bufferSize", ask, product, &mut bytes)?;
        Ok(bytes)
    }

    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed> {
        let prepare = self.enter().cusparseSpMV_preprocess;
        self.product("cusparseSpMV_preprocess", prepare, product, buffer as *mut c_void)?;
        self.context.enqueued("cusparseSpMV_preprocess");
        Ok(())
    }

    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed> {
        let multiply = self.enter().cusparseSpMV;
        self.product("cusparseSpMV", multiply, product, buffer as *mut c_void)?;
        self.context.enqueued("cusparseSpMV");
        Ok(())
    }
}

/// α or β as the library reads it: of the product's precision.
enum Number {
    F32(f32),
    F64(f64),
}

impl Number {
    fn new(value: f64, precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32(value as f32),
            Precision::F64 => Self::F64(value),
        }
    }

    fn pointer(&self) -> *const c_void {
        match self {
            Self::F32(value) => std::ptr::from_ref(value).cast(),
            Self::F64(value) => std::ptr::from_ref(value).cast(),
        }
    }
}

fn data_type(precision: Precision) -> cudaDataType {
    match precision {
        Precision::F32 => CUDA_R_32F,
        Precision::F64 => CUDA_R_64F,
    }
}

fn algorithm(algorithm: Algorithm) -> cusparseSpMVAlg_t {
    match algorithm {
        Algorithm::Default => CUSPARSE_SPMV_ALG_DEFAULT,
        Algorithm::CooAlg1 => CUSPARSE_SPMV_COO_ALG1,
        Algorithm::CsrAlg1 => CUSPARSE_SPMV_CSR_ALG1,
        Algorithm::CsrAlg2 => CUSPARSE_SPMV_CSR_ALG2,
        Algorithm::CooAlg2 => CUSPARSE_SPMV_COO_ALG2,
        Algorithm::SellAlg1 => CUSPARSE_SPMV_SELL_ALG1,
    }
}
