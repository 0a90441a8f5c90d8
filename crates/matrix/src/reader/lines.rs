//! The text of a plain or compressed file, in blocks that end at line ends, and line by line.

use std::io::{self, Read};
use std::iter;
use std::mem;
use std::ops::Range;

use super::codec::Bytes;
use super::error::{Defect, Fault};
use super::input::Input;
use super::syntax::{LONGEST_LINE, line_at};

/// The number of bytes that are read at a time to find the end of the last line of a block.
const TAIL: usize = 1 << 12;

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
    Compressed {
        text: Bytes<'a>,
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
            Source::Compressed { text, carry } => {
                let checked = self.input.bounds.check().map_err(io::Error::from);
                let block = checked.and_then(|()| decompress(text, carry, self.size));
                let is_end = block.as_ref().is_ok_and(Vec::is_empty);
                (!is_end).then(|| block.map(Block::Text))
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
    let mut end = range.end;
    let most = buffer.len() + LONGEST_LINE;
    while skip < buffer.len() && !buffer.ends_with(b"\n") && end < input.size && buffer.len() <= most {
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
fn decompress(text: &mut impl Read, carry: &mut Vec<u8>, size: usize) -> io::Result<Vec<u8>> {
    let mut block = mem::take(carry);
    loop {
        block.reserve_exact(size);
        let begun = block.len();
        if text.take(size as u64).read_to_end(&mut block)? < size {
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

pub struct Lines<'a> {
    blocks: Blocks<'a>,
    block: Vec<u8>,
    /// The position of the next line in `block`.
    at: usize,
    /// The number of the last line that was returned, from 1.
    pub line: u64,
    /// The total size in bytes of the lines returned so far.
    pub bytes: u64,
}

impl<'a> Lines<'a> {
    /// Returns the lines of a file, which is read in blocks of about `size` bytes; those of `unpacked` if its text is
    /// packed.
    pub fn of(input: &'a Input, unpacked: Option<Bytes<'a>>, size: usize) -> Self {
        let source = match unpacked {
            Some(text) => Source::Compressed { text, carry: Vec::new() },
            None => Source::Plain { at: 0 },
        };
        // With blocks of size 0, the iteration would not end.
        let blocks = Blocks { input, source, size: size.max(1) };
        Self { blocks, block: Vec::new(), at: 0, line: 0, bytes: 0 }
    }

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
        iter::once(Ok(Block::Text(self.block.split_off(self.at)))).chain(self.blocks)
    }
}
