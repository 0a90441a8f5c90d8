//! The preparation of a method of a plug-in.

use super::{
    Code, Preparation, Prepared, Request, Unavailable, Unprepared, Values, custom, custom_on_gpu,
};
use crate::device::buffer::Value;
use crate::device::{Buffer, DeviceCsr};
use crate::plugin::{Entry, Facts, Settings};
use spmv_matrix::Csr;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;

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

/// Returns the code of a method of a plug-in that runs on a GPU.
pub fn code_on_gpu(entry: Option<&'static Entry>) -> Code {
    Code::CustomGpu {
        modelled: false,
        f64: custom_on_gpu(move |csr, request| prepare_on_gpu(entry, csr, request)),
        f32: custom_on_gpu(move |csr, request| prepare_on_gpu(entry, csr, request)),
    }
}

fn prepare<'a, T: Scalar>(
    entry: Option<&'static Entry>,
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unprepared> {
    let entry = entry.ok_or_else(|| Unavailable(ELSEWHERE.into()))?;
    let running = entry.prepare(csr, &settings(request))?;
    let facts = running.facts()?;
    let product = move |alpha, x: &[T], beta, y: &mut [T]| running.multiply(alpha, x, beta, y);
    Ok(described(Prepared::new(csr, 0, product), entry, facts, request))
}

fn prepare_on_gpu<'a, T: Value>(
    entry: Option<&'static Entry>,
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Preparation<'a, T> {
    let entry = entry.ok_or_else(|| Unavailable(ELSEWHERE.into()))?;
    let running = entry.prepare_on_device(csr, &settings(request))?;
    let facts = running.facts()?;
    let product = move |alpha, x: &Buffer<T>, beta, y: &mut Buffer<T>| {
        running.multiply_on_device(alpha, x, beta, y)
    };
    Ok(described(Prepared::on_gpu(csr, product), entry, facts, request))
}

fn settings<'a>(request: &Request<'a>) -> Settings<'a> {
    Settings {
        team: request.team,
        transpose: request.transpose,
        factors: (request.alpha, request.beta),
        expected_products: request.expected_products,
        given: request.given,
    }
}

/// Adds what the method says of itself to a product.
fn described<'a, T, V: Values + ?Sized>(
    prepared: Prepared<'a, T, V>,
    entry: &Entry,
    facts: Facts,
    request: &Request,
) -> Prepared<'a, T, V> {
    let library = facts.library.unwrap_or_else(|| entry.description.edition());
    let changed = entry.description.opening_changed.as_ref();
    let undone = changed
        .map(|changed| format!("opening the plug-in has changed {changed}; this was undone"));
    let mut prepared = prepared.transposing(request.transpose);
    (prepared.csr_bytes, prepared.note) = (facts.csr_bytes, facts.note);
    prepared.with_added_note(undone).with_library(&library, facts.extra_bytes)
}
