//! The progress of a run over several matrices, and an estimate of its remaining time. The times of the finished
//! matrices correct the expected times of the others.

use std::time::Duration;

use super::course::{Course, Rate, Rates};
use super::estimate::{Estimate, span};
use crate::bench::plan::Settings;
use crate::campaign::task::Event;
use crate::record::run::RowKey;

/// The weight of the expectation relative to the measured times, as a share of the total expected time. With a smaller
/// weight, the remaining time would fluctuate strongly during the first methods.
const TRUST: f64 = 0.05;
/// The factor by which the weight of earlier matrices decreases with each matrix.
const FADE: f64 = 0.8;

/// The progress over the matrices of a run.
pub struct Pace {
    settings: Settings,
    /// The number of matrices.
    matrices: usize,
    /// The number of finished matrices.
    done: usize,
    /// The expected time of the finished matrices, in seconds.
    behind: f64,
    /// The expected time of the matrices that have not begun, in seconds.
    ahead: f64,
    /// The ratio of actual to expected time of whole matrices.
    rate: Rate,
    rates: Rates,
    current: Option<Current>,
}

/// The progress on the matrix that is being measured.
struct Current {
    name: String,
    expected: f64,
    begun: f64,
    course: Course,
}

impl Current {
    fn left(&self, now: f64, rates: &Rates) -> f64 {
        self.course.left(now, rates).max(0.0)
    }

    /// Returns the finished share of the matrix, from 0 to 1.
    fn share(&self, now: f64, rates: &Rates) -> f64 {
        let (used, left) = (now - self.begun, self.left(now, rates));
        if left > 0.0 { used / (used + left) } else { 1.0 }
    }
}

impl Pace {
    /// Creates the progress of a run. `matrices` includes matrices that are already finished, and `ahead` is the
    /// expected time of the others in seconds.
    pub fn new(settings: Settings, matrices: usize, ahead: f64) -> Self {
        Self {
            settings,
            matrices,
            done: 0,
            behind: 0.0,
            ahead,
            rate: Rate::after(TRUST * ahead.max(1.0)),
            rates: Rates::default(),
            current: None,
        }
    }

    /// Starts a matrix with these open cells.
    pub fn begin(&mut self, name: String, entries: u64, cells: Vec<RowKey>, now: f64) {
        let estimate = Estimate::of(entries, &self.settings);
        let expected = estimate.seconds(cells.len());
        self.ahead = (self.ahead - expected).max(0.0);
        let course = Course::new(estimate, cells);
        self.current = Some(Current { name, expected, begun: now, course });
    }

    /// Updates the progress after an event.
    pub fn note(&mut self, event: &Event, now: f64) {
        let Some(current) = &mut self.current else { return };
        current.course.note(event, now, &self.settings, &mut self.rates);
        if let Event::Matrix(report) = event
            && report.ended.is_some()
        {
            // Nothing is measured on this matrix, so its time must not affect the estimate for the others.
            self.behind += current.expected;
            self.current = None;
        }
    }

    /// Ends the current matrix, or counts a matrix that was finished in an earlier run.
    pub fn end(&mut self, now: f64) {
        self.done += 1;
        let Some(Current { expected, begun, .. }) = self.current.take() else { return };
        self.rate = self.rate.with(FADE, expected, now - begun);
        self.rates.fade();
        self.behind += expected;
    }

    /// Returns the estimated remaining time of the run in seconds.
    pub fn left(&self, now: f64) -> f64 {
        let Some(current) = &self.current else { return self.ahead * self.rate.factor() };
        let (used, left) = (now - current.begun, current.left(now, &self.rates));
        // The finished share of the current matrix counts like a separate matrix.
        let share = current.share(now, &self.rates);
        let fade = 1.0 - (1.0 - FADE) * share;
        left + self.ahead * self.rate.with(fade, current.expected * share, used).factor()
    }

    fn time_left(&self, now: f64) -> Duration {
        Duration::try_from_secs_f64(self.left(now)).unwrap_or(Duration::MAX)
    }

    /// Returns the finished share of the work, from 0 to 1.
    pub fn share(&self, now: f64) -> f64 {
        let current = self.current.as_ref();
        let (expected, share) = current
            .map_or((0.0, 0.0), |current| (current.expected, current.share(now, &self.rates)));
        let all = self.behind + expected + self.ahead;
        if all > 0.0 { (self.behind + expected * share) / all } else { 1.0 }
    }

    /// Describes the progress in one line.
    pub fn describe(&self, now: f64) -> String {
        let mut words = match self.matrices {
            1 => String::new(),
            matrices => format!("{} of {matrices} matrices, ", self.done),
        };
        let percent = (100.0 * self.share(now)).floor();
        words += &format!("{percent} %, {} left", span(self.time_left(now)));
        if let Some(current) = &self.current {
            let step = current.course.current_step();
            let parts = [Some(&current.name).filter(|_| self.matrices != 1), Some(&step)];
            let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
            words += &parts.map(|part| format!(": {part}")).collect::<String>();
        }
        words
    }
}
