//! A fake cuSPARSE for the model. It checks the order and the arguments of the calls and computes the products from the
//! given addresses, so that a wrong argument causes a wrong result. The rules are those of NVIDIA's documentation of
//! the generic API.

mod compute;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ptx_machine::Machine;
use spmv_matrix::scalar::Precision;
use spmv_methods::device::cusparse::{
    Algorithm, CuSparse, Descriptor, OpAlgorithm, OpPlan, SpMvOp, SparseFormat, SparseLayout, SparseProduct,
};
use spmv_methods::device::driver::Address;
use spmv_methods::device::model::Model;
use spmv_methods::method::{Failed, Unavailable, Unprepared};

use compute::compute;

/// The contents of every workspace while it is in use.
const WORKSPACE: [u8; 96] = [0xA5; 96];

pub struct FakeCuSparse(RefCell<State>);

struct State {
    memory: Rc<RefCell<Machine>>,
    created: usize,
    matrices: HashMap<Descriptor, SparseLayout>,
    vectors: HashMap<Descriptor, (u64, Address, Precision)>,
    /// The products whose workspace size was queried.
    sized: Vec<(Descriptor, bool, Algorithm)>,
    /// The product for which each matrix was preprocessed, with its workspace.
    preprocessed: HashMap<Descriptor, (bool, Algorithm, Address)>,
    /// The products of cusparseSpMVOp whose workspace size was queried.
    op_sized: Vec<(Descriptor, OpAlgorithm)>,
    /// The matrix and the workspace of each plan.
    plans: HashMap<OpPlan, (Descriptor, Address)>,
}

impl Drop for FakeCuSparse {
    fn drop(&mut self) {
        let State { matrices, vectors, plans, .. } = self.0.get_mut();
        let leaked = matrices.len() + vectors.len() + plans.len();
        assert!(leaked == 0 || std::thread::panicking(), "{leaked} descriptors not destroyed");
    }
}

impl FakeCuSparse {
    pub fn on(model: Model) -> Model {
        let state = State {
            memory: model.machine.clone(),
            created: 0,
            matrices: HashMap::new(),
            vectors: HashMap::new(),
            sized: Vec::new(),
            preprocessed: HashMap::new(),
            op_sized: Vec::new(),
            plans: HashMap::new(),
        };
        model.with(|model| model.cusparse = Some(Box::new(Self(RefCell::new(state)))))
    }
}

impl State {
    fn next(&mut self) -> usize {
        self.created += 1;
        self.created
    }

    /// Checks the descriptors of a product against each other and returns the layout of the matrix.
    fn layout<G>(&self, product: &SparseProduct<G>) -> SparseLayout {
        let layout = self.matrices[&product.matrix];
        let (x, y) = (self.vectors[&product.x], self.vectors[&product.y]);
        let (inputs, outputs) = match product.transpose {
            false => (layout.cols, layout.rows),
            true => (layout.rows, layout.cols),
        };
        assert_eq!((x.0, y.0), (inputs, outputs), "lengths of x and y");
        assert_eq!([x.2, y.2, product.precision], [layout.precision; 3], "precisions");
        layout
    }

    /// Also checks that the algorithm supports the product.
    fn layout_for(&self, product: &SparseProduct) -> SparseLayout {
        let layout = self.layout(product);
        let (format, is_supported) = match layout.format {
            SparseFormat::Csr => ("_CSR_", true),
            SparseFormat::Coo => ("_COO_", true),
            SparseFormat::SlicedEll { .. } => ("_SELL_", true),
            SparseFormat::Bsr { .. } => ("_BSR_", !product.transpose),
        };
        let is_default = product.algorithm == Algorithm::CUSPARSE_SPMV_ALG_DEFAULT;
        let fits = format!("{:?}", product.algorithm).contains(format) && is_supported;
        assert!(fits || is_default, "{product:?} on {layout:?}");
        layout
    }

    fn occupy(&self, workspace: Address) {
        assert_eq!(workspace % 16, 0, "alignment that cuSPARSE of CUDA 12 requires");
        self.memory.borrow_mut().memory.upload(&WORKSPACE, workspace).expect("a workspace");
    }

    fn check_occupied(&self, workspace: Address) {
        let mut found = [0; WORKSPACE.len()];
        self.memory.borrow().memory.download(workspace, &mut found).expect("a workspace");
        assert_eq!(found, WORKSPACE, "the workspace is unchanged since the preprocessing");
    }

    fn check_op(&self, product: &SparseProduct<OpAlgorithm>) {
        let is_csr = matches!(self.layout(product).format, SparseFormat::Csr);
        assert!(is_csr && !product.transpose, "{product:?}");
    }

    fn compute<G>(&self, layout: &SparseLayout, product: &SparseProduct<G>) {
        let (x, y) = (self.vectors[&product.x].1, self.vectors[&product.y].1);
        match layout.precision {
            Precision::F64 => compute::<f64, _>(&self.memory, layout, product, x, y),
            Precision::F32 => compute::<f32, _>(&self.memory, layout, product, x, y),
        }
    }
}

impl CuSparse for FakeCuSparse {
    fn version(&self) -> String {
        "fake cuSPARSE".into()
    }

    fn create_matrix(&self, layout: &SparseLayout) -> Result<Descriptor, Unprepared> {
        let mut state = self.0.borrow_mut();
        let matrix = Descriptor(state.next());
        state.matrices.insert(matrix, *layout);
        Ok(matrix)
    }

    fn destroy_matrix(&self, matrix: Descriptor) {
        self.0.borrow_mut().matrices.remove(&matrix).expect("a matrix that exists");
    }

    fn create_vector(&self, len: u64, values: Address, precision: Precision) -> Result<Descriptor, Failed> {
        assert_ne!(values, 0, "a vector has an address");
        let mut state = self.0.borrow_mut();
        let vector = Descriptor(state.next());
        state.vectors.insert(vector, (len, values, precision));
        Ok(vector)
    }

    fn set_vector(&self, vector: Descriptor, values: Address) -> Result<(), Failed> {
        self.0.borrow_mut().vectors.get_mut(&vector).expect("a vector that exists").1 = values;
        Ok(())
    }

    fn destroy_vector(&self, vector: Descriptor) {
        self.0.borrow_mut().vectors.remove(&vector).expect("a vector that exists");
    }

    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Unprepared> {
        let mut state = self.0.borrow_mut();
        state.layout_for(product);
        state.sized.push((product.matrix, product.transpose, product.algorithm));
        Ok(WORKSPACE.len())
    }

    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Unprepared> {
        let mut state = self.0.borrow_mut();
        state.layout_for(product);
        let SparseProduct { matrix, transpose, algorithm, .. } = *product;
        assert!(state.sized.contains(&(matrix, transpose, algorithm)), "size asked before");
        state.occupy(buffer);
        state.preprocessed.insert(matrix, (transpose, algorithm, buffer));
        Ok(())
    }

    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed> {
        let state = self.0.borrow();
        let layout = state.layout_for(product);
        let SparseProduct { matrix, transpose, algorithm, .. } = *product;
        assert!(state.sized.contains(&(matrix, transpose, algorithm)), "size asked before");
        match state.preprocessed.get(&matrix) {
            Some(preprocessed) => {
                assert_eq!(*preprocessed, (transpose, algorithm, buffer), "as preprocessed");
                state.check_occupied(buffer);
            }
            None => state.occupy(buffer),
        }
        state.compute(&layout, product);
        Ok(())
    }

    fn op(&self) -> Result<&dyn SpMvOp, Unavailable> {
        Ok(self)
    }
}

impl SpMvOp for FakeCuSparse {
    fn buffer_size(&self, product: &SparseProduct<OpAlgorithm>) -> Result<usize, Unprepared> {
        let mut state = self.0.borrow_mut();
        state.check_op(product);
        state.op_sized.push((product.matrix, product.algorithm));
        Ok(WORKSPACE.len())
    }

    fn create_plan(&self, product: &SparseProduct<OpAlgorithm>, buffer: Address) -> Result<OpPlan, Unprepared> {
        let mut state = self.0.borrow_mut();
        state.check_op(product);
        let sized = state.op_sized.contains(&(product.matrix, product.algorithm));
        assert!(sized, "size asked before");
        state.occupy(buffer);
        let plan = OpPlan { descriptor: state.next(), plan: state.next() };
        state.plans.insert(plan, (product.matrix, buffer));
        Ok(plan)
    }

    fn destroy_plan(&self, plan: OpPlan) {
        let mut state = self.0.borrow_mut();
        let (_, workspace) = state.plans.remove(&plan).expect("a plan that exists");
        state.check_occupied(workspace);
    }

    fn multiply(&self, plan: OpPlan, product: &SparseProduct<OpAlgorithm>) -> Result<(), Failed> {
        let state = self.0.borrow();
        state.check_op(product);
        let (matrix, workspace) = state.plans[&plan];
        assert_eq!(matrix, product.matrix, "the matrix of the plan");
        state.check_occupied(workspace);
        state.compute(&state.matrices[&matrix], product);
        Ok(())
    }
}
