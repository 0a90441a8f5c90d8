//! The interface of a measurement: what it needs, the progress that it reports, and why it may end early.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::bench::clock::Clock;
use crate::bench::outcome::Outcome;
use crate::bench::plan::Settings;
use spmv_methods::device::Failed;
use spmv_methods::method::choices::{Choices, VARIABLE};
use spmv_methods::method::profile::Profile;
use spmv_methods::team::Team;

pub struct Bench<'a> {
    /// The threads on which the methods of the CPU run.
    pub team: &'a Team,
    pub clock: &'a dyn Clock,
    /// Set by another thread or a signal handler to stop early.
    pub interrupted: &'a AtomicBool,
    pub settings: &'a Settings,
    /// The machine's profile in the precision of the products, if a method needs it and it has been measured.
    pub profile: Option<&'a Profile>,
    /// Called with the progress of the measurement.
    pub report: &'a dyn Fn(News),
    /// Returns a number that no method can predict: it seeds the choice of when and how x and y change between samples.
    pub entropy: fn() -> u64,
}

impl<'a> Bench<'a> {
    /// Returns a measurement that is not interrupted, reports nothing, and always makes the same choices, as in tests.
    pub fn new(team: &'a Team, clock: &'a dyn Clock, settings: &'a Settings) -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let report = &|_: News| ();
        Self { team, clock, interrupted: &NEVER, settings, profile: None, report, entropy: || 1 }
    }
}

pub enum News<'n> {
    /// The place of a method among the requested ones, and its next step, which is the cause if the process ends.
    Next(usize, Turn),
    Final(usize, &'n Outcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Turn {
    /// The method is prepared, and its first product is verified.
    Prepare,
    /// The method has its turn in a round. Repeated rounds of methods that were too noisy continue the count.
    Round {
        /// The number of the round, from 1.
        number: usize,
        of: usize,
    },
    /// The method keeps the device under load, or is dropped.
    Other,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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

/// Returns the measured times of the file in `SPMV_BENCH_CHOICES`, which is read once; `None` if there is no such file.
pub fn given_choices() -> Option<&'static Result<Choices, Failed>> {
    static GIVEN: OnceLock<Option<Result<Choices, Failed>>> = OnceLock::new();
    let read = || {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        Some(Choices::read(Path::new(&path)))
    };
    GIVEN.get_or_init(read).as_ref()
}
