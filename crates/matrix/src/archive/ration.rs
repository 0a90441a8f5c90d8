//! A limit on the number of header bytes between the contents of two entries of an archive.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The limit on headers, long names and padding between two entries, in bytes. They are stored in memory.
const MOST_HEADER_BYTES: u64 = 1 << 20;

/// Sets the limit of a [`Rationed`] reader: the number of bytes that can be read until it is set again.
#[derive(Clone)]
pub struct Ration(Rc<Cell<u64>>);

impl Ration {
    /// Sets the limit for the headers between two entries.
    pub fn headers(&self) {
        self.0.set(MOST_HEADER_BYTES);
    }

    /// Removes the limit within an entry, whose size is known from its header.
    pub fn contents(&self) {
        self.0.set(u64::MAX);
    }
}

/// A reader with a limit on the number of bytes, set by its [`Ration`].
pub struct Rationed<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R> Rationed<R> {
    /// Creates a reader with the limit for headers.
    pub fn new(inner: R) -> (Self, Ration) {
        let left = Rc::new(Cell::new(MOST_HEADER_BYTES));
        (Self { inner, left: left.clone() }, Ration(left))
    }

    /// Returns the inner reader.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let most = piece.len().min(usize::try_from(self.left.get()).unwrap_or(usize::MAX));
        if most == 0 && !piece.is_empty() {
            let message =
                format!("more than {MOST_HEADER_BYTES} bytes of headers between two entries");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let bytes = self.inner.read(&mut piece[..most])?;
        self.left.set(self.left.get() - bytes as u64);
        Ok(bytes)
    }
}
