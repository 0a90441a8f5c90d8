//! Progress on the terminal: how much of the work is done, how long the rest takes, and what is at hand; of a
//! single matrix also what became of each method so far.

mod course;
pub mod estimate;
mod pace;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use console::{Term, truncate_str};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::task::Event;
use crate::bench::plan::Settings;
use crate::matrix::source::Source;
use crate::record::row::Row;
use crate::record::run::RowKey;
use crate::record::text;
use crate::terminal::shown;
use estimate::{Estimate, entries};
use pace::Pace;

/// Characters of the bar.
const BAR: usize = 24;
/// Lines of the terminal that methods leave free.
const FREE: usize = 4;

/// A matrix, the bytes of its file, and how many of its methods are open.
pub type Work<'s> = (&'s Source, u64, usize);

/// A bar on stderr, or nothing where that is no terminal.
pub struct Progress(Option<Drawn>);

#[derive(Clone)]
struct Drawn {
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
}

struct State {
    pace: Pace,
    clock: Instant,
    /// What became of methods whose group is not complete, if that is shown.
    methods: Option<Vec<Row>>,
}

impl Progress {
    /// Of many matrices.
    pub fn of_many(works: &[Work], settings: &Settings, visible: bool) -> Self {
        Self::new(works, settings, visible, None)
    }

    /// Of one matrix, with what becomes of its methods.
    pub fn of_one(work: Work, settings: &Settings, visible: bool) -> Self {
        Self::new(&[work], settings, visible, Some(Vec::new()))
    }

    fn new(works: &[Work], settings: &Settings, visible: bool, methods: Option<Vec<Row>>) -> Self {
        if !visible {
            return Self(None);
        }
        let open = works.iter().filter(|work| work.2 > 0);
        let seconds = |&(source, bytes, methods): &Work| {
            Estimate::of(entries(source, bytes), settings).seconds(methods)
        };
        let pace = Pace::new(settings.clone(), works.len(), open.map(seconds).sum());
        let state = Arc::new(Mutex::new(State { pace, clock: Instant::now(), methods }));
        let words = state.clone();
        let write = move |_: &ProgressState, to: &mut dyn fmt::Write| {
            let (rows, columns) = Term::stderr().size();
            // A line that cannot be drawn is drawn at the next time.
            let _ = to.write_str(&lock(&words).text(rows.into(), columns.into()));
        };
        let style = ProgressStyle::with_template("{words}").expect("a valid template");
        let bar = ProgressBar::new_spinner().with_style(style.with_key("words", write));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self(Some(Drawn { bar, state }))
    }

    /// A matrix begins, of which these cells are open.
    pub fn begin(&self, source: &Source, bytes: u64, cells: Vec<RowKey>) {
        self.update(|pace, now| {
            pace.begin(source.to_string(), entries(source, bytes), cells, now);
        });
    }

    /// Shows what is told of the matrix.
    pub fn note(&self, event: &Event) {
        self.update(|pace, now| pace.note(event, now));
        if let Some(drawn) = &self.0
            && let Some(methods) = &mut lock(&drawn.state).methods
        {
            match event {
                Event::Final(row) => methods.push((**row).clone()),
                Event::Group(_) | Event::Partial(_) => methods.clear(),
                Event::Step(_) | Event::Matrix(_) => (),
            }
        }
    }

    /// The matrix at hand is done, or one that was done before.
    pub fn end(&self) {
        self.update(Pace::end);
    }

    fn update(&self, change: impl FnOnce(&mut Pace, f64)) {
        let Some(Drawn { state, .. }) = &self.0 else { return };
        let mut state = lock(state);
        let now = state.clock.elapsed().as_secs_f64();
        change(&mut state.pace, now);
    }

    /// Runs `write` while nothing is drawn.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(drawn) => drawn.bar.suspend(write),
            None => write(),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(drawn) = &self.0 {
            drawn.bar.finish_and_clear();
        }
    }
}

/// What a thread that panicked has left is as good as before.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// The bar, what stands behind it and below, on a terminal of so many rows and columns.
    fn text(&self, rows: usize, columns: usize) -> String {
        let now = self.clock.elapsed().as_secs_f64();
        let done = ((self.pace.share(now) * BAR as f64) as usize).min(BAR);
        let bar = "█".repeat(done) + &"░".repeat(BAR - done);
        let words = format!("{bar} {}", self.pace.describe(now));
        let methods = self.methods.as_deref().unwrap_or_default();
        let most = rows.saturating_sub(FREE);
        let last = &methods[methods.len().saturating_sub(most)..];
        let lines = if last.is_empty() { Vec::new() } else { text::lines_of(last) };
        let cut =
            |line: String| truncate_str(&shown(&line), columns.saturating_sub(1), "…").into_owned();
        std::iter::once(words).chain(lines).map(cut).collect::<Vec<_>>().join("\n")
    }
}
