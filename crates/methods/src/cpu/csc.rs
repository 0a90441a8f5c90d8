//! The transposed product by explicit conversion. CSC of A is CSR of Aᵀ, so the setup transposes the
//! matrix, and the product is that of [`merge`](super::merge) on the transpose.
//!
//! Memory: all of Aᵀ, and a carry per thread.

use super::merge::{MergePath, piece};
use super::placement::{place, spans_of};
use super::prelude::*;

pub const METHOD: Method = Method {
    name: "csc",
    source: "explicit CSC; merge-spmv-sc16 on the transpose",
    summary: "builds Aᵀ in setup and multiplies it by the algorithm of merge",
    operations: Operations::Transposed,
    setup: Setup::Conversion,
    memory: |extent| extent.transposed(extent.value),
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, transpose) = (request.team, csr.transposed());
    let mut path = MergePath::new(&transpose, request);
    let bytes = transpose.bytes() as usize + path.bytes();
    let placed = place(team, |rank| {
        let piece = piece(&transpose, rank, team.len());
        spans_of(&transpose, piece.start.nonzero..piece.end.nonzero)
    });
    let product = move |operands: Operands<T>, y: &mut [T]| path.multiply(&transpose, operands, y);
    Ok(multiplying(csr, bytes, product).transposing(true).with_notes(placed))
}
