//! The functions of cusparseSpMVOp in the fake cuSPARSE.

use spmv_methods::device::cusparse::{
    Descriptor, OpAlgorithm, OpPlan, SpMvOp, SparseFormat, SparseProduct,
};
use spmv_methods::device::driver::Address;
use spmv_methods::method::{Failed, Unprepared};

use super::{FakeCuSparse, State, WORKSPACE};

impl State {
    fn check_op(&self, product: &SparseProduct<OpAlgorithm>) {
        let is_csr = matches!(self.layout(product).format, SparseFormat::Csr);
        assert!(is_csr && !product.transpose, "{product:?}");
    }
}

impl SpMvOp for FakeCuSparse {
    fn buffer_size(&self, product: &SparseProduct<OpAlgorithm>) -> Result<usize, Unprepared> {
        let mut state = self.0.borrow_mut();
        state.check_op(product);
        state.op_sized.push((product.matrix, product.algorithm));
        Ok(WORKSPACE.len())
    }

    fn create_descriptor(
        &self,
        product: &SparseProduct<OpAlgorithm>,
        buffer: Address,
    ) -> Result<Descriptor, Unprepared> {
        let mut state = self.0.borrow_mut();
        state.check_op(product);
        let sized = state.op_sized.contains(&(product.matrix, product.algorithm));
        assert!(sized, "size asked before");
        state.occupy(buffer);
        let descriptor = Descriptor(state.next());
        state.descriptors.insert(descriptor, (product.matrix, buffer));
        Ok(descriptor)
    }

    fn destroy_descriptor(&self, descriptor: Descriptor) {
        let mut state = self.0.borrow_mut();
        assert!(!state.plans.values().any(|of| *of == descriptor), "destroyed before its plan");
        let (_, workspace) =
            state.descriptors.remove(&descriptor).expect("a descriptor that exists");
        state.check_occupied(workspace);
    }

    fn create_plan(&self, descriptor: Descriptor) -> Result<OpPlan, Unprepared> {
        let mut state = self.0.borrow_mut();
        assert!(state.descriptors.contains_key(&descriptor), "a descriptor that exists");
        let plan = OpPlan(state.next());
        state.plans.insert(plan, descriptor);
        Ok(plan)
    }

    fn destroy_plan(&self, plan: OpPlan) {
        self.0.borrow_mut().plans.remove(&plan).expect("a plan that exists");
    }

    fn multiply(&self, plan: OpPlan, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed> {
        let state = self.0.borrow();
        state.check_op(product);
        let (matrix, workspace) = state.descriptors[&state.plans[&plan]];
        assert_eq!(matrix, product.matrix, "the matrix of the plan");
        state.check_occupied(workspace);
        state.compute(&state.matrices[&matrix], product);
        Ok(())
    }
}
