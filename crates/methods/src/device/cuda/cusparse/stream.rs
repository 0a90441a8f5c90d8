//! cuSPARSE with a handle in the stream of a device.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::rc::Rc;

use cudarc::cusparse::sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO as BASE;
use cudarc::cusparse::sys::cusparseIndexType_t::CUSPARSE_INDEX_32I as INDEX;
use cudarc::cusparse::sys::{
    cudaDataType, cusparseConstDnVecDescr_t, cusparseConstSpMatDescr_t, cusparseDnVecDescr_t,
    cusparseHandle_t, cusparseOperation_t, cusparseSpMVAlg_t, cusparseSpMatDescr_t,
};

use super::arguments::{Number, algorithm, block_order, data_type, operation, pointer, shape};
use super::{BSR_SINCE, CuSparseLibrary, Functions, PREPROCESS_SINCE, SLICED_ELL_SINCE};
use crate::device::cuda::context::Context;
use crate::device::cusparse::{
    CuSparse, DenseVector, Order, SpMvOp, SparseFormat, SparseLayout, SparseMatrix, SparseProduct,
};
use crate::device::driver::Address;
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

/// The library with a handle in the stream of a context.
pub struct InStream {
    pub(super) library: &'static CuSparseLibrary,
    pub(super) context: Rc<Context>,
    pub(super) handle: cusparseHandle_t,
}

impl InStream {
    /// Creates the handle of the library for the stream of this context.
    pub fn open(
        library: &'static CuSparseLibrary,
        context: Rc<Context>,
    ) -> Result<Self, Unavailable> {
        let unavailable = |Failed(reason)| Unavailable(reason);
        let mut handle = null_mut();
        context.enter();
        // SAFETY: the context is the current one.
        let status = unsafe { (library.functions.cusparseCreate)(&mut handle) };
        library.check("cusparseCreate", status).map_err(unavailable)?;
        let opened = Self { library, context, handle };
        let stream = opened.context.stream.cast();
        // SAFETY: handle and stream are alive.
        let status = unsafe { (library.functions.cusparseSetStream)(handle, stream) };
        library.check("cusparseSetStream", status).map_err(unavailable)?;
        Ok(opened)
    }

    /// Makes the context the current one and returns the library's functions.
    pub(super) fn enter(&self) -> &'static Functions {
        self.context.enter();
        &self.library.functions
    }

    /// Calls `cusparseSpMV` or one of its preparing functions and returns the status. `buffer` is the workspace or, for
    /// the query of its size, a number.
    fn product<B>(&self, function: SpMv<B>, product: &SparseProduct, buffer: *mut B) -> u32 {
        let SparseProduct { matrix, transpose, x, y, precision, .. } = *product;
        let [alpha, beta] =
            [product.alpha, product.beta].map(|value| Number::new(value, precision));
        // SAFETY: the descriptors are alive, and the owners of the arrays guarantee that these are too. α and β are on
        // the host, which is the default pointer mode, and are read before the function returns.
        unsafe {
            function(
                self.handle,
                operation(transpose),
                alpha.pointer(),
                matrix.0 as _,
                x.0 as _,
                beta.pointer(),
                y.0 as _,
                data_type(precision),
                algorithm(product.algorithm),
                buffer,
            )
        }
    }

    fn create_csr(
        &self,
        matrix: &mut cusparseSpMatDescr_t,
        layout: &SparseLayout,
        arrays: [Address; 3],
    ) -> u32 {
        let ([rows, cols, nnz], of) = (shape(layout), data_type(layout.precision));
        let [offsets, columns, values] = arrays.map(pointer);
        let create = self.library.functions.cusparseCreateCsr;
        // SAFETY: a descriptor only stores the addresses; the owner of the arrays guarantees that they live long
        // enough.
        unsafe { create(matrix, rows, cols, nnz, offsets, columns, values, INDEX, INDEX, BASE, of) }
    }

    fn create_coo(
        &self,
        matrix: &mut cusparseSpMatDescr_t,
        layout: &SparseLayout,
        arrays: [Address; 3],
    ) -> u32 {
        let ([rows, cols, nnz], of) = (shape(layout), data_type(layout.precision));
        let [row_indices, columns, values] = arrays.map(pointer);
        let create = self.library.functions.cusparseCreateCoo;
        // SAFETY: see `create_csr`.
        unsafe { create(matrix, rows, cols, nnz, row_indices, columns, values, INDEX, BASE, of) }
    }

    fn create_sliced_ell(
        &self,
        matrix: &mut cusparseSpMatDescr_t,
        layout: &SparseLayout,
        [stored, slice]: [i64; 2],
        arrays: [Address; 3],
    ) -> Result<u32, Unavailable> {
        let ([rows, cols, nnz], of) = (shape(layout), data_type(layout.precision));
        let [offsets, columns, values] = arrays.map(pointer);
        let (size, i) = (stored, INDEX);
        let create = self.library.functions.cusparseCreateSlicedEll;
        let create = self.library.newer(create, "cusparseCreateSlicedEll", SLICED_ELL_SINCE)?;
        // SAFETY: see `create_csr`.
        Ok(unsafe {
            create(matrix, rows, cols, nnz, size, slice, offsets, columns, values, i, i, BASE, of)
        })
    }

    fn create_bsr(
        &self,
        matrix: &mut cusparseSpMatDescr_t,
        layout: &SparseLayout,
        ([blocks, side], order): ([i64; 2], Order),
        arrays: [Address; 3],
    ) -> Result<u32, Unavailable> {
        let ([rows, cols, _], of) = (shape(layout), data_type(layout.precision));
        let ([rows, cols], order) = ([rows / side, cols / side], block_order(order));
        let [offsets, columns, values] = arrays.map(pointer);
        let (n, i) = (side, INDEX);
        let create = self.library.functions.cusparseCreateBsr;
        let create = create.filter(|_| self.library.version >= BSR_SINCE);
        let create = self.library.newer(create, "CUSPARSE_SPMV_BSR_ALG1", BSR_SINCE)?;
        // SAFETY: see `create_csr`.
        Ok(unsafe {
            create(
                matrix, rows, cols, blocks, n, n, offsets, columns, values, i, i, BASE, of, order,
            )
        })
    }
}

impl Drop for InStream {
    fn drop(&mut self) {
        // SAFETY: the handle was created with this value and is destroyed once. The status is ignored: nothing can be
        // done.
        unsafe { (self.enter().cusparseDestroy)(self.handle) };
    }
}

impl CuSparse for InStream {
    fn version(&self) -> String {
        self.library.name()
    }

    fn create_matrix(&self, layout: &SparseLayout) -> Result<SparseMatrix, Unprepared> {
        let mut matrix: cusparseSpMatDescr_t = null_mut();
        self.enter();
        let (call, status) = match layout.format {
            SparseFormat::Csr { row_offsets, column_indices, values } => {
                let arrays = [row_offsets, column_indices, values];
                ("cusparseCreateCsr", self.create_csr(&mut matrix, layout, arrays))
            }
            SparseFormat::Coo { row_indices, column_indices, values } => {
                let arrays = [row_indices, column_indices, values];
                ("cusparseCreateCoo", self.create_coo(&mut matrix, layout, arrays))
            }
            SparseFormat::SlicedEll {
                slice_rows,
                stored,
                slice_offsets,
                column_indices,
                values,
            } => {
                let sizes = [stored, slice_rows].map(|n| n as i64);
                let arrays = [slice_offsets, column_indices, values];
                let status = self.create_sliced_ell(&mut matrix, layout, sizes, arrays)?;
                ("cusparseCreateSlicedEll", status)
            }
            SparseFormat::Bsr { side, blocks, row_offsets, column_indices, values, order } => {
                let sizes = [blocks, side].map(|n| n as i64);
                let arrays = [row_offsets, column_indices, values];
                let status = self.create_bsr(&mut matrix, layout, (sizes, order), arrays)?;
                ("cusparseCreateBsr", status)
            }
        };
        self.library.check_support(call, status)?;
        Ok(SparseMatrix(matrix as usize))
    }

    fn destroy_matrix(&self, matrix: SparseMatrix) {
        // SAFETY: made by `create_matrix`, destroyed once. The status is ignored: nothing can be done.
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
        // SAFETY: a descriptor only stores the address.
        let status =
            unsafe { create(&mut vector, len as i64, pointer(values), data_type(precision)) };
        self.library.check("cusparseCreateDnVec", status)?;
        Ok(DenseVector(vector as usize))
    }

    fn set_vector(&self, vector: DenseVector, values: Address) -> Result<(), Failed> {
        // SAFETY: the descriptor is alive and only stores the address.
        let status =
            unsafe { (self.enter().cusparseDnVecSetValues)(vector.0 as _, pointer(values)) };
        self.library.check("cusparseDnVecSetValues", status)
    }

    fn destroy_vector(&self, vector: DenseVector) {
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
        let prepare = self.enter().cusparseSpMV_preprocess;
        let prepare = self.library.newer(prepare, name, PREPROCESS_SINCE)?;
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
        match &self.library.op {
            Ok(_) => Ok(self),
            Err(unavailable) => Err(unavailable.clone()),
        }
    }
}
