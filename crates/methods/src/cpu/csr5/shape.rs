//! The size of a tile.

use crate::cpu::prelude::*;
use spmv_matrix::scalar::Precision;

#[derive(Clone, Copy)]
pub struct Shape {
    /// ω, the number of lanes of a register: 4, 8 or 16.
    pub lanes: usize,
    /// σ, the number of nonzeros per lane: at most 16, so that the counts of a tile's rows fit in bytes.
    pub sigma: usize,
}

impl Shape {
    /// Returns the shape with the requested σ. The default σ is the original's for its two instruction sets
    /// in f64. The original has no f32; there 16 measured best of the values that fit.
    pub fn new<T: Scalar + Lanes>(isa: Isa, sigma: Option<usize>) -> Self {
        let default = match (isa, T::PRECISION) {
            (Isa::Avx512, Precision::F64) => 12,
            _ => 16,
        };
        Self { lanes: isa.wide_lanes::<T>(), sigma: sigma.unwrap_or(default) }
    }

    pub fn nonzeros(self) -> usize {
        self.lanes * self.sigma
    }

    /// Returns the number of 64-bit words that contain the flags of a tile.
    pub fn words(self) -> usize {
        self.nonzeros().div_ceil(u64::BITS as usize)
    }
}
