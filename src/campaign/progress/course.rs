//! The progress of the work on one matrix, and an estimate of its remaining time.

use std::collections::HashMap;

use super::estimate::Estimate;
use crate::bench::execute::Turn;
use crate::bench::plan::Settings;
use crate::campaign::task::{Event, Step};
use crate::record::row::Row;
use crate::record::run::RowKey;

/// The expected and the actual time of some work, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    expected: f64,
    used: f64,
}

/// The ratios of actual to expected time for the parts of the work on a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    prepare: Rate,
    turn: Rate,
}

/// The work on one matrix.
pub struct Course {
    estimate: Estimate,
    was_read: bool,
    open: HashMap<RowKey, Open>,
    /// The current step and its start time in seconds.
    step: Option<(Step, f64)>,
}

/// The remaining work of a method.
struct Open {
    is_ready: bool,
    rounds: usize,
}

impl Rate {
    /// Creates a ratio of one with the weight of `seconds` of work.
    pub fn after(seconds: f64) -> Self {
        Self { expected: seconds, used: seconds }
    }

    /// Adds the times of a part; the earlier times are multiplied by `share`.
    pub fn with(self, share: f64, expected: f64, used: f64) -> Self {
        Self { expected: share * self.expected + expected, used: share * self.used + used }
    }

    /// Returns the ratio of actual to expected time.
    pub fn factor(&self) -> f64 {
        self.used / self.expected
    }
}

impl Default for Rates {
    fn default() -> Self {
        let rate = Rate::after(1.0);
        Self { prepare: rate, turn: rate }
    }
}

impl Rates {
    /// Halves the weight of the earlier times before the next matrix.
    pub fn fade(&mut self) {
        self.prepare = self.prepare.with(0.5, 0.0, 0.0);
        self.turn = self.turn.with(0.5, 0.0, 0.0);
    }
}

impl Course {
    /// Creates the progress of a matrix with these open methods.
    pub fn new(estimate: Estimate, cells: Vec<RowKey>) -> Self {
        let rounds = estimate.rounds;
        let open = cells.into_iter().map(|cell| (cell, Open { is_ready: false, rounds }));
        Self { estimate, was_read: false, open: open.collect(), step: None }
    }

    /// Updates the progress after an event at the time `now`, and the rates with the time of the previous step.
    pub fn note(&mut self, event: &Event, now: f64, settings: &Settings, rates: &mut Rates) {
        match event {
            Event::Step(step) => {
                self.end_step(now, rates);
                if let Step::Method(cell, Turn::Round { number, of }) = step
                    && let Some(open) = self.open.get_mut(cell)
                {
                    open.rounds = (of + 1).saturating_sub(*number);
                }
                self.step = Some((step.clone(), now));
            }
            Event::Matrix(report) => {
                if let Some(shape) = &report.facts.shape {
                    self.estimate = Estimate::of(shape.nnz as u64, settings);
                }
                self.was_read = true;
                self.step = None;
            }
            Event::Row(row, _) => {
                // The time of a preparation that fails is not representative.
                self.step = None;
                row.cell().and_then(|cell| self.open.remove(&cell));
            }
            Event::Group(group) | Event::Partial(group) => {
                self.step = None;
                for cell in group.rows.iter().filter_map(Row::cell) {
                    self.open.remove(&cell);
                }
            }
        }
    }

    fn end_step(&mut self, now: f64, rates: &mut Rates) {
        let Some((Step::Method(cell, turn), since)) = self.step.take() else { return };
        let Some(open) = self.open.get_mut(&cell) else { return };
        match turn {
            Turn::Prepare => {
                open.is_ready = true;
                rates.prepare = rates.prepare.with(1.0, self.estimate.prepare, now - since);
            }
            Turn::Round { .. } => {
                open.rounds = open.rounds.saturating_sub(1);
                rates.turn = rates.turn.with(1.0, self.estimate.turn, now - since);
            }
            Turn::Other => (),
        }
    }

    /// Returns the estimated remaining time in seconds.
    pub fn left(&self, now: f64, rates: &Rates) -> f64 {
        let Estimate { read, prepare, turn, .. } = self.estimate;
        let (prepare, turn) = (prepare * rates.prepare.factor(), turn * rates.turn.factor());
        let of_method =
            |open: &Open| if open.is_ready { 0.0 } else { prepare } + open.rounds as f64 * turn;
        let methods: f64 = self.open.values().map(of_method).sum();
        let read = if self.was_read { 0.0 } else { read };
        let (expected, since) = match &self.step {
            Some((Step::Method(_, Turn::Prepare), since)) => (prepare, *since),
            Some((Step::Method(_, Turn::Round { .. }), since)) => (turn, *since),
            Some((Step::Load, since)) => (read, *since),
            _ => return read + methods,
        };
        read + methods - expected.min(now - since)
    }

    /// Describes the current step.
    pub fn current_step(&self) -> String {
        let Some((step, _)) = &self.step else { return String::new() };
        let Step::Method(cell, turn) = step else { return step.describe() };
        let (precision, device) = (cell.precision.name(), cell.device.name());
        let turn = match turn {
            Turn::Prepare => "preparing ".into(),
            Turn::Round { number, of } => format!("round {number} of {of}: "),
            Turn::Other => String::new(),
        };
        format!("{precision} on {device}, {turn}{}", cell.method)
    }
}
