//! A child process that measures, from the view of its parent.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::de::DeserializeOwned;

use super::wire::{Answer, Hello, receive, send};
use crate::record::run::RunRecord;
use spmv_matrix::system::processes::explained;

/// The interval at which a waiting parent checks for interrupts and time limits.
pub const TICK: Duration = Duration::from_millis(100);
/// The time that a child has to end after an interrupt or a kill signal.
pub const LAST_GRACE: Duration = Duration::from_secs(10);
/// The time limit for starting a child, which opens libraries and devices and measures the bandwidth.
const START: Duration = Duration::from_secs(600);

/// The exit status of a child that runs out of memory.
pub const OUT_OF_MEMORY: i32 = 12;

/// The error of an interrupted command, with the moment of the interrupt in words.
#[derive(Debug, thiserror::Error)]
#[error("interrupted {0}")]
pub struct Interrupted(pub &'static str);

/// The error of a child that ends, or does not answer, before it is ready to measure.
#[derive(Debug, thiserror::Error)]
#[error("the child process that measures {0}")]
pub struct NotReady(String);

pub struct Running {
    process: Child,
    pub socket: UnixStream,
    pub answers: Receiver<Answer>,
}

impl Running {
    /// Starts a child, and waits until it is ready. Returns it with the run record that it sends.
    pub fn start(
        program: &Path,
        hello: &Hello,
        interrupted: &AtomicBool,
    ) -> Result<(Self, RunRecord)> {
        let (process, socket) = spawn(program, &["worker"])?;
        let (sender, answers) = channel();
        let from = socket.try_clone()?;
        let listen = move || {
            while receive(&from).is_ok_and(|answer: Answer| sender.send(answer).is_ok()) {}
        };
        let mut running = Self { process, socket, answers };
        let listening = std::thread::Builder::new().spawn(listen).map_err(explained);
        listening.context("cannot start the thread that listens to a child process")?;
        // An error is ignored: if the child has already ended, there will be no answer.
        let _ = send(&running.socket, hello);
        let begun = Instant::now();
        loop {
            match running.answers.recv_timeout(TICK) {
                Ok(Answer::Ready(record)) => return Ok((running, *record)),
                Ok(Answer::Refused(reason)) => bail!(reason),
                Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                    bail!(Interrupted("before the child process that measures was ready"))
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < START => (),
                Err(RecvTimeoutError::Timeout) => {
                    bail!(NotReady(format!("was not ready after {} s", START.as_secs())))
                }
                _ => {
                    let exit = running.exit_report();
                    bail!(NotReady(format!("ended before it was ready: it {exit}")))
                }
            }
        }
    }

    /// Returns how the child ended, after it has closed its connection.
    pub fn exit_report(&mut self) -> ExitReport {
        exit_report(&mut self.process)
    }

    /// Sends an interrupt to the child. Returns the current time.
    pub fn interrupt(&self) -> Instant {
        // An error is ignored, because the child may have ended.
        let _ = kill(Pid::from_raw(self.process.id() as i32), Signal::SIGINT);
        Instant::now()
    }
}

impl Drop for Running {
    /// Kills the child. It is either idle, or it has exceeded a time limit.
    fn drop(&mut self) {
        let _ = self.process.kill();
        self.exit_report();
    }
}

/// Starts this program with these arguments. Returns it with the socket that is connected to its standard input.
fn spawn(program: &Path, words: &[&str]) -> Result<(Child, UnixStream)> {
    let (socket, theirs) = UnixStream::pair()?;
    let process = Command::new(program)
        .arg0("spmv-bench")
        .args(words)
        .stdin(OwnedFd::from(theirs))
        .stdout(io::stderr()) // some libraries print there
        .spawn()
        .map_err(explained)
        .with_context(|| format!("cannot start {} in a child process", program.display()))?;
    Ok((process, socket))
}

/// Starts a child with these arguments and returns the single message that it sends.
pub fn ask<M: DeserializeOwned>(program: &Path, words: &[&str], limit: Duration) -> Result<M> {
    listen(program, words, limit, &AtomicBool::new(false), Some)
}

/// Starts a child with these arguments and passes each message that it sends to `take`, until that returns a result.
pub fn listen<M: DeserializeOwned, R>(
    program: &Path,
    words: &[&str],
    limit: Duration,
    interrupted: &AtomicBool,
    mut take: impl FnMut(M) -> Option<R>,
) -> Result<R> {
    let (mut process, socket) = spawn(program, words)?;
    socket.set_read_timeout(Some(limit))?;
    let result = loop {
        if !has_news(&socket, limit, interrupted) {
            break Err(true);
        }
        match receive(&socket).map(&mut take) {
            Ok(None) => (),
            Ok(Some(result)) => break Ok(result),
            Err(error) => break Err(error.kind() == io::ErrorKind::WouldBlock),
        }
    };
    if result.as_ref().map_or_else(|&is_late| is_late, |_| true) {
        let _ = process.kill();
    }
    let exit = exit_report(&mut process);
    let is_interrupted = interrupted.load(Ordering::Relaxed);
    result.map_err(|is_late| match is_late {
        true if is_interrupted => anyhow!("the child process was not awaited after an interrupt"),
        true => anyhow!("the child process did not answer within {} s", limit.as_secs_f64()),
        false => anyhow!("the child process {exit}{}", exit.typical_cause()),
    })
}

/// Waits until a child has sent something or has ended. Returns whether that happened within `limit` and before an interrupt.
fn has_news(socket: &UnixStream, limit: Duration, interrupted: &AtomicBool) -> bool {
    let begun = Instant::now();
    let mut sockets = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    while begun.elapsed() < limit && !interrupted.load(Ordering::Relaxed) {
        let pause = PollTimeout::try_from(TICK.min(limit)).unwrap_or(PollTimeout::ZERO);
        if poll(&mut sockets, pause).is_ok_and(|ready| ready > 0) {
            return true;
        }
    }
    false
}

/// Waits for the end of a child for a limited time: one that is stuck in a driver ends not even when it is killed.
fn exit_report(process: &mut Child) -> ExitReport {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(100);
    while begun.elapsed() < LAST_GRACE {
        if let Ok(Some(status)) = process.try_wait() {
            return ExitReport(Some(status));
        }
        std::thread::sleep(pause);
        pause = TICK.min(2 * pause);
    }
    ExitReport(None)
}

/// The exit status of a process; `None` if it has not ended.
pub struct ExitReport(Option<ExitStatus>);

impl ExitReport {
    fn signal(&self) -> Option<i32> {
        self.0?.signal()
    }

    /// Returns what typically causes this kind of exit, as the end of a sentence; empty for other kinds.
    pub fn typical_cause(&self) -> &'static str {
        let is = |signal: Signal| self.signal() == Some(signal as i32);
        let status = self.0.and_then(|status| status.code());
        match () {
            () if is(Signal::SIGABRT) => {
                ", as when memory runs out or after an uncaught C++ exception"
            }
            () if is(Signal::SIGKILL) || status == Some(OUT_OF_MEMORY) => {
                ", as when memory runs out"
            }
            () => "",
        }
    }
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.signal()) {
            (None, _) => f.write_str("does not answer"),
            (Some(status), None) => {
                write!(f, "exited with status {}", status.code().unwrap_or_default())
            }
            (Some(_), Some(signal)) => {
                let name = Signal::try_from(signal).map_or("unknown", Signal::as_str);
                write!(f, "was ended by signal {signal} ({name})")
            }
        }
    }
}
