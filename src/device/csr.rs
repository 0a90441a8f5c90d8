//! A matrix in device memory.

use std::borrow::Cow;

use super::buffer::Value;
use super::{Buffer, Gpu};
use crate::matrix::Csr;
use crate::method::Failed;

/// CSR on the device beside CSR on the host.
pub struct DeviceCsr<'a, T: Clone> {
    /// The device.
    pub gpu: Gpu,
    /// The same matrix on the host.
    pub host: Cow<'a, Csr<T>>,
    /// rows + 1 offsets.
    pub row_offsets: Buffer<u32>,
    /// nnz indices.
    pub column_indices: Buffer<u32>,
    /// nnz values.
    pub values: Buffer<T>,
}

impl<'a, T: Value> DeviceCsr<'a, T> {
    /// Copies the matrix to the device.
    pub fn upload(gpu: &Gpu, host: &'a Csr<T>) -> Result<Self, Failed> {
        Self::of(gpu, Cow::Borrowed(host))
    }

    /// The same for one that may be nobody else's.
    pub fn of(gpu: &Gpu, host: Cow<'a, Csr<T>>) -> Result<Self, Failed> {
        Ok(Self {
            gpu: gpu.clone(),
            row_offsets: gpu.upload(&host.row_offsets)?,
            column_indices: gpu.upload(&host.column_indices)?,
            values: gpu.upload(&host.values)?,
            host,
        })
    }

    /// The matrix read back to the host, for conversions there.
    pub fn download(&self) -> Result<Csr<T>, Failed> {
        Ok(Csr {
            rows: self.host.rows,
            cols: self.host.cols,
            row_offsets: self.row_offsets.to_vec()?,
            column_indices: self.column_indices.to_vec()?,
            values: self.values.to_vec()?,
        })
    }

    /// Rows, as kernels take it.
    pub fn rows(&self) -> u32 {
        self.host.rows as u32
    }

    /// Columns, as kernels take it.
    pub fn cols(&self) -> u32 {
        self.host.cols as u32
    }

    /// Nonzeros, as kernels take it.
    pub fn nnz(&self) -> u32 {
        self.host.nnz() as u32
    }
}
