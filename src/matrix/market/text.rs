//! The text of a file, plain or compressed, in blocks that end at line ends.

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::{Fault, Reason, name_damage};
use super::input::{Input, InputReader};
use crate::matrix::archive;
use crate::matrix::bounds::ReadBounds;

/// A line, without its end, has at most so many bytes. The format allows 1024 characters.
pub const LONGEST_LINE: usize = 1 << 16;
pub const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Bytes that are read at once to find the end of a block's last line.
const TAIL: usize = 1 << 12;
/// Bytes of a block of an archive.
const TAR_BLOCK: u64 = 512;

type Decoder<'a> = MultiGzDecoder<BufReader<InputReader<'a>>>;

/// A file that holds text, open.
pub struct Text<'c> {
    pub input: Input<'c>,
    is_gzip: bool,
    /// In an archive, where the text begins and its length.
    member: Option<(u64, u64)>,
}

impl<'c> Text<'c> {
    pub fn open(path: &Path, bounds: ReadBounds<'c>) -> io::Result<Self> {
        let input = Input::open(path, bounds)?;
        let mut magic = [0; GZIP_MAGIC.len()];
        if input.size() >= magic.len() as u64 {
            input.read_at(&mut magic, 0)?;
        }
        let is_archive = archive::is_archive(path);
        let decoder = MultiGzDecoder::new(input.reader());
        let member = is_archive.then(|| archive::locate(decoder).map_err(name_damage)).transpose();
        // A library between may have hidden that reading was interrupted.
        bounds.check()?;
        Ok(Self { member: member?, is_gzip: is_archive || magic == GZIP_MAGIC, input })
    }

    /// More entries than these cannot be in the text.
    pub fn most_entries(&self) -> u64 {
        // Deflate makes at most 1032 bytes of one; an entry is `1 1` and a line end at the least.
        let growth = if self.is_gzip { 1032 } else { 1 };
        self.input.size().saturating_mul(growth).saturating_add(1) / 4
    }

    /// The text in pieces of about `size` bytes.
    pub fn blocks(&self, size: usize) -> Blocks<'_> {
        let source = if self.is_gzip {
            let decoder = MultiGzDecoder::new(self.input.reader());
            let decoder: Box<dyn Read + Send> = match self.member {
                Some((start, size)) => Box::new(Member {
                    skip: start,
                    padding: size.next_multiple_of(TAR_BLOCK) - size,
                    text: decoder.take(size),
                }),
                None => Box::new(decoder),
            };
            Source::Gzip { decoder, carry: Vec::new() }
        } else {
            Source::Plain { at: 0 }
        };
        // Nothing at a time would never end.
        Blocks { input: &self.input, source, size: size.max(1) }
    }

    /// The text line by line, read in blocks of about `size` bytes.
    pub fn lines(&self, size: usize) -> Lines<'_> {
        Lines { blocks: self.blocks(size), block: Vec::new(), at: 0, line: 0, bytes: 0 }
    }
}

/// Pieces of the text; each but the last ends with a line.
pub struct Blocks<'a> {
    input: &'a Input<'a>,
    source: Source<'a>,
    size: usize,
}

enum Source<'a> {
    Plain {
        at: u64,
    },
    Gzip {
        decoder: Box<dyn Read + Send + 'a>,
        /// The begun line at the end of the previous block.
        carry: Vec<u8>,
    },
}

/// A piece of the text. What is compressed is inflated in order; a plain file is read by whoever
/// takes the block, on all threads.
pub enum Block<'a> {
    /// The text itself.
    Text(Vec<u8>),
    /// The lines that begin within these bytes of a plain file.
    Lines(&'a Input<'a>, Range<u64>),
}

impl<'a> Iterator for Blocks<'a> {
    type Item = io::Result<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            Source::Plain { at } => {
                let range = *at..self.input.size().min(*at + self.size as u64);
                *at = range.end;
                (!range.is_empty()).then_some(Ok(Block::Lines(self.input, range)))
            }
            Source::Gzip { decoder, carry } => {
                let bounds = self.input.bounds();
                let inflated = bounds.check().map_err(io::Error::from);
                let inflated = inflated.and_then(|()| inflate(decoder, carry, self.size));
                let is_end = inflated.as_ref().is_ok_and(Vec::is_empty);
                (!is_end).then(|| inflated.map(Block::Text))
            }
        }
    }
}

impl Block<'_> {
    /// The text of the block, which may be empty; `buffer` serves one block after another.
    pub fn read(self, buffer: &mut Vec<u8>) -> io::Result<&[u8]> {
        match self {
            Self::Text(text) => {
                *buffer = text;
                Ok(buffer)
            }
            Self::Lines(input, range) => lines_in(input, range, buffer),
        }
    }
}

/// The lines that begin within a range of a plain file. A line that is longer than allowed may lack
/// its end.
fn lines_in<'b>(input: &Input, range: Range<u64>, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
    // The byte before the range tells whether a line begins where the range does.
    let start = range.start.saturating_sub(1);
    buffer.resize((range.end - start) as usize, 0);
    input.read_at(buffer, start)?;
    let skip = match range.start {
        0 => 0,
        _ => buffer.iter().position(|&byte| byte == b'\n').map_or(buffer.len(), |end| end + 1),
    };
    let (mut end, most) = (range.end, buffer.len() + LONGEST_LINE);
    while skip < buffer.len()
        && !buffer.ends_with(b"\n")
        && end < input.size()
        && buffer.len() <= most
    {
        let known = buffer.len();
        let more = (input.size() - end).min(TAIL as u64);
        buffer.resize(known + more as usize, 0);
        input.read_at(&mut buffer[known..], end)?;
        if let Some(line_end) = buffer[known..].iter().position(|&byte| byte == b'\n') {
            buffer.truncate(known + line_end + 1);
        }
        end += more;
    }
    Ok(&buffer[skip..])
}

/// Decompresses until `size` bytes hold a line end, and leaves what follows the last in `carry`. A line
/// that is longer than allowed comes without its end.
fn inflate(decoder: &mut impl Read, carry: &mut Vec<u8>, size: usize) -> io::Result<Vec<u8>> {
    let mut block = std::mem::take(carry);
    loop {
        block.reserve_exact(size);
        let begun = block.len();
        let read = decoder.take(size as u64).read_to_end(&mut block);
        if read.map_err(name_damage)? < size {
            return Ok(block);
        }
        if let Some(end) = block[begun..].iter().rposition(|&byte| byte == b'\n') {
            *carry = block.split_off(begun + end + 1);
            return Ok(block);
        }
        if block.len() > LONGEST_LINE {
            return Ok(block);
        }
    }
}

/// The line that begins at `at`, with its end; `None` if it is longer than allowed.
pub fn line_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = &text[at..];
    let near = &rest[..rest.len().min(LONGEST_LINE + 1)];
    match near.iter().position(|&byte| byte == b'\n') {
        Some(end) => Some(&rest[..=end]),
        None => (near.len() <= LONGEST_LINE).then_some(rest),
    }
}

/// A file within an archive.
struct Member<'a> {
    /// What is before it and has not been read.
    skip: u64,
    /// What is between its end and the next header.
    padding: u64,
    text: io::Take<Decoder<'a>>,
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
            let archive = self.text.get_mut();
            io::copy(&mut archive.take(std::mem::take(&mut self.padding)), &mut io::sink())?;
            // The checksum is behind the archive's end, which this reads to.
            archive::expect_no_other(archive)?;
        }
        Ok(read)
    }
}

/// The text line by line.
pub struct Lines<'a> {
    blocks: Blocks<'a>,
    block: Vec<u8>,
    at: usize,
    /// The number of the last line that was returned, from 1.
    pub line: u64,
    /// Bytes of the lines returned so far.
    pub bytes: u64,
}

impl<'a> Lines<'a> {
    /// The next line, with its line end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Fault> {
        while self.at == self.block.len() {
            let Some(block) = self.blocks.next().transpose()? else {
                return Ok(None);
            };
            let unread = block.read(&mut self.block)?.len();
            self.at = self.block.len() - unread;
        }
        self.line += 1;
        let Some(line) = line_at(&self.block, self.at) else {
            return Err(self.broken(format!("the line has more than {LONGEST_LINE} bytes")));
        };
        self.at += line.len();
        self.bytes += line.len() as u64;
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
    pub fn remainder(mut self) -> impl Iterator<Item = io::Result<Block<'a>>> + Send {
        std::iter::once(Ok(Block::Text(self.block.split_off(self.at)))).chain(self.blocks)
    }
}
