//! The fast parser for lines in the usual form. It reads eight bytes at a time and returns `None` for any
//! unusual line, which the complete parser in `entry` then accepts or refuses.

use super::decimal::number;
use super::window::{Window, eight_digits, is_blank};

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
    use super::super::window::LINE;
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
        for line in ["", "1", "1 ", "1 2", "1 2 3\n", "a 1\n", "1 2x\n", "1:2\n", "1/2\n", "-1 2\n"]
        {
            assert_eq!(indices(line), None, "{line}");
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
