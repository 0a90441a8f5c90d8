//! What the methods of the CPU have in common.

pub use std::ops::Range;

pub use crossbeam_utils::CachePadded;

pub use super::rows::{Operands, Outcome, multiplying};
pub use crate::formats::entries_of;
pub use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
pub use crate::simd::{Dispatch, Isa, Kernel, Lanes, Vector};
pub use crate::team::Team;
pub use spmv_matrix::Csr;
pub use spmv_matrix::disjoint::DisjointMut;
pub use spmv_matrix::memory::extent::Extent;
pub use spmv_matrix::scalar::Scalar;
