//! Tests the GPU model: correct kernels compute the correct results under any schedule of threads, and incorrect ones
//! end with an error that describes the fault.

mod bounds;
mod builtins;
mod driver;
mod faults;
mod semantics;

use spmv_methods::device::model::Model;
use spmv_methods::device::{Argument, Buffer, Dim3, Gpu, Program};
use spmv_methods::method::Failed;

/// The seeds of the schedules under which a correct kernel must compute the same.
const SEEDS: std::ops::Range<u64> = 0..20;

fn gpu(seed: u64) -> Gpu {
    Gpu::new(Model::tiny(seed))
}

/// Creates a program that is never freed. All have the same name, which a GPU uses as the key of compiled programs, so
/// only one program per GPU is possible.
fn program(source: impl Into<String>) -> &'static Program {
    Box::leak(Box::new(Program { name: "test.cu", source: source.into().leak() }))
}

fn dim(x: u32, y: u32, z: u32) -> Dim3 {
    Dim3 { x, y, z }
}

/// Launches the kernel `test` of a source with `VALUE_T` float.
fn launch(
    gpu: &Gpu,
    source: &str,
    (grid, block): (impl Into<Dim3>, impl Into<Dim3>),
    shared_bytes: usize,
    arguments: &[&dyn Argument],
) -> Result<(), Failed> {
    let module = gpu.compile::<f32>(program(source), &[]).unwrap();
    module.kernel("test")?.launch(grid, block, shared_bytes, arguments)
}

/// Launches the kernel `test` with a buffer of `len` zeros as its only argument, and returns the buffer's contents
/// afterwards.
fn output(
    seed: u64,
    source: &str,
    shape: (impl Into<Dim3>, impl Into<Dim3>),
    shared_bytes: usize,
    len: usize,
) -> Result<Vec<u32>, Failed> {
    let gpu = gpu(seed);
    let out: Buffer<u32> = gpu.upload(&vec![0; len])?;
    launch(&gpu, source, shape, shared_bytes, &[&out])?;
    out.to_vec()
}

/// Checks that a fault's message contains the parts of `expected` that ` … ` separates, in this order.
fn check(message: &str, expected: &str) {
    let mut rest = message;
    for part in expected.split(" … ") {
        let found = rest.split_once(part);
        rest = found.unwrap_or_else(|| panic!("{part:?} is not in: {message}")).1;
    }
}
