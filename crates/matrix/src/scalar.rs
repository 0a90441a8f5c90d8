//! The two precisions. Every algorithm is written once, generic over `T: Scalar`. One `match` (in `bench`)
//! converts the precision from a value to a type.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

/// The floating-point format of the matrix values and the vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// IEEE binary64.
    #[default]
    F64,
    /// IEEE binary32.
    F32,
}

impl Precision {
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
        }
    }

    /// Returns `f64` or `f32`, as written in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
        }
    }
}

pub trait Scalar:
    num_traits::Float + num_traits::NumAssign + bytemuck::Pod + Default + Debug + Send + Sync + 'static
{
    const PRECISION: Precision;
    /// The unit round-off u of the error bound: half the distance from 1 to the next larger value.
    const UNIT_ROUNDOFF: f64;
    /// Converts from `f64`, rounding to nearest.
    fn narrow(value: f64) -> Self;
    /// Converts to `f64`, which is exact.
    fn widen(self) -> f64;
}

impl Scalar for f64 {
    const PRECISION: Precision = Precision::F64;
    const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;
    fn narrow(value: f64) -> Self {
        value
    }
    fn widen(self) -> f64 {
        self
    }
}

impl Scalar for f32 {
    const PRECISION: Precision = Precision::F32;
    const UNIT_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
    fn narrow(value: f64) -> Self {
        value as f32
    }
    fn widen(self) -> f64 {
        f64::from(self)
    }
}
