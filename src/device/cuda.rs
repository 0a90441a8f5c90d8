//! NVIDIA's GPUs through the CUDA driver.

use super::Gpu;
use crate::method::Unavailable;

/// Opens the GPU of that number, or the first.
pub fn open(_number: Option<usize>) -> Result<Gpu, Unavailable> {
    Err(Unavailable("no CUDA driver (libcuda.so.1)".into()))
}
