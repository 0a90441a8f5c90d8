//! Escapes text for a terminal. Names of files, comments of matrices and cells of result files may come from others
//! and contain control characters. A terminal must not execute these: they could move the cursor, change the title of
//! the window, or reverse the direction of the text.

use std::borrow::Cow;
use std::io::{self, Write};

use console::measure_text_width;
use textwrap::WordSplitter;

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
    let indent = " ".repeat(line.len() - words.len());
    let further = format!("{indent}  ");
    let options = at_blanks(width).initial_indent(&indent).subsequent_indent(&further);
    textwrap::fill(words, options.break_words(false))
}

/// Breaks a text at blanks so that no part is wider than `width`, and words only if they are wider than that.
pub(super) fn broken(text: &str, width: usize) -> Vec<String> {
    textwrap::wrap(text, at_blanks(width)).into_iter().map(Cow::into_owned).collect()
}

fn at_blanks<'a>(width: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(width).word_splitter(WordSplitter::NoHyphenation)
}

/// A writer that escapes text as [`shown`] and breaks it as [`wrapped`] does, each line when it is complete. Bytes that
/// are not valid UTF-8 become replacement characters.
pub struct Shown<W> {
    to: W,
    width: Option<u16>,
    /// The line that is not complete.
    begun: Vec<u8>,
}

impl<W: Write> Shown<W> {
    pub fn new(to: W, width: Option<u16>) -> Self {
        Self { to, width, begun: Vec::new() }
    }

    fn write_begun(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.begun);
        let line = String::from_utf8_lossy(&line);
        self.to.write_all(wrapped(&shown(&line), self.width).as_bytes())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let content = part.strip_suffix(b"\n");
            self.begun.extend(content.unwrap_or(part));
            if content.is_some() {
                self.write_begun()?;
                self.to.write_all(b"\n")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_begun()?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "a\u{1b}]0;title\u{7}\r\u{9b}2J\u{202e}b\u{7f}\n\tä";
    const HARMLESS: &str = "a\\u{1b}]0;title\\u{7}\\u{d}\\u{9b}2J\\u{202e}b\\u{7f}\n\tä";

    /// Returns what a terminal gets of a text that is written in parts.
    fn written(width: Option<u16>, parts: &[impl AsRef<[u8]>]) -> String {
        let mut to = Vec::new();
        let mut writer = Shown::new(&mut to, width);
        parts.iter().for_each(|part| writer.write_all(part.as_ref()).unwrap());
        writer.flush().unwrap();
        String::from_utf8(to).unwrap()
    }

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
        let text = written(Some(8), &[&line[..6], &line[6..], "\n\nlast\n", "begun"]);
        assert_eq!(text, wrapped(line, Some(8)) + "\n\nlast\nbegun");
    }

    /// The result does not depend on where the text is split into two writes.
    #[test]
    fn characters_may_be_written_in_parts() {
        for place in 0..=NASTY.len() {
            let (one, other) = NASTY.as_bytes().split_at(place);
            assert_eq!(written(None, &[one, other]), HARMLESS, "cut at {place}");
        }
        assert_eq!(written(None, &[b"a\x9b2J\xff\xc3"]), "a\u{fffd}2J\u{fffd}\u{fffd}");
    }
}
