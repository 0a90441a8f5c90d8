//! The input of the reader: a file, which is read as needed, or a stream (a pipe, a terminal, a device), which
//! is read into memory because it can be read only once.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::O_NONBLOCK;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::text::{LONGEST_LINE, after_banner};
use crate::memory::{ReadBounds, ReadStop};

pub const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The buffer size in bytes for streams and compressed files.
const PIECE: usize = 1 << 17;
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
    pub fn open(path: &Path, bounds: ReadBounds<'c>) -> io::Result<Self> {
        // The type is checked before opening, because merely opening a device can have an effect.
        check_type(fs::metadata(path)?.file_type())?;
        // Opening must not wait for the writer of a pipe: `collect` waits and can be interrupted.
        let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
        let metadata = file.metadata()?;
        check_type(metadata.file_type())?;
        if metadata.is_file() {
            return Ok(Self { bytes: Bytes::File(file), size: metadata.len(), bounds });
        }
        let collected = collect(file, bounds)?;
        let size = collected.len() as u64;
        Ok(Self { bytes: Bytes::Memory(collected), size, bounds })
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
            Bytes::File(file) => {
                file.read_exact_at(buffer, at).map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => ReadStop::Shortened.into(),
                    _ => error,
                })
            }
        }
    }

    pub fn reader(&self) -> BufReader<InputReader<'_>> {
        BufReader::with_capacity(PIECE, InputReader { input: self, at: 0 })
    }
}

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

/// Reads a stream to its end, or until its first line shows that it is not a matrix.
fn collect(mut stream: File, bounds: ReadBounds) -> io::Result<Vec<u8>> {
    let (mut collected, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        wait(&stream, bounds)?;
        match stream.read(&mut piece) {
            Ok(0) => return Ok(collected),
            Ok(size) => {
                // A full vector doubles its capacity.
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

/// Returns whether the first line, as far as it has been read, can be the first line of a matrix.
fn may_be_a_matrix(bytes: &[u8]) -> bool {
    let is_begun = bytes.len() <= LONGEST_LINE && !bytes.contains(&b'\n');
    is_begun || bytes.starts_with(&GZIP_MAGIC) || after_banner(bytes).is_some()
}
