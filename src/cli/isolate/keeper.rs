//! The parent: keeps a child that measures, replaces it when it ends, and turns its end into a result
//! of what it was at.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::wire::{Answer, Hello, receive, send};
use crate::cli::task::{Ended, Event, Step, Task};
use crate::record::MatrixReport;
use crate::record::row::Status;
use crate::record::run::{Cell, RunRecord};

/// How often the parent looks whether time is up.
const TICK: Duration = Duration::from_millis(100);
/// What a child gets to end by itself: beyond a method's time, and after an interruption.
const GRACE: Duration = Duration::from_secs(1);
const LAST_GRACE: Duration = Duration::from_secs(10);

/// How often a child is started that ends before it has begun.
const STARTS: usize = 4;

/// A child, and what it takes to make another.
pub struct Keeper<'a> {
    program: PathBuf,
    hello: Hello,
    interrupted: &'a AtomicBool,
    running: Option<Running>,
    run_id: String,
    cells: Vec<Cell>,
    timeout: Duration,
}

struct Running {
    process: Child,
    socket: UnixStream,
    answers: Receiver<Answer>,
}

/// How a child's work on a task ended.
enum Finish {
    Done,
    Interrupted,
    Died(Step, Ended),
}

impl<'a> Keeper<'a> {
    /// Starts a child; what it says of the run.
    ///
    /// # Errors
    /// When there is no child, or it refuses the command line.
    pub fn start(
        program: PathBuf,
        hello: Hello,
        interrupted: &'a AtomicBool,
    ) -> Result<(Self, RunRecord)> {
        let (running, record) = Running::start(&program, &hello)?;
        let hello = hello.again();
        let (run_id, cells) = (record.run_id.clone(), record.cells.clone());
        let timeout = record.settings.timeout;
        let running = Some(running);
        Ok((Self { program, hello, interrupted, running, run_id, cells, timeout }, record))
    }

    /// Carries out a task, in as many children as it takes; whether it was interrupted.
    ///
    /// # Errors
    /// When no child can be started.
    pub fn run(&mut self, mut task: Task, tell: &mut dyn FnMut(Event)) -> Result<bool> {
        loop {
            let (step, end) = match self.attempt(&mut task, tell)? {
                Finish::Done => return Ok(false),
                Finish::Interrupted => return Ok(true),
                Finish::Died(step, end) => (step, end),
            };
            let known = task.ended.len();
            if !step.is_of_matrix() {
                let is_open =
                    |cell: &&Cell| !task.done.contains(cell) && task.end_of(cell).is_none();
                let concerned =
                    self.cells.iter().filter(|cell| step.concerns(cell)).filter(is_open);
                let ended: Vec<_> = concerned.map(|cell| (cell.clone(), end.clone())).collect();
                task.ended.extend(ended);
            }
            if task.ended.len() == known {
                // Nothing of this matrix can be had.
                let (status, reason) = match end {
                    Ended::Failed(reason) => (Status::Failed, reason),
                    Ended::Timeout(reason) => (Status::Timeout, reason),
                };
                let file = task.source.to_string();
                let report = MatrixReport::without_groups(file, &self.run_id, status, reason);
                tell(Event::Matrix(Box::new(report)));
                return Ok(false);
            }
        }
    }

    /// Another child; one that the system ends at once, as when memory is short, is not the last word.
    fn start_again(&self) -> Result<Running> {
        let started = || Running::start(&self.program, &self.hello);
        let mut tries = 1;
        loop {
            match started() {
                Ok((running, _)) => return Ok(running),
                Err(_) if tries < STARTS && !self.interrupted.load(Ordering::Relaxed) => {
                    tries += 1;
                    std::thread::sleep(GRACE);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// One child's work on a task. What has rows afterwards is noted in the task.
    fn attempt(&mut self, task: &mut Task, tell: &mut dyn FnMut(Event)) -> Result<Finish> {
        let running = match self.running.take() {
            Some(running) => running,
            None => self.start_again()?,
        };
        let running = self.running.insert(running);
        // If the child has ended meanwhile, there will be no answers.
        let _ = send(&running.socket, task);
        let (mut step, mut since) = (Step::Load, Instant::now());
        let (mut spent, mut interrupted) = (HashMap::<Cell, Duration>::new(), None::<Instant>);
        let finish = loop {
            match running.answers.recv_timeout(TICK) {
                Ok(Answer::Told(Event::Step(next))) => {
                    if let Step::Method(cell) = step {
                        *spent.entry(cell).or_default() += since.elapsed();
                    }
                    (step, since) = (next, Instant::now());
                }
                Ok(Answer::Told(event)) => {
                    if let Event::Group(group) = &event {
                        task.done.extend(group.cells());
                    }
                    tell(event);
                }
                Ok(Answer::Done) => return Ok(Finish::Done),
                Ok(Answer::Interrupted) => return Ok(Finish::Interrupted),
                Ok(Answer::Lost(reason)) => break Finish::Died(step, Ended::Failed(reason)),
                Ok(Answer::Ready(_) | Answer::Refused(_)) => bail!("a child spoke out of turn"),
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = describe(running.process.wait()?, &step);
                    break Finish::Died(step, Ended::Failed(reason));
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
            if self.interrupted.load(Ordering::Relaxed) {
                let asked = *interrupted.get_or_insert_with(|| running.interrupt());
                if asked.elapsed() > LAST_GRACE {
                    break Finish::Interrupted;
                }
            }
            let before = match &step {
                Step::Method(cell) => spent.get(cell).copied().unwrap_or_default(),
                _ => Duration::ZERO,
            };
            if (before + since.elapsed()).saturating_sub(GRACE) > self.timeout {
                let limit = self.timeout.as_secs_f64();
                let reason =
                    format!("did not end within --timeout {limit} while {}", step.describe());
                break Finish::Died(step, Ended::Timeout(reason));
            }
        };
        self.running = None;
        let interrupted = interrupted.is_some() || self.interrupted.load(Ordering::Relaxed);
        Ok(if interrupted { Finish::Interrupted } else { finish })
    }
}

impl Running {
    fn start(program: &PathBuf, hello: &Hello) -> Result<(Self, RunRecord)> {
        let (socket, theirs) = UnixStream::pair()?;
        let process = Command::new(program)
            .arg0("spmv-bench")
            .arg("worker")
            .stdin(OwnedFd::from(theirs))
            .stdout(io::stderr()) // some libraries print there
            .spawn()
            .with_context(|| format!("cannot start {} to measure in", program.display()))?;
        let (sender, answers) = channel();
        let from = socket.try_clone()?;
        std::thread::spawn(move || {
            while receive(&from).is_ok_and(|answer: Answer| sender.send(answer).is_ok()) {}
        });
        let mut running = Self { process, socket, answers };
        // A child that has ended already does not answer.
        let _ = send(&running.socket, hello);
        match running.answers.recv() {
            Ok(Answer::Ready(record)) => Ok((running, *record)),
            Ok(Answer::Refused(reason)) => bail!(reason),
            _ => {
                let status = running.process.wait()?;
                bail!("the process to measure in ended before it began: {}", fate(status));
            }
        }
    }

    /// Asks the child to stop; when that was.
    fn interrupt(&self) -> Instant {
        // It may have ended.
        let _ = kill(Pid::from_raw(self.process.id() as i32), Signal::SIGINT);
        Instant::now()
    }
}

impl Drop for Running {
    /// A child that is not at work is ended without loss, and one that is was given up.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Why there is no result of a step.
fn describe(status: ExitStatus, step: &Step) -> String {
    let of_memory = [Signal::SIGKILL, Signal::SIGABRT].map(|signal| signal as i32);
    let cause = match status.signal() {
        Some(signal) if of_memory.contains(&signal) => ", as when memory runs out",
        _ => "",
    };
    format!("the process {} while {}{cause}", fate(status), step.describe())
}

fn fate(status: ExitStatus) -> String {
    match status.signal() {
        None => format!("exited with status {}", status.code().unwrap_or_default()),
        Some(signal) => {
            let name = Signal::try_from(signal).map_or("unknown", Signal::as_str);
            format!("was ended by signal {signal} ({name})")
        }
    }
}
