//! Progress bars on a terminal: one for each running download and one for the total.

use std::collections::HashMap;
use std::sync::Mutex;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::collection::fetch::Step;
use crate::collection::fetch::plan::WantedMatrix;
use crate::record::terminal::shown;

const BAR: &str =
    "{bar:24} {decimal_bytes}/{decimal_total_bytes}, {decimal_bytes_per_sec}: {wide_msg}";
const TOTAL: &str = "{bar:24} {pos} of {len} matrices, {elapsed}";

/// The progress bars of the downloads and of all matrices together.
pub struct Progress<'t> {
    tasks: &'t [&'t WantedMatrix],
    bars: MultiProgress,
    total: ProgressBar,
    running: Mutex<HashMap<usize, ProgressBar>>,
}

impl<'t> Progress<'t> {
    /// Creates the bars for these tasks on stderr. They are hidden unless `visible`.
    pub fn new(tasks: &'t [&'t WantedMatrix], visible: bool) -> Self {
        let target = match visible {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bars = MultiProgress::with_draw_target(target);
        let total = bars.add(ProgressBar::new(tasks.len() as u64).with_style(style(TOTAL)));
        Self { tasks, bars, total, running: Mutex::default() }
    }

    /// Draws a step. It is called by the worker threads.
    pub fn step(&self, step: Step) {
        let mut running = self.running.lock().expect("no job panics while it draws");
        match step {
            Step::At(number, bytes, total) => {
                let bar = running.entry(number).or_insert_with(|| self.bar(number, bytes));
                bar.set_length(total.unwrap_or(bytes).max(bytes));
                bar.set_position(bytes);
            }
            Step::Unpacking(number) => {
                if let Some(bar) = running.get(&number) {
                    bar.set_message(format!("{}, unpacking", shown(&self.tasks[number].matrix.id)));
                }
            }
            Step::Ended(number) => {
                if let Some(bar) = running.remove(&number) {
                    bar.finish_and_clear();
                }
                self.total.inc(1);
            }
        }
    }

    /// Hides the bars while `write` runs.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bars.suspend(write)
    }

    /// Removes all progress bars from the terminal.
    pub fn end(&self) {
        self.total.finish_and_clear();
    }

    fn bar(&self, number: usize, bytes: u64) -> ProgressBar {
        let bar = ProgressBar::no_length().with_style(style(BAR)).with_position(bytes);
        let bar = self.bars.insert_before(&self.total, bar);
        bar.set_message(shown(&self.tasks[number].matrix.id).into_owned());
        // The bytes of an earlier run must not count for the speed of this run.
        bar.reset_eta();
        bar
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a valid template")
}
