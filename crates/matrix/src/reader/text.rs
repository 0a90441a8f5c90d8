//! The text of a plain or compressed file, split into blocks at line ends, and the form of its lines.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::compression::{Compression, Decompressed};
use super::error::{Defect, Fault, ReadError, name_damage};
use super::foreign::refuse_what_is_no_matrix;
use super::input::Input;
use super::layers::{Layer, Layers};
use super::zip;
use crate::archive;
use crate::memory::ReadBounds;

/// The largest length of a line in bytes, without its end. The format itself allows 1024 characters.
pub const LONGEST_LINE: usize = 1 << 16;
const BANNER: &[u8] = b"MatrixMarket";
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The number of bytes that are read at a time to find the end of the last line of a block.
const TAIL: usize = 1 << 12;

/// The number of bytes from which the contents of a file are recognized.
const HEAD: usize = 1 << 12;
/// The position of the magic word in the first header of a tar archive, in bytes.
const USTAR: usize = 257;

pub struct Text<'c> {
    path: PathBuf,
    /// The name of the file that the text has, in an archive if it is one.
    pub name: PathBuf,
    pub input: Input<'c>,
    layers: Layers,
    /// The files of a zip archive that is a NumPy archive; otherwise there are none.
    pub arrays: Vec<zip::File>,
    /// The first bytes of the text.
    pub head: Vec<u8>,
}

impl<'c> Text<'c> {
    pub fn open(path: &Path, bounds: ReadBounds<'c>) -> Result<Self, ReadError> {
        let text = Input::open(path, bounds).map_err(Fault::from).and_then(|input| {
            let opened = Self::opened(path, input);
            // The decompression or archive library may have hidden an interruption.
            bounds.check().map_err(io::Error::from)?;
            opened
        });
        text.map_err(|fault| ReadError::new(path, fault))
    }

    fn opened(path: &Path, input: Input<'c>) -> Result<Self, Fault> {
        let (path, name, head) = (path.to_owned(), path.to_owned(), input.head(HEAD)?);
        let (layers, arrays) = (Layers::default(), Vec::new());
        let mut text = Self { path, name, input, layers, arrays, head };
        while let Some(layer) = text.next_layer()? {
            text.layers.push(layer)?;
            text.head = text.read_head()?;
        }
        Ok(text)
    }

    /// Returns the layer around the text below the layers that are known; `None` if this is the text itself. An archive
    /// has an archive's magic word or name.
    fn next_layer(&mut self) -> Result<Option<Layer>, Fault> {
        if self.head.get(USTAR..).is_some_and(|rest| rest.starts_with(b"ustar")) {
            return self.member().map(Some);
        }
        match Compression::of(&self.head) {
            None => self.zipped(),
            Some(Compression::Plain) => {
                refuse_what_is_no_matrix(&self.head)?;
                let is_named = archive::is_archive(&self.name);
                let is_archive = is_named && self.layers.may_hold_archive();
                is_archive.then(|| self.member()).transpose()
            }
            Some(compression) => Ok(Some(Layer::Compressed(compression))),
        }
    }

    fn member(&mut self) -> Result<Layer, Fault> {
        let located = archive::locate(self.reader());
        let member = located.map_err(|error| name_damage(error, &self.layers.name()))?;
        self.name = member.path.clone();
        Ok(Layer::Member(member))
    }

    /// Chooses the matrix of a zip archive, unless it is a NumPy archive.
    fn zipped(&mut self) -> Result<Option<Layer>, Fault> {
        if !self.layers.is_empty() {
            let data = self.layers.name();
            return Err(Defect::from(format!("it is a zip archive in {data}: unpack it")).into());
        }
        let files = zip::files(&self.input).map_err(|error| name_damage(error, "zip data"))?;
        if files.iter().any(|file| file.name.ends_with(".npy")) {
            self.arrays = files;
            return Ok(None);
        }
        let file = zip::matrix(files)?;
        self.name = PathBuf::from(&file.name);
        Ok(Some(Layer::Compressed(Compression::Zip(file))))
    }

    fn read_head(&self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.reader().take(HEAD as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Returns the decompressed text.
    pub fn reader(&self) -> Decompressed<'_> {
        self.layers.reader(&self.input)
    }

    pub fn error(&self, fault: Fault) -> ReadError {
        ReadError::new(&self.path, fault)
    }

    /// Returns an upper bound on the number of entries that the text can contain.
    pub fn most_entries(&self) -> u64 {
        // The shortest entry is `1 1` and a line end.
        self.input.size.saturating_mul(self.layers.growth()).saturating_add(1) / 4
    }

    /// Returns the text line by line. It is read in blocks of about `size` bytes.
    pub fn lines(&self, size: usize) -> Lines<'_> {
        let source = if self.layers.is_empty() {
            Source::Plain { at: 0 }
        } else {
            Source::Compressed { text: self.reader(), carry: Vec::new() }
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
    Compressed {
        text: Decompressed<'a>,
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
fn decompress(text: &mut impl Read, carry: &mut Vec<u8>, size: usize) -> io::Result<Vec<u8>> {
    let mut block = std::mem::take(carry);
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

/// Returns the words of a line up to a comment or to the zeros and the end-of-file mark of DOS that pad some files.
pub fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_padding = |word: &[u8]| word.iter().all(|byte| matches!(byte, 0 | 0x1a));
    words(line).take_while(move |word| word[0] != b'%' && !is_padding(word))
}

/// Returns the words of a line, which blanks separate.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Returns a text after the first word of a Matrix Market banner, if it begins with that word. Blanks and empty lines
/// before it are accepted, as MUMPS writes them, and a single percent sign, as the Network Repository does.
pub fn after_banner(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii_start();
    let text = text.strip_prefix(b"%%").or_else(|| text.strip_prefix(b"%"))?;
    let (first, rest) = text.split_at_checked(BANNER.len())?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (ends && first.eq_ignore_ascii_case(BANNER)).then_some(rest)
}
