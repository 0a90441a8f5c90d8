//! A cuSPARSE for the emulation: it checks the order and the arguments of the calls and computes what
//! they ask for, from the addresses that they name, so that a wrong argument is a wrong result.

use std::cell::RefCell;
use std::collections::HashMap;

use spmv_bench::device::cusparse::{
    Algorithm, CuSparse, DenseVector, SparseFormat, SparseLayout, SparseMatrix, SparseProduct,
};
use spmv_bench::device::driver::Address;
use spmv_bench::method::Failed;
use spmv_bench::scalar::{Precision, Scalar};

/// Bytes of every workspace.
const WORKSPACE: usize = 96;

#[derive(Default)]
pub struct FakeCuSparse(RefCell<State>);

#[derive(Default)]
struct State {
    created: usize,
    matrices: HashMap<SparseMatrix, SparseLayout>,
    vectors: HashMap<DenseVector, (u64, Address, Precision)>,
    /// Matrices whose workspace was asked for, and the workspace that one was preprocessed into.
    sized: Vec<(SparseMatrix, Algorithm)>,
    preprocessed: HashMap<SparseMatrix, Address>,
}

impl Drop for FakeCuSparse {
    fn drop(&mut self) {
        let State { matrices, vectors, .. } = self.0.get_mut();
        let leaked = matrices.len() + vectors.len();
        assert!(leaked == 0 || std::thread::panicking(), "{leaked} descriptors not destroyed");
    }
}

impl State {
    fn next(&mut self) -> usize {
        self.created += 1;
        self.created
    }

    /// Checks a product's descriptors against one another.
    fn layout(&self, product: &SparseProduct) -> SparseLayout {
        let layout = self.matrices[&product.matrix];
        let (x, y) = (self.vectors[&product.x], self.vectors[&product.y]);
        let (inputs, outputs) = match product.transpose {
            false => (layout.cols, layout.rows),
            true => (layout.rows, layout.cols),
        };
        assert_eq!((x.0, y.0), (inputs, outputs), "lengths of x and y");
        assert_eq!([x.2, y.2, product.precision], [layout.precision; 3], "precisions");
        let fits = match layout.format {
            SparseFormat::Csr { .. } => {
                matches!(product.algorithm, Algorithm::CsrAlg1 | Algorithm::CsrAlg2)
            }
            SparseFormat::Coo { .. } => product.algorithm == Algorithm::CooAlg1,
            SparseFormat::SlicedEll { .. } => product.algorithm == Algorithm::SellAlg1,
        };
        assert!(fits || product.algorithm == Algorithm::Default, "{product:?} on {layout:?}");
        layout
    }
}

impl CuSparse for FakeCuSparse {
    fn version(&self) -> String {
        "fake cuSPARSE".into()
    }

    fn create_matrix(&self, layout: &SparseLayout) -> Result<SparseMatrix, Failed> {
        let mut state = self.0.borrow_mut();
        let matrix = SparseMatrix(state.next());
        state.matrices.insert(matrix, *layout);
        Ok(matrix)
    }

    fn destroy_matrix(&self, matrix: SparseMatrix) {
        self.0.borrow_mut().matrices.remove(&matrix).expect("a matrix that exists");
    }

    fn create_vector(
        &self,
        len: u64,
        values: Address,
        precision: Precision,
    ) -> Result<DenseVector, Failed> {
        assert_ne!(values, 0, "a vector has an address");
        let mut state = self.0.borrow_mut();
        let vector = DenseVector(state.next());
        state.vectors.insert(vector, (len, values, precision));
        Ok(vector)
    }

    fn set_vector(&self, vector: DenseVector, values: Address) -> Result<(), Failed> {
        self.0.borrow_mut().vectors.get_mut(&vector).expect("a vector that exists").1 = values;
        Ok(())
    }

    fn destroy_vector(&self, vector: DenseVector) {
        self.0.borrow_mut().vectors.remove(&vector).expect("a vector that exists");
    }

    fn buffer_size(&self, product: &SparseProduct) -> Result<usize, Failed> {
        let mut state = self.0.borrow_mut();
        state.layout(product);
        state.sized.push((product.matrix, product.algorithm));
        Ok(WORKSPACE)
    }

    fn preprocess(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed> {
        let mut state = self.0.borrow_mut();
        state.layout(product);
        assert!(state.sized.contains(&(product.matrix, product.algorithm)), "size asked before");
        assert_ne!(buffer, 0);
        state.preprocessed.insert(product.matrix, buffer);
        Ok(())
    }

    fn multiply(&self, product: &SparseProduct, buffer: Address) -> Result<(), Failed> {
        let state = self.0.borrow();
        let layout = state.layout(product);
        assert!(state.sized.contains(&(product.matrix, product.algorithm)), "size asked before");
        if let Some(preprocessed) = state.preprocessed.get(&product.matrix) {
            assert_eq!(*preprocessed, buffer, "the workspace that was preprocessed into");
        }
        let (x, y) = (state.vectors[&product.x].1, state.vectors[&product.y].1);
        match layout.precision {
            Precision::F64 => compute::<f64>(&layout, product, x, y),
            Precision::F32 => compute::<f32>(&layout, product, x, y),
        }
        Ok(())
    }
}

fn compute<T: Scalar>(layout: &SparseLayout, product: &SparseProduct, x: Address, y: Address) {
    let (rows, cols) = (layout.rows as usize, layout.cols as usize);
    let (inputs, outputs) = if product.transpose { (rows, cols) } else { (cols, rows) };
    // SAFETY: the emulation's addresses are the host's; a wrong one is what this fake is there to find.
    let (x, y) = unsafe { (array::<T>(x, inputs), array_mut::<T>(y, outputs)) };
    let mut sums = vec![T::zero(); outputs];
    for (row, col, value) in entries::<T>(layout) {
        let (output, input) = if product.transpose { (col, row) } else { (row, col) };
        sums[output] += value * x[input];
    }
    let (alpha, beta) = (T::narrow(product.alpha), T::narrow(product.beta));
    for (y, sum) in y.iter_mut().zip(sums) {
        *y = if beta == T::zero() { alpha * sum } else { alpha * sum + beta * *y };
    }
}

fn entries<T: Scalar>(layout: &SparseLayout) -> Vec<(usize, usize, T)> {
    let (rows, nnz) = (layout.rows as usize, layout.nnz as usize);
    // SAFETY: as in `compute`.
    unsafe {
        match layout.format {
            SparseFormat::Csr { row_offsets, column_indices, values } => {
                let offsets = array::<u32>(row_offsets, rows + 1);
                let (columns, values) = (array::<u32>(column_indices, nnz), array(values, nnz));
                let row = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                let entry = |row, k: usize| (row, columns[k] as usize, values[k]);
                (0..rows).flat_map(|r| row(r).map(move |k| entry(r, k))).collect()
            }
            SparseFormat::Coo { row_indices, column_indices, values } => {
                let indices = array::<u32>(row_indices, nnz);
                assert!(indices.is_sorted(), "COO is sorted by row");
                let (columns, values) = (array::<u32>(column_indices, nnz), array(values, nnz));
                (0..nnz).map(|k| (indices[k] as usize, columns[k] as usize, values[k])).collect()
            }
            SparseFormat::SlicedEll {
                slice_rows,
                stored,
                slice_offsets,
                column_indices,
                values,
            } => {
                let (height, stored) = (slice_rows as usize, stored as usize);
                let offsets = array::<u32>(slice_offsets, rows.div_ceil(height) + 1);
                assert_eq!(offsets[offsets.len() - 1] as usize, stored);
                let columns = array::<u32>(column_indices, stored);
                let values = array::<T>(values, stored);
                let slice = |place| offsets.partition_point(|&start| start as usize <= place) - 1;
                let row = |place| {
                    let slice = slice(place);
                    slice * height + (place - offsets[slice] as usize) % height
                };
                let places = (0..stored).filter(|&place| columns[place] != u32::MAX);
                let entries: Vec<_> =
                    places.map(|k| (row(k), columns[k] as usize, values[k])).collect();
                assert_eq!(entries.len(), nnz, "places that hold something");
                entries
            }
        }
    }
}

unsafe fn array<'a, T>(address: Address, len: usize) -> &'a [T] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(address as *const T, len) }
}

unsafe fn array_mut<'a, T>(address: Address, len: usize) -> &'a mut [T] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts_mut(address as *mut T, len) }
}
