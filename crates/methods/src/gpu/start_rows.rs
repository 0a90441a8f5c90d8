//! y ← βy for some rows, the first step of products whose kernels store the other rows.

use super::prelude::*;

const BLOCK: usize = 256;

/// The rows of y that several warps add to or that no warp writes, and the kernel that computes y ← βy for them.
pub struct StartRows {
    /// The kernel, after which the kernel of the product may be launched.
    pub kernel: Kernel,
    rows: Buffer<u32>,
}

impl StartRows {
    pub fn of<T: Value>(gpu: &Gpu, rows: Buffer<u32>) -> Result<Self, Unprepared> {
        Ok(Self {
            kernel: gpu.compile::<T>(program!("cuda/start_rows.cu"), &[])?.kernel("start_rows")?,
            rows,
        })
    }

    /// Enqueues y ← βy for the rows. If β = 0, y is not read.
    pub fn run<T: Value>(&self, beta: T, y: &mut Buffer<T>) -> Result<(), Failed> {
        let (grid, count) = (self.rows.len().div_ceil(BLOCK), self.rows.len() as u32);
        self.kernel.launch(grid, BLOCK, 0, &[&count, &self.rows, y, &beta])
    }
}
