//! The messages between the program and a child process. They are sent over a pair of sockets, one of which is the
//! child's standard input.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::campaign::task::Event;
use crate::record::run::RunRecord;

/// The first message to the child, which configures it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The arguments of the parent, as bytes.
    arguments: Vec<Vec<u8>>,
    /// The identifier of the run, for the rows.
    pub run_id: String,
    /// The number of threads of this child, if the command line has several numbers.
    pub threads: Option<usize>,
    /// The modelled GPU of this child, if the command line has several.
    pub model: Option<String>,
    /// Whether the child runs only the methods that depend on the number of threads.
    pub only_parallel: bool,
    /// Whether the child measures the machine's bandwidth for the run record.
    pub bandwidth: bool,
    /// Whether the child prints no messages on stderr, because the first child has already printed them.
    pub quiet: bool,
    /// The parent's process id.
    pub parent: u32,
}

impl Hello {
    pub fn new(arguments: &[OsString], run_id: String, bandwidth: bool) -> Self {
        let arguments = arguments.iter().map(|word| word.as_bytes().to_vec()).collect();
        let parent = std::process::id();
        let (threads, only_parallel, quiet) = (None, false, false);
        Self { arguments, run_id, threads, model: None, only_parallel, bandwidth, quiet, parent }
    }

    /// Configures the child for one of several numbers of threads, of which `most` is the largest.
    pub fn with_threads(self, threads: usize, most: usize) -> Self {
        let is_first = threads == most;
        let bandwidth = self.bandwidth && is_first;
        Self {
            threads: Some(threads),
            only_parallel: !is_first,
            bandwidth,
            quiet: !is_first,
            ..self
        }
    }

    /// Configures the child for one of several modelled GPUs.
    pub fn with_model(self, model: String, is_first: bool) -> Self {
        Self { model: Some(model), quiet: !is_first, ..self }
    }

    /// Configures a child that replaces the first one.
    pub fn again(self) -> Self {
        Self { bandwidth: false, quiet: true, ..self }
    }

    /// Returns the arguments of the parent.
    pub fn arguments(&self) -> impl Iterator<Item = OsString> {
        self.arguments.iter().cloned().map(OsString::from_vec)
    }
}

/// A message from the child. After the first one, the parent sends a
/// [`MatrixTask`](crate::campaign::task::MatrixTask) at a time.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The answer to [`Hello`] of a child that is ready.
    Ready(Box<RunRecord>),
    /// The answer to [`Hello`] with the reason why the command line cannot be run.
    Refused(String),
    /// An event of a task.
    Event(Event),
    /// The task is done.
    Done,
    /// The task was interrupted.
    Interrupted,
    /// The device is lost, with the error. The child ends after this message.
    Lost(String),
}

/// Sends a message, preceded by its length in bytes.
pub fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 8];
    ciborium::into_writer(message, &mut bytes).map_err(io::Error::other)?;
    let length = bytes.len() as u64 - 8;
    bytes[..8].copy_from_slice(&length.to_le_bytes());
    to.write_all(&bytes)
}

/// Receives the next message. Returns an error of the kind `UnexpectedEof` if the other side has ended.
pub fn receive<M: DeserializeOwned>(mut from: impl Read) -> io::Result<M> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let mut bytes = Vec::new();
    let length = u64::from_le_bytes(length);
    if from.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    ciborium::from_reader(&bytes[..]).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::task::{MatrixTask, Step};
    use crate::matrix::source::Source;
    use crate::record::MatrixReport;
    use crate::record::row::{Row, Status};

    fn through<M: Serialize + DeserializeOwned>(message: &M) -> M {
        let mut bytes = Vec::new();
        send(&mut bytes, message).unwrap();
        for end in 0..bytes.len() {
            let error = receive::<M>(&bytes[..end]).err().expect("half a message");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
        receive(&bytes[..]).unwrap()
    }

    #[test]
    fn names_that_are_not_utf8_and_nan_are_transferred() {
        let name = OsString::from_vec(b"a\xff\nb.mtx".to_vec());
        let task = MatrixTask::whole(&Source::File(name.into()), true);
        assert_eq!(through(&task).source, task.source);
        let source = Source::parse("gen:dense,rows=3,cols=4".as_ref()).unwrap();
        assert_eq!(through(&MatrixTask::whole(&source, true)).source, source);

        let mut report = MatrixReport::without_groups("a".into(), "r", Status::Wrong, "b".into());
        report.ended.as_mut().unwrap().error_ratio = Some(f64::NAN);
        report.load_ms = Some(0.1);
        let Event::Matrix(back) = through(&Event::Matrix(Box::new(report.clone()))) else {
            panic!("another event")
        };
        let row: Row = back.ended.clone().unwrap();
        assert!(row.error_ratio.unwrap().is_nan());
        assert_eq!((back.load_ms, &back.facts), (report.load_ms, &report.facts));
        assert!(matches!(through(&Event::Step(Step::Load)), Event::Step(Step::Load)));
    }
}
