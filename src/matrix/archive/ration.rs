//! A limit on what stands between the contents of two entries of an archive.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Bytes between the contents of two entries: headers, long names, padding. They are held in memory.
const MOST_HEADER_BYTES: u64 = 1 << 20;

/// How many bytes may be read until it is set again.
#[derive(Clone)]
pub struct Ration(Rc<Cell<u64>>);

impl Ration {
    /// Between two entries.
    pub fn headers(&self) {
        self.0.set(MOST_HEADER_BYTES);
    }

    /// Within an entry, whose size is the limit.
    pub fn contents(&self) {
        self.0.set(u64::MAX);
    }
}

/// A reader with a limit.
pub struct Rationed<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R> Rationed<R> {
    /// Begins at a header.
    pub fn new(inner: R) -> (Self, Ration) {
        let left = Rc::new(Cell::new(MOST_HEADER_BYTES));
        (Self { inner, left: left.clone() }, Ration(left))
    }

    /// Gives back the reader.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let most = piece.len().min(usize::try_from(self.left.get()).unwrap_or(usize::MAX));
        if most == 0 && !piece.is_empty() {
            let message = format!("more than {MOST_HEADER_BYTES} bytes between two entries");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let bytes = self.inner.read(&mut piece[..most])?;
        self.left.set(self.left.get() - bytes as u64);
        Ok(bytes)
    }
}
