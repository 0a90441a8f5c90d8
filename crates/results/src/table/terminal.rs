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

/// Breaks a line at blanks so that no part is wider than a terminal, and indents the parts after the first further.
pub fn wrapped(line: &str, width: Option<u16>) -> String {
    let width = width.map_or(usize::MAX, usize::from);
    if measure_text_width(line) <= width {
        return line.to_owned();
    }
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    let (mut text, mut column) = (" ".repeat(indent), indent);
    let break_line = format!("\n{}", " ".repeat(indent + 2));
    for (number, word) in words.split(' ').enumerate() {
        let length = measure_text_width(word);
        if number > 0 {
            let breaks = column + 1 + length > width;
            text += if breaks { &break_line } else { " " };
            column = if breaks { indent + 2 } else { column + 1 };
        }
        text += word;
        column += length;
    }
    text
}

/// A writer that breaks lines as [`wrapped`] does, each when it is complete.
pub struct Wrapped<W> {
    to: W,
    width: Option<u16>,
    /// The line that is not complete.
    begun: Vec<u8>,
}

impl<W: Write> Wrapped<W> {
    pub fn new(to: W, width: Option<u16>) -> Self {
        Self { to, width, begun: Vec::new() }
    }
}

impl<W: Write> Write for Wrapped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend(part);
            if let Some(line) = self.begun.strip_suffix(b"\n") {
                let line = wrapped(&String::from_utf8_lossy(line), self.width);
                self.begun.clear();
                writeln!(self.to, "{line}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(&std::mem::take(&mut self.begun))?;
        self.to.flush()
    }
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
        assert_eq!(wrapped("  ab cd efg", Some(8)), "  ab cd\n    efg");
        let mut to = Vec::new();
        let mut writer = Wrapped::new(&mut to, Some(8));
        for part in [&line[..6], &line[6..], "\n\nlast\n", "begun"] {
            writer.write_all(part.as_bytes()).unwrap();
        }
        writer.flush().unwrap();
        assert_eq!(String::from_utf8(to).unwrap(), wrapped(line, Some(8)) + "\n\nlast\nbegun");
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
