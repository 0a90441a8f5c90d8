//! A launch of a kernel, and what else a driver is given: addresses and identifiers.

use std::ffi::c_void;
use std::fmt;

/// The threads of a warp: `WARP` in `cuda/common.cuh`.
pub const WARP: usize = 32;

/// An address in device memory; 0 is the address of empty buffers.
pub type Address = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelId(pub usize);

/// The identifier of an event (a moment in the stream) in its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphId(pub usize);

/// A kernel argument: the address of the value on the host, its size in bytes, and its kind.
#[derive(Clone, Copy, Debug)]
pub struct RawArgument {
    pub value: *const c_void,
    pub bytes: usize,
    pub kind: ArgumentKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    Pointer,
    /// An integer, signed or unsigned.
    Integer,
    Float,
}

/// A kernel with its grid of blocks, none of which may be empty.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch {
    pub kernel: KernelId,
    pub grid: Dim3,
    pub block: Dim3,
    /// The bytes of dynamic shared memory per block.
    pub shared_bytes: u32,
    /// Whether the kernel may start before the kernel that was enqueued just before it has ended.
    pub dependent: bool,
}

/// The dimensions of a grid or a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// The dimension that varies fastest.
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// Writes for example `12`, or `12x3x1` if there is more than one dimension.
impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { x, y, z } = self;
        if (*y, *z) == (1, 1) { write!(f, "{x}") } else { write!(f, "{x}x{y}x{z}") }
    }
}

impl From<usize> for Dim3 {
    fn from(x: usize) -> Self {
        let x = u32::try_from(x).expect("a dimension fits in 32 bits");
        Self { x, y: 1, z: 1 }
    }
}
