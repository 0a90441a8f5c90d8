//! The progress display on the terminal: the finished share of the work, the remaining time and the current step;
//! for a single matrix also the results of the methods so far.

pub mod estimate;
mod pace;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use console::{Term, truncate_str};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::bench::event::Event;
use estimate::Estimate;
use pace::Pace;
use spmv_results::row::{Row, RowKey};
use spmv_results::settings::Settings;
use spmv_results::table::terminal::shown;
use spmv_results::text;

/// The width of the bar in characters.
const BAR: usize = 16;
/// The number of terminal lines that the list of methods leaves free.
const FREE_LINES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    Hidden,
    /// The progress over all matrices.
    Matrices,
    /// The progress, and the results of the methods of the current group.
    Methods,
}

/// A progress bar on stderr, which may be hidden.
pub struct Progress {
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
}

struct State {
    pace: Pace,
    clock: Instant,
    /// The results of methods whose group is not complete, if they are displayed.
    methods: Option<Vec<Row>>,
}

impl Progress {
    /// Creates the display for matrices with these numbers of entries and of open methods.
    pub fn new(sizes: &[(u64, usize)], settings: &Settings, display: Display) -> Self {
        let open = sizes.iter().filter(|(_, methods)| *methods > 0);
        let seconds = |&(entries, methods): &(u64, usize)| Estimate::of(entries, settings).seconds(methods);
        let pace = Pace::new(settings.clone(), sizes.len(), open.map(seconds).sum());
        let methods = (display == Display::Methods).then(Vec::new);
        let state = Arc::new(Mutex::new(State { pace, clock: Instant::now(), methods }));
        if display == Display::Hidden {
            return Self { bar: ProgressBar::hidden(), state };
        }
        let words = state.clone();
        let write = move |_: &ProgressState, to: &mut dyn fmt::Write| {
            let (rows, columns) = Term::stderr().size();
            // An error is ignored, because the text is drawn again soon.
            let _ = to.write_str(&lock(&words).text(rows.into(), columns.into()));
        };
        let style = ProgressStyle::with_template("{words}").expect("a valid template");
        let bar = ProgressBar::new_spinner().with_style(style.with_key("words", write));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar, state }
    }

    pub fn begin(&self, name: String, entries: u64, cells: Vec<RowKey>) {
        self.update(|state, _| state.pace.begin(name, entries, cells));
    }

    pub fn note(&self, event: &Event) {
        self.update(|state, now| {
            state.pace.note(event, now);
            match (event, &mut state.methods) {
                (Event::Row(row, _), Some(methods)) => methods.push((**row).clone()),
                (Event::Group(_) | Event::Partial(_), Some(methods)) => methods.clear(),
                _ => (),
            }
        });
    }

    /// Ends the current matrix, or counts a matrix that was finished in an earlier run.
    pub fn end(&self) {
        self.update(|state, _| state.pace.end());
    }

    fn update(&self, change: impl FnOnce(&mut State, f64)) {
        let mut state = lock(&self.state);
        let now = state.clock.elapsed().as_secs_f64();
        change(&mut state, now);
    }

    /// Hides the bar while `write` runs.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Locks the state, even if another thread has panicked, because the state remains valid.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Returns the text of the display for a terminal with this size: the bar, its description and the methods.
    fn text(&self, rows: usize, columns: usize) -> String {
        let now = self.clock.elapsed().as_secs_f64();
        let done = ((self.pace.share(now) * BAR as f64) as usize).min(BAR);
        let bar = "█".repeat(done) + &"░".repeat(BAR - done);
        let words = format!("{bar} {}", self.pace.describe(now));
        let methods = self.methods.as_deref().unwrap_or_default();
        let most = rows.saturating_sub(FREE_LINES);
        let last = &methods[methods.len().saturating_sub(most)..];
        let lines = if last.is_empty() { Vec::new() } else { text::lines_of(last, columns) };
        let cut = |line: String| truncate_str(&shown(&line), columns.saturating_sub(1), "…").into_owned();
        std::iter::once(words).chain(lines).map(cut).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests;
