//! The words of a text, one after another. Lines may have any length, as in formats that list all columns in one line.

use std::io::{BufRead, BufReader};

use super::super::codec::Bytes;
use super::super::error::{Fault, quote};
use super::super::field::Field;
use super::super::number::{value, whole};
use super::super::syntax::BYTE_ORDER_MARK;
use super::super::text::Text;

/// The largest length of a word in bytes.
const LONGEST: usize = 128;
/// The number of bytes of a comment that are looked at.
const COMMENT: usize = 512;

pub struct Words<'a> {
    text: BufReader<Bytes<'a>>,
    word: Vec<u8>,
    /// The number of the current line, from 1; 0 before the first one.
    pub line: u64,
    pub bytes: u64,
    /// The number of bytes before the first line, which only say that the text is UTF-8.
    mark: usize,
}

impl<'a> Words<'a> {
    /// Reads a text by its words. A defect without a line is one of the line that was read last.
    pub fn read<T>(text: &'a Text, parse: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut words = Self::of(text);
        parse(&mut words).map_err(|fault| fault.in_line(words.line.max(1)))
    }

    pub fn of(text: &'a Text) -> Self {
        let reader = BufReader::with_capacity(1 << 16, text.reader());
        let is_marked = text.head.starts_with(BYTE_ORDER_MARK);
        let mark = if is_marked { BYTE_ORDER_MARK.len() } else { 0 };
        Self { text: reader, word: Vec::new(), line: 0, bytes: 0, mark }
    }

    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        Ok(self.text.fill_buf()?.first().copied())
    }

    fn consume(&mut self, bytes: usize) {
        self.text.consume(bytes);
        self.bytes += bytes as u64;
    }

    /// Returns the next word of the line; `None` at its end. Commas and semicolons separate words as blanks do.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Fault> {
        self.begin()?;
        self.word.clear();
        loop {
            let piece = self.text.fill_buf()?;
            let ends = piece.iter().position(|&byte| is_separator(byte));
            let taken = ends.unwrap_or(piece.len());
            self.word.extend_from_slice(&piece[..taken.min(LONGEST)]);
            let is_last = ends.is_some() || piece.is_empty();
            self.consume(taken);
            if self.word.len() >= LONGEST {
                let word = quote(&self.word);
                return Err(format!("the word {word} has {LONGEST} or more bytes").into());
            }
            if is_last {
                break;
            }
        }
        Ok(if self.word.is_empty() { None } else { Some(&self.word) })
    }

    /// Goes to the next line that is neither blank nor a comment, which begins with one of these bytes.
    pub fn next_line(&mut self, comments: &[u8]) -> Result<bool, Fault> {
        while self.advance()? {
            if self.begin()?.is_some_and(|first| !comments.contains(&first)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes to the next line, which is the first one at first. Returns whether there is one.
    pub fn advance(&mut self) -> Result<bool, Fault> {
        if self.line > 0 {
            self.rest_of_line(0)?;
            let end = self.peek()?.map_or(0, |_| 1);
            self.consume(end);
        }
        for _ in 0..std::mem::take(&mut self.mark) {
            let byte = self.peek()?.map_or(0, |_| 1);
            self.consume(byte);
        }
        let is_there = self.peek()?.is_some();
        self.line += u64::from(is_there);
        Ok(is_there)
    }

    /// Skips the blanks before the next word of the line. Returns its first byte.
    pub fn begin(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            let piece = self.text.fill_buf()?;
            let is_blank = |byte: &&u8| **byte != b'\n' && is_separator(**byte);
            let blanks = piece.iter().take_while(is_blank).count();
            let next = piece.get(blanks).copied();
            let is_end = piece.is_empty();
            self.consume(blanks);
            if next.is_some() || is_end {
                return Ok(next.filter(|&byte| byte != b'\n'));
            }
        }
    }

    /// Checks that the rest of the text is blank.
    pub fn expect_end(&mut self) -> Result<(), Fault> {
        while self.begin()?.is_none() {
            if !self.advance()? {
                return Ok(());
            }
        }
        let word = self.next()?.map(quote).unwrap_or_default();
        Err(format!("unexpected {word} after the end of the matrix").into())
    }

    /// Returns the beginning of the line, which is a comment.
    pub fn comment(&mut self) -> Result<String, Fault> {
        Ok(String::from_utf8_lossy(&self.rest_of_line(COMMENT)?).into_owned())
    }

    fn rest_of_line(&mut self, most: usize) -> Result<Vec<u8>, Fault> {
        let mut rest = Vec::new();
        loop {
            let piece = self.text.fill_buf()?;
            let end = piece.iter().position(|&byte| byte == b'\n');
            let taken = end.unwrap_or(piece.len());
            rest.extend_from_slice(&piece[..taken.min(most - rest.len())]);
            let is_last = end.is_some() || piece.is_empty();
            self.consume(taken);
            if is_last {
                return Ok(rest);
            }
        }
    }

    /// Returns the next word of the text as a whole number of at most `most`, across lines.
    pub fn number(&mut self, what: &str, most: u64) -> Result<u64, Fault> {
        while self.begin()?.is_none() {
            if !self.advance()? {
                return Err(format!("the file ends where {what} must follow").into());
            }
        }
        self.number_in_line(what, most)
    }

    /// Returns the next word of this line.
    pub fn word_in_line(&mut self, what: &str) -> Result<&[u8], Fault> {
        let missing = || format!("{what} is missing at the end of the line");
        Ok(self.next()?.ok_or_else(missing)?)
    }

    /// Returns the next word of this line as a whole number of at most `most`.
    pub fn number_in_line(&mut self, what: &str, most: u64) -> Result<u64, Fault> {
        Ok(whole(self.word_in_line(what)?, what, most)?)
    }

    /// Returns the next word of this line as an index that is counted from 1, less 1.
    pub fn index_in_line(&mut self, what: &str, most: usize) -> Result<u32, Fault> {
        match self.number_in_line(what, most as u64)? {
            0 => Err(format!("{what} 0: indices start at 1").into()),
            index => Ok(index as u32 - 1),
        }
    }

    /// Returns the next word of this line as a value.
    pub fn value_in_line(&mut self, what: &str) -> Result<f64, Fault> {
        Ok(value(self.word_in_line(what)?, Field::Real)?)
    }

    /// Checks that the rest of the line is blank.
    pub fn expect_line_end(&mut self) -> Result<(), Fault> {
        match self.next()? {
            Some(word) => Err(format!("unexpected {} at the end of the line", quote(word)).into()),
            None => Ok(()),
        }
    }
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | 0 | 0x1a)
}
