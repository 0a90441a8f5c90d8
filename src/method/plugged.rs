//! The preparation of a method of a plug-in.

use super::{Code, Prepared, Request, Unavailable, Unprepared, custom};
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::plugin::{Entry, Settings};
use crate::scalar::Scalar;

/// The reason why a method of a plug-in has no code in the process of the command.
const ELSEWHERE: &str =
    "methods of plug-ins run only in child processes, which --no-isolate does not use";

/// Returns the memory that is reserved for a method of the user, in bytes: three copies of the matrix and one of the
/// vectors. Its interface has no way to state an upper bound.
pub fn memory(extent: &Extent) -> u64 {
    3 * extent.csr() + extent.vectors()
}

/// Returns the code of a method of a plug-in, which is open in this process if there is an `entry`.
pub fn code(parallel: bool, entry: Option<&'static Entry>) -> Code {
    Code::Custom {
        parallel,
        f64: custom(move |csr, request| prepare(entry, csr, request)),
        f32: custom(move |csr, request| prepare(entry, csr, request)),
    }
}

fn prepare<'a, T: Scalar>(
    entry: Option<&'static Entry>,
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unprepared> {
    let entry = entry.ok_or_else(|| Unavailable(ELSEWHERE.into()))?;
    let settings = Settings {
        team: request.team,
        transpose: request.transpose,
        factors: (request.alpha, request.beta),
        expected_products: request.expected_products,
        given: request.given,
    };
    let running = entry.prepare(csr, &settings)?;
    let facts = running.facts()?;
    let product = move |alpha, x: &[T], beta, y: &mut [T]| running.multiply(alpha, x, beta, y);
    let library = facts.library.unwrap_or_else(|| entry.description.edition());
    let mut prepared = Prepared::new(csr, 0, product).transposing(request.transpose);
    prepared.csr_bytes = facts.csr_bytes;
    prepared.note = facts.note;
    Ok(prepared.with_library(&library, facts.extra_bytes))
}
