//! Escapes text for a terminal. Names of files, comments of matrices and cells of result files may come from others
//! and contain control characters. A terminal must not execute these: they could move the cursor, change the title of
//! the window, or reverse the direction of the text.

use std::borrow::Cow;
use std::io::{self, Write};

use console::{measure_text_width, style};
use textwrap::WordSplitter;

/// What begins a line that a terminal shows in green, and in red. Unicode reserves these characters for use within a
/// program; in a text of others they only colour its line.
pub const GREEN: char = '\u{fdd0}';
pub const RED: char = '\u{fdd1}';

/// Replaces each character that controls a terminal, except line ends and tabs, by an escape such as `\u{1b}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(2 * text.len());
    for character in text.chars() {
        match is_command(character) {
            true => escaped.extend(character.escape_unicode()),
            false => escaped.push(character),
        }
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
    has_colours: bool,
    /// The line that is not complete.
    begun: Vec<u8>,
}

impl<W: Write> Shown<W> {
    pub fn new(to: W, width: Option<u16>) -> Self {
        Self { to, width, has_colours: false, begun: Vec::new() }
    }

    /// Shows lines that begin with [`GREEN`] or [`RED`] in that colour.
    pub fn with_colours(self) -> Self {
        Self { has_colours: true, ..self }
    }

    fn write_begun(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.begun);
        let line = String::from_utf8_lossy(&line);
        let line = wrapped(&shown(&line), self.width);
        let line = if self.has_colours { coloured(line) } else { line };
        self.to.write_all(line.as_bytes())
    }
}

fn coloured(line: String) -> String {
    match (line.strip_prefix(GREEN), line.strip_prefix(RED)) {
        (Some(rest), _) => style(rest).green().bold().to_string(),
        (_, Some(rest)) => style(rest).red().to_string(),
        _ => line,
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

    /// The marks, and no text of others, set colours.
    #[test]
    fn a_line_with_a_mark_is_coloured() {
        console::set_colors_enabled(true);
        let text = format!("{GREEN}a\n\u{1b}[31mb\n{RED}c\u{1b}[0m\nd");
        let mut to = Vec::new();
        Shown::new(&mut to, None).with_colours().write_all(text.as_bytes()).unwrap();
        let expected = "\u{1b}[32m\u{1b}[1ma\u{1b}[0m\n\\u{1b}[31mb\n\u{1b}[31mc\\u{1b}[0m\u{1b}[0m\n";
        assert_eq!(String::from_utf8(to).unwrap(), expected);
        assert_eq!(written(None, &[&text]), text.replace('\u{1b}', "\\u{1b}"));
    }

    #[test]
    fn lines_are_broken_at_blanks() {
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
