//! y ← βy, the first step of products whose kernels add to y.

use super::prelude::*;

const BLOCK: usize = 256;

pub struct Start(Kernel);

impl Start {
    pub fn of<T: Value>(gpu: &Gpu) -> Result<Self, Unprepared> {
        let module = gpu.compile::<T>(program!("cuda/start.cu"), &[("BLOCK", BLOCK)])?;
        Ok(Self(module.kernel("start")?))
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
