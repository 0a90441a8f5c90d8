//! Arrays in device memory.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::driver::{Address, ArgumentKind, RawArgument};
use super::kernel::{Argument, append};
use super::{Failed, Gpu};
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
        let bytes = len * size_of::<T>();
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

    /// Returns a copy of the values on the host.
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
