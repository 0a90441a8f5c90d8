//! The parent of a measuring child process: replaces the child when it has ended, and records its end as the result
//! of the method that was running.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use super::child::{LAST_GRACE, Running, TICK};
use super::wire::{Hello, send};
use crate::bench::event::{Event, Step};
use crate::bench::execute::Stopped;
use crate::bench::outcome::Outcome;
use crate::campaign::Work;
use crate::campaign::collect::{Collector, MatrixTask};
use spmv_results::matrix::MatrixReport;
use spmv_results::row::{Row, RowKey, Status};
use spmv_results::run::RunRecord;
use spmv_results::run::facts::differences_to_join;

/// The time beyond a method's time limit in which a child may end the method itself.
const GRACE: Duration = Duration::from_secs(1);
/// The number of attempts with children that end before they are ready, or while no method is running.
const TRIES: usize = 4;

pub struct Supervisor<'a> {
    program: PathBuf,
    hello: Hello,
    interrupted: &'a AtomicBool,
    running: Option<Running<Event>>,
    /// The record that the first child has sent.
    pub record: RunRecord,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finish {
    /// Every cell has a row.
    Done,
    /// The matrix has a row with the reason why it is not measured.
    NotMeasured,
    Interrupted,
}

/// What one of several processes measures on a matrix.
#[derive(Clone, Copy, Default)]
pub struct Share<'a> {
    /// The rows of cells that are not measured, because a process before has ended them.
    pub bad: &'a [Row],
    /// The cells that are measured; `None`: all.
    pub only: Option<&'a [RowKey]>,
    /// See [`MatrixTask`](crate::campaign::collect::MatrixTask).
    pub duelists: &'a [RowKey],
}

impl<'a> Supervisor<'a> {
    /// Starts a child. Returns an error if it cannot be started or refuses the command line.
    pub fn start(program: PathBuf, mut hello: Hello, interrupted: &'a AtomicBool) -> Result<Self> {
        let (running, record) = Running::start(&program, &hello, interrupted)?;
        // This is for a child that replaces the first one.
        (hello.plan.run.quiet, hello.plan.bandwidth) = (true, false);
        Ok(Self { program, hello, interrupted, running: Some(running), record })
    }

    /// Returns the rounds before this process and its own.
    pub fn rounds(&self) -> Option<[usize; 2]> {
        self.hello.plan.run.settings.share
    }

    /// Lets another child take the place of this one, with these rounds.
    pub fn replace(&mut self, rounds: Option<[usize; 2]>) {
        self.hello.plan.run.settings.share = rounds;
        self.running = None;
    }

    /// Measures a share of the cells of a matrix with as many children as necessary. Returns an error if no child can
    /// be started.
    pub fn run(
        &mut self,
        work: &Work,
        share: Share,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Finish> {
        if !self.hello.plan.run.settings.duel {
            // A matrix before had none, because a child ended in it.
            self.hello.plan.run.settings.duel = true;
            self.running = None;
        }
        let record = self.record.clone();
        let collector = Collector::new(&record, work.existing, share.bad);
        let mut collector = match share.only {
            Some(cells) => collector.only(cells),
            None => collector,
        };
        collector.settle().into_iter().for_each(|group| emit(Event::Group(Box::new(group))));
        let (mut watch, mut idle_ends) = (Watch::begin(), 0);
        while !collector.open().is_empty() {
            let end = match self.attempt(
                &collector.task(work, share.duelists),
                &mut collector,
                &mut watch,
                emit,
            )? {
                Ok(finish) => return Ok(finish),
                Err(end) => end,
            };
            collector.forget_pending();
            if matches!(watch.step, Some(Step::Duel(_))) {
                // It is not known which of the methods is the cause. Without a duel that will show.
                self.hello.plan.run.settings.duel = false;
            }
            if watch.is_idle() && idle_ends < TRIES {
                // No method is the cause, so another child may succeed.
                idle_ends += 1;
                continue;
            }
            let step = watch.step.as_ref().filter(|step| !step.is_of_matrix());
            let mut concerned = collector.open();
            concerned.retain(|cell| step.is_some_and(|step| step.concerns(cell)));
            if concerned.is_empty() {
                // No further progress is possible on this matrix.
                emit(Event::Matrix(Box::new(MatrixReport::without_groups(
                    work.source.to_string(),
                    &record.run_id,
                    end.status,
                    end.reason,
                ))));
                return Ok(Finish::NotMeasured);
            }
            let groups = collector.end(&concerned, &end).into_iter();
            groups.for_each(|group| emit(Event::Group(Box::new(group))));
        }
        Ok(Finish::Done)
    }

    /// Starts another child. Repeats this a few times if the system ends the child at once, for example for lack of
    /// memory, or if the child does not find the device of the first one.
    fn start_again(&self) -> Result<Running<Event>> {
        let started = || {
            let (running, record) = Running::start(&self.program, &self.hello, self.interrupted)?;
            let differing = differences_to_join(&self.record, &record).join("; ");
            let what = "a new child process differs from the first one";
            ensure!(differing.is_empty(), "{what} (first, new): {differing}");
            Ok(running)
        };
        for _ in 1..TRIES {
            match started() {
                Err(_) if !self.is_interrupted() => std::thread::sleep(GRACE),
                result => return result,
            }
        }
        started()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Returns whether this process is interrupted like the child, for which it waits a short time: a signal may be
    /// sent to both. A method may also have interrupted the child alone.
    fn shares_interrupt(&self) -> bool {
        let begun = Instant::now();
        while !self.is_interrupted() && begun.elapsed() < GRACE {
            std::thread::sleep(TICK / 10);
        }
        self.is_interrupted()
    }

    /// Lets one child measure the open cells. Returns how the work on the matrix ended, or else how the child did.
    fn attempt(
        &mut self,
        task: &MatrixTask,
        collector: &mut Collector,
        watch: &mut Watch,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Result<Finish, Outcome>> {
        let mut running = match self.running.take().map_or_else(|| self.start_again(), Ok) {
            Err(_) if self.is_interrupted() => return Ok(Ok(Finish::Interrupted)),
            running => running?,
        };
        // An error is ignored: if the child has ended, there will be no answers.
        let _ = send(&running.socket, task);
        *watch = Watch { is_harmless: watch.is_harmless, ..Watch::begin() };
        let mut asked = None::<Instant>;
        let end = loop {
            let answer = running.messages.recv_timeout(TICK);
            watch.update();
            match answer {
                Ok(Event::Partial(_)) if !self.shares_interrupt() => (),
                Ok(Event::End(Ok(()))) if watch.is_over || collector.is_complete() => {
                    self.running = Some(running);
                    return Ok(Ok(watch.finish()));
                }
                // The message is not that of this program.
                Ok(Event::End(Ok(()))) => break watch.failed("reported its end", ""),
                Ok(Event::End(Err(Stopped::Lost { reason, .. }))) => {
                    break Outcome::new(Status::Failed, reason);
                }
                Ok(Event::End(Err(Stopped::Interrupted))) => {
                    self.shares_interrupt();
                    // A method of the matrix before may have sent the signal.
                    watch.is_harmless = true;
                    break watch.failed("received a signal to end", "");
                }
                Ok(Event::Ready(_)) => {
                    bail!("the child process sent a message that was not expected")
                }
                Ok(mut event) => {
                    collector.take(&mut event);
                    watch.note(&event);
                    emit(event);
                    watch.updated = Instant::now();
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let (end, cause) = running.end();
                    break watch.failed(&end, cause);
                }
                // The time limit is checked only if no message from the child is waiting.
                Err(RecvTimeoutError::Timeout) => {
                    // A process that it has started may keep the connection open.
                    if running.has_ended() {
                        let (end, cause) = running.end();
                        break watch.failed(&end, cause);
                    }
                    if running.has_too_many_processes() {
                        break watch.failed("started too many processes", "");
                    }
                    if let Some(end) = watch.overdue(self.record.settings.timeout) {
                        break end;
                    }
                }
            }
            if self.is_interrupted() {
                let asked = *asked.get_or_insert_with(|| running.interrupt());
                if asked.elapsed() > LAST_GRACE {
                    return Ok(Ok(Finish::Interrupted));
                }
            }
        };
        Ok(match () {
            () if self.is_interrupted() => Ok(Finish::Interrupted),
            () if watch.is_over || collector.is_complete() => Ok(watch.finish()),
            () => Err(end),
        })
    }
}

struct Watch {
    /// The current step; `None` between methods.
    step: Option<Step>,
    updated: Instant,
    /// The time spent in the current step until the last update.
    at: Duration,
    /// The time of the previous turns of each method.
    spent: HashMap<RowKey, Duration>,
    /// Whether the matrix has ended without running methods.
    is_over: bool,
    /// Whether the matrix is not the cause if the child ends: it was read before, or the child was only interrupted.
    is_harmless: bool,
}

impl Watch {
    fn begin() -> Self {
        let (step, updated) = (Some(Step::Load), Instant::now());
        let (at, spent) = (Duration::ZERO, HashMap::new());
        Self { step, updated, at, spent, is_over: false, is_harmless: false }
    }

    /// Adds the time since the last update, except time for which this process was suspended.
    fn update(&mut self) {
        self.at += self.updated.elapsed().min(GRACE);
        self.updated = Instant::now();
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::Step(next) => {
                if let Some(Step::Method(cell, _)) = self.step.replace(next.clone()) {
                    *self.spent.entry(cell).or_default() += self.at;
                }
            }
            Event::Group(_) => self.step = None,
            Event::Matrix(report) => {
                self.is_over = report.ended.is_some();
                self.is_harmless |= !self.is_over;
            }
            // The current step does not change.
            _ => return,
        }
        self.at = Duration::ZERO;
    }

    /// Returns how the work on the matrix has ended if it has.
    fn finish(&self) -> Finish {
        if self.is_over { Finish::NotMeasured } else { Finish::Done }
    }

    /// Returns the end of a child after its time limit.
    fn overdue(&self, timeout: Duration) -> Option<Outcome> {
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
    fn failed(&self, what: &str, cause: &str) -> Outcome {
        let reason = format!("the child process {what} {}{cause}", self.moment());
        Outcome::new(Status::Failed, reason)
    }

    /// Returns whether neither a method nor the matrix is the cause if the child ends now.
    fn is_idle(&self) -> bool {
        match &self.step {
            None | Some(Step::Duel(_)) => true,
            Some(step) => self.is_harmless && step.is_of_matrix(),
        }
    }

    fn moment(&self) -> String {
        let step = self.step.as_ref();
        step.map_or_else(|| "between methods".into(), |step| format!("while {}", step.describe()))
    }
}
