//! The parser for lines in the usual form. It returns `None` for any unusual line, which the complete parser in `entry`
//! then accepts or refuses.

/// The largest length of a line for this parser, in bytes.
const LINE: usize = 128;

/// Returns whether a byte separates words within a line.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Parses `ROW COL` or `ROW COL VALUE` at the start of a text. Returns the indices as in the file, the value, which is
/// finite, and the length of the line with its end.
#[inline(always)]
pub fn coordinate<const PATTERN: bool>(text: &[u8]) -> Option<(u64, u64, f64, usize)> {
    let line = beginning(text);
    let mut at = 0;
    let row = index(line, &mut at)?;
    let col = index(line, &mut at)?;
    let value = if PATTERN { 1.0 } else { number(line, &mut at)? };
    Some((row, col, value, line_end(line, at)?))
}

/// Parses `VALUE`. Returns it and the length of the line with its end.
pub fn element(text: &[u8]) -> Option<(f64, usize)> {
    let line = beginning(text);
    let mut at = 0;
    let value = number(line, &mut at)?;
    Some((value, line_end(line, at)?))
}

fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(LINE)]
}

/// Parses an index after optional blanks. Another word must follow. Up to eight digits are converted at once.
#[inline(always)]
fn index(line: &[u8], at: &mut usize) -> Option<u64> {
    const MOST_DIGITS: usize = 19;
    skip(line, at, is_blank);
    let start = *at;
    let word = u64::from_le_bytes(*line.get(start..)?.first_chunk()?) ^ u64::from_le_bytes([b'0'; 8]);
    // Bytes up to 9 stay below 16 when 6 is added. A carry out of the first other byte changes only the bytes after it.
    let others = (word | word.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0;
    let digits = others.trailing_zeros() as usize / 8;
    *at += digits;
    let mut value = if digits > 0 { eight_digits(word << (64 - 8 * digits)) } else { return None };
    if digits == 8 {
        skip(line, at, |byte| {
            let digit = byte.is_ascii_digit();
            if digit {
                value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            }
            digit
        });
    }
    // If no blank were required, `2.5` would be parsed as column 2 and value .5.
    let ends = line.get(*at).is_some_and(|&byte| byte <= b' ');
    (ends && *at - start <= MOST_DIGITS).then_some(value)
}

/// Returns the number whose digits are the bytes of `word`, with the first digit in the lowest byte.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

/// Parses a number after optional blanks and rounds it correctly.
#[inline(always)]
fn number(line: &[u8], at: &mut usize) -> Option<f64> {
    skip(line, at, is_blank);
    let (value, length) = fast_float2::parse_partial::<f64, _>(&line[*at..]).ok()?;
    *at += length;
    value.is_finite().then_some(value)
}

/// Returns the length of the line with its end, if only blanks follow position `at`.
#[inline(always)]
fn line_end(line: &[u8], mut at: usize) -> Option<usize> {
    skip(line, &mut at, |byte| is_blank(byte) || byte == b'\r');
    (line.get(at) == Some(&b'\n')).then_some(at + 1)
}

#[inline(always)]
fn skip(line: &[u8], at: &mut usize, mut wanted: impl FnMut(u8) -> bool) {
    while line.get(*at).is_some_and(|&byte| wanted(byte)) {
        *at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_up_to_19_digits_are_parsed() {
        for number in (0..19).map(|power| 10u64.pow(power)).flat_map(|n| [n - 1, n, 9 * n]) {
            let line = format!("{number} {number} \n");
            let found = coordinate::<true>(&[&line, "another line"].concat().into_bytes());
            assert_eq!(found, Some((number, number, 1.0, line.len())));
        }
        assert_eq!(coordinate::<true>(b"18446744073709551617 1 \nanother line"), None);
    }
}
