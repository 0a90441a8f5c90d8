//! The parent of a measuring child process: replaces the child when it has ended, and records its end as the result
//! of the method that was running.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use super::child::{LAST_GRACE, Running, TICK};
use super::wire::{Answer, Hello, send};
use crate::campaign::task::{Ended, Event, MatrixTask, Step};
use crate::record::MatrixReport;
use crate::record::facts::differences_to_join;
use crate::record::row::Status;
use crate::record::run::{RowKey, RunRecord};
use spmv_matrix::stats::Shape;

/// The time beyond a method's time limit in which a child may end the method itself.
const GRACE: Duration = Duration::from_secs(1);
/// The number of attempts with children that end before they are ready, or while no method is running.
const TRIES: usize = 4;

/// A child process, and the data to start another one.
pub struct Supervisor<'a> {
    program: PathBuf,
    hello: Hello,
    interrupted: &'a AtomicBool,
    running: Option<Running>,
    /// The run record of the first child.
    record: RunRecord,
}

/// The way in which a child's work on a task ended.
enum Finish {
    Done,
    Interrupted,
    Died(Ended),
}

impl<'a> Supervisor<'a> {
    /// Starts a child. Returns the supervisor and the run record that the child sends.
    ///
    /// # Errors
    /// Returns an error if the child cannot be started or refuses the command line.
    pub fn start(
        program: PathBuf,
        hello: Hello,
        interrupted: &'a AtomicBool,
    ) -> Result<(Self, RunRecord)> {
        let (running, record) = Running::start(&program, &hello, interrupted)?;
        let (hello, running) = (hello.again(), Some(running));
        Ok((Self { program, hello, interrupted, running, record: record.clone() }, record))
    }

    /// Returns whether the child has anything left to measure for a task.
    pub fn has_open(&self, task: &MatrixTask) -> bool {
        self.record.cells.iter().any(|cell| !task.is_done(cell))
    }

    /// Carries out a task with as many children as necessary. Returns whether it was interrupted.
    ///
    /// # Errors
    /// Returns an error if no child can be started.
    pub fn run(&mut self, mut task: MatrixTask, emit: &mut dyn FnMut(Event)) -> Result<bool> {
        let (mut watch, mut idle_ends) = (Watch::begin(), 0);
        loop {
            let end = match self.attempt(&mut task, &mut watch, emit)? {
                Finish::Done => return Ok(false),
                Finish::Interrupted => return Ok(true),
                Finish::Died(end) => end,
            };
            if watch.is_idle() && idle_ends < TRIES {
                // No method is the cause, so another child may succeed.
                idle_ends += 1;
                continue;
            }
            let known = task.ended.len();
            if let Some(step) = watch.step.as_ref().filter(|step| !step.is_of_matrix()) {
                let cells = self.record.cells.iter();
                let open = cells.filter(|cell| !task.is_done(cell) && task.end_of(cell).is_none());
                let concerned = open.filter(|cell| step.concerns(cell));
                let ended: Vec<_> = concerned.map(|cell| (cell.clone(), end.clone())).collect();
                task.ended.extend(ended);
            }
            if task.ended.len() == known {
                // No further progress is possible on this matrix.
                let (status, reason) = match end {
                    Ended::Failed(reason) => (Status::Failed, reason),
                    Ended::Timeout(reason) => (Status::Timeout, reason),
                };
                let (file, run_id) = (task.source.to_string(), &self.record.run_id);
                let report = MatrixReport::without_groups(file, run_id, status, reason);
                emit(Event::Matrix(Box::new(report)));
                return Ok(false);
            }
        }
    }

    /// Starts another child. Repeats this a few times if the system ends the child at once, for example for lack of
    /// memory, or if the child does not find the device of the first one.
    fn start_again(&self) -> Result<Running> {
        let started = || {
            let (running, record) = Running::start(&self.program, &self.hello, self.interrupted)?;
            let differing = differences_to_join(&self.record, &record).join("; ");
            let what = "a new child process differs from the first one";
            ensure!(differing.is_empty(), "{what} (first, new): {differing}");
            Ok(running)
        };
        let mut tries = 1;
        loop {
            match started() {
                Err(_) if tries < TRIES && !self.is_interrupted() => {
                    tries += 1;
                    std::thread::sleep(GRACE);
                }
                result => return result,
            }
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Lets one child work on a task. Records in the task which cells have rows afterwards.
    fn attempt(
        &mut self,
        task: &mut MatrixTask,
        watch: &mut Watch,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Finish> {
        let running = match self.running.take() {
            Some(running) => running,
            None => match self.start_again() {
                Err(_) if self.is_interrupted() => return Ok(Finish::Interrupted),
                started => started?,
            },
        };
        let (interrupted, timeout) = (self.interrupted, self.record.settings.timeout);
        let running = self.running.insert(running);
        // An error is ignored: if the child has ended, there will be no answers.
        let _ = send(&running.socket, task);
        *watch = Watch { was_read: watch.was_read, ..Watch::begin() };
        let mut asked = None::<Instant>;
        let finish = loop {
            let answer = running.answers.recv_timeout(TICK);
            watch.update();
            match answer {
                Ok(Answer::Event(event)) => {
                    watch.note(&event, task);
                    emit(event);
                    watch.updated = Instant::now();
                }
                Ok(Answer::Done) => return Ok(Finish::Done),
                Ok(Answer::Interrupted) if is_raised_soon(interrupted) => {
                    break Finish::Interrupted;
                }
                Ok(Answer::Interrupted) => {
                    let reason =
                        format!("the child process received a signal to end {}", watch.moment());
                    break Finish::Died(Ended::Failed(reason));
                }
                Ok(Answer::Lost(reason)) => break Finish::Died(Ended::Failed(reason)),
                Ok(Answer::Ready(_) | Answer::Refused(_)) => {
                    bail!("the child process sent a message that was not expected")
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let exit = running.exit_report();
                    let cause = exit.typical_cause();
                    let reason = format!("the child process {exit} {}{cause}", watch.moment());
                    break Finish::Died(Ended::Failed(reason));
                }
                // The time limit is checked only if no message from the child is waiting.
                Err(RecvTimeoutError::Timeout)
                    if watch.time_in_step() > timeout.saturating_add(GRACE) =>
                {
                    let (limit, moment) = (timeout.as_secs_f64(), watch.moment());
                    let reason = format!("did not end within the {limit} s of --timeout {moment}");
                    break Finish::Died(Ended::Timeout(reason));
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
            if interrupted.load(Ordering::Relaxed) {
                let asked = *asked.get_or_insert_with(|| running.interrupt());
                if asked.elapsed() > LAST_GRACE {
                    break Finish::Interrupted;
                }
            }
        };
        self.running = None;
        let is_complete = || self.record.cells.iter().all(|cell| task.is_done(cell));
        Ok(match finish {
            _ if asked.is_some() || self.is_interrupted() => Finish::Interrupted,
            _ if watch.is_over || is_complete() => Finish::Done,
            finish => finish,
        })
    }
}

/// Returns whether the parent is interrupted within a short time, as happens if a signal is sent to both processes.
fn is_raised_soon(interrupted: &AtomicBool) -> bool {
    let begun = Instant::now();
    while !interrupted.load(Ordering::Relaxed) && begun.elapsed() < GRACE {
        std::thread::sleep(TICK / 10);
    }
    interrupted.load(Ordering::Relaxed)
}

/// The progress of a child with a task.
struct Watch {
    /// The current step; `None` between methods.
    step: Option<Step>,
    /// The time of the last update.
    updated: Instant,
    /// The time spent in the current step until the last update.
    at: Duration,
    /// The time of the previous turns of each method.
    spent: HashMap<RowKey, Duration>,
    /// Whether the matrix has ended without running methods.
    is_over: bool,
    /// Whether this child or an earlier one has read the matrix.
    was_read: bool,
}

impl Watch {
    fn begin() -> Self {
        let (step, updated) = (Some(Step::Load), Instant::now());
        let (at, spent) = (Duration::ZERO, HashMap::new());
        Self { step, updated, at, spent, is_over: false, was_read: false }
    }

    /// Adds the time since the last update, except time for which this process was suspended.
    fn update(&mut self) {
        self.at += self.updated.elapsed().min(GRACE);
        self.updated = Instant::now();
    }

    /// Updates the progress after an event from the child.
    fn note(&mut self, event: &Event, task: &mut MatrixTask) {
        match event {
            Event::Step(next) => {
                if let Some(Step::Method(cell, _)) = self.step.replace(next.clone()) {
                    *self.spent.entry(cell).or_default() += self.at;
                }
            }
            // The current step does not change.
            Event::Final(_) | Event::Partial(_) => return,
            Event::Group(group) => {
                task.done.extend(group.timed());
                self.step = None;
            }
            Event::Matrix(report) => {
                self.is_over = report.ended.is_some();
                self.was_read |= !self.is_over;
                let shape = report.facts.shape.as_ref();
                task.sizes = task.sizes.or(shape.map(Shape::sizes));
            }
        }
        self.at = Duration::ZERO;
    }

    /// Returns the time that the child has spent in this step, including all turns of the method.
    fn time_in_step(&self) -> Duration {
        let before = match &self.step {
            Some(Step::Method(cell, _)) => self.spent.get(cell).copied().unwrap_or_default(),
            _ => Duration::ZERO,
        };
        before + self.at
    }

    /// Returns whether neither a method nor the matrix is the cause if the child ends now.
    fn is_idle(&self) -> bool {
        self.step.as_ref().is_none_or(|step| self.was_read && step.is_of_matrix())
    }

    /// Describes the current step for a message.
    fn moment(&self) -> String {
        let step = self.step.as_ref();
        step.map_or_else(|| "between methods".into(), |step| format!("while {}", step.describe()))
    }
}
