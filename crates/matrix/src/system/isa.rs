//! The instruction sets of the CPU that kernels are compiled for.

use serde::{Deserialize, Serialize};

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// The baseline instructions of the architecture.
    Portable,
    /// AVX2, FMA and BMI2.
    Avx2,
    /// AVX-512 F and VL, with masks, and BMI2.
    Avx512,
}

impl Isa {
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// Returns all instruction sets that this machine supports, the widest first.
    pub fn available() -> Vec<Self> {
        let all = [Self::Avx512, Self::Avx2, Self::Portable];
        all.into_iter().filter(|isa| isa.is_supported()).collect()
    }

    /// Returns whether this machine supports the instruction set. The result is cached: two loads and a test.
    #[inline]
    pub fn is_supported(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_supported() && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}
