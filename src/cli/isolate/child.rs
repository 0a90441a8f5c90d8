//! A child process that measures, as its parent has it.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::wire::{Answer, Hello, receive, send};
use crate::record::run::RunRecord;

/// How often the parent looks up while it waits.
pub const TICK: Duration = Duration::from_millis(100);
/// What a child gets to end by itself after an interruption, or when it was killed.
pub const LAST_GRACE: Duration = Duration::from_secs(10);
/// What it gets to be ready in, with its libraries and devices, and to measure bandwidth.
const START: Duration = Duration::from_secs(600);

/// The exit status of a child that finds no memory.
pub const OUT_OF_MEMORY: i32 = 12;

/// An end that was asked for, and when that was.
#[derive(Debug, thiserror::Error)]
#[error("interrupted {0}")]
pub struct Interrupted(pub &'static str);

/// A child that is ready, or at work.
pub struct Running {
    process: Child,
    pub socket: UnixStream,
    pub answers: Receiver<Answer>,
}

impl Running {
    /// Starts a child, and waits until it is ready; what it says of the run.
    ///
    /// # Errors
    /// When there is none, it refuses the command line, or the parent is interrupted.
    pub fn start(
        program: &Path,
        hello: &Hello,
        interrupted: &AtomicBool,
    ) -> Result<(Self, RunRecord)> {
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
        let listen = move || {
            while receive(&from).is_ok_and(|answer: Answer| sender.send(answer).is_ok()) {}
        };
        let listening = std::thread::Builder::new().spawn(listen);
        listening.context("cannot start a thread")?;
        let mut running = Self { process, socket, answers };
        // A child that has ended already does not answer.
        let _ = send(&running.socket, hello);
        let begun = Instant::now();
        loop {
            match running.answers.recv_timeout(TICK) {
                Ok(Answer::Ready(record)) => return Ok((running, *record)),
                Ok(Answer::Refused(reason)) => bail!(reason),
                Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                    bail!(Interrupted("before the process to measure in was ready"))
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < START => (),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the process to measure in is not ready after {} s", START.as_secs())
                }
                _ => bail!("the process to measure in ended before it began: {}", running.fate()),
            }
        }
    }

    /// How the child ended, which answers no more.
    pub fn fate(&mut self) -> Fate {
        Fate(self.ended())
    }

    /// Waits for the child's end, but not for ever: one that is stuck in a driver does not even end when it
    /// is killed.
    fn ended(&mut self) -> Option<ExitStatus> {
        let begun = Instant::now();
        let mut pause = Duration::from_micros(100);
        while begun.elapsed() < LAST_GRACE {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Some(status);
            }
            std::thread::sleep(pause);
            pause = TICK.min(2 * pause);
        }
        None
    }

    /// Asks the child to stop; when that was.
    pub fn interrupt(&self) -> Instant {
        // It may have ended.
        let _ = kill(Pid::from_raw(self.process.id() as i32), Signal::SIGINT);
        Instant::now()
    }
}

impl Drop for Running {
    /// A child that is not at work is ended without loss, and one that is was given up.
    fn drop(&mut self) {
        let _ = self.process.kill();
        self.ended();
    }
}

/// How a process ended; `None` when it is still there.
pub struct Fate(Option<ExitStatus>);

impl Fate {
    fn signal(&self) -> Option<i32> {
        self.0?.signal()
    }

    /// Whether processes end so when memory is short.
    pub fn is_of_memory(&self) -> bool {
        let signals = [Signal::SIGKILL, Signal::SIGABRT];
        signals.iter().any(|&signal| self.signal() == Some(signal as i32))
            || self.0.and_then(|status| status.code()) == Some(OUT_OF_MEMORY)
    }
}

impl fmt::Display for Fate {
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
