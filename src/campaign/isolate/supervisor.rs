//! The parent of a measuring child process: replaces the child when it has ended, and records its end as the result
//! of the method that was running.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, ensure};

use super::child::{LAST_GRACE, NotReady, Refused, Running, TICK};
use super::watch::Watch;
use super::wire::{Hello, Received, send};
use crate::bench::event::{Event, Step};
use crate::bench::execute::Stopped;
use crate::bench::outcome::Outcome;
use crate::campaign::Work;
use crate::campaign::collect::{Collector, MatrixTask};
use spmv_methods::method::Device;
use spmv_results::matrix::MatrixReport;
use spmv_results::row::{Row, RowKey, Status};
use spmv_results::run::RunRecord;
use spmv_results::run::facts::differences_to_join;

/// The time beyond a method's time limit in which a child may end the method itself.
pub const GRACE: Duration = Duration::from_secs(1);
/// The number of attempts with children that end before they are ready, or while no method is running.
const TRIES: usize = 4;

pub struct Supervisor<'a> {
    program: PathBuf,
    hello: Hello,
    interrupted: &'a AtomicBool,
    running: Option<Running<Event>>,
    /// The record that the first child has sent, or should send.
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

/// What came of letting a child measure a matrix.
enum Attempt {
    /// The work on the matrix has ended.
    Over(Finish),
    /// The child has ended before that.
    Ended(Outcome),
    /// No child measures, on whatever matrix.
    Impossible(Outcome),
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
    /// Whether another process has read the matrix.
    pub is_read: bool,
}

impl<'a> Supervisor<'a> {
    /// Starts a child. Returns an error if it cannot be started or refuses the command line.
    pub fn start(program: PathBuf, mut hello: Hello, interrupted: &'a AtomicBool) -> Result<Self> {
        let (running, record) = Running::start(&program, &hello, interrupted)?;
        // This is for a child that replaces the first one.
        (hello.plan.run.quiet, hello.plan.bandwidth) = (true, false);
        Ok(Self { program, hello, interrupted, running: Some(running), record })
    }

    /// Returns a process for methods of the CPU whose child starts when it is needed. `record` is that of a process
    /// with the same settings.
    pub fn later(
        program: PathBuf,
        hello: Hello,
        interrupted: &'a AtomicBool,
        record: &RunRecord,
    ) -> Self {
        let is_on_host = |cell: &&RowKey| cell.device == Device::Cpu;
        let cells = record.cells.iter().filter(is_on_host).cloned().collect();
        let settings = hello.plan.run.settings.clone();
        let record = RunRecord { cells, settings, gpu: None, ..record.clone() };
        Self { program, hello, interrupted, running: None, record }
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
        let (mut watch, mut idle_ends) = (Watch::begin(share.is_read, false), 0);
        while !collector.open().is_empty() {
            let task = collector.task(work, share.duelists);
            let end = match self.attempt(&task, &mut collector, &mut watch, emit)? {
                Attempt::Over(finish) => return Ok(finish),
                Attempt::Impossible(end) => return Ok(self.give_up(work, end, emit)),
                Attempt::Ended(end) => end,
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
            let step = watch.step.as_ref().filter(|_| !watch.is_of_matrix());
            let mut concerned = collector.open();
            concerned.retain(|cell| step.is_some_and(|step| step.concerns(cell)));
            if concerned.is_empty() {
                return Ok(self.give_up(work, end, emit));
            }
            let groups = collector.end(&concerned, &end).into_iter();
            groups.for_each(|group| emit(Event::Group(Box::new(group))));
        }
        Ok(Finish::Done)
    }

    /// Reports why a matrix is not measured any further.
    fn give_up(&self, work: &Work, end: Outcome, emit: &mut dyn FnMut(Event)) -> Finish {
        let (source, run_id) = (work.source.to_string(), &self.record.run_id);
        let report = MatrixReport::without_groups(source, run_id, end.status, end.reason);
        emit(Event::Matrix(Box::new(report)));
        Finish::NotMeasured
    }

    /// Starts another child. Repeats this a few times if the system ends the child at once, for example for lack of
    /// memory, or if the child does not find the device of the first one.
    fn start_again(&self) -> Result<Running<Event>> {
        let started = || {
            let (running, record) = Running::start(&self.program, &self.hello, self.interrupted)?;
            let differing = differences_to_join(&self.record, &record).join("; ");
            let what = "a new child process differs from the first one (first, new)";
            ensure!(differing.is_empty(), Refused(format!("{what}: {differing}")));
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

    /// Lets one child measure the open cells.
    fn attempt(
        &mut self,
        task: &MatrixTask,
        collector: &mut Collector,
        watch: &mut Watch,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Attempt> {
        let mut running = match self.running.take().map_or_else(|| self.start_again(), Ok) {
            Err(_) if self.is_interrupted() => return Ok(Attempt::Over(Finish::Interrupted)),
            Err(error) if is_of_child(&error) => {
                return Ok(Attempt::Impossible(Outcome::new(Status::Failed, format!("{error:#}"))));
            }
            running => running?,
        };
        running.wake();
        // An error is ignored: if the child has ended, there will be no answers.
        let _ = send(&running.socket, task);
        *watch = Watch::begin(watch.is_harmless, running.is_used);
        let Some(end) = self.observe(&mut running, collector, watch, emit) else {
            running.is_used = true;
            self.running = Some(running);
            return Ok(Attempt::Over(watch.finish()));
        };
        Ok(if self.is_interrupted() {
            Attempt::Over(Finish::Interrupted)
        } else if watch.is_over || collector.is_complete() {
            Attempt::Over(watch.finish())
        } else {
            Attempt::Ended(end)
        })
    }

    /// Takes what a child says until its task is done; returns `None` then. Otherwise returns how it has ended, or why
    /// it must end.
    fn observe(
        &self,
        running: &mut Running<Event>,
        collector: &mut Collector,
        watch: &mut Watch,
        emit: &mut dyn FnMut(Event),
    ) -> Option<Outcome> {
        let mut asked = None::<Instant>;
        loop {
            let answer = running.messages.recv_timeout(TICK);
            watch.update(running.was_stopped());
            let next = match answer {
                _ if watch.is_in_method() && running.has_other_connection() => {
                    ControlFlow::Break(Some(watch.failed("has replaced its connection", "")))
                }
                Ok(Ok(received)) => self.take(received, collector, watch, emit),
                Ok(Err(invalid)) => ControlFlow::Break(Some(watch.failed(&invalid, ""))),
                Err(RecvTimeoutError::Disconnected) => {
                    ControlFlow::Break(Some(ended(running, watch)))
                }
                // The time limit is checked only if no message from the child is waiting.
                Err(RecvTimeoutError::Timeout) => self.judge_silence(running, watch),
            };
            if let ControlFlow::Break(end) = next {
                return end;
            }
            if self.is_interrupted() {
                let asked = *asked.get_or_insert_with(|| running.interrupt());
                if asked.elapsed() > LAST_GRACE {
                    return Some(watch.failed("does not answer", ""));
                }
            }
        }
    }

    /// Takes an event, unless it must be a forgery.
    fn take(
        &self,
        received: Received<Event>,
        collector: &mut Collector,
        watch: &mut Watch,
        emit: &mut dyn FnMut(Event),
    ) -> ControlFlow<Option<Outcome>> {
        if watch.is_of_another_clock(received.lag) {
            let lag = received.lag.as_secs_f64();
            let what = format!("tells a time that is {lag:.1} s from that of the system");
            return ControlFlow::Break(Some(watch.failed(&what, "")));
        }
        if let Some(what) = watch.forgery(&received.message, collector) {
            return ControlFlow::Break(Some(watch.failed(what, "")));
        }
        match received.message {
            Event::Partial(_) if !self.shares_interrupt() => (),
            Event::End(Ok(())) => return ControlFlow::Break(None),
            Event::End(Err(Stopped::Lost { reason, .. })) => {
                return ControlFlow::Break(Some(Outcome::new(Status::Failed, reason)));
            }
            Event::End(Err(Stopped::Interrupted)) => {
                self.shares_interrupt();
                // A method of the matrix before may have sent the signal.
                watch.is_harmless = true;
                return ControlFlow::Break(Some(watch.failed("received a signal to end", "")));
            }
            mut event => {
                watch.note(&mut event);
                collector.take(&mut event);
                emit(event);
                watch.updated = Instant::now();
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the end of a child that sends nothing, if it has one.
    fn judge_silence(
        &self,
        running: &mut Running<Event>,
        watch: &Watch,
    ) -> ControlFlow<Option<Outcome>> {
        let end = match () {
            // A process that it has started may keep the connection open.
            () if running.has_ended() => Some(ended(running, watch)),
            () if running.has_too_many_processes() => {
                Some(watch.failed("started too many processes", ""))
            }
            () => watch.overdue(self.record.settings.timeout),
        };
        end.map_or(ControlFlow::Continue(()), |end| ControlFlow::Break(Some(end)))
    }
}

/// Returns how a child has ended.
fn ended(running: &mut Running<Event>, watch: &Watch) -> Outcome {
    let (end, cause) = running.end();
    watch.failed(&end, cause)
}

/// Whether a child that was started has said, or shown, that it cannot measure.
fn is_of_child(error: &Error) -> bool {
    error.is::<NotReady>() || error.is::<Refused>()
}
