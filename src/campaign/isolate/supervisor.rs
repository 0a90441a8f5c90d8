//! The parent of a measuring child process: replaces the child when it has ended, and records its end as the result
//! of the method that was running.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use anyhow::{Error, Result, ensure};

use super::child::{NotReady, Refused, Running, TICK};
use super::decide::{Answer, Consequence, Next, Sight, TRIES, consequence, next};
use super::process::Process;
use super::watch::{Finish, GRACE, Watch};
use super::wire::{Hello, Received, send};
use crate::bench::event::{Event, Step};
use crate::bench::outcome::Outcome;
use crate::campaign::collect::Collector;
use crate::campaign::work::{MatrixTask, Part, Work};
use spmv_methods::method::Device;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::{Row, RowKey, Status};
use spmv_results::run::RunRecord;
use spmv_results::run::facts::differences_to_join;

pub struct Supervisor<'a> {
    program: PathBuf,
    hello: Hello,
    interrupted: &'a AtomicBool,
    running: Option<Running<Event>>,
    pub process: Process,
    /// The record that the first child has sent, or should send.
    pub record: RunRecord,
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

impl<'a> Supervisor<'a> {
    /// Starts a child. Returns an error if it cannot be started or refuses the command line.
    pub fn start(program: PathBuf, mut hello: Hello, interrupted: &'a AtomicBool, process: Process) -> Result<Self> {
        let (running, record) = Running::start(&program, &hello, interrupted)?;
        // This is for a child that replaces the first one.
        hello.plan.run.quiet = true;
        hello.plan.bandwidth = false;
        Ok(Self { program, hello, interrupted, running: Some(running), process, record })
    }

    /// Returns a process for methods of the CPU, whose child starts when it is needed. `main` is the one that measures
    /// the rest.
    pub fn helper(main: &Self, hello: Hello, process: Process) -> Self {
        let record = main.record.clone();
        let is_on_host = |cell: &RowKey| cell.device == Device::Cpu;
        let cells = record.cells.iter().filter(|cell| is_on_host(cell)).cloned().collect();
        Self {
            program: main.program.clone(),
            hello,
            interrupted: main.interrupted,
            running: None,
            process,
            record: RunRecord { cells, gpu: None, ..record },
        }
    }

    /// Lets another child take the place of this one.
    pub fn replace(&mut self) {
        self.running = None;
    }

    /// Measures a part of the run on a matrix with as many children as necessary. Cells that processes before have not
    /// measured correctly keep these `bad` rows. `is_read`: one of those has read the matrix. Returns an error if no
    /// child can be started.
    pub fn run(
        &mut self,
        work: &Work,
        mut part: Part,
        bad: &[Row],
        is_read: bool,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Finish> {
        let record = self.record.clone();
        let mut collector = Collector::new(&record, &work.existing, bad).only(&part.cells);
        let report = |groups: Vec<Group>, emit: &mut dyn FnMut(Event)| {
            groups.into_iter().for_each(|group| emit(Event::Group(Box::new(group))));
        };
        report(collector.settle(), emit);
        let mut watch = Watch::begin(is_read, false);
        let mut ends_without_cause = 0;
        while !collector.open().is_empty() {
            part.cells = collector.open();
            let task = collector.task(work, part.clone());
            let end = match self.attempt(&task, &mut collector, &mut watch, emit)? {
                Attempt::Over(finish) => return Ok(finish),
                Attempt::Impossible(end) => return Ok(self.give_up(work, end, emit)),
                Attempt::Ended(end) => end,
            };
            collector.forget_pending();
            // It is not known which of the methods in a duel is the cause. Without it that will show.
            part.has_duel &= !matches!(watch.step, Some(Step::Duel(_)));
            match consequence(&watch, collector.open(), ends_without_cause) {
                Consequence::Again => ends_without_cause += 1,
                Consequence::EndCells(cells) => report(collector.end(&cells, &end), emit),
                Consequence::GiveUp => return Ok(self.give_up(work, end, emit)),
            }
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
            let sight = Sight {
                answer: seen(&answer, running),
                has_other_connection: running.has_other_connection(),
                asked: asked.map(|asked| asked.elapsed()),
            };
            match next(&sight, watch, collector, self.record.settings.timeout) {
                Next::Wait => (),
                Next::TakeIfInterrupted if !self.shares_interrupt() => (),
                Next::Take | Next::TakeIfInterrupted => {
                    if let Ok(Ok(received)) = answer {
                        take(received, collector, watch, emit);
                    }
                }
                Next::Done => return None,
                Next::AskHow => {
                    let (end, cause) = running.end();
                    return Some(watch.failed(&end, cause));
                }
                Next::Interrupted => {
                    self.shares_interrupt();
                    watch.is_harmless = true;
                    return Some(watch.failed("received a signal to end", ""));
                }
                Next::End(end) => return Some(end),
            }
            if self.is_interrupted() {
                asked.get_or_insert_with(|| running.interrupt());
            }
        }
    }
}

/// Returns what a child has sent, or what it does while it sends nothing.
fn seen<'e>(
    answer: &'e Result<Result<Received<Event>, String>, RecvTimeoutError>,
    running: &mut Running<Event>,
) -> Answer<'e> {
    match answer {
        Ok(Ok(Received { message, lag })) => Answer::Event(message, *lag),
        Ok(Err(what)) => Answer::Invalid(what),
        Err(RecvTimeoutError::Disconnected) => Answer::Ended,
        // A process that it has started may keep the connection open.
        Err(RecvTimeoutError::Timeout) if running.has_ended() => Answer::Ended,
        Err(RecvTimeoutError::Timeout) if running.has_too_many_processes() => Answer::TooManyProcesses,
        Err(RecvTimeoutError::Timeout) => Answer::Silence,
    }
}

/// Keeps an event, and passes it on.
fn take(
    Received { message: mut event, lag }: Received<Event>,
    collector: &mut Collector,
    watch: &mut Watch,
    emit: &mut dyn FnMut(Event),
) {
    watch.note(&mut event, lag);
    collector.take(&mut event);
    emit(event);
    watch.updated = Instant::now();
}

/// Whether a child that was started has said, or shown, that it cannot measure.
fn is_of_child(error: &Error) -> bool {
    error.is::<NotReady>() || error.is::<Refused>()
}
