//! The two precisions. Every algorithm is written once, for `T: Scalar`; the precision is named in
//! one `match` (in `bench`) and is a type from there on.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

/// The floating-point format of a product's values and vectors.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// IEEE binary64.
    F64,
    /// IEEE binary32.
    F32,
}

impl Precision {
    /// Bytes of one value.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
        }
    }

    /// `f64` or `f32`, as in the CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
        }
    }
}

/// `f64` or `f32`.
pub trait Scalar:
    num_traits::Float + num_traits::NumAssign + bytemuck::Pod + Default + Debug + Send + Sync + 'static
{
    /// The precision this type stands for.
    const PRECISION: Precision;
    /// Half the distance from 1 to the next value: the `u` of the error bound.
    const UNIT_ROUNDOFF: f64;
    /// Rounds to nearest.
    fn narrow(value: f64) -> Self;
    /// Exact.
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
