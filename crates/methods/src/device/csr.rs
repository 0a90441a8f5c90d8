//! A CSR matrix in device memory.

use std::borrow::Cow;

use super::buffer::Value;
use super::driver::RawArgument;
use super::{Argument, Buffer, Failed, Gpu, Module, Program, Unprepared, sources};
use spmv_matrix::Csr;

/// A CSR matrix on the device, together with the same matrix on the host.
pub struct DeviceCsr<'a, T: Clone> {
    pub gpu: Gpu,
    pub host: Cow<'a, Csr<T>>,
    /// The rows + 1 offsets of the rows.
    pub row_offsets: Buffer<u32>,
    pub column_indices: Buffer<u32>,
    pub values: Buffer<T>,
    /// Whether kernels load the arrays with the hint that the L2 cache evicts them first.
    is_streamed: bool,
}

impl<'a, T: Value> DeviceCsr<'a, T> {
    /// Copies the matrix to the device. This also fails if the limit in `SPMV_BENCH_STREAM_ABOVE` is not a number of bytes.
    pub fn upload(gpu: &Gpu, host: &'a Csr<T>) -> Result<Self, Failed> {
        Self::of(gpu, Cow::Borrowed(host))
    }

    pub fn of(gpu: &Gpu, host: Cow<'a, Csr<T>>) -> Result<Self, Failed> {
        Ok(Self {
            gpu: gpu.clone(),
            row_offsets: gpu.upload(host.row_offsets())?,
            column_indices: gpu.upload(host.column_indices())?,
            values: gpu.upload(host.values())?,
            is_streamed: sources::is_streamed(host.bytes(), gpu.facts())?,
            host,
        })
    }

    /// Compiles a program for products with this matrix: the constants have `STREAMED` = 1 if the L2 cache should evict
    /// the matrix first, because it does not fit there, and 0 otherwise (`once.cuh`).
    pub fn compile(
        &self,
        program: &'static Program,
        constants: &[(&'static str, usize)],
    ) -> Result<Module, Unprepared> {
        let streamed = ("STREAMED", usize::from(self.is_streamed));
        self.gpu.compile::<T>(program, &[constants, &[streamed]].concat())
    }

    /// Copies the matrix back to the host, for conversions there.
    pub fn download(&self) -> Result<Csr<T>, Failed> {
        let (rows, cols) = (self.host.rows(), self.host.cols());
        let (offsets, columns) = (self.row_offsets.to_vec()?, self.column_indices.to_vec()?);
        Csr::new(rows, cols, offsets, columns, self.values.to_vec()?).ok_or_else(|| {
            Failed("the matrix on the GPU is no longer that which was copied there".into())
        })
    }

    pub fn rows(&self) -> u32 {
        self.host.rows() as u32
    }

    pub fn cols(&self) -> u32 {
        self.host.cols() as u32
    }

    pub fn nnz(&self) -> u32 {
        self.host.nnz() as u32
    }
}

/// The arguments are the row offsets, the column indices and the values.
// SAFETY: the arguments are inside the buffers.
unsafe impl<T: Value> Argument for DeviceCsr<'_, T> {
    fn append(&self, to: &mut Vec<RawArgument>) {
        let Self { row_offsets, column_indices, values, .. } = self;
        [row_offsets as &dyn Argument, column_indices, values].append(to);
    }
}

#[cfg(test)]
#[test]
fn a_matrix_is_streamed_if_its_three_arrays_do_not_fit_in_the_l2_cache() {
    let gpu = Gpu::new(super::model::Model::tiny(1));
    let is_streamed = |rows| {
        let empty = Csr::<f64>::from_triplets(rows, 1, &[]);
        DeviceCsr::of(&gpu, Cow::Owned(empty)).unwrap().is_streamed
    };
    let bytes = gpu.facts().l2_bytes / gpu.facts().l2_copies();
    let elements = bytes as usize / size_of::<u32>();
    assert!(!is_streamed(elements - 1) && is_streamed(elements));
}
