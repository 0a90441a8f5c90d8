//! A CSR matrix in device memory.

use std::borrow::Cow;

use super::buffer::Value;
use super::{Buffer, Gpu};
use crate::device::Failed;
use crate::matrix::Csr;

/// A CSR matrix on the device, together with the same matrix on the host.
pub struct DeviceCsr<'a, T: Clone> {
    /// The device that owns the arrays.
    pub gpu: Gpu,
    /// The matrix on the host.
    pub host: Cow<'a, Csr<T>>,
    /// The rows + 1 offsets of the rows.
    pub row_offsets: Buffer<u32>,
    /// The column indices of the nonzeros.
    pub column_indices: Buffer<u32>,
    /// The values of the nonzeros.
    pub values: Buffer<T>,
}

impl<'a, T: Value> DeviceCsr<'a, T> {
    /// Copies the matrix to the device.
    pub fn upload(gpu: &Gpu, host: &'a Csr<T>) -> Result<Self, Failed> {
        Self::of(gpu, Cow::Borrowed(host))
    }

    /// Copies a borrowed or owned matrix to the device.
    pub fn of(gpu: &Gpu, host: Cow<'a, Csr<T>>) -> Result<Self, Failed> {
        Ok(Self {
            gpu: gpu.clone(),
            row_offsets: gpu.upload(&host.row_offsets)?,
            column_indices: gpu.upload(&host.column_indices)?,
            values: gpu.upload(&host.values)?,
            host,
        })
    }

    /// Copies the matrix back to the host, for conversions there.
    pub fn download(&self) -> Result<Csr<T>, Failed> {
        Ok(Csr {
            rows: self.host.rows,
            cols: self.host.cols,
            row_offsets: self.row_offsets.to_vec()?,
            column_indices: self.column_indices.to_vec()?,
            values: self.values.to_vec()?,
        })
    }

    /// Returns the number of rows in the type that kernels expect.
    pub fn rows(&self) -> u32 {
        self.host.rows as u32
    }

    /// Returns the number of columns in the type that kernels expect.
    pub fn cols(&self) -> u32 {
        self.host.cols as u32
    }

    /// Returns the number of nonzeros in the type that kernels expect.
    pub fn nnz(&self) -> u32 {
        self.host.nnz() as u32
    }
}
