//! y ← βy, the first step of products whose kernels add to y.

use super::prelude::*;

const BLOCK: usize = 256;

/// y ← βy for all rows.
pub struct Start(Kernel);

impl Start {
    pub fn of<T: Value>(gpu: &Gpu) -> Result<Self, Unprepared> {
        Ok(Self(gpu.compile::<T>(program!("cuda/start.cu"), &[])?.kernel("start")?))
    }

    /// Enqueues y ← βy. If β = 0, y is not read.
    pub fn run<T: Value>(&self, beta: T, y: &mut Buffer<T>) -> Result<(), Failed> {
        if beta == T::zero() {
            return y.fill(0);
        }
        let n = y.len() as u32;
        self.0.launch(y.len().div_ceil(BLOCK), BLOCK, 0, &[&n, y, &beta])
    }
}

/// y ← βy for the rows that several warps add to or that no warp writes. The kernels of the products store the others.
pub struct StartRows {
    /// The kernel, after which the kernel of the product may be launched.
    pub kernel: Kernel,
    rows: Buffer<u32>,
}

impl StartRows {
    pub fn of<T: Value>(gpu: &Gpu, rows: Buffer<u32>) -> Result<Self, Unprepared> {
        let module = gpu.compile::<T>(program!("cuda/start_rows.cu"), &[])?;
        Ok(Self { kernel: module.kernel("start_rows")?, rows })
    }

    /// Finds the rows without nonzeros, with the first or the last of `piece` consecutive nonzeros, which a warp has, or
    /// with nonzeros from `tail` on, in any order.
    pub fn find<T: Value>(
        csr: &DeviceCsr<T>,
        piece: usize,
        tail: usize,
    ) -> Result<Self, Unprepared> {
        let find = csr.gpu.compile::<T>(program!("cuda/find_rows.cu"), &[])?.kernel("find_rows")?;
        let (grid, sizes) = (csr.host.rows().div_ceil(BLOCK), [piece, tail].map(|n| n as u32));
        // The first launch counts the rows, the second one lists them.
        let (count, none) = (csr.gpu.upload(&[0u32])?, csr.gpu.allocate::<u32>(0)?);
        let matrix: [&dyn Argument; 3] = [&csr.rows(), &csr.row_offsets, &sizes];
        find.launch(grid, BLOCK, 0, &[&matrix, &count, &none])?;
        let rows = csr.gpu.allocate(count.to_vec()?[0] as usize)?;
        let listed = csr.gpu.upload(&[0u32])?;
        find.launch(grid, BLOCK, 0, &[&matrix, &listed, &rows])?;
        Self::of::<T>(&csr.gpu, rows)
    }

    /// Enqueues y ← βy for the rows. If β = 0, y is not read.
    pub fn run<T: Value>(&self, beta: T, y: &mut Buffer<T>) -> Result<(), Failed> {
        let (grid, count) = (self.rows.len().div_ceil(BLOCK), self.rows.len() as u32);
        self.kernel.launch(grid, BLOCK, 0, &[&count, &self.rows, y, &beta])
    }
}
