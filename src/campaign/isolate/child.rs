//! A child process that measures, from the view of its parent.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::connection::End;
use super::wire::{Broken, Hello, Received, receive, send};
use crate::bench::event::Event;
use spmv_matrix::cache;
use spmv_matrix::system::huge;
use spmv_matrix::system::processes::{self, explained};
use spmv_results::run::RunRecord;
use spmv_results::settings::Pages;

/// The interval at which a waiting parent checks for interrupts and time limits.
pub const TICK: Duration = Duration::from_millis(100);
/// The time that a child has to end after an interrupt or a kill signal.
pub const LAST_GRACE: Duration = Duration::from_secs(10);
/// The time limit for starting a child, which opens libraries and devices and measures the bandwidth.
const START: Duration = Duration::from_secs(600);

/// The number of processes that a child may start.
const MOST_PROCESSES: usize = 64;
/// The numbers of the children that run, and of those that this process had before.
static OWN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The signal by which a child is asked to end. It is not that of a terminal, which a script may have told the program
/// to ignore.
pub const REQUEST_TO_CHILD: Signal = Signal::SIGTERM;

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

/// Why a child refuses to measure, or is refused by its parent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Variables of the environment.
type Variables = Vec<(&'static str, OsString)>;

pub struct Running<M> {
    process: Child,
    /// The folder in which its plug-ins may keep files.
    place: Option<TempDir>,
    /// Whether it has measured a matrix.
    pub is_used: bool,
    /// The child's end of the socket, and its descriptor when the child is ready.
    theirs: Option<End>,
    descriptor: Option<PathBuf>,
    pub socket: UnixStream,
    pub messages: Receiver<Result<Received<M>, String>>,
}

/// Why a child sends nothing.
enum Silence {
    Interrupted,
    TooSlow,
    Ended,
    /// What it did instead.
    Invalid(String),
}

impl Running<Event> {
    /// Starts a child, and waits until it is ready. Returns it with the run record that it sends.
    pub fn start(program: &Path, hello: &Hello, interrupted: &AtomicBool) -> Result<(Self, RunRecord)> {
        let is_huge = hello.plan.run.settings.pages == Pages::Huge;
        let tunables = is_huge.then(huge::tunables).flatten();
        let mut variables: Variables = tunables.map(|it| (huge::VARIABLE, it.into())).into_iter().collect();
        let place = (!hello.added.is_empty()).then(tempfile::tempdir).transpose()?;
        variables.extend(place.iter().flat_map(|place| of_place(place.path())));
        let mut running = Self::spawn(program, &["worker"], variables)?;
        running.place = place;
        running.await_descriptor();
        // An error is ignored: if the child has already ended, there will be no answer.
        let _ = send(&running.socket, hello);
        match running.next(START, interrupted) {
            Ok(Event::Ready(Ok(record))) => Ok((running, *record)),
            Ok(Event::Ready(Err(reason))) => bail!(Refused(reason)),
            Err(Silence::Interrupted) => {
                bail!(Interrupted("before the child process that measures was ready"))
            }
            Err(Silence::TooSlow) => {
                bail!(NotReady(format!("was not ready after {} s", START.as_secs())))
            }
            Err(Silence::Invalid(what)) => bail!(NotReady(what)),
            _ => bail!(NotReady(format!("ended before it was ready: it {}", running.end().0))),
        }
    }

    /// Waits until the child, which no code of plug-ins is in yet, has its own descriptor of the connection.
    fn await_descriptor(&mut self) {
        let begun = Instant::now();
        while self.descriptor.is_none() && !self.has_ended() && begun.elapsed() < LAST_GRACE {
            std::thread::sleep(Duration::from_micros(200));
            self.descriptor = self.theirs.as_ref().and_then(|end| end.in_child(self.process.id()));
        }
    }
}

impl<M: DeserializeOwned + Send + 'static> Running<M> {
    /// Starts this program with these arguments and variables of the environment. Its standard input is connected to
    /// the socket.
    fn spawn(program: &Path, words: &[&str], variables: Variables) -> Result<Self> {
        let mut own = OWN.lock().unwrap();
        if own.is_empty() {
            // A shell that has become this process may have started some.
            own.extend(processes::children(std::process::id()));
        }
        // Processes that a child leaves behind become children of this process. Without this right they stay.
        let _ = set_child_subreaper(true);
        let (socket, theirs) = UnixStream::pair()?;
        let end = End::of(&theirs);
        let process = Command::new(program)
            .arg0("spmv-bench")
            .args(words)
            .envs(variables)
            .stdin(OwnedFd::from(theirs))
            .stdout(io::stderr()) // some libraries print there
            .spawn()
            .map_err(explained)
            .with_context(|| format!("cannot start {} in a child process", program.display()))?;
        own.insert(process.id());
        drop(own);
        let (sender, messages) = channel();
        let from = socket.try_clone()?;
        let running = Self { process, place: None, is_used: false, theirs: end, descriptor: None, socket, messages };
        let listening = std::thread::Builder::new();
        let listening = listening.spawn(move || pass_on(&from, &sender)).map_err(explained);
        listening.context("cannot start the thread that listens to a child process")?;
        Ok(running)
    }

    fn next(&mut self, limit: Duration, interrupted: &AtomicBool) -> Result<M, Silence> {
        let begun = Instant::now();
        while !interrupted.load(Ordering::Relaxed) {
            let had_ended = self.has_ended();
            match self.messages.recv_timeout(TICK.min(limit)) {
                Ok(Ok(received)) => return Ok(received.message),
                Ok(Err(what)) => return Err(Silence::Invalid(what)),
                Err(RecvTimeoutError::Disconnected) => return Err(Silence::Ended),
                // A process that it has started may keep the connection open.
                Err(RecvTimeoutError::Timeout) if had_ended => return Err(Silence::Ended),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < limit => (),
                Err(RecvTimeoutError::Timeout) => return Err(Silence::TooSlow),
            }
        }
        Err(Silence::Interrupted)
    }
}

impl<M> Running<M> {
    /// Waits for the end of the child for a limited time: one that is stuck in a driver ends not even when it is
    /// killed. Returns how it has ended, and as the end of a sentence what typically causes that, if anything is
    /// typical.
    pub fn end(&mut self) -> (String, &'static str) {
        let begun = Instant::now();
        let mut pause = Duration::from_micros(100);
        while begun.elapsed() < LAST_GRACE {
            if let Ok(Some(status)) = self.process.try_wait() {
                return described(status);
            }
            std::thread::sleep(pause);
            pause = TICK.min(2 * pause);
        }
        ("does not answer".into(), "")
    }

    pub fn has_ended(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(Some(_)))
    }

    /// Returns whether the child has started more processes than any library does, as a loop of forks would.
    pub fn has_too_many_processes(&self) -> bool {
        processes::children(self.process.id()).len() > MOST_PROCESSES
    }

    /// Returns whether a signal has stopped the child since the last call, even if it goes on by now.
    pub fn was_stopped(&self) -> bool {
        let kinds = WaitPidFlag::WSTOPPED | WaitPidFlag::WCONTINUED | WaitPidFlag::WNOHANG;
        let status = waitid(Id::Pid(Pid::from_raw(self.process.id() as i32)), kinds);
        matches!(status, Ok(WaitStatus::Stopped(..) | WaitStatus::Continued(_)))
    }

    /// Returns whether the child no longer holds its end of the connection where it did when it was ready.
    pub fn has_other_connection(&self) -> bool {
        let known = self.theirs.as_ref().zip(self.descriptor.as_ref());
        known.is_some_and(|(end, descriptor)| end.is_replaced(descriptor))
    }

    /// Lets the child go on if a signal has stopped it while it had nothing to do.
    pub fn wake(&self) {
        let _ = kill(Pid::from_raw(self.process.id() as i32), Signal::SIGCONT);
    }

    /// Asks the child to end. Returns the current time.
    pub fn interrupt(&self) -> Instant {
        // An error is ignored, because the child may have ended.
        let _ = kill(Pid::from_raw(self.process.id() as i32), REQUEST_TO_CHILD);
        Instant::now()
    }
}

impl<M> Drop for Running<M> {
    /// Kills the child, which has ended, is idle, or has exceeded a time limit, and all processes that it has started.
    fn drop(&mut self) {
        let number = self.process.id();
        if !self.has_ended() {
            processes::kill_trees(vec![number]);
        }
        self.end();
        let mut own = OWN.lock().unwrap();
        own.remove(&number);
        processes::kill_orphans(&own);
    }
}

/// Passes on what arrives until the sender has ended, or sends what is no message.
fn pass_on<M: DeserializeOwned>(from: &UnixStream, to: &Sender<Result<Received<M>, String>>) {
    loop {
        let next = match receive(from) {
            Ok(received) => Ok(received),
            Err(Broken::Ended) => return,
            Err(invalid) => Err(invalid.to_string()),
        };
        let is_last = next.is_err();
        if to.send(next).is_err() || is_last {
            return;
        }
    }
}

/// Returns the variables with which libraries keep their files in a folder that is empty and belongs to one process:
/// what a plug-in has computed in one must not spare it the setup in another. The program keeps its own cache.
fn of_place(folder: &Path) -> Variables {
    let own = cache::of_user().map(|folder| (cache::VARIABLE, folder.into()));
    let moved = ["HOME", "XDG_CACHE_HOME", "TMPDIR"].map(|name| (name, folder.into()));
    own.into_iter().chain(moved).collect()
}

fn described(status: ExitStatus) -> (String, &'static str) {
    let memory = ", as when memory runs out";
    let Some(number) = status.signal() else {
        let status = status.code().unwrap_or_default();
        let cause = if status == OUT_OF_MEMORY { memory } else { "" };
        return (format!("exited with status {status}"), cause);
    };
    let signal = Signal::try_from(number);
    let cause = match signal {
        Ok(Signal::SIGABRT) => ", as when memory runs out or after an uncaught C++ exception",
        Ok(Signal::SIGKILL) => memory,
        _ => "",
    };
    let name = signal.map_or("unknown", Signal::as_str);
    (format!("was ended by signal {number} ({name})"), cause)
}

/// Starts a child with these arguments and returns the single message that it sends.
pub fn ask<M>(program: &Path, words: &[&str], limit: Duration) -> Result<M>
where
    M: DeserializeOwned + Send + 'static,
{
    listen(program, words, limit, &AtomicBool::new(false), Some)
}

/// Starts a child with these arguments and passes each message that it sends to `take`, until that returns a result.
/// `limit` is the longest time to wait for a message.
pub fn listen<M: DeserializeOwned + Send + 'static, R>(
    program: &Path,
    words: &[&str],
    limit: Duration,
    interrupted: &AtomicBool,
    mut take: impl FnMut(M) -> Option<R>,
) -> Result<R> {
    let mut running = Running::spawn(program, words, Variables::new())?;
    loop {
        match running.next(limit, interrupted) {
            Ok(message) => {
                if let Some(result) = take(message) {
                    return Ok(result);
                }
            }
            Err(Silence::Interrupted) => {
                bail!("the child process was not awaited after an interrupt")
            }
            Err(Silence::TooSlow) => {
                bail!("the child process did not answer within {} s", limit.as_secs_f64())
            }
            Err(Silence::Invalid(what)) => bail!("the child process {what}"),
            Err(Silence::Ended) => {
                let (end, cause) = running.end();
                bail!("the child process {end}{cause}")
            }
        }
    }
}
