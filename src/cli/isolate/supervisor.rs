//! The parent: keeps a child that measures, replaces it when it ends, and turns its end into a result
//! of what it was at.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use super::child::{LAST_GRACE, Running, TICK};
use super::wire::{Answer, Hello, send};
use crate::cli::corpus::same::differences;
use crate::cli::task::{Ended, Event, MatrixTask, Step};
use crate::record::MatrixReport;
use crate::record::row::{Shape, Status};
use crate::record::run::{RowKey, RunRecord};

/// What a child gets beyond a method's time to end it by itself.
const GRACE: Duration = Duration::from_secs(1);
/// How often a child is tried again that ends before it has begun, or with nothing at hand.
const TRIES: usize = 4;

/// A child, and what it takes to make another.
pub struct Supervisor<'a> {
    program: PathBuf,
    hello: Hello,
    interrupted: &'a AtomicBool,
    running: Option<Running>,
    /// What the first child said of the run.
    record: RunRecord,
}

/// How a child's work on a task ended.
enum Finish {
    Done,
    Interrupted,
    Died(Ended),
}

impl<'a> Supervisor<'a> {
    /// Starts a child; what it says of the run.
    ///
    /// # Errors
    /// When there is no child, or it refuses the command line.
    pub fn start(
        program: PathBuf,
        hello: Hello,
        interrupted: &'a AtomicBool,
    ) -> Result<(Self, RunRecord)> {
        let (running, record) = Running::start(&program, &hello, interrupted)?;
        let (hello, running) = (hello.again(), Some(running));
        Ok((Self { program, hello, interrupted, running, record: record.clone() }, record))
    }

    /// Whether it has something of a task to measure.
    pub fn has_open(&self, task: &MatrixTask) -> bool {
        self.record.cells.iter().any(|cell| !task.is_done(cell))
    }

    /// Carries out a task, in as many children as it takes; whether it was interrupted.
    ///
    /// # Errors
    /// When no child can be started.
    pub fn run(&mut self, mut task: MatrixTask, tell: &mut dyn FnMut(Event)) -> Result<bool> {
        let (mut watch, mut idle_ends) = (Watch::begin(), 0);
        loop {
            let end = match self.attempt(&mut task, &mut watch, tell)? {
                Finish::Done => return Ok(false),
                Finish::Interrupted => return Ok(true),
                Finish::Died(end) => end,
            };
            if watch.is_idle() && idle_ends < TRIES {
                // Another may come further.
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
                // Nothing more of this matrix can be had.
                let (status, reason) = match end {
                    Ended::Failed(reason) => (Status::Failed, reason),
                    Ended::Timeout(reason) => (Status::Timeout, reason),
                };
                let (file, run_id) = (task.source.to_string(), &self.record.run_id);
                let report = MatrixReport::without_groups(file, run_id, status, reason);
                tell(Event::Matrix(Box::new(report)));
                return Ok(false);
            }
        }
    }

    /// Another child; one that the system ends at once, as when memory is short, is not the last word, nor
    /// is one without the device that the first had.
    fn start_again(&self) -> Result<Running> {
        let started = || {
            let (running, record) = Running::start(&self.program, &self.hello, self.interrupted)?;
            let differing = differences(&self.record, &record).join("; ");
            let what = "a new child process does not find what the first one found";
            ensure!(differing.is_empty(), "{what} (then, now): {differing}");
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

    /// One child's work on a task. What has rows afterwards is noted in the task.
    fn attempt(
        &mut self,
        task: &mut MatrixTask,
        watch: &mut Watch,
        tell: &mut dyn FnMut(Event),
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
        // If the child has ended meanwhile, there will be no answers.
        let _ = send(&running.socket, task);
        *watch = Watch { was_read: watch.was_read, ..Watch::begin() };
        let mut asked = None::<Instant>;
        let finish = loop {
            let answer = running.answers.recv_timeout(TICK);
            watch.look();
            match answer {
                Ok(Answer::Told(event)) => {
                    watch.note(&event, task);
                    tell(event);
                    watch.looked = Instant::now();
                }
                Ok(Answer::Done) => return Ok(Finish::Done),
                Ok(Answer::Interrupted) if is_raised_soon(interrupted) => {
                    break Finish::Interrupted;
                }
                Ok(Answer::Interrupted) => {
                    let reason = format!("the child process was told to end {}", watch.moment());
                    break Finish::Died(Ended::Failed(reason));
                }
                Ok(Answer::Lost(reason)) => break Finish::Died(Ended::Failed(reason)),
                Ok(Answer::Ready(_) | Answer::Refused(_)) => {
                    bail!("the child process sent a message that was not expected")
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let exit = running.exit_report();
                    let cause = if exit.is_of_memory() { ", as when memory runs out" } else { "" };
                    let reason = format!("the child process {exit} {}{cause}", watch.moment());
                    break Finish::Died(Ended::Failed(reason));
                }
                // Only what it has said nothing for.
                Err(RecvTimeoutError::Timeout) if watch.at_it() > timeout.saturating_add(GRACE) => {
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

/// Whether the parent is interrupted too, as it is when a signal goes to both.
fn is_raised_soon(interrupted: &AtomicBool) -> bool {
    let begun = Instant::now();
    while !interrupted.load(Ordering::Relaxed) && begun.elapsed() < GRACE {
        std::thread::sleep(TICK / 10);
    }
    interrupted.load(Ordering::Relaxed)
}

/// How far a child is with a task.
struct Watch {
    /// None between methods.
    step: Option<Step>,
    /// When the parent last looked, and how long the child has been at the step by then.
    looked: Instant,
    at: Duration,
    /// The turns that methods have had.
    spent: HashMap<RowKey, Duration>,
    /// Whether there will be no methods.
    is_over: bool,
    /// Whether this child or one before it has read the matrix.
    was_read: bool,
}

impl Watch {
    fn begin() -> Self {
        let (step, looked) = (Some(Step::Load), Instant::now());
        let (at, spent) = (Duration::ZERO, HashMap::new());
        Self { step, looked, at, spent, is_over: false, was_read: false }
    }

    /// Counts the time since the last look, but not what this process was stopped for.
    fn look(&mut self) {
        self.at += self.looked.elapsed().min(GRACE);
        self.looked = Instant::now();
    }

    /// Takes in what the child has told.
    fn note(&mut self, event: &Event, task: &mut MatrixTask) {
        match event {
            Event::Step(next) => {
                if let Some(Step::Method(cell, _)) = self.step.replace(next.clone()) {
                    *self.spent.entry(cell).or_default() += self.at;
                }
            }
            // The step stays what the child is at, or what it was at when it was told to end.
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

    /// How long the child has been at this step, with all turns of a method.
    fn at_it(&self) -> Duration {
        let before = match &self.step {
            Some(Step::Method(cell, _)) => self.spent.get(cell).copied().unwrap_or_default(),
            _ => Duration::ZERO,
        };
        before + self.at
    }

    /// Whether no method is at fault when the child ends, nor the matrix.
    fn is_idle(&self) -> bool {
        self.step.as_ref().is_none_or(|step| self.was_read && step.is_of_matrix())
    }

    /// In words, when something ended.
    fn moment(&self) -> String {
        let step = self.step.as_ref();
        step.map_or_else(|| "between methods".into(), |step| format!("while {}", step.describe()))
    }
}
