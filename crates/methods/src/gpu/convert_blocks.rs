//! The conversion to aligned square blocks on the device.

use super::convert::{Converter, compile, launch};
use super::prelude::*;

/// The number of blocks is estimated from one in as many nonzeros as the matrix has times this number …
const SAMPLED_IN_FULL: usize = 1 << 17;
/// … but from one in this many at least.
const MAX_SAMPLING_STEP: usize = 8;

/// The square blocks that contain an entry.
pub struct Blocks {
    /// The number of blocks before each row of blocks, and at the end that of all.
    pub offsets: Buffer<u32>,
    /// The first column of each block.
    pub columns: Buffer<u32>,
}

/// A matrix and the kernels that convert it to blocks of one size, which is at most the number of columns.
pub struct Conversion<'c, 'a, T: Clone> {
    csr: &'c DeviceCsr<'a, T>,
    size: usize,
    module: Module,
}

impl<'c, 'a, T: Value> Conversion<'c, 'a, T> {
    pub fn new(csr: &'c DeviceCsr<'a, T>, size: usize) -> Result<Self, Unprepared> {
        let program = program!("cuda/convert_blocks.cu");
        let module = compile::<T>(&csr.gpu, program, &[("SIZE", size)])?;
        Ok(Self { csr, size, module })
    }

    /// Estimates the number of blocks from a share of the nonzeros, all of them for small matrices.
    pub fn estimate(&self) -> Result<f64, Failed> {
        let nnz = self.csr.host.nnz();
        let share = nnz.div_ceil(SAMPLED_IN_FULL).clamp(1, MAX_SAMPLING_STEP);
        let count = self.csr.gpu.zeros::<u32>(1)?;
        let numbers = [nnz, self.csr.host.rows(), share].map(|number| number as u32);
        let DeviceCsr { row_offsets, column_indices, .. } = self.csr;
        let threads = nnz.div_ceil(share * WARP) * WARP;
        let arguments: [&dyn Argument; 4] = [&numbers, row_offsets, column_indices, &count];
        launch(&self.module, "count_blocks", threads, &arguments)?;
        Ok((count.to_vec()?[0] as usize * share) as f64)
    }

    pub fn blocks(&self) -> Result<Blocks, Unprepared> {
        let DeviceCsr { gpu, host, row_offsets, column_indices, .. } = self.csr;
        let (rows, nnz) = (self.csr.rows(), self.csr.nnz());
        let before = gpu.allocate(host.nnz() + 1)?;
        let arguments: [&dyn Argument; 5] = [&nnz, &rows, row_offsets, column_indices, &before];
        launch(&self.module, "mark_blocks", before.len(), &arguments)?;
        let count = Converter::new(self.csr)?.scan(&before)?;

        let offsets = gpu.allocate(host.rows().div_ceil(self.size) + 1)?;
        let columns = gpu.allocate(count)?;
        let arguments: [&dyn Argument; 5] = [&(offsets.len() as u32), &rows, row_offsets, &before, &offsets];
        launch(&self.module, "block_offsets", offsets.len(), &arguments)?;
        let arguments: [&dyn Argument; 7] =
            [&nnz, &rows, &self.csr.cols(), row_offsets, column_indices, &before, &columns];
        launch(&self.module, "block_columns", host.nnz(), &arguments)?;
        Ok(Blocks { offsets, columns })
    }

    /// Returns the values of the blocks, each stored column by column.
    pub fn values(&self, blocks: &Blocks) -> Result<Buffer<T>, Failed> {
        let Blocks { offsets, columns } = blocks;
        let values = self.csr.gpu.allocate(columns.len() * self.size * self.size)?;
        let arguments: [&dyn Argument; 6] =
            [&(columns.len() as u32), &self.csr.rows(), offsets, columns, self.csr, &values];
        launch(&self.module, "fill_blocks", columns.len() * self.size, &arguments)?;
        Ok(values)
    }
}
