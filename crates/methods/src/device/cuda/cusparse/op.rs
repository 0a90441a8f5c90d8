//! The products of cusparseSpMVOp in the stream of a device.

use std::ptr::{null, null_mut};

use super::op_functions::{Analysis, Common, NAMED_SINCE, OpFunctions};
use super::stream::{InStream, data_type, factor, operation, pointer};
use super::version::lacks;
use crate::device::cusparse::{OpAlgorithm, OpPlan, SpMvOp, SparseProduct};
use crate::device::launch::Address;
use crate::device::{Failed, Unavailable, Unprepared};
use spmv_matrix::scalar::Precision;

impl InStream {
    /// Makes the context the current one and returns the functions if they support the product.
    fn op_for(&self, product: &SparseProduct<OpAlgorithm>) -> Result<&OpFunctions, Unavailable> {
        let functions = self.op_functions()?;
        let since_named = match (product.precision, product.algorithm) {
            (Precision::F32, _) => "cusparseSpMVOp in f32",
            (_, OpAlgorithm::Default) => return Ok(functions),
            _ => "cusparseSpMVOpAlg_t",
        };
        match functions.analysis {
            Analysis::Named(_) => Ok(functions),
            Analysis::Unnamed(_) => Err(lacks(self.library.version, since_named, NAMED_SINCE)),
        }
    }

    fn op_functions(&self) -> Result<&'static OpFunctions, Unavailable> {
        self.enter();
        self.library.op.as_ref().map_err(Clone::clone)
    }

    fn common(&self) -> &'static Common {
        &self.op_functions().expect("the functions that created it").common
    }
}

impl SpMvOp for InStream {
    fn buffer_size(&self, product: &SparseProduct<OpAlgorithm>) -> Result<usize, Unprepared> {
        let mut bytes = 0;
        let SparseProduct { matrix, transpose, x, y, precision, algorithm, .. } = *product;
        let (op, of) = (operation(transpose), data_type(precision));
        let (handle, a, x, y) = (self.handle, matrix.0 as _, x.0 as _, y.0 as _);
        // SAFETY: the descriptors are alive, and the pointer is valid for writes.
        let status = unsafe {
            match &self.op_for(product)?.analysis {
                Analysis::Unnamed(functions) => {
                    (functions.cusparseSpMVOp_bufferSize)(handle, op, a, x, y, y, of, &mut bytes)
                }
                Analysis::Named(functions) => {
                    let get = functions.cusparseSpMVOp_bufferSize;
                    get(handle, op, a, x, y, y, of, algorithm as u32, &mut bytes)
                }
            }
        };
        self.library.check_support("cusparseSpMVOp_bufferSize", status)?;
        Ok(bytes)
    }

    fn create_plan(&self, product: &SparseProduct<OpAlgorithm>, buffer: Address) -> Result<OpPlan, Unprepared> {
        let (mut descriptor, mut plan) = (null_mut(), null_mut());
        let SparseProduct { matrix, transpose, x, y, precision, algorithm, .. } = *product;
        let (op, of, buffer) = (operation(transpose), data_type(precision), pointer(buffer));
        let (handle, a, x, y) = (self.handle, matrix.0 as _, x.0 as _, y.0 as _);
        // SAFETY: the descriptors are alive, and the pointer is valid for writes. The owners of the arrays and of the
        // buffer guarantee that they live long enough.
        let status = unsafe {
            match &self.op_for(product)?.analysis {
                Analysis::Unnamed(functions) => {
                    let create = functions.cusparseSpMVOp_createDescr;
                    create(handle, &mut descriptor, op, a, x, y, y, of, buffer)
                }
                Analysis::Named(functions) => {
                    let create = functions.cusparseSpMVOp_createDescr;
                    create(handle, &mut descriptor, op, a, x, y, y, of, algorithm as u32, buffer)
                }
            }
        };
        self.library.check_support("cusparseSpMVOp_createDescr", status)?;
        self.context.enqueued("cusparseSpMVOp_createDescr");
        let common = self.common();
        // SAFETY: the descriptor is alive, and is destroyed if it has no plan. The pointer is valid for writes. A null
        // code means that there is no epilogue.
        let status = unsafe {
            let create = common.cusparseSpMVOp_createPlan;
            let status = create(handle, descriptor, &mut plan, null(), 0);
            if status != 0 {
                (common.cusparseSpMVOp_destroyDescr)(descriptor);
            }
            status
        };
        self.library.check_support("cusparseSpMVOp_createPlan", status)?;
        Ok(OpPlan { descriptor: descriptor as usize, plan: plan as usize })
    }

    fn destroy_plan(&self, OpPlan { descriptor, plan }: OpPlan) {
        let common = self.common();
        // SAFETY: made by `create_plan`, destroyed once. The statuses are ignored: nothing can be done.
        unsafe {
            (common.cusparseSpMVOp_destroyPlan)(plan as _);
            (common.cusparseSpMVOp_destroyDescr)(descriptor as _);
        }
    }

    fn multiply(&self, plan: OpPlan, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed> {
        let SparseProduct { x, y, precision, .. } = *product;
        let factors = [product.alpha, product.beta].map(|value| factor(value, precision));
        let [alpha, beta] = factors.each_ref().map(|value| std::ptr::from_ref(value).cast());
        let multiply = self.common().cusparseSpMVOp;
        // SAFETY: plan and descriptors are alive, and the owners of the arrays guarantee that these are too. α and β
        // are on the host, which is the default pointer mode, and are read before the function returns.
        let status = unsafe { multiply(self.handle, plan.plan as _, alpha, beta, x.0 as _, y.0 as _, y.0 as _) };
        self.library.check("cusparseSpMVOp", status)?;
        self.context.enqueued("cusparseSpMVOp");
        Ok(())
    }
}
