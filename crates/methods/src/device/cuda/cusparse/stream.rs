use std::ffi::c_void;
use std::ptr::null_mut;
use std::rc::Rc;

use cudarc::cusparse::sys::cudaDataType::{self, CUDA_R_32F, CUDA_R_64F};
use cudarc::cusparse::sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO as BASE;
use cudarc::cusparse::sys::cusparseIndexType_t::CUSPARSE_INDEX_32I as INDEX;
use cudarc::cusparse::sys::cusparseOperation_t::{
    self, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
};
use cudarc::cusparse::sys::{
    cusparseConstDnVecDescr_t, cusparseConstSpMatDescr_t, cusparseDnVecDescr_t, cusparseHandle_t, cusparseSpMVAlg_t,
    cusparseSpMatDescr_t,
};

use super::library::{BSR_SINCE, CuSparseLibrary, Functions, PREPROCESS_SINCE, SLICED_ELL_SINCE};
use super::version::{Version, lacks};
use crate::device::cuda::context::Context;
use crate::device::cusparse::{CuSparse, Descriptor, SpMvOp, SparseFormat, SparseLayout, SparseProduct};
use crate::device::launch::Address;
use crate::device::{Failed, Unavailable, Unprepared};
use spmv_matrix::scalar::Precision;

/// The type of `cusparseSpMV` and of its preparing functions, which differ in the type of the last argument.
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

pub struct InStream {
    pub(super) library: &'static CuSparseLibrary,
    pub(super) context: Rc<Context>,
    pub(super) handle: cusparseHandle_t,
}

impl InStream {
    pub fn open(library: &'static CuSparseLibrary, context: Rc<Context>) -> Result<Self, Unavailable> {
        let check = |call, status| library.check(call, status).map_err(|Failed(reason)| Unavailable(reason));
        let mut handle = null_mut();
        context.enter();
        // SAFETY: the context is the current one.
        check("cusparseCreate", unsafe { (library.functions.cusparseCreate)(&mut handle) })?;
        let opened = Self { library, context, handle };
        let (set, stream) = (library.functions.cusparseSetStream, opened.context.stream.cast());
        // SAFETY: handle and stream are alive.
        check("cusparseSetStream", unsafe { set(handle, stream) })?;
        Ok(opened)
    }

    pub(super) fn enter(&self) -> &'static Functions {
        self.context.enter();
        &self.library.functions
    }

    /// Calls `cusparseSpMV` or one of its preparing functions and returns the status. `buffer` is the workspace or, for
    /// the query of its size, a number.
    fn product<B>(&self, function: SpMv<B>, product: &SparseProduct, buffer: *mut B) -> u32 {
        let SparseProduct { matrix, transpose, x, y, precision, .. } = *product;
        let [alpha, beta] = [product.alpha, product.beta].map(|value| factor(value, precision));
        // SAFETY: the descriptors are alive, and the owners of the arrays guarantee that these are too. α and β are on
        // the host, which is the default pointer mode, and are read before the function returns.
        unsafe {
            function(
                self.handle,
                operation(transpose),
                std::ptr::from_ref(&alpha).cast(),
                matrix.0 as _,
                x.0 as _,
                std::ptr::from_ref(&beta).cast(),
                y.0 as _,
                data_type(precision),
                product.algorithm,
                buffer,
            )
        }
    }

    /// Creates a descriptor, and returns the name of the called function and its status.
    fn create(
        &self,
        to: *mut cusparseSpMatDescr_t,
        &SparseLayout { rows, cols, nnz, precision, format, arrays }: &SparseLayout,
    ) -> Result<(&'static str, u32), Unavailable> {
        let [m, n, nnz] = [rows, cols, nnz].map(|count| count as i64);
        let [first, columns, values] = arrays.map(pointer);
        let (of, i) = (data_type(precision), INDEX);
        let functions = self.enter();
        // SAFETY: a descriptor only stores the addresses; the owner of the arrays guarantees that they live long
        // enough.
        Ok(unsafe {
            match format {
                SparseFormat::Csr => {
                    let create = functions.cusparseCreateCsr;
                    let status = create(to, m, n, nnz, first, columns, values, i, i, BASE, of);
                    ("cusparseCreateCsr", status)
                }
                SparseFormat::Coo => {
                    let create = functions.cusparseCreateCoo;
                    let status = create(to, m, n, nnz, first, columns, values, i, BASE, of);
                    ("cusparseCreateCoo", status)
                }
                SparseFormat::SlicedEll { slice_rows, stored } => {
                    let name = "cusparseCreateSlicedEll";
                    let create = functions.cusparseCreateSlicedEll;
                    let create = self.newer(create, name, SLICED_ELL_SINCE)?;
                    let [size, slice] = [stored, slice_rows].map(|count| count as i64);
                    let status = create(to, m, n, nnz, size, slice, first, columns, values, i, i, BASE, of);
                    (name, status)
                }
                SparseFormat::Bsr { side, blocks, order } => {
                    let create = functions.cusparseCreateBsr;
                    let create = create.filter(|_| self.library.version >= BSR_SINCE);
                    let create = self.newer(create, "CUSPARSE_SPMV_BSR_ALG1", BSR_SINCE)?;
                    let [side, blocks] = [side, blocks].map(|count| count as i64);
                    let [m, n] = [m / side, n / side];
                    let status = create(to, m, n, blocks, side, side, first, columns, values, i, i, BASE, of, order);
                    ("cusparseCreateBsr", status)
                }
            }
        })
    }

    /// Returns an optional function, which cuSPARSE has since version `since`.
    fn newer<F>(&self, function: Option<F>, name: &str, since: Version) -> Result<F, Unavailable> {
        function.ok_or_else(|| lacks(self.library.version, name, since))
    }
}

/// Returns α or β in the precision of the product, in the first bytes of a word, as the library reads it.
pub(super) fn factor(value: f64, precision: Precision) -> u64 {
    match precision {
        Precision::F32 => u64::from((value as f32).to_bits()).to_le(),
        Precision::F64 => value.to_bits(),
    }
}

pub(super) fn pointer(address: Address) -> *mut c_void {
    address as *mut c_void
}

pub(super) fn data_type(precision: Precision) -> cudaDataType {
    match precision {
        Precision::F32 => CUDA_R_32F,
        Precision::F64 => CUDA_R_64F,
    }
}

pub(super) fn operation(transpose: bool) -> cusparseOperation_t {
    if transpose { CUSPARSE_OPERATION_TRANSPOSE } else { CUSPARSE_OPERATION_NON_TRANSPOSE }
}

impl Drop for InStream {
    fn drop(&mut self) {
        // SAFETY: the handle was created with this value, destroyed once. The status is ignored: nothing can be done.
        unsafe { (self.enter().cusparseDestroy)(self.handle) };
    }
}

impl CuSparse for InStream {
    fn version(&self) -> String {
        self.library.name()
    }

    fn create_matrix(&self, layout: &SparseLayout) -> Result<Descriptor, Unprepared> {
        let mut matrix = null_mut();
        let (call, status) = self.create(&mut matrix, layout)?;
        self.library.check_support(call, status)?;
        Ok(Descriptor(matrix as usize))
    }

    fn destroy_matrix(&self, matrix: Descriptor) {
        // SAFETY: made by `create_matrix`, destroyed once. The status is ignored: nothing can be done.
        unsafe { (self.enter().cusparseDestroySpMat)(matrix.0 as _) };
    }

    fn create_vector(&self, len: u64, values: Address, precision: Precision) -> Result<Descriptor, Failed> {
        let mut vector = null_mut();
        let create = self.enter().cusparseCreateDnVec;
        // SAFETY: a descriptor only stores the address.
        let status = unsafe { create(&mut vector, len as i64, pointer(values), data_type(precision)) };
        self.library.check("cusparseCreateDnVec", status)?;
        Ok(Descriptor(vector as usize))
    }

    fn set_vector(&self, vector: Descriptor, values: Address) -> Result<(), Failed> {
        // SAFETY: the descriptor is alive and only stores the address.
        let status = unsafe { (self.enter().cusparseDnVecSetValues)(vector.0 as _, pointer(values)) };
        self.library.check("cusparseDnVecSetValues", status)
    }

    fn destroy_vector(&self, vector: Descriptor) {
        // SAFETY: made by `create_vector`, destroyed once. The status is ignored: nothing can be done.
        unsafe { (self.enter().cusparseDestroyDnVec)(vector.0 as _) };
    }

    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Unprepared> {
        let mut bytes = 0;
        let status = self.product(self.enter().cusparseSpMV_bufferSize, product, &mut bytes);
        self.library.check_support("cusparseSpMV_bufferSize", status)?;
        Ok(bytes)
    }

    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Unprepared> {
        let name = "cusparseSpMV_preprocess";
        let prepare = self.newer(self.enter().cusparseSpMV_preprocess, name, PREPROCESS_SINCE)?;
        self.library.check_support(name, self.product(prepare, product, pointer(buffer)))?;
        self.context.enqueued(name);
        Ok(())
    }

    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed> {
        let status = self.product(self.enter().cusparseSpMV, product, pointer(buffer));
        self.library.check("cusparseSpMV", status)?;
        self.context.enqueued("cusparseSpMV");
        Ok(())
    }

    fn op(&self) -> Result<&dyn SpMvOp, Unavailable> {
        self.library.op.as_ref().map(|_| self as _).map_err(Clone::clone)
    }
}
