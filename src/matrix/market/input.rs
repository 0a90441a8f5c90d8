//! The bytes that a path leads to: those of a file, which stay where they are, or those of a stream (a
//! pipe, a terminal, a device), which are collected in memory because they come only once.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::O_NONBLOCK;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::header;
use super::text::{GZIP_MAGIC, LONGEST_LINE};
use crate::matrix::bounds::{ReadBounds, ReadStop};

/// Bytes that are taken from a stream at once, and compressed bytes from a file.
const PIECE: usize = 1 << 17;
/// Milliseconds between two looks at the interrupt flag while a stream gives nothing.
const TICK: u16 = 100;

/// What a path leads to, open.
pub struct Input<'c> {
    bytes: Bytes,
    size: u64,
    bounds: ReadBounds<'c>,
}

enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

impl<'c> Input<'c> {
    /// Opens a file, or reads a stream to its end.
    ///
    /// # Errors
    /// No such file, one of a type that holds no matrix, and what ends the reading of a stream.
    pub fn open(path: &Path, bounds: ReadBounds<'c>) -> io::Result<Self> {
        // Before it is opened: merely opening a device may change it.
        check_type(fs::metadata(path)?.file_type())?;
        // A pipe without a writer is to be waited for below, where the wait can be interrupted.
        let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
        let metadata = file.metadata()?;
        check_type(metadata.file_type())?;
        let (bytes, size) = if metadata.is_file() {
            (Bytes::File(file), metadata.len())
        } else {
            let collected = collect(file, bounds)?;
            let size = collected.len() as u64;
            (Bytes::Memory(collected), size)
        };
        Ok(Self { bytes, size, bounds })
    }

    /// All bytes; a file that grows later keeps this size.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes that are kept in memory.
    pub fn held(&self) -> u64 {
        if self.is_stream() { self.size } else { 0 }
    }

    /// Whether the bytes came only once.
    pub fn is_stream(&self) -> bool {
        matches!(self.bytes, Bytes::Memory(_))
    }

    pub fn bounds(&self) -> ReadBounds<'c> {
        self.bounds
    }

    /// Fills `buffer` with what is at `at`. All of it must lie within the size.
    ///
    /// # Errors
    /// An interruption, a file that has become shorter, and what the system refuses.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.bounds.check()?;
        match &self.bytes {
            Bytes::Memory(bytes) => {
                buffer.copy_from_slice(&bytes[at as usize..][..buffer.len()]);
                Ok(())
            }
            Bytes::File(file) => {
                file.read_exact_at(buffer, at).map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => ReadStop::Shortened.into(),
                    _ => error,
                })
            }
        }
    }

    /// A reader of all bytes from the start.
    pub fn reader(&self) -> BufReader<InputReader<'_>> {
        BufReader::with_capacity(PIECE, InputReader { input: self, at: 0 })
    }
}

/// Reads an [`Input`] from its start to its end.
pub struct InputReader<'a> {
    input: &'a Input<'a>,
    at: u64,
}

impl Read for InputReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.input.size - self.at;
        let size = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if size > 0 {
            self.input.read_at(&mut buffer[..size], self.at)?;
        }
        self.at += size as u64;
        Ok(size)
    }
}

/// Refuses what is neither a file nor a stream.
fn check_type(kind: FileType) -> io::Result<()> {
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let what = match kind {
        _ if kind.is_socket() => "a socket",
        _ if kind.is_block_device() => "a block device",
        _ => return Ok(()),
    };
    Err(io::Error::new(ErrorKind::InvalidInput, format!("is {what}, not a file or a pipe")))
}

/// Reads a stream to its end, or until it is certain that it is no matrix.
fn collect(mut stream: File, bounds: ReadBounds) -> io::Result<Vec<u8>> {
    let (mut collected, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        wait(&stream, bounds)?;
        match stream.read(&mut piece) {
            Ok(0) => return Ok(collected),
            Ok(size) => {
                // A vector without room doubles its size.
                bounds.allow(2 * (collected.len() + size) as u64)?;
                collected.extend_from_slice(&piece[..size]);
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        if !may_be_a_matrix(&collected) {
            return Ok(collected);
        }
    }
}

/// Waits until the stream has bytes or has ended.
fn wait(stream: &File, bounds: ReadBounds) -> io::Result<()> {
    loop {
        bounds.check()?;
        let mut asked = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
        match poll(&mut asked, PollTimeout::from(TICK)) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => {}
            Ok(_) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Whether the first line, as far as it is there, is one that a matrix may begin with.
fn may_be_a_matrix(bytes: &[u8]) -> bool {
    let is_begun = bytes.len() <= LONGEST_LINE && !bytes.contains(&b'\n');
    is_begun || bytes.starts_with(&GZIP_MAGIC) || header::is_banner(bytes)
}
