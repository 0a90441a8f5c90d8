//! How far a run over matrices is, and about how long it still takes. What the matrices measured so far took
//! corrects what is expected of the others.

use std::time::Duration;

use super::course::{Course, Rate, Rates};
use super::estimate::{Estimate, span};
use crate::bench::plan::Settings;
use crate::cli::task::Event;
use crate::record::run::RowKey;

/// What the expectation is worth against what was seen, as a share of all that is expected. With less, the first
/// methods would make the time left jump.
const TRUST: f64 = 0.05;
/// What a matrix counts for the expectation after the next one.
const FADE: f64 = 0.8;

/// The matrices of a run.
pub struct Pace {
    settings: Settings,
    /// All, and how many of them are done.
    matrices: usize,
    done: usize,
    /// Seconds that are expected of those done, and of those not begun.
    behind: f64,
    ahead: f64,
    /// Of whole matrices.
    rate: Rate,
    rates: Rates,
    current: Option<Current>,
}

/// The matrix at hand.
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

    /// Which part of it is done.
    fn share(&self, now: f64, rates: &Rates) -> f64 {
        let (used, left) = (now - self.begun, self.left(now, rates));
        if left > 0.0 { used / (used + left) } else { 1.0 }
    }
}

impl Pace {
    /// Of so many matrices, some of which may be done; `ahead` seconds are expected of the others.
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

    /// A matrix begins, some of whose methods are open.
    pub fn begin(&mut self, name: String, entries: u64, cells: Vec<RowKey>, now: f64) {
        let estimate = Estimate::of(entries, &self.settings);
        let expected = estimate.seconds(cells.len());
        self.ahead = (self.ahead - expected).max(0.0);
        let course = Course::new(estimate, cells);
        self.current = Some(Current { name, expected, begun: now, course });
    }

    /// Takes in what is told of the matrix at hand.
    pub fn note(&mut self, event: &Event, now: f64) {
        let Some(current) = &mut self.current else { return };
        current.course.note(event, now, &self.settings, &mut self.rates);
        if let Event::Matrix(report) = event
            && report.ended.is_some()
        {
            // Nothing is measured on it, so it tells nothing of the others.
            self.behind += current.expected;
            self.current = None;
        }
    }

    /// The matrix at hand is done, or one that was done before.
    pub fn end(&mut self, now: f64) {
        self.done += 1;
        let Some(Current { expected, begun, .. }) = self.current.take() else { return };
        self.rate = self.rate.with(FADE, expected, now - begun);
        self.rates.fade();
        self.behind += expected;
    }

    /// About how many seconds all of it still takes.
    pub fn left(&self, now: f64) -> f64 {
        let Some(current) = &self.current else { return self.ahead * self.rate.factor() };
        let (used, left) = (now - current.begun, current.left(now, &self.rates));
        // So much of it counts as if it were a matrix of its own.
        let share = current.share(now, &self.rates);
        let fade = 1.0 - (1.0 - FADE) * share;
        left + self.ahead * self.rate.with(fade, current.expected * share, used).factor()
    }

    fn time_left(&self, now: f64) -> Duration {
        Duration::try_from_secs_f64(self.left(now)).unwrap_or(Duration::MAX)
    }

    /// Which part of the work is done, from 0 to 1.
    pub fn share(&self, now: f64) -> f64 {
        let current = self.current.as_ref();
        let (expected, share) = current
            .map_or((0.0, 0.0), |current| (current.expected, current.share(now, &self.rates)));
        let all = self.behind + expected + self.ahead;
        if all > 0.0 { (self.behind + expected * share) / all } else { 1.0 }
    }

    /// In a line.
    pub fn describe(&self, now: f64) -> String {
        let mut words = match self.matrices {
            1 => String::new(),
            matrices => format!("{} of {matrices} matrices, ", self.done),
        };
        let percent = (100.0 * self.share(now)).floor();
        words += &format!("{percent} %, {} left", span(self.time_left(now)));
        if let Some(current) = &self.current {
            let at_hand = current.course.at_hand();
            let parts = [Some(&current.name).filter(|_| self.matrices != 1), Some(&at_hand)];
            let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
            words += &parts.map(|part| format!(": {part}")).collect::<String>();
        }
        words
    }
}
