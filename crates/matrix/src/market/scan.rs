//! The fast parser for lines in the usual form. It reads eight bytes at a time and returns `None` for any
//! unusual line, which the complete parser in `entry` then accepts or refuses.

use super::decimal::number;

/// The largest length of a line for this parser, in bytes.
pub const LINE: usize = 128;
/// The size of a window in bytes: a line, plus 8 bytes so that eight bytes can be read at any position.
pub const WINDOW: usize = LINE + 8;

/// The text from the start of a line. The size is fixed, and positions are taken modulo `LINE`, a power of two,
/// so that no access needs a bounds check.
#[derive(Clone, Copy)]
pub struct Window<'a>(&'a [u8; WINDOW]);

impl<'a> Window<'a> {
    /// Creates a window at the start of `text`, or of a copy in `room` if `text` is too short.
    #[inline(always)]
    pub fn new(text: &'a [u8], room: &'a mut [u8; WINDOW]) -> Self {
        Self(text.first_chunk().unwrap_or_else(|| {
            room.fill(0);
            room[..text.len()].copy_from_slice(text);
            room
        }))
    }

    pub const fn room() -> [u8; WINDOW] {
        [0; WINDOW]
    }

    #[inline(always)]
    pub fn byte(self, at: usize) -> u8 {
        self.0[at % LINE]
    }

    pub fn rest(self, at: usize) -> &'a [u8] {
        &self.0[at % LINE..]
    }

    /// Returns the eight bytes at `at`, each XORed with '0', and the number of digits before the first byte that
    /// is not a digit.
    #[inline(always)]
    pub fn leading_digits(self, at: usize) -> (u64, usize) {
        let at = at % LINE;
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[at..at + 8]);
        let word = u64::from_le_bytes(bytes) ^ u64::from_le_bytes([b'0'; 8]);
        // Bytes up to 9 stay below 16 when 6 is added. A carry out of the first other byte changes only the
        // bytes after it.
        let others = (word | word.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0;
        (word, others.trailing_zeros() as usize / 8)
    }

    /// Advances `at` while `wanted` returns true, but at most to the end of the longest line.
    #[inline(always)]
    pub fn skip(self, at: &mut usize, mut wanted: impl FnMut(u8) -> bool) {
        while *at < LINE && wanted(self.byte(*at)) {
            *at += 1;
        }
    }

    /// Returns the length of the line with its end, if only blanks follow position `at`.
    #[inline(always)]
    pub fn line_end(self, mut at: usize) -> Option<usize> {
        self.skip(&mut at, |byte| is_blank(byte) || byte == b'\r');
        (at < LINE && self.byte(at) == b'\n').then_some(at + 1)
    }
}

/// Returns whether a byte separates words within a line.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the number whose digits are the bytes of `word`, with the first digit in the lowest byte.
#[inline(always)]
pub fn eight_digits(word: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

/// Parses `ROW COL` or `ROW COL VALUE`. Returns the indices as in the file, the value, which is finite, and the
/// length of the line with its end.
#[inline(always)]
pub fn coordinate<const PATTERN: bool>(text: Window) -> Option<(u64, u64, f64, usize)> {
    let mut at = 0;
    let row = index(text, &mut at)?;
    // If no blank were required, `2.5` would be parsed as column 2 and value .5.
    blank(text, &mut at)?;
    let col = index(text, &mut at)?;
    let value = match PATTERN {
        true => 1.0,
        false => {
            blank(text, &mut at)?;
            text.skip(&mut at, is_blank);
            number(text, &mut at)?
        }
    };
    Some((row, col, value, text.line_end(at)?))
}

#[inline(always)]
fn blank(text: Window, at: &mut usize) -> Option<()> {
    let blank = is_blank(text.byte(*at));
    *at += 1;
    blank.then_some(())
}

/// Parses `VALUE`. Returns it and the length of the line with its end.
pub fn element(text: Window) -> Option<(f64, usize)> {
    let mut at = 0;
    text.skip(&mut at, is_blank);
    let value = number(text, &mut at)?;
    Some((value, text.line_end(at)?))
}

/// Parses the index at `at`, after optional blanks. Up to eight digits are converted at once.
#[inline(always)]
fn index(text: Window, at: &mut usize) -> Option<u64> {
    let (mut word, mut digits) = text.leading_digits(*at);
    if digits == 0 {
        text.skip(at, is_blank);
        (word, digits) = text.leading_digits(*at);
    }
    *at += digits;
    match digits {
        0 => None,
        8 => further_digits(text, at, eight_digits(word)),
        _ => Some(eight_digits(word << (64 - 8 * digits))),
    }
}

#[cold]
fn further_digits(text: Window, at: &mut usize, value: u64) -> Option<u64> {
    let mut value = Some(value);
    text.skip(at, |byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        if let Some(digit) = digit {
            value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit));
        }
        digit.is_some()
    });
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(line: &str) -> Option<(u64, u64, f64, usize)> {
        coordinate::<true>(Window::new(line.as_bytes(), &mut Window::room()))
    }

    #[test]
    fn indices_of_any_length_are_parsed() {
        for number in (0..19).map(|power| 10u64.pow(power)).flat_map(|n| [n - 1, n, 9 * n]) {
            let line = format!("{number} {number}\n");
            assert_eq!(indices(&line), Some((number, number, 1.0, line.len())));
        }
    }

    /// Positions beyond the window wrap around. They must not be parsed as part of the line, and the parser
    /// must not loop over them for ever.
    #[test]
    fn lines_about_as_long_as_the_window_are_handled() {
        for length in LINE - 12..LINE + 12 {
            for (head, fill, tail) in [("1", " ", "2\n"), ("1 ", "0", "2\n"), ("1 2", " ", "\n")] {
                let line =
                    format!("{head}{}{tail}1 1\n", fill.repeat(length - head.len() - tail.len()));
                let expected = (length <= LINE).then_some((1, 2, 1.0, length));
                assert_eq!(indices(&line), expected, "{line}");
            }
            for fill in ["0", "9", " ", "1.", "1 0.", "1 1 0.", "1 1 1e"] {
                let mut room = Window::room();
                let line = format!("{fill}{}", fill[fill.len() - 1..].repeat(length));
                let text = Window::new(line.as_bytes(), &mut room);
                assert_eq!(coordinate::<false>(text), None, "{line}");
            }
        }
    }
}
