//! The entries of a text. The lines of most files have the form for which the parser `plain` is made; it needs a
//! processor with AVX2. Other usual lines are parsed by `scan`, and all the rest by [`coordinate`] and [`element`],
//! which alone decide what is valid and return a message for every defect.

use super::super::super::entry::Entry;
use super::super::super::error::{Defect, quote, shown};
use super::super::super::field::{Field, Symmetry};
use super::super::super::number::value;
use super::super::super::syntax::{line_at, tokens};
use super::header::Header;
#[cfg(target_arch = "x86_64")]
use super::plain;
use super::scan;

/// Parses a line of the coordinate format. Returns `None` if the line is blank or a comment.
pub fn coordinate(line: &[u8], header: &Header) -> Result<Option<Entry>, Defect> {
    let mut words = tokens(line);
    let Some(row) = words.next() else { return Ok(None) };
    let missing = || format!("the column index is missing after {}", quote(row));
    let col = words.next().ok_or_else(missing)?;
    let row = index(row, "row", header.rows)?;
    let col = index(col, "column", header.cols)?;
    let value = match header.field {
        Field::Pattern => 1.0,
        field => {
            let word = words.next().ok_or("the value is missing after the indices")?;
            let value = value(word, field)?;
            if header.symmetry == Symmetry::SkewSymmetric && row == col && value != 0.0 {
                let at = row + 1;
                let word = quote(word);
                let what = "of a skew-symmetric matrix must be 0";
                return Err(format!("diagonal entry ({at}, {at}) {what}, not {word}").into());
            }
            value
        }
    };
    let Some(word) = words.next() else { return Ok(Some(Entry { row, col, value })) };
    let word = quote(word);
    let field = header.field.name();
    let wanted = if header.field == Field::Pattern { "row and column" } else { "row, column and value" };
    Err(format!("unexpected {word}: an entry of a {field} matrix has only {wanted}").into())
}

/// Parses a line of the array format. Returns `None` if the line is blank or a comment.
pub fn element(line: &[u8], header: &Header) -> Result<Option<f64>, Defect> {
    let mut words = tokens(line);
    let Some(word) = words.next() else { return Ok(None) };
    let value = value(word, header.field)?;
    let Some(word) = words.next() else { return Ok(Some(value)) };
    Err(format!("unexpected {}: an array has one value per line", quote(word)).into())
}

fn index(word: &[u8], what: &str, size: usize) -> Result<u32, Defect> {
    if !word.iter().all(u8::is_ascii_digit) {
        let word = quote(word);
        return Err(format!("{what} index {word} is not a positive whole number").into());
    }
    let value = word
        .iter()
        .fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    match value {
        0 => Err(format!("{what} index 0: indices start at 1").into()),
        _ if value <= size as u64 => Ok((value - 1) as u32),
        _ => Err(format!("{what} index {} exceeds {size} {what}s", shown(word, 40)).into()),
    }
}

/// Calls `take` for each entry of `text`. Returns the number of entries, or `None` if a line is invalid.
#[inline(always)]
pub fn entries<const PATTERN: bool>(text: &[u8], header: &Header, take: impl FnMut(Entry)) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if plain::is_supported() {
        // SAFETY: the processor has the instructions, which `is_supported` has checked.
        return unsafe { plain_entries::<PATTERN>(text, header, take) };
    }
    line_entries::<PATTERN>(text, header, take)
}

/// Does the same line by line, on any processor.
#[inline(always)]
fn line_entries<const PATTERN: bool>(text: &[u8], header: &Header, mut take: impl FnMut(Entry)) -> Option<u64> {
    let mut at = 0;
    let mut stored = 0;
    while at < text.len() {
        let (entry, length) = line::<PATTERN>(text, at, header)?;
        at += length;
        if let Some(entry) = entry {
            stored += 1;
            take(entry);
        }
    }
    Some(stored)
}

/// Does the same with the parser `plain`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn plain_entries<const PATTERN: bool>(text: &[u8], header: &Header, mut take: impl FnMut(Entry)) -> Option<u64> {
    let mut at = 0;
    let mut stored = 0;
    let mut lines = plain::Lines::new();
    while at < text.len() {
        let (count, end) = lines.parse::<PATTERN>(text, at, header);
        at = end;
        for number in 0..count {
            let entry = match lines.get(number, header) {
                Ok(entry) => Some(entry),
                Err(start) => {
                    let (entry, length) = line::<PATTERN>(text, start, header)?;
                    at = at.max(start + length);
                    entry
                }
            };
            if let Some(entry) = entry {
                stored += 1;
                take(entry);
            }
        }
    }
    Some(stored)
}

/// Parses the line at position `at`. Returns its entry, unless it is blank or a comment, and its length.
#[inline(always)]
fn line<const PATTERN: bool>(text: &[u8], at: usize, header: &Header) -> Option<(Option<Entry>, usize)> {
    if let Some((row, col, value, length)) = scan::coordinate::<PATTERN>(&text[at..]) {
        let row = row.wrapping_sub(1);
        let col = col.wrapping_sub(1);
        let inside = row < header.rows as u64 && col < header.cols as u64;
        let entry = Entry { row: row as u32, col: col as u32, value };
        if inside && !header.doubts(&entry) {
            return Some((Some(entry), length));
        }
    }
    let line = line_at(text, at)?;
    Some((coordinate(line, header).ok()?, line.len()))
}

#[cfg(target_arch = "x86_64")]
#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::header::Layout;
    use super::*;

    const SIZE: usize = 120_000_000;

    fn header(field: Field, symmetry: Symmetry) -> Header {
        let layout = Layout::Coordinate;
        Header { layout, field, symmetry, rows: SIZE, cols: SIZE, stored: 0, bytes: 0 }
    }

    /// The number of entries, unless a line is invalid, and the entries with their values as bits.
    type Found = (Option<u64>, Vec<(u32, u32, u64)>);

    fn both<const PATTERN: bool>(text: &str, header: &Header) -> [Found; 2] {
        let mut plain = Vec::new();
        let mut by_line = Vec::new();
        let bits = |entry: Entry| (entry.row, entry.col, entry.value.to_bits());
        let found = entries::<PATTERN>(text.as_bytes(), header, |entry| plain.push(bits(entry)));
        let expected = line_entries::<PATTERN>(text.as_bytes(), header, |entry| by_line.push(bits(entry)));
        [(found, plain), (expected, by_line)]
    }

    fn index() -> impl Strategy<Value = String> {
        let unusual = vec!["0", "120000001", "99999999999999999999", "-1", "+1", "1x", "1.5", ""];
        prop_oneof![
            40 => (1..=SIZE, 0..27u32).prop_map(|(index, shift)| (index >> shift).max(1).to_string()),
            2 => (1..99u32, 1..14usize).prop_map(|(index, digits)| format!("{index:0digits$}")),
            1 => select(unusual).prop_map(str::to_owned),
        ]
    }

    fn value() -> impl Strategy<Value = String> {
        let unusual = "- . -. 1. .5 -.5 -0 0.0 1..2 1.2.3 1e5 1e+5 1e+100 1e+0a 1e*05 e+05 1D+02 +1 nan inf 1_0 1:0 \
            1/0 1\u{e9} 12345678901234567890 0.1234567890123456789 00000000000000000001 9999999999999999999 1e-99";
        let unusual: Vec<&str> = unusual.split_whitespace().collect();
        prop_oneof![
            any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| format!("{value:e}")),
            (-1e3..1e3, 0..20usize).prop_map(|(value, digits)| format!("{value:.digits$}")),
            (-1e3..1e3, 0..20usize, select(vec!["e-", "e+", "E-", "E+"]), 0..30)
                .prop_map(|(value, digits, letter, power)| format!("{value:.digits$}{letter}{power:02}")),
            (-99..99).prop_map(|value: i32| value.to_string()),
            select(unusual).prop_map(str::to_owned),
        ]
    }

    fn lines(pattern: bool) -> impl Strategy<Value = Vec<String>> {
        let blank = || prop_oneof![60 => Just(" "), 2 => Just("\t"), 1 => Just("  "), 1 => Just("\u{1}")];
        let end = prop_oneof![60 => Just(""), 2 => Just("\r"), 1 => Just(" "), 1 => Just("\n"), 1 => Just("\n%c")];
        let line = (index(), blank(), index(), blank(), value(), end);
        let line = line.prop_map(move |(row, first, col, second, value, end)| match pattern {
            true => format!("{row}{first}{col}{end}"),
            false => format!("{row}{first}{col}{second}{value}{end}"),
        });
        let odd = "1 1 1\r|1  1 1| 1 1 1|1 1 1 |1 1|1 1 |1 1 1 1|0 1 1|1 123456789 1|1x 1 1|%1 1 1|1 1 1e+0:";
        let odd = select(odd.split('|').map(str::to_owned).collect::<Vec<_>>());
        prop::collection::vec(prop_oneof![60 => line, 1 => odd], 0..300)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// The first invalid line ends the parsing, so all are removed from half of the texts.
        #[test]
        fn the_fastest_parser_finds_what_the_others_find(
            mut lines in lines(false),
            field in select(vec![Field::Real, Field::Integer, Field::UnsignedInteger]),
            symmetry in select(vec![Symmetry::General, Symmetry::SkewSymmetric]),
            valid: bool,
            ended: bool,
        ) {
            let header = header(field, symmetry);
            lines.retain(|line| !valid || both::<false>(line, &header)[1].0.is_some());
            let [found, expected] = both::<false>(&(lines.join("\n") + if ended { "\n" } else { "" }), &header);
            prop_assert!(!valid || expected.0.is_some());
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn the_fastest_parser_finds_the_patterns_that_the_others_find(mut lines in lines(true), valid: bool) {
            let header = header(Field::Pattern, Symmetry::Symmetric);
            lines.retain(|line| !valid || both::<true>(line, &header)[1].0.is_some());
            let [found, expected] = both::<true>(&lines.join("\n"), &header);
            prop_assert!(!valid || expected.0.is_some());
            prop_assert_eq!(found, expected);
        }
    }
}
