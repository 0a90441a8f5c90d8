//! What a measurement needs from outside, what it tells meanwhile, and why it may end early.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::bench::clock::Clock;
use crate::bench::outcome::Outcome;
use crate::bench::plan::Settings;
use crate::method::Choice;
use crate::team::Team;

/// What a measurement needs from outside.
pub struct Bench<'a> {
    /// The threads.
    pub team: &'a Team,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Set from outside to stop early.
    pub interrupted: &'a AtomicBool,
    /// How to measure.
    pub settings: &'a Settings,
    /// Told how far the measurement is.
    pub tell: &'a dyn Fn(News),
    /// Numbers that no method can foresee: they decide when and how x and y are changed between samples.
    pub entropy: fn() -> u64,
}

/// What a measurement tells while it goes on.
pub enum News<'n> {
    /// What a method does next: whoever watches from outside can name it if this process ends there.
    Next(&'n Choice<'n>, Turn),
    /// What became of a method; later only notes are added.
    Final(&'n Choice<'n>, &'n Outcome),
}

/// What a method does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Turn {
    /// It is prepared, and its first product is verified.
    Prepare,
    /// Its turn in a round. Further rounds of methods that were too noisy continue the count.
    Round {
        /// From 1.
        number: usize,
        /// How many there are.
        of: usize,
    },
    /// It keeps the device at work, or is dropped.
    Other,
}

/// Why the measurement of a matrix ended early; it is incomplete.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped {
    /// From outside.
    #[error("interrupted")]
    Interrupted,
    /// By an error of the device after which it does nothing more for this process.
    #[error("{method}: {reason}")]
    Lost {
        /// The method, with its parameters, or what came before all of them.
        method: String,
        /// Its error.
        reason: String,
    },
}
