//! The text of a plain or compressed file, split into blocks at line ends, and the form of its lines.

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::error::{Defect, Fault, MarketError, name_damage};
use super::input::{GZIP_MAGIC, Input, InputReader};
use crate::archive;
use crate::memory::ReadBounds;

/// The largest length of a line in bytes, without its end. The format itself allows 1024 characters.
pub const LONGEST_LINE: usize = 1 << 16;
const BANNER: &[u8] = b"%%MatrixMarket";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The number of bytes that are read at a time to find the end of the last line of a block.
const TAIL: usize = 1 << 12;
const TAR_BLOCK: u64 = 512;

type Decoder<'a> = MultiGzDecoder<BufReader<InputReader<'a>>>;

pub struct Text<'c> {
    path: PathBuf,
    pub input: Input<'c>,
    is_gzip: bool,
    /// The position and the length of the text within an uncompressed archive, in bytes.
    member: Option<(u64, u64)>,
}

impl<'c> Text<'c> {
    pub fn open(path: &Path, bounds: ReadBounds<'c>) -> Result<Self, MarketError> {
        Self::opened(path, bounds).map_err(|error| MarketError::new(path, error))
    }

    fn opened(path: &Path, bounds: ReadBounds<'c>) -> io::Result<Self> {
        let input = Input::open(path, bounds)?;
        let mut magic = [0; GZIP_MAGIC.len()];
        if input.size >= magic.len() as u64 {
            input.read_at(&mut magic, 0)?;
        }
        let is_archive = archive::is_archive(path);
        let decoder = MultiGzDecoder::new(input.reader());
        let member = is_archive.then(|| archive::locate(decoder).map_err(name_damage)).transpose();
        // The decompression or archive library may have hidden an interruption.
        bounds.check()?;
        let is_gzip = is_archive || magic == GZIP_MAGIC;
        Ok(Self { path: path.to_owned(), member: member?, is_gzip, input })
    }

    pub fn error(&self, fault: Fault) -> MarketError {
        MarketError::new(&self.path, fault)
    }

    /// Returns an upper bound on the number of entries that the text can contain.
    pub fn most_entries(&self) -> u64 {
        // Deflate expands one byte to at most 1032. The shortest entry is `1 1` and a line end.
        let growth = if self.is_gzip { 1032 } else { 1 };
        self.input.size.saturating_mul(growth).saturating_add(1) / 4
    }

    /// Returns the text line by line. It is read in blocks of about `size` bytes.
    pub fn lines(&self, size: usize) -> Lines<'_> {
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
        // With blocks of size 0, the iteration would not end.
        let blocks = Blocks { input: &self.input, source, size: size.max(1) };
        Lines { blocks, block: Vec::new(), at: 0, line: 0, bytes: 0 }
    }
}

/// An iterator over the blocks of the text. All blocks except the last end at a line end.
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
        /// The start of a line at the end of the previous block.
        carry: Vec<u8>,
    },
}

/// A block of the text. Compressed text is decompressed sequentially by the iterator. The block of a plain file
/// is only a range, which the thread that parses the block reads itself.
pub enum Block<'a> {
    Text(Vec<u8>),
    /// The lines that begin within these bytes of a plain file.
    Lines(&'a Input<'a>, Range<u64>),
}

impl<'a> Iterator for Blocks<'a> {
    type Item = io::Result<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            Source::Plain { at } => {
                let range = *at..self.input.size.min(*at + self.size as u64);
                *at = range.end;
                (!range.is_empty()).then_some(Ok(Block::Lines(self.input, range)))
            }
            Source::Gzip { decoder, carry } => {
                let bounds = self.input.bounds;
                let inflated = bounds.check().map_err(io::Error::from);
                let inflated = inflated.and_then(|()| inflate(decoder, carry, self.size));
                let is_end = inflated.as_ref().is_ok_and(Vec::is_empty);
                (!is_end).then(|| inflated.map(Block::Text))
            }
        }
    }
}

impl Block<'_> {
    /// Returns the text of the block, which may be empty. `buffer` can be reused for the next block.
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

/// Reads the lines that begin within a range of a plain file. The end of a line may be missing if the line is
/// longer than allowed.
fn lines_in<'b>(input: &Input, range: Range<u64>, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
    // The byte before the range shows whether a line begins at the start of the range.
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
        && end < input.size
        && buffer.len() <= most
    {
        let known = buffer.len();
        let more = (input.size - end).min(TAIL as u64);
        buffer.resize(known + more as usize, 0);
        input.read_at(&mut buffer[known..], end)?;
        if let Some(line_end) = buffer[known..].iter().position(|&byte| byte == b'\n') {
            buffer.truncate(known + line_end + 1);
        }
        end += more;
    }
    Ok(&buffer[skip..])
}

/// Decompresses pieces of `size` bytes until one contains a line end. The bytes after the last line end are
/// stored in `carry`. A line that is longer than allowed is returned without its end.
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

struct Member<'a> {
    /// The number of bytes before the file that have not been skipped yet.
    skip: u64,
    /// The number of bytes between the end of the file and the next header.
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
            // This reads to the end of the archive, so that the gzip checksum after it is verified.
            archive::expect_no_other(archive)?;
        }
        Ok(read)
    }
}

pub struct Lines<'a> {
    blocks: Blocks<'a>,
    block: Vec<u8>,
    /// The position of the next line in `block`.
    at: usize,
    /// The number of the last line that was returned, from 1.
    line: u64,
    /// The total size in bytes of the lines returned so far.
    pub bytes: u64,
}

impl<'a> Lines<'a> {
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
            return Err(self.fault(format!("the line has more than {LONGEST_LINE} bytes")));
        };
        self.at += line.len();
        self.bytes += line.len() as u64;
        Ok(Some(line))
    }

    pub fn fault(&self, defect: impl Into<Defect>) -> Fault {
        Fault::at(self.line, defect)
    }

    /// Returns the text after the last line that was returned, in blocks.
    pub fn remainder(mut self) -> impl Iterator<Item = io::Result<Block<'a>>> + Send {
        std::iter::once(Ok(Block::Text(self.block.split_off(self.at)))).chain(self.blocks)
    }
}

/// Returns the line that begins at `at`, with its end, or `None` if it is longer than allowed.
pub fn line_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = &text[at..];
    let near = &rest[..rest.len().min(LONGEST_LINE + 1)];
    match near.iter().position(|&byte| byte == b'\n') {
        Some(end) => Some(&rest[..=end]),
        None => (near.len() <= LONGEST_LINE).then_some(rest),
    }
}

/// Returns the words of a line up to a comment.
pub fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'%')
}

/// Returns a text after the first word of a Matrix Market banner, if it begins with that word.
pub fn after_banner(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let (first, rest) = text.split_at_checked(BANNER.len())?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (ends && first.eq_ignore_ascii_case(BANNER)).then_some(rest)
}
