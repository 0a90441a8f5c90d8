//! Escapes text for a terminal. Names of files, comments of matrices and cells of result files may come from others
//! and contain control characters. A terminal must not execute these: they could move the cursor, change the title of
//! the window, or reverse the direction of the text.

use std::borrow::Cow;
use std::io::{self, Write};

use console::measure_text_width;

/// What sets and ends a colour of this program's output. A name that contains it can do no harm.
const COLOURS: [&str; 4] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m"];

/// Replaces each character that controls a terminal, except line ends, tabs and colours, by an escape such as
/// `\u{1b}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let (mut escaped, mut rest) = (String::with_capacity(2 * text.len()), text);
    while let Some(character) = rest.chars().next() {
        let colour = COLOURS.iter().find(|colour| rest.starts_with(**colour));
        let length = colour.map_or(character.len_utf8(), |colour| colour.len());
        match is_command(character) && colour.is_none() {
            true => escaped.extend(character.escape_unicode()),
            false => escaped += &rest[..length],
        }
        rest = &rest[length..];
    }
    Cow::Owned(escaped)
}

/// Whether a character is a control character except line end and tab, reorders the text or ends a line.
fn is_command(character: char) -> bool {
    let reorders = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    reorders || character.is_control() && !matches!(character, '\n' | '\t')
}

/// Breaks a line at blanks so that no part is wider than a terminal, and indents the parts after the first.
pub fn wrapped(line: &str, width: Option<u16>) -> String {
    let width = width.map_or(usize::MAX, usize::from);
    if measure_text_width(line) <= width {
        return line.to_owned();
    }
    let (mut text, mut column) = (String::new(), 0);
    for word in line.split(' ') {
        let length = measure_text_width(word);
        if column > 0 {
            let breaks = column + 1 + length > width;
            text += if breaks { "\n  " } else { " " };
            column = if breaks { 2 } else { column + 1 };
        }
        text += word;
        column += length;
    }
    text
}

/// A writer that escapes text as [`shown`] does. Bytes that are not valid UTF-8 become replacement characters.
pub struct Shown<W> {
    to: W,
    /// The first bytes of a character whose other bytes have not been written yet.
    begun: Vec<u8>,
}

impl<W: Write> Shown<W> {
    pub fn new(to: W) -> Self {
        Self { to, begun: Vec::new() }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = [&self.begun, bytes].concat();
        self.begun.clear();
        let mut chunks = text.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.to.write_all(shown(chunk.valid()).as_bytes())?;
            let invalid = chunk.invalid();
            let is_beginning =
                std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && is_beginning {
                self.begun.extend(invalid);
            } else if !invalid.is_empty() {
                self.to.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "a\u{1b}]0;title\u{7}\r\u{9b}2J\u{202e}b\u{7f}\n\tä";
    const HARMLESS: &str = "a\\u{1b}]0;title\\u{7}\\u{d}\\u{9b}2J\\u{202e}b\\u{7f}\n\tä";

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(shown(NASTY), HARMLESS);
        assert!(matches!(shown("matrices/größe 1.mtx\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn colours_pass_and_lines_are_broken() {
        assert_eq!(shown("\u{1b}[32m\u{1b}[1ma\u{1b}[0m"), "\u{1b}[32m\u{1b}[1ma\u{1b}[0m");
        assert_eq!(shown("\u{1b}[33ma\u{1b}[8m"), "\\u{1b}[33ma\\u{1b}[8m");
        let line = "a  bcd efghijklmn op";
        assert_eq!(wrapped(line, None), line);
        assert_eq!(wrapped(line, Some(8)), "a  bcd\n  efghijklmn\n  op");
    }

    /// The result does not depend on where the text is split into two writes.
    #[test]
    fn characters_may_be_written_in_parts() {
        for place in 0..=NASTY.len() {
            let mut to = Vec::new();
            let mut writer = Shown::new(&mut to);
            writer.write_all(&NASTY.as_bytes()[..place]).unwrap();
            writer.write_all(&NASTY.as_bytes()[place..]).unwrap();
            assert_eq!(String::from_utf8(to).unwrap(), HARMLESS, "cut at {place}");
        }
        let mut to = Vec::new();
        Shown::new(&mut to).write_all(b"a\x9b2J\xff\xc3").unwrap();
        assert_eq!(String::from_utf8(to).unwrap(), "a\u{fffd}2J\u{fffd}");
    }
}
