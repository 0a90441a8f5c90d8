//! The remaining time of a run: the expected times of the steps that are left, corrected by those of the finished ones.

use std::collections::HashMap;
use std::time::Duration;

use super::estimate::{Estimate, span};
use crate::bench::event::{Event, Step, Turn};
use spmv_results::row::RowKey;
use spmv_results::settings::Settings;

/// The weight of the expectation against the measured times, as a share of the whole expected time. With a smaller
/// weight, the remaining time would change strongly during the first methods.
const EXPECTATION_WEIGHT: f64 = 0.05;

/// The progress over the matrices of a run. All times are in seconds.
pub struct Pace {
    settings: Settings,
    /// The number of matrices, and how many of them are finished.
    matrices: usize,
    finished: usize,
    /// The expected time of the matrices that have not begun.
    ahead: f64,
    /// The expected and the actual time of the finished steps.
    expected: f64,
    used: f64,
    current: Option<Current>,
}

struct Current {
    name: String,
    estimate: Estimate,
    was_read: bool,
    /// The preparations and the rounds that are left of each method that has not ended.
    open: HashMap<RowKey, [usize; 2]>,
    /// The current step, and when it began.
    step: Option<(Step, f64)>,
}

impl Current {
    /// Returns the expected time of the remaining steps, the current one included.
    fn rest(&self) -> f64 {
        let Estimate { read, prepare, turn, .. } = self.estimate;
        let of_method = |[prepares, rounds]: &[usize; 2]| *prepares as f64 * prepare + *rounds as f64 * turn;
        let methods: f64 = self.open.values().map(of_method).sum();
        methods + if self.was_read { 0.0 } else { read }
    }

    /// Returns the expected time of a step of an open method.
    fn expected(&self, step: &Step) -> f64 {
        let Estimate { prepare, turn, .. } = self.estimate;
        match step {
            Step::Method(cell, _) if !self.open.contains_key(cell) => 0.0,
            Step::Method(_, Turn::Prepare) => prepare,
            Step::Method(_, Turn::Round { .. }) => turn,
            _ => 0.0,
        }
    }

    fn end(&mut self, step: &Step) {
        let Step::Method(cell, turn) = step else { return };
        let Some([prepares, rounds]) = self.open.get_mut(cell) else { return };
        match turn {
            Turn::Prepare => *prepares = 0,
            Turn::Round { .. } => *rounds = rounds.saturating_sub(1),
            Turn::Other => (),
        }
    }

    /// Begins a step.
    fn begin(&mut self, step: &Step, now: f64) {
        if let Step::Method(cell, Turn::Round { number, of }) = step
            && let Some([_, rounds]) = self.open.get_mut(cell)
        {
            *rounds = (of + 1).saturating_sub(*number);
        }
        self.step = Some((step.clone(), now));
    }

    fn describe(&self) -> String {
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

impl Pace {
    /// Creates the progress of a run. `matrices` includes matrices that are already finished, and `ahead` is the
    /// expected time of the others.
    pub fn new(settings: Settings, matrices: usize, ahead: f64) -> Self {
        let trust = EXPECTATION_WEIGHT * ahead.max(1.0);
        Self { settings, matrices, finished: 0, ahead, expected: trust, used: trust, current: None }
    }

    pub fn begin(&mut self, name: String, entries: u64, cells: Vec<RowKey>) {
        let estimate = Estimate::of(entries, &self.settings);
        self.ahead = (self.ahead - estimate.seconds(cells.len())).max(0.0);
        let open = cells.into_iter().map(|cell| (cell, [1, estimate.rounds])).collect();
        self.current = Some(Current { name, estimate, was_read: false, open, step: None });
    }

    pub fn note(&mut self, event: &Event, now: f64) {
        let Some(current) = &mut self.current else { return };
        let last = current.step.take();
        match event {
            Event::Step(step) => {
                if let Some((last, since)) = last {
                    let expected = current.expected(&last);
                    self.expected += expected;
                    self.used += if expected > 0.0 { now - since } else { 0.0 };
                    current.end(&last);
                }
                current.begin(step, now);
            }
            Event::Matrix(report) if report.ended.is_some() => self.current = None,
            Event::Matrix(report) => {
                if let Some(shape) = &report.facts.shape {
                    current.estimate = Estimate::of(shape.nnz as u64, &self.settings);
                }
                current.was_read = true;
            }
            // The time of a step that fails is not representative.
            Event::Row(row, _) => {
                row.cell().and_then(|cell| current.open.remove(&cell));
            }
            Event::Group(group) | Event::Partial(group) => {
                current.open.retain(|cell, _| !group.rows.iter().any(|row| row.has_key(cell)));
            }
            Event::Ready(_) | Event::Samples { .. } | Event::End(_) => (),
        }
    }

    pub fn end(&mut self) {
        self.finished += 1;
        self.current = None;
    }

    /// Returns the estimated remaining time of the run.
    pub fn left(&self, now: f64) -> f64 {
        let factor = self.used / self.expected;
        let rest = self.current.as_ref().map_or(0.0, Current::rest);
        let step = self.current.as_ref().and_then(|current| {
            let (step, since) = current.step.as_ref()?;
            Some((factor * current.expected(step)).min(now - since))
        });
        factor * (rest + self.ahead) - step.unwrap_or(0.0)
    }

    /// Returns the share of the run's time that has passed, from 0 to 1. The run began at 0.
    pub fn share(&self, now: f64) -> f64 {
        let left = self.left(now);
        if left > 0.0 { now / (now + left) } else { 1.0 }
    }

    /// Describes the progress in one line.
    pub fn describe(&self, now: f64) -> String {
        let mut words = match self.matrices {
            1 => String::new(),
            matrices => format!("{} of {matrices} matrices, ", self.finished),
        };
        let percent = (100.0 * self.share(now)).floor();
        let left = Duration::try_from_secs_f64(self.left(now)).unwrap_or(Duration::MAX);
        words += &format!("{percent} %, {} left", span(left));
        if let Some(current) = &self.current {
            let name = if self.matrices == 1 { "" } else { &current.name };
            for part in [name, &current.describe()].into_iter().filter(|part| !part.is_empty()) {
                words = words + ": " + part;
            }
        }
        words
    }
}
