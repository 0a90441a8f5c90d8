//! Arrays in device memory.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use super::Gpu;
use super::driver::{Address, ArgumentKind, RawArgument};
use super::kernel::{Argument, append};
use crate::device::Failed;
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

    /// Allocates a buffer and copies `values` to it.
    pub fn upload<T: Pod>(&self, values: &[T]) -> Result<Buffer<T>, Failed> {
        let mut buffer = self.allocate(values.len())?;
        buffer.upload(values)?;
        Ok(buffer)
    }
}

impl<T: Pod> Buffer<T> {
    /// Returns the address of the first value, or 0 if the buffer is empty.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the buffer has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the size in bytes.
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
            (bytemuck::bytes_of(value), self.address + (index * size_of::<T>()) as Address)
        });
        self.gpu.0.driver.upload(&parts.collect::<Vec<_>>())
    }

    /// Copies the buffer to `values`, which must have the same length.
    pub fn download(&self, values: &mut [T]) -> Result<(), Failed> {
        assert_eq!(values.len(), self.len, "lengths of host and device arrays");
        self.copy_to(values, 0)
    }

    /// Copies the values from `start` on, which must exist, to `values`.
    fn copy_to(&self, values: &mut [T], start: usize) -> Result<(), Failed> {
        if values.is_empty() {
            return Ok(());
        }
        let address = self.address + (start * size_of::<T>()) as Address;
        self.gpu.0.driver.download(address, bytemuck::cast_slice_mut(values))
    }

    /// Returns a copy of the values on the host.
    pub fn to_vec(&self) -> Result<Vec<T>, Failed> {
        self.part(0..self.len)
    }

    /// Returns a copy of some of the values on the host, all of which must exist.
    pub fn part(&self, range: Range<usize>) -> Result<Vec<T>, Failed> {
        assert!(range.end <= self.len, "values of a device array");
        let mut values = vec![T::zeroed(); range.len()];
        self.copy_to(&mut values, range.start)?;
        Ok(values)
    }

    /// Enqueues setting every byte to `byte`.
    pub fn fill(&mut self, byte: u8) -> Result<(), Failed> {
        if self.is_empty() {
            return Ok(());
        }
        self.gpu.0.driver.fill(self.address, byte, self.bytes())?;
        self.gpu.enqueued("fill", || Ok(None))
    }

    /// Enqueues a copy of the first half to the second half.
    pub fn copy_half(&mut self) -> Result<(), Failed> {
        let bytes = self.len / 2 * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        self.gpu.0.driver.copy(self.address, self.address + bytes as Address, bytes)?;
        self.gpu.enqueued("copy", || Ok(None))
    }

    /// Enqueues a copy of `from`, which must have the same length.
    pub fn copy_from(&mut self, from: &Self) -> Result<(), Failed> {
        assert_eq!(from.len, self.len, "lengths of device arrays");
        if self.is_empty() {
            return Ok(());
        }
        self.gpu.0.driver.copy(from.address, self.address, self.bytes())?;
        self.gpu.enqueued("copy", || Ok(None))
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let bytes = self.len * size_of::<T>();
        if bytes > 0 {
            self.gpu.0.driver.release(self.address);
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
