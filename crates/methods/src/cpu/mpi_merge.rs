//! The merge-based product over the processes that MPI started. The module `mpi` contains the product and
//! the measurement of several processes. This file is the case of a single process among other methods: one
//! piece, one thread.

use super::merge::{consume, piece};
use super::row_kernels::prefetching_pays;
use super::rows::{Operands, Outcome, multiplying};
use crate::method::{Code, Method, Parameter, Request, Setup};
use crate::simd::Lanes;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;

pub const NAME: &str = "mpi-merge";

// A constant would be compiled in the crate that uses it, for which products are not optimised.
pub static METHOD: Method = Method {
    name: NAME,
    source: "merge-spmv-sc16, I and III, over distributed memories",
    summary: "one equal piece of the merge path per MPI rank, each with one thread: mpirun -n N spmv-bench",
    parameters: &[Parameter {
        name: "gather",
        values: &["need", "all"],
        meaning: "which values of x a rank receives: need, only those that it multiplies by (the default), or all",
    }],
    setup: Setup::Inspection,
    ..Method::new(Code::Cpu { parallel: false, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (isa, prefetch) = (request.isa, prefetching_pays(csr));
    let product = move |operands: Operands<T>, y: &mut [T]| {
        consume(isa, csr, piece(csr, 0, 1), operands, y, prefetch);
    };
    Ok(multiplying(csr, 0, product).with_note("1 rank, no communication"))
}
