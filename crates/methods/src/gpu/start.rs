//! y ← βy, the first step of products whose kernels add to y.

use crate::device::buffer::Value;
use crate::device::{Buffer, Gpu, Kernel, Program};
use crate::method::{Failed, Unprepared};

static PROGRAM: Program =
    Program { name: "start.cu", source: include_str!("../../../../cuda/start.cu") };

const BLOCK: usize = 256;

/// The kernel that computes y ← βy.
pub struct Start(Kernel);

impl Start {
    /// Compiles the kernel for vectors of `T`.
    pub fn of<T: Value>(gpu: &Gpu) -> Result<Self, Unprepared> {
        Ok(Self(gpu.compile::<T>(&PROGRAM, &[])?.kernel("start")?))
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
