//! The messages between the program and a child process. They are sent over a pair of sockets, one of which is the
//! child's standard input.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::campaign::Plan;
use crate::campaign::gpus::Answers;
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

/// Sends a message, preceded by its length in bytes.
pub fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 8];
    ciborium::into_writer(message, &mut bytes).map_err(io::Error::other)?;
    let length = bytes.len() as u64 - 8;
    bytes[..8].copy_from_slice(&length.to_le_bytes());
    to.write_all(&bytes)
}

/// Receives the next message. Returns an error if the other side has ended.
pub fn receive<M: DeserializeOwned>(mut from: impl Read) -> io::Result<M> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let mut bytes = Vec::new();
    from.take(u64::from_le_bytes(length)).read_to_end(&mut bytes)?;
    ciborium::from_reader(&bytes[..]).map_err(io::Error::other)
}
