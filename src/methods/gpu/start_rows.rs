//! y ← βy for a part of the rows, the first step of products that store the other rows.

use crate::device::buffer::Value;
use crate::device::{Buffer, DeviceCsr, Gpu, Kernel, Program};
use crate::method::{Failed, Unprepared};

static PROGRAM: Program =
    Program { name: "start_rows.cu", source: include_str!("../../../cuda/start_rows.cu") };

const BLOCK: usize = 256;

/// The rows of y that several warps add to or that no warp writes, and the kernel that computes y ← βy for them.
pub struct StartRows {
    kernel: Kernel,
    rows: Buffer<u32>,
}

impl StartRows {
    /// Uploads a list of rows.
    pub fn of<T: Value>(gpu: &Gpu, rows: &[u32]) -> Result<Self, Unprepared> {
        let kernel = gpu.compile::<T>(&PROGRAM, &[])?.kernel("start_rows")?;
        Ok(Self { kernel, rows: gpu.upload(rows)? })
    }

    /// Finds the rows without nonzeros, with the first or the last of `piece` consecutive nonzeros, or with nonzeros
    /// from `tail` on. The first launch counts them, the second one lists them.
    pub fn around<T: Value>(
        csr: &DeviceCsr<T>,
        piece: usize,
        tail: usize,
    ) -> Result<Self, Unprepared> {
        let find = csr.gpu.compile::<T>(&PROGRAM, &[])?.kernel("find_rows")?;
        let list = |length: usize| -> Result<_, Failed> {
            let (count, list) = (csr.gpu.upload(&[0u32])?, csr.gpu.allocate::<u32>(length)?);
            let (piece, tail) = (piece as u32, tail as u32);
            let grid = csr.host.rows().div_ceil(BLOCK);
            find.launch(
                grid,
                BLOCK,
                0,
                &[&csr.rows(), &csr.row_offsets, &piece, &tail, &count, &list],
            )?;
            Ok((count.to_vec()?[0] as usize, list))
        };
        let rows = match list(0)?.0 {
            0 => csr.gpu.allocate(0)?,
            count => list(count)?.1,
        };
        let kernel = csr.gpu.compile::<T>(&PROGRAM, &[])?.kernel("start_rows")?;
        Ok(Self { kernel, rows })
    }

    /// Enqueues y ← βy for the rows.
    pub fn run<T: Value>(&self, beta: T, y: &mut Buffer<T>) -> Result<(), Failed> {
        let count = self.rows.len() as u32;
        self.kernel.launch(
            self.rows.len().div_ceil(BLOCK),
            BLOCK,
            0,
            &[&count, &self.rows, y, &beta],
        )
    }
}
