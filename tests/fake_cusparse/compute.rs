//! Computes the products of the fake cuSPARSE from arrays in device memory.

use std::cell::RefCell;

use bytemuck::Pod;
use ptx_machine::Machine;
use spmv_matrix::scalar::Scalar;
use spmv_methods::device::cusparse::{Order, SparseFormat, SparseLayout, SparseProduct};
use spmv_methods::device::driver::Address;

pub fn compute<T: Scalar + Pod, G>(
    memory: &RefCell<Machine>,
    layout: &SparseLayout,
    product: &SparseProduct<G>,
    x: Address,
    y: Address,
) {
    let (rows, cols) = (layout.rows as usize, layout.cols as usize);
    let (inputs, outputs) = if product.transpose { (rows, cols) } else { (cols, rows) };
    let (x, mut results) = (array::<T>(memory, x, inputs), array::<T>(memory, y, outputs));
    let mut sums = vec![T::zero(); outputs];
    for (row, col, value) in entries::<T>(memory, layout) {
        let (output, input) = if product.transpose { (col, row) } else { (row, col) };
        sums[output] += value * x[input];
    }
    let (alpha, beta) = (T::narrow(product.alpha), T::narrow(product.beta));
    for (y, sum) in results.iter_mut().zip(sums) {
        *y = if beta == T::zero() { alpha * sum } else { alpha * sum + beta * *y };
    }
    let memory = &mut memory.borrow_mut().memory;
    memory.upload(bytemuck::cast_slice(&results), y).expect("y is in device memory");
}

fn entries<T: Scalar + Pod>(memory: &RefCell<Machine>, layout: &SparseLayout) -> Vec<(usize, usize, T)> {
    let (rows, nnz) = (layout.rows as usize, layout.nnz as usize);
    let [first, column_indices, values] = layout.arrays;
    let entries = |count| (array::<u32>(memory, column_indices, count), array::<T>(memory, values, count));
    match layout.format {
        SparseFormat::Csr => {
            let offsets = array::<u32>(memory, first, rows + 1);
            let (columns, values) = entries(nnz);
            let row = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
            let entry = |row, k: usize| (row, columns[k] as usize, values[k]);
            (0..rows).flat_map(|r| row(r).map(move |k| entry(r, k))).collect()
        }
        SparseFormat::Coo => {
            let indices = array::<u32>(memory, first, nnz);
            assert!(indices.is_sorted(), "COO is sorted by row");
            let (columns, values) = entries(nnz);
            (0..nnz).map(|k| (indices[k] as usize, columns[k] as usize, values[k])).collect()
        }
        SparseFormat::SlicedEll { slice_rows, stored } => {
            let (height, stored) = (slice_rows as usize, stored as usize);
            let offsets = array::<u32>(memory, first, rows.div_ceil(height) + 1);
            assert_eq!(offsets[offsets.len() - 1] as usize, stored);
            let (columns, values) = entries(stored);
            let row = |place| {
                let (slice, inside) = slice(&offsets, place);
                slice * height + inside % height
            };
            let places = (0..stored).filter(|&place| columns[place] != u32::MAX);
            let entries: Vec<_> = places.map(|k| (row(k), columns[k] as usize, values[k])).collect();
            assert_eq!(entries.len(), nnz, "entries that are not padding");
            entries
        }
        SparseFormat::Bsr { side, blocks, order } => blocked(memory, layout, side as usize, blocks as usize, order),
    }
}

/// Returns the slice that contains a place, and the place within it.
fn slice(offsets: &[u32], place: usize) -> (usize, usize) {
    let slice = offsets.partition_point(|&start| start as usize <= place) - 1;
    (slice, place - offsets[slice] as usize)
}

fn blocked<T: Scalar + Pod>(
    memory: &RefCell<Machine>,
    layout: &SparseLayout,
    side: usize,
    blocks: usize,
    order: Order,
) -> Vec<(usize, usize, T)> {
    let (rows, cols) = (layout.rows as usize, layout.cols as usize);
    let [first, column_indices, values] = layout.arrays;
    assert_eq!((rows % side, cols % side), (0, 0), "whole blocks");
    let offsets = array::<u32>(memory, first, rows / side + 1);
    assert_eq!(offsets[rows / side] as usize, blocks);
    let columns = array::<u32>(memory, column_indices, blocks);
    let values = array::<T>(memory, values, blocks * side * side);
    let entry = |(number, &value): (usize, &T)| {
        let (block, place) = (number / (side * side), number % (side * side));
        let (i, j) = match order {
            Order::CUSPARSE_ORDER_ROW => (place / side, place % side),
            Order::CUSPARSE_ORDER_COL => (place % side, place / side),
        };
        let row = slice(&offsets, block).0 * side + i;
        (row, columns[block] as usize * side + j, value)
    };
    values.iter().enumerate().map(entry).collect()
}

fn array<T: Pod>(memory: &RefCell<Machine>, address: Address, len: usize) -> Vec<T> {
    let mut elements = vec![T::zeroed(); len];
    let bytes = bytemuck::cast_slice_mut(&mut elements);
    memory.borrow().memory.download(address, bytes).expect("an array in device memory");
    elements
}
