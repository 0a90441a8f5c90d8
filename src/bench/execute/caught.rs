//! Calls code of methods, whose panics must not end the run.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::bench::outcome::Outcome;
use spmv_methods::library::float_state;
use spmv_methods::method::Failed;
use spmv_methods::plugin::not_restored;

/// Calls code of a method. A panic, and a change of the thread's floating-point state that would change the times and
/// results of other methods, become a failure of the method, so that the run continues.
pub fn guarded<R>(call: impl FnOnce() -> R) -> Result<R, Outcome> {
    // What has changed the state before is not the fault of this method.
    float_state::restore();
    let result = catch_unwind(AssertUnwindSafe(call));
    let changed = float_state::restore();
    let result = result.map_err(|payload| Failed(format!("panicked: {}", panic_text(&*payload))))?;
    changed.map_or(Ok(result), |changed| Err(not_restored(&changed).into()))
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
