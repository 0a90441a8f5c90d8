//! The messages between the program and a child process. They are sent over a pair of sockets, one of which is the
//! child's standard input.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::campaign::answers::Answers;
use crate::campaign::plan::Plan;
use spmv_methods::added;

/// The first message to the child, which configures it. The child answers with `Event::Ready`. Then it gets one
/// `MatrixTask` at a time, and sends events until its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    pub plan: Plan,
    pub run_id: String,
    pub gpus: Answers,
    /// The plug-ins and `.cu` files whose methods the child adds.
    pub added: Vec<PathBuf>,
    pub parent: u32,
}

impl Hello {
    pub fn new(plan: Plan, run_id: String, gpus: Answers) -> Self {
        let added = added::paths().to_vec();
        Self { plan, run_id, gpus, added, parent: std::process::id() }
    }
}

/// The bytes of the longest message that this program takes. A file of all samples has the longest ones.
const LONGEST: u64 = 256 << 20;

/// A message that has arrived.
pub struct Received<M> {
    pub message: M,
    /// How far the clock of the sender, when it sent the message, differs from that of this process.
    pub lag: Duration,
}

/// Why no further message arrives.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// It has ended, perhaps in the middle of a message.
    #[error("the other side has ended")]
    Ended,
    #[error("sent a message that is none of this program: {0}")]
    Invalid(String),
}

/// Sends a message, preceded by its length in bytes and the time of the system's clock in nanoseconds.
pub fn send(to: impl Write, message: &impl Serialize) -> io::Result<()> {
    send_at(now(), to, message)
}

/// Sends a message that tells this time.
pub fn send_at(now: Duration, mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 16];
    ciborium::into_writer(message, &mut bytes).map_err(io::Error::other)?;
    let length = bytes.len() as u64 - 16;
    bytes[..8].copy_from_slice(&length.to_le_bytes());
    bytes[8..16].copy_from_slice(&(now.as_nanos() as u64).to_le_bytes());
    to.write_all(&bytes)
}

/// Returns the connection of this process, a child, to its parent. The child ends when the parent ends.
pub fn to_parent() -> Result<UnixStream> {
    set_pdeathsig(Signal::SIGKILL)?;
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Sends the single message of this process, a child, to its parent.
pub fn send_to_parent(message: &impl Serialize) -> Result<()> {
    Ok(send(to_parent()?, message)?)
}

/// Receives the next message.
pub fn receive<M: DeserializeOwned>(mut from: impl Read) -> Result<Received<M>, Broken> {
    let [length, sent] = [number(&mut from)?, number(&mut from)?];
    if length > LONGEST {
        return Err(Broken::Invalid(format!("it has {length} bytes, more than {LONGEST}")));
    }
    let mut bytes = Vec::new();
    let read = from.take(length).read_to_end(&mut bytes);
    if read.is_err() || (bytes.len() as u64) < length {
        return Err(Broken::Ended);
    }
    let lag = now().abs_diff(Duration::from_nanos(sent));
    let message = ciborium::from_reader(&bytes[..]);
    let message = message.map_err(|error| Broken::Invalid(error.to_string()))?;
    Ok(Received { message, lag })
}

fn number(from: &mut impl Read) -> Result<u64, Broken> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes).map_err(|_| Broken::Ended)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Returns the time of a clock that is the same for all processes.
fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}
