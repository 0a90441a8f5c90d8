//! The input of the reader: a file, which is read as needed, or a stream (a pipe, a terminal, a device), which
//! is read into memory because it can be read only once.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::O_NONBLOCK;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::memory::{ReadBounds, ReadStop};

/// The buffer size in bytes for streams and compressed files.
pub const PIECE: usize = 1 << 17;
/// The interval between checks of the interrupt flag while waiting for a stream, in milliseconds.
const TICK: u16 = 100;

pub struct Input<'c> {
    bytes: Bytes,
    /// The number of bytes when the file was opened; bytes that are appended later are ignored.
    pub size: u64,
    pub bounds: ReadBounds<'c>,
}

enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

impl<'c> Input<'c> {
    /// Opens a file, or reads a stream to its end, or until `is_hopeless` returns true for its beginning.
    pub fn open(path: &Path, bounds: ReadBounds<'c>, is_hopeless: fn(&[u8]) -> bool) -> io::Result<Self> {
        // The type is checked before opening, because merely opening a device can have an effect.
        check_type(fs::metadata(path)?.file_type())?;
        // Opening must not wait for the writer of a pipe: `collect` waits and can be interrupted.
        let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
        let metadata = file.metadata()?;
        check_type(metadata.file_type())?;
        if metadata.is_file() {
            return Ok(Self { bytes: Bytes::File(file), size: metadata.len(), bounds });
        }
        let collected = collect(file, bounds, is_hopeless)?;
        let size = collected.len() as u64;
        Ok(Self { bytes: Bytes::Memory(collected), size, bounds: bounds.beside(size) })
    }

    pub fn stream_bytes(&self) -> u64 {
        if self.is_stream() { self.size } else { 0 }
    }

    pub fn is_stream(&self) -> bool {
        matches!(self.bytes, Bytes::Memory(_))
    }

    /// Fills `buffer` with the bytes at offset `at`. The range must lie within [`Input::size`].
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.bounds.check()?;
        match &self.bytes {
            Bytes::Memory(bytes) => {
                buffer.copy_from_slice(&bytes[at as usize..][..buffer.len()]);
                Ok(())
            }
            Bytes::File(file) => file.read_exact_at(buffer, at).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => ReadStop::Shortened.into(),
                _ => error,
            }),
        }
    }

    /// Returns the first bytes, at most `most`.
    pub fn head(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut head = vec![0; self.size.min(most as u64) as usize];
        self.read_at(&mut head, 0)?;
        Ok(head)
    }

    /// Returns the bytes from position `at` on, which must lie within the input.
    pub fn reader_at(&self, at: u64) -> BufReader<InputReader<'_>> {
        BufReader::with_capacity(PIECE, InputReader { input: self, at })
    }
}

pub struct InputReader<'a> {
    input: &'a Input<'a>,
    at: u64,
}

impl Read for InputReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.input.size.saturating_sub(self.at);
        let size = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if size > 0 {
            self.input.read_at(&mut buffer[..size], self.at)?;
        }
        self.at += size as u64;
        Ok(size)
    }
}

impl Seek for InputReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let sought = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.input.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = sought.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

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

fn collect(mut stream: File, bounds: ReadBounds, is_hopeless: fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let mut collected = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        wait(&stream, bounds)?;
        match stream.read(&mut piece) {
            Ok(0) => return Ok(collected),
            Ok(size) => {
                // A full vector doubles its capacity.
                bounds.allow(2 * (collected.len() + size) as u64)?;
                collected.extend_from_slice(&piece[..size]);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        if is_hopeless(&collected) {
            return Ok(collected);
        }
    }
}

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
