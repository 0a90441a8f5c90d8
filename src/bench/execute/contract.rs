//! What a measurement needs and reports, why it may end early, and a method while it is measured.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cpus::Cpus;
use super::late::Late;
use super::power::Power;
use crate::bench::backend::Parts;
use crate::bench::clock::Clock;
use crate::bench::event::{Event, Step, Turn};
use crate::bench::outcome::Outcome;
use crate::bench::samples::Samples;
use spmv_matrix::scalar::Precision;
use spmv_matrix::system::energy::Rapl;
use spmv_methods::library::float_state;
use spmv_methods::method::profile::Profile;
use spmv_methods::method::{Choice, Failed, Prepared};
use spmv_methods::plugin::not_restored;
use spmv_methods::team::Team;
use spmv_results::row::{Remark, Row, RowKey};
use spmv_results::settings::Settings;

/// A method, and what identifies its row among those of a matrix.
#[derive(Clone)]
pub struct Cell<'m> {
    pub key: RowKey,
    pub choice: Choice<'m>,
    /// Whether the method is to take part in a duel.
    pub duels: bool,
}

impl<'m> From<Choice<'m>> for Cell<'m> {
    /// Creates the cell of a method in double precision on one thread, as in tests.
    fn from(choice: Choice<'m>) -> Self {
        let (precision, device) = (Precision::F64, choice.method.device());
        let (method, threads) = (choice.name(), choice.method.threads(1));
        let key = RowKey { precision, device, method, threads, cache: None, order: None };
        Self { key, choice, duels: false }
    }
}

pub struct Bench<'a> {
    /// The threads on which the methods of the CPU run.
    pub team: &'a Team,
    pub clock: &'a dyn Clock,
    /// Set by another thread or a signal handler to stop early.
    pub interrupted: &'a AtomicBool,
    pub settings: &'a Settings,
    /// Whether this process does nothing else, so that what changes in it while a method runs is changed by the method.
    pub is_alone: bool,
    /// The machine's profile in the precision of the products, if a method needs it and it has been measured.
    pub profile: Option<&'a Profile>,
    /// The host's counters of energy, where they can be read.
    pub rapl: Option<&'a Rapl>,
    /// What all rows have in common: the facts of the matrix.
    pub row: Row,
    /// Called with each step, and with the result of each method.
    pub emit: &'a dyn Fn(Event),
    /// Returns a number that no method can predict: it seeds the choice of when and how x and y change between samples.
    pub entropy: fn() -> u64,
}

impl<'a> Bench<'a> {
    /// Returns a measurement that is not interrupted, reports nothing, and always makes the same choices, as in tests.
    pub fn new(team: &'a Team, clock: &'a dyn Clock, settings: &'a Settings) -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let (interrupted, row, emit) = (&NEVER, Row::default(), &|_: Event| ());
        let (is_alone, profile, rapl, entropy) = (false, None, None, || 1);
        Self { team, clock, interrupted, settings, is_alone, profile, rapl, row, emit, entropy }
    }

    /// Reports the next step of a method, which is the cause if the process ends.
    pub fn begin(&self, cell: &Cell, turn: Turn) {
        (self.emit)(Event::Step(Step::Method(cell.key.clone(), turn)));
    }

    /// Reports that these methods have no times.
    pub fn end(&self, cells: &[Cell], outcome: &Outcome) {
        for cell in cells {
            let row = outcome.in_row(self.row.clone().with_key(&cell.key));
            (self.emit)(Event::Row(Box::new(row), Vec::new()));
        }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum Stopped {
    /// The caller set [`Bench::interrupted`].
    #[error("interrupted")]
    Interrupted,
    /// An error of the device, after which it accepts no more work from this process.
    #[error("{method}: {reason}")]
    Lost {
        /// The method with its parameters, or the step before the first method.
        method: String,
        reason: String,
    },
}

pub struct Ready<'a, T, V: ?Sized> {
    pub cell: &'a Cell<'a>,
    pub prepared: Prepared<'a, T, V>,
    pub setup_ms: f64,
    pub error_ratio: f64,
    pub likely_ratio: f64,
    /// The number of the newest x that the method has seen.
    pub seen: usize,
    /// The products that took long.
    pub late: Late,
    /// See [`Method::matrix_bytes`](spmv_methods::method::Method::matrix_bytes).
    pub matrix_bytes: Option<u64>,
    /// The hashes of all verified y, except those for an altered x: of single products and of chains.
    pub hashes: [BTreeSet<u64>; 2],
    pub samples: Samples,
    pub power: Power,
    /// The CPUs that were used in samples.
    pub cpus: Cpus,
    /// The time of all batches of products.
    pub busy: Duration,
    /// The number of rounds of this process that are over for the method.
    pub turns: usize,
    /// The total time spent on the method, setup and verification included.
    pub spent: Duration,
    /// The parts of a product; `None` until they are measured.
    pub parts: Option<Parts>,
    /// Remarks on a failure with another matrix before, and on the rounds that an interrupt has prevented.
    pub remarks: Vec<Remark>,
}

impl<'a, T, V: ?Sized> Ready<'a, T, V> {
    pub fn new(cell: &'a Cell, prepared: Prepared<'a, T, V>, setup: Duration) -> Self {
        Self {
            cell,
            prepared,
            setup_ms: 1e3 * setup.as_secs_f64(),
            error_ratio: 0.0,
            likely_ratio: 0.0,
            seen: 0,
            late: Late::default(),
            matrix_bytes: None,
            hashes: Default::default(),
            samples: Samples::default(),
            power: Power::default(),
            cpus: Cpus::default(),
            busy: Duration::ZERO,
            turns: 0,
            spent: Duration::ZERO,
            parts: None,
            remarks: Vec::new(),
        }
    }

    /// Ends the current measurement before all rounds were taken: `own` of this process, after those `before`, `of` in
    /// all. Returns whether there are any samples.
    pub fn cut_short(&mut self, [before, own]: [usize; 2], of: usize) -> bool {
        if self.turns < own {
            self.remarks.push(Remark::Interrupted { rounds: before + self.turns, of });
        }
        !self.samples.turns.is_empty()
    }
}

/// Calls code of a method. A panic, and a change of the thread's floating-point state that would change the times and
/// results of other methods, become a failure of the method, so that the run continues.
pub fn guarded<R>(call: impl FnOnce() -> R) -> Result<R, Outcome> {
    // What has changed the state before is not the fault of this method.
    float_state::restore();
    let result = catch_unwind(AssertUnwindSafe(call));
    let changed = float_state::restore();
    let result =
        result.map_err(|payload| Failed(format!("panicked: {}", panic_text(&*payload))))?;
    changed.map_or(Ok(result), |changed| Err(not_restored(&changed).into()))
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
