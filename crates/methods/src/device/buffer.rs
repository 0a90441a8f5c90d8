//! Arrays and CSR matrices in device memory.

use std::borrow::Cow;
use std::marker::PhantomData;

use bytemuck::Pod;

use super::errors::{Failed, Unprepared};
use super::gpu::Gpu;
use super::kernel::{Argument, Module, append};
use super::launch::{Address, ArgumentKind, RawArgument};
use super::program::Program;
use super::sources;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

/// The type of matrix and vector elements in device memory, which kernels accept as arguments: `f32` or `f64`.
pub trait Value: Scalar + Argument {}

impl<T: Scalar + Argument> Value for T {}

/// An array of `len` values in device memory, which is released when this is dropped.
pub struct Buffer<T> {
    gpu: Gpu,
    address: Address,
    len: usize,
    values: PhantomData<T>,
}

impl Gpu {
    /// Allocates memory for `len` values, which are undefined until they are written.
    pub fn allocate<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Failed> {
        let bytes = len
            .checked_mul(size_of::<T>())
            .ok_or_else(|| Failed(format!("out of memory for {len} values of {} bytes", size_of::<T>())))?;
        let address = if bytes == 0 { 0 } else { self.0.driver.allocate(bytes)? };
        self.0.allocated.set(self.allocated_bytes() + bytes as u64);
        Ok(Buffer { gpu: self.clone(), address, len, values: PhantomData })
    }

    /// Allocates memory for `len` values and enqueues setting them to zero.
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Failed> {
        let mut buffer = self.allocate(len)?;
        buffer.fill(0)?;
        Ok(buffer)
    }

    pub fn upload<T: Pod>(&self, values: &[T]) -> Result<Buffer<T>, Failed> {
        let mut buffer = self.allocate(values.len())?;
        buffer.upload(values)?;
        Ok(buffer)
    }
}

impl<T: Pod> Buffer<T> {
    /// Returns the address of the first value; see [`Address`].
    pub fn address(&self) -> Address {
        self.address
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Overwrites the buffer with `values`, which must have the same length.
    pub fn upload(&mut self, values: &[T]) -> Result<(), Failed> {
        assert_eq!(values.len(), self.len, "lengths of host and device arrays");
        if self.is_empty() {
            return Ok(());
        }
        self.gpu.0.driver.upload(&[(bytemuck::cast_slice(values), self.address)])
    }

    /// Overwrites single values, each given by its index, which must exist, and waits once for all of them.
    pub fn upload_some(&mut self, values: &[(usize, T)]) -> Result<(), Failed> {
        let parts = values.iter().map(|(index, value)| {
            assert!(*index < self.len, "value {index} of {}", self.len);
            (bytemuck::bytes_of(value), self.address_of(*index))
        });
        self.gpu.0.driver.upload(&parts.collect::<Vec<_>>())
    }

    fn address_of(&self, index: usize) -> Address {
        self.address + (index * size_of::<T>()) as Address
    }

    /// Copies values from `start` on, all of which must exist, to `values` on the host.
    pub fn download(&self, start: usize, values: &mut [T]) -> Result<(), Failed> {
        assert!(start + values.len() <= self.len, "values of a device array");
        if values.is_empty() {
            return Ok(());
        }
        self.gpu.download(self.address_of(start), bytemuck::cast_slice_mut(values))
    }

    pub fn to_vec(&self) -> Result<Vec<T>, Failed> {
        let mut values = vec![T::zeroed(); self.len];
        self.download(0, &mut values)?;
        Ok(values)
    }

    /// Enqueues setting every byte to `byte`.
    pub fn fill(&mut self, byte: u8) -> Result<(), Failed> {
        if self.is_empty() {
            return Ok(());
        }
        self.gpu.fill(self.address, byte, self.bytes())?;
        self.gpu.enqueued("fill", || Ok(None))
    }

    /// Enqueues a copy of the first half, which must not be empty, to the second half.
    pub fn copy_half(&mut self) -> Result<(), Failed> {
        let half = self.len / 2;
        self.gpu.copy(self.address, self.address_of(half), half * size_of::<T>())?;
        self.gpu.enqueued("copy", || Ok(None))
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let bytes = self.len * size_of::<T>();
        if bytes > 0 {
            self.gpu.release(self.address);
        }
        self.gpu.0.allocated.set(self.gpu.allocated_bytes() - bytes as u64);
    }
}

// SAFETY: the argument is the address in the buffer.
unsafe impl<T> Argument for Buffer<T> {
    fn append(&self, to: &mut Vec<RawArgument>) {
        append(&self.address, ArgumentKind::Pointer, to);
    }
}

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
    /// Copies the matrix to the device. This also fails if the limit in `SPMV_BENCH_STREAM_ABOVE` is not a number of
    /// bytes.
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
        Csr::new(rows, cols, offsets, columns, self.values.to_vec()?)
            .ok_or_else(|| Failed("the matrix on the GPU is no longer that which was copied there".into()))
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
mod tests {
    use super::*;
    use crate::device::model::Model;

    #[test]
    fn a_matrix_is_streamed_if_its_three_arrays_do_not_fit_in_the_l2_cache() {
        let gpu = Gpu::new(Model::tiny(1));
        let is_streamed = |rows| {
            let empty = Csr::<f64>::from_triplets(rows, 1, &[]);
            DeviceCsr::of(&gpu, Cow::Owned(empty)).unwrap().is_streamed
        };
        let bytes = gpu.facts().l2_bytes / gpu.facts().l2_copies();
        let elements = bytes as usize / size_of::<u32>();
        assert!(!is_streamed(elements - 1) && is_streamed(elements));
    }
}
