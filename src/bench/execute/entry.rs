//! A method that is being measured, and its outcome.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::bench::backend::Parts;
use crate::bench::outcome::Outcome;
use crate::bench::steadiness::Attempts;
use spmv_methods::library::float_state;
use spmv_methods::method::{Choice, Prepared};
use spmv_methods::plugin::not_restored;

pub struct Ready<'a, T, V: ?Sized> {
    /// The index among the requested methods.
    pub place: usize,
    pub choice: &'a Choice<'a>,
    pub prepared: Prepared<'a, T, V>,
    pub setup_ms: f64,
    pub error_ratio: f64,
    /// See [`Method::matrix_bytes`](spmv_methods::method::Method::matrix_bytes).
    pub matrix_bytes: Option<u64>,
    /// The hashes of all verified y, except those for an altered x.
    pub hashes: BTreeSet<u64>,
    pub attempts: Attempts,
    pub turns: usize,
    /// The total time spent on the method, setup and verification included.
    pub spent: Duration,
    /// The parts of a product; `None` until they are measured.
    pub parts: Option<Parts>,
    /// A note on a failure with another matrix before, or on the rounds that an interrupt has prevented.
    pub note: Option<String>,
}

impl<T, V: ?Sized> Ready<'_, T, V> {
    /// Ends a measurement after all its rounds. Returns whether another follows, which must fit into `timeout`.
    pub fn again(&mut self, timeout: Duration) -> bool {
        self.attempts.again(self.spent.saturating_mul(2) <= timeout)
    }

    /// Ends the current measurement before all `rounds` were taken. Returns whether there are any samples.
    pub fn cut_short(&mut self, rounds: usize) -> bool {
        if self.turns < rounds {
            self.note = Some(match self.turns {
                0 => format!("interrupted in round 1 of {rounds}"),
                turns => format!("interrupted after {turns} of {rounds} rounds"),
            });
        }
        self.attempts.cut_short()
    }
}

/// Calls code of a method. A panic, and a change of the thread's floating-point state that would change the times and
/// results of other methods, become a failure of the method, so that the run continues.
pub fn guarded<R>(call: impl FnOnce() -> R) -> Result<R, Outcome> {
    // What has changed the state before is not the fault of this method.
    float_state::restore();
    let result = catch_unwind(AssertUnwindSafe(call));
    let changed = float_state::restore();
    let result = result
        .map_err(|payload| Outcome::Failed(format!("panicked: {}", panic_text(&*payload))))?;
    changed.map_or(Ok(result), |changed| Err(not_restored(&changed).into()))
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
