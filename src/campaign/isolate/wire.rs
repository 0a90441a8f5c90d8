//! The messages between the program and a child process. They are sent over a pair of sockets, one of which is the
//! child's standard input.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::campaign::Plan;
use crate::campaign::gpus::Answers;
use crate::campaign::task::Event;
use crate::record::run::RunRecord;
use spmv_methods::added;

/// The first message to the child, which configures it.
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

/// A message from the child. After the first one, the parent sends one `MatrixTask` at a time.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The answer to [`Hello`] of a child that is ready.
    Ready(Box<RunRecord>),
    /// The answer to [`Hello`] with the reason why the command line cannot be run.
    Refused(String),
    Event(Event),
    Done,
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
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::campaign::task::{MatrixTask, Step};
    use crate::record::MatrixReport;
    use crate::record::row::{Row, Status};
    use spmv_matrix::source::Source;

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
        for source in
            [Source::File(name.into()), Source::parse("gen:dense,rows=3,cols=4".as_ref()).unwrap()]
        {
            let task = MatrixTask { source: source.clone(), sizes: None, cells: Vec::new() };
            assert_eq!(through(&task).source, source);
        }

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
