//! The text of a file, plain or compressed, in blocks that end at line ends.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use memmap2::Mmap;

use super::chunk::line_at;
use super::error::{Fault, Reason};
use crate::matrix::archive;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A file mapped into memory.
pub struct Text {
    file: Mmap,
    /// In an archive, where the text begins and its length.
    member: Option<(u64, u64)>,
}

impl Text {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // SAFETY: the map is read-only; that nobody shortens the file is the caller's part.
        let file = unsafe { Mmap::map(&file)? };
        let member = match archive::is_archive(path) {
            true => Some(archive::locate(MultiGzDecoder::new(&file[..])).map_err(name_archive)?),
            false => None,
        };
        Ok(Self { file, member })
    }

    pub fn file_bytes(&self) -> u64 {
        self.file.len() as u64
    }

    /// More entries than these cannot be in the text.
    pub fn most_entries(&self) -> u64 {
        // Deflate makes at most 1032 bytes of one; an entry is `1 1` and a line end at the least.
        let growth = if self.is_gzip() { 1032 } else { 1 };
        (self.file_bytes() * growth + 1) / 4
    }

    fn is_gzip(&self) -> bool {
        self.member.is_some() || self.file.starts_with(&GZIP_MAGIC)
    }

    /// The text in pieces of about `size` bytes.
    pub fn blocks(&self, size: usize) -> Blocks<'_> {
        let source = if self.is_gzip() {
            let decoder = MultiGzDecoder::new(&self.file[..]);
            let decoder: Box<dyn Read + Send> = match self.member {
                Some((start, size)) => Box::new(Member { skip: start, text: decoder.take(size) }),
                None => Box::new(decoder),
            };
            Source::Gzip { decoder, carry: Vec::new() }
        } else {
            Source::Plain(&self.file)
        };
        // Nothing at a time would never end.
        Blocks { source, size: size.max(1) }
    }

    /// The text line by line, read in blocks of about `size` bytes.
    pub fn lines(&self, size: usize) -> Lines<'_> {
        Lines { blocks: self.blocks(size), block: Cow::Borrowed(&[]), at: 0, line: 0, bytes: 0 }
    }
}

/// Pieces of the text; each but the last ends with a line.
pub struct Blocks<'a> {
    source: Source<'a>,
    size: usize,
}

enum Source<'a> {
    Plain(&'a [u8]),
    Gzip {
        decoder: Box<dyn Read + Send + 'a>,
        /// The begun line at the end of the previous block.
        carry: Vec<u8>,
    },
}

impl<'a> Iterator for Blocks<'a> {
    type Item = io::Result<Cow<'a, [u8]>>;

    fn next(&mut self) -> Option<Self::Item> {
        let block = match &mut self.source {
            Source::Plain(rest) => Ok(Cow::Borrowed(cut(rest, self.size))),
            Source::Gzip { decoder, carry } => inflate(decoder, carry, self.size).map(Cow::Owned),
        };
        match block {
            Ok(block) if block.is_empty() => None,
            block => Some(block),
        }
    }
}

/// Takes `size` bytes and the remainder of the line off the front of `rest`.
fn cut<'a>(rest: &mut &'a [u8], size: usize) -> &'a [u8] {
    let size = size.min(rest.len());
    let line_end = rest[size..].iter().position(|&byte| byte == b'\n');
    let (block, after) = rest.split_at(line_end.map_or(rest.len(), |end| size + end + 1));
    *rest = after;
    block
}

/// Decompresses until `size` bytes hold a line end, and leaves what follows the last in `carry`.
fn inflate(decoder: &mut impl Read, carry: &mut Vec<u8>, size: usize) -> io::Result<Vec<u8>> {
    let mut block = std::mem::take(carry);
    loop {
        block.reserve_exact(size);
        let begun = block.len();
        let read = decoder.take(size as u64).read_to_end(&mut block);
        if read.map_err(name_gzip)? < size {
            return Ok(block);
        }
        if let Some(end) = block[begun..].iter().rposition(|&byte| byte == b'\n') {
            *carry = block.split_off(begun + end + 1);
            return Ok(block);
        }
    }
}

/// A file within an archive.
struct Member<'a> {
    /// What is before it and has not been read.
    skip: u64,
    text: io::Take<MultiGzDecoder<&'a [u8]>>,
}

impl Read for Member<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let archive = self.text.get_mut();
        io::copy(&mut archive.take(std::mem::take(&mut self.skip)), &mut io::sink())?;
        let read = self.text.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            if self.text.limit() > 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // The checksum is behind the archive's end.
            io::copy(self.text.get_mut(), &mut io::sink())?;
        }
        Ok(read)
    }
}

fn name_archive(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::InvalidData => error,
        _ => name_gzip(error),
    }
}

fn name_gzip(error: io::Error) -> io::Error {
    let kind = error.kind();
    match kind {
        io::ErrorKind::UnexpectedEof => io::Error::new(kind, "the gzip data end early"),
        _ => io::Error::new(kind, format!("the gzip data are damaged ({error})")),
    }
}

/// The text line by line.
pub struct Lines<'a> {
    blocks: Blocks<'a>,
    block: Cow<'a, [u8]>,
    at: usize,
    /// The number of the last line that was returned, from 1.
    pub line: u64,
    /// Bytes of the lines returned so far.
    pub bytes: u64,
}

impl<'a> Lines<'a> {
    /// The next line, with its line end.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        if self.at == self.block.len() {
            let Some(block) = self.blocks.next().transpose()? else {
                return Ok(None);
            };
            (self.block, self.at) = (block, 0);
        }
        let line = line_at(&self.block, self.at);
        self.at += line.len();
        self.bytes += line.len() as u64;
        self.line += 1;
        Ok(Some(line))
    }

    /// A broken reason on the last line.
    pub fn broken(&self, message: String) -> Fault {
        Fault::at(self.line, Reason::Broken(message))
    }

    /// A correct but unsupported file, as the last line tells.
    pub fn unsupported(&self, message: String) -> Fault {
        Fault::at(self.line, Reason::Unsupported(message))
    }

    /// What has not been returned yet, in blocks.
    pub fn remainder(self) -> impl Iterator<Item = io::Result<Cow<'a, [u8]>>> + Send {
        let rest = match self.block {
            Cow::Borrowed(block) => Cow::Borrowed(&block[self.at..]),
            Cow::Owned(mut block) => Cow::Owned(block.split_off(self.at)),
        };
        std::iter::once(Ok(rest)).chain(self.blocks)
    }
}
