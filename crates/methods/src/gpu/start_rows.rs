//! y ← βy for some rows, the first step of products whose kernels store the other rows.

use super::prelude::*;

const BLOCK: usize = 256;

fn program<T: Value>(gpu: &Gpu) -> Result<Module, Unprepared> {
    gpu.compile::<T>(program!("cuda/start_rows.cu"), &[("BLOCK", BLOCK)])
}

/// The rows of y that several warps add to or that no warp writes, and the kernel that computes y ← βy for them.
pub struct StartRows {
    /// The kernel, after which the kernel of the product may be launched.
    pub kernel: Kernel,
    pub rows: Buffer<u32>,
}

impl StartRows {
    pub fn of<T: Value>(gpu: &Gpu, rows: Buffer<u32>) -> Result<Self, Unprepared> {
        Ok(Self { kernel: program::<T>(gpu)?.kernel("start_rows")?, rows })
    }

    /// Finds the rows without nonzeros, with the first or the last of `piece` consecutive nonzeros, or with nonzeros
    /// from `tail` on, in any order: no warp writes them alone if each has a piece.
    pub fn of_pieces<T: Value>(csr: &DeviceCsr<T>, piece: usize, tail: usize) -> Result<Self, Unprepared> {
        let find = program::<T>(&csr.gpu)?.kernel("find_rows")?;
        let (rows, piece, tail) = (csr.rows(), piece as u32, tail as u32);
        let mut list = csr.gpu.allocate(0)?;
        // The first launch counts the rows, the second one lists them.
        for listing in [false, true] {
            let count = csr.gpu.upload(&[0u32])?;
            let arguments: [&dyn Argument; 6] = [&rows, &csr.row_offsets, &piece, &tail, &count, &list];
            find.launch(csr.host.rows().div_ceil(BLOCK), BLOCK, 0, &arguments)?;
            if !listing {
                list = csr.gpu.allocate(count.to_vec()?[0] as usize)?;
            }
        }
        Self::of::<T>(&csr.gpu, list)
    }

    /// Enqueues y ← βy for the rows. If β = 0, y is not read.
    pub fn run<T: Value>(&self, beta: T, y: &mut Buffer<T>) -> Result<(), Failed> {
        let (grid, count) = (self.rows.len().div_ceil(BLOCK), self.rows.len() as u32);
        self.kernel.launch(grid, BLOCK, 0, &[&count, &self.rows, y, &beta])
    }
}
