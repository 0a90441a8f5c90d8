//! What a child does at a moment, by its events: whose fault its end is, and which events cannot come from this
//! program.
//!
//! A plug-in runs in the process of the child and can send events in its name. Each row comes once and at the end of
//! its method, a group when it has all rows, and the matrix is described after it was read: another order is a forgery.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::bench::event::{Event, Step, Stopped, Turn};
use crate::bench::outcome::Outcome;
use crate::campaign::collect::Collector;
use spmv_results::row::{Remark, Row, RowKey, Status};

/// The time beyond a method's time limit in which a child may end the method itself.
pub const GRACE: Duration = Duration::from_secs(1);
/// How far the clock of a child may be from that of this process, beyond the time for which this process slept.
const MOST_LAG: Duration = Duration::from_secs(5);

/// How the work on a matrix has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finish {
    /// Every cell has a row.
    Done,
    /// The matrix has a row with the reason why it is not measured.
    NotMeasured,
    Interrupted,
}

pub struct Watch {
    /// The current step; `None` between methods, and before the first one.
    pub step: Option<Step>,
    pub updated: Instant,
    /// The time spent in the current step until the last update.
    pub at: Duration,
    /// The time of the previous turns of each method.
    spent: HashMap<RowKey, Duration>,
    /// Whether the matrix has ended without running methods.
    pub is_over: bool,
    /// Whether the matrix is not the cause if a child ends: it was read before, or the child was only interrupted.
    pub is_harmless: bool,
    /// Whether the child has measured another matrix before, and may have something left of it.
    is_used: bool,
    /// The longest time for which this process has not looked since the last event that arrived in time.
    blind: Duration,
    /// The methods during which a signal stopped the child.
    stopped: Vec<RowKey>,
    /// The methods whose samples have arrived.
    sampled: Vec<RowKey>,
    /// Whether results of a method have arrived before its end, as after an interrupt.
    is_early: bool,
}

impl Watch {
    pub fn begin(is_harmless: bool, is_used: bool) -> Self {
        Self {
            step: None,
            updated: Instant::now(),
            at: Duration::ZERO,
            spent: HashMap::new(),
            is_over: false,
            is_harmless,
            is_used,
            blind: Duration::ZERO,
            stopped: Vec::new(),
            sampled: Vec::new(),
            is_early: false,
        }
    }

    /// Adds the time since the last update, except time for which this process was suspended, and whether the child
    /// `was_stopped` meanwhile.
    pub fn update(&mut self, was_stopped: bool) {
        let passed = self.updated.elapsed();
        self.at += passed.min(GRACE);
        self.blind = self.blind.max(passed);
        self.updated = Instant::now();
        match &self.step {
            Some(Step::Method(cell, _)) if was_stopped => self.stopped.push(cell.clone()),
            Some(Step::Duel(cells)) if was_stopped => self.stopped.extend_from_slice(cells),
            _ => (),
        }
    }

    /// Returns whether the clock of the child is another one, as that of an event tells that was sent so far from now.
    pub fn is_of_another_clock(&self, lag: Duration) -> bool {
        lag > MOST_LAG + self.blind
    }

    /// Returns what the child did that this program does not do at this moment.
    pub fn forgery(&self, event: &Event, collector: &Collector) -> Option<&'static str> {
        let is_of_interrupt = matches!(
            event,
            Event::Row(..) | Event::Samples { .. } | Event::Partial(_) | Event::End(Err(Stopped::Interrupted))
        );
        match event {
            _ if self.is_early && !is_of_interrupt => Some("sent results of a method before its end"),
            Event::Ready(_) => Some("reported again that it is ready"),
            Event::Step(Step::Method(cell, _)) if !collector.open().contains(cell) => {
                Some("began with a method that was not to be measured")
            }
            Event::Matrix(_) if self.step != Some(Step::Load) => Some("described a matrix that it was not reading"),
            Event::Row(row, _) if !collector.awaits(row) => Some("sent a second row of a method"),
            Event::Samples { cell, .. } if self.sampled.contains(cell) => Some("sent the samples of a method twice"),
            Event::Group(group) if !collector.has_rows_of(group) => {
                Some("reported the end of methods without all of their rows")
            }
            Event::End(Ok(())) if !self.is_over && !collector.is_complete() => Some("reported its end"),
            _ => None,
        }
    }

    /// Whether the result of a method is due at this step. One that is not right may be so earlier.
    fn is_due(&self, cell: &RowKey, is_ok: bool) -> bool {
        match &self.step {
            Some(Step::Method(of, turn)) => of == cell && (!is_ok || *turn == Turn::Other),
            Some(step) => !is_ok && step.concerns(cell),
            None => false,
        }
    }

    /// Notes an event, which was sent so far from now. A row gets the remark that its process was stopped.
    pub fn note(&mut self, event: &mut Event, lag: Duration) {
        if lag <= MOST_LAG {
            self.blind = Duration::ZERO;
        }
        match event {
            Event::Step(next) => {
                if let Some(Step::Method(cell, _)) = self.step.replace(next.clone()) {
                    *self.spent.entry(cell).or_default() += self.at;
                }
            }
            Event::Group(_) => self.step = None,
            Event::Matrix(report) => {
                self.step = None;
                self.is_over = report.ended.is_some();
                self.is_harmless |= !self.is_over;
            }
            // The current step does not change.
            Event::Row(row, _) => return self.note_row(row),
            Event::Samples { cell, .. } => {
                self.is_early |= !self.is_due(cell, true);
                return self.sampled.push(cell.clone());
            }
            _ => return,
        }
        self.at = Duration::ZERO;
    }

    fn note_row(&mut self, row: &mut Row) {
        let Some(cell) = row.cell() else { return };
        self.is_early |= !self.is_due(&cell, row.is_ok());
        if row.is_ok() && self.stopped.contains(&cell) {
            row.reason.push(Remark::Stopped);
        }
    }

    /// Returns how the work on the matrix has ended if it has.
    pub fn finish(&self) -> Finish {
        if self.is_over { Finish::NotMeasured } else { Finish::Done }
    }

    /// Returns the end of a child after its time limit.
    pub fn overdue(&self, timeout: Duration) -> Option<Outcome> {
        let (limit, moment) = (timeout.as_secs_f64(), self.moment());
        let reason = format!("did not end within the {limit} s of --timeout {moment}");
        // All turns of a method count.
        let before = match &self.step {
            Some(Step::Method(cell, _)) => self.spent.get(cell).copied().unwrap_or_default(),
            _ => Duration::ZERO,
        };
        let is_overdue = before + self.at > timeout.saturating_add(GRACE);
        is_overdue.then(|| Outcome::new(Status::Timeout, reason))
    }

    /// Returns the end of a child: what it did, and what typically causes that.
    pub fn failed(&self, what: &str, cause: &str) -> Outcome {
        let reason = format!("the child process {what} {}{cause}", self.moment());
        Outcome::new(Status::Failed, reason)
    }

    /// Returns whether the matrix is the cause if the child ends now.
    pub fn is_of_matrix(&self) -> bool {
        let is_reading = self.step.as_ref().is_some_and(Step::is_of_matrix);
        is_reading && !self.is_harmless && !self.is_used
    }

    /// Returns whether neither a method nor the matrix is the cause if the child ends now.
    pub fn is_idle(&self) -> bool {
        match &self.step {
            None | Some(Step::Duel(_)) => true,
            Some(step) => step.is_of_matrix() && !self.is_of_matrix(),
        }
    }

    /// Whether code of a method may run now.
    pub fn is_in_method(&self) -> bool {
        matches!(self.step, Some(Step::Method(..) | Step::Duel(_)))
    }

    fn moment(&self) -> String {
        let step = self.step.as_ref();
        step.map_or_else(|| "between methods".into(), |step| format!("while {}", step.describe()))
    }
}
