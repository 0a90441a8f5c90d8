//! One line of entries, read with care: everything that files contain, and a message for whatever
//! is wrong. `scan` is quicker on the lines that look as they should.

use super::error::{quote, shown};
use super::header::{Field, Header, Symmetry};

/// An entry of the matrix, indices from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub row: u32,
    pub col: u32,
    pub value: f64,
}

impl Entry {
    /// Its mirror image, with its value times `sign`; none of an entry on the diagonal.
    #[inline(always)]
    pub fn image(self, sign: f64) -> Option<Self> {
        let (row, col) = (self.col, self.row);
        (row != col).then_some(Self { row, col, value: sign * self.value })
    }
}

/// The words of a line up to a comment.
pub fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'%')
}

/// The entry on a line of coordinates; none if the line is blank or a comment.
pub fn coordinate(line: &[u8], header: &Header) -> Result<Option<Entry>, String> {
    let mut words = tokens(line);
    let Some(row) = words.next() else {
        return Ok(None);
    };
    let col = words.next().ok_or_else(|| format!("no column index follows {}", quote(row)))?;
    let row = index(row, "row", header.rows)?;
    let col = index(col, "column", header.cols)?;
    let value = match header.field {
        Field::Pattern => 1.0,
        field => {
            let word = words.next().ok_or("no value follows the indices")?;
            let value = number(word, field)?;
            check_diagonal(row, col, value, word, header)?;
            value
        }
    };
    no_more(words, header)?;
    Ok(Some(Entry { row, col, value }))
}

/// The element on a line of an array; none if the line is blank or a comment.
pub fn element(line: &[u8], header: &Header) -> Result<Option<f64>, String> {
    let mut words = tokens(line);
    let Some(word) = words.next() else {
        return Ok(None);
    };
    let value = number(word, header.field)?;
    match words.next() {
        Some(word) => Err(format!("unexpected {}: an array has one value a line", quote(word))),
        None => Ok(Some(value)),
    }
}

fn index(word: &[u8], what: &str, size: usize) -> Result<u32, String> {
    if !word.iter().all(u8::is_ascii_digit) {
        let word = quote(word);
        return Err(format!("{what} index {word} is not a positive whole number"));
    }
    let value = word.iter().fold(0u64, |value, digit| {
        value.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    });
    match value {
        0 => Err(format!("{what} index 0: indices start at 1")),
        _ if value <= size as u64 => Ok((value - 1) as u32),
        _ => {
            let (value, plural) = (shown(word, 40), if what == "row" { "rows" } else { "columns" });
            Err(format!("{what} index {value} exceeds {size} {plural}"))
        }
    }
}

/// A value, with the exponent letters of Fortran allowed.
fn number(word: &[u8], field: Field) -> Result<f64, String> {
    let text: String = word
        .iter()
        .map(|&byte| if matches!(byte, b'd' | b'D') { 'e' } else { char::from(byte) })
        .collect();
    match text.parse::<f64>() {
        Err(_) => Err(format!("value {} is not a number", quote(word))),
        Ok(value) if !value.is_finite() => Err(format!("value {} is not finite", quote(word))),
        Ok(value) if value < 0.0 && field == Field::UnsignedInteger => {
            Err(format!("value {} is negative in an unsigned-integer matrix", quote(word)))
        }
        Ok(value) => Ok(value),
    }
}

fn check_diagonal(
    row: u32,
    col: u32,
    value: f64,
    word: &[u8],
    header: &Header,
) -> Result<(), String> {
    if header.symmetry == Symmetry::SkewSymmetric && row == col && value != 0.0 {
        let (at, word) = (row + 1, quote(word));
        return Err(format!(
            "diagonal entry ({at}, {at}) of a skew-symmetric matrix is {word}, not 0"
        ));
    }
    Ok(())
}

fn no_more<'a>(mut words: impl Iterator<Item = &'a [u8]>, header: &Header) -> Result<(), String> {
    let Some(word) = words.next() else {
        return Ok(());
    };
    let (word, field) = (quote(word), header.field.name());
    let entry = match header.field {
        Field::Pattern => "row and column",
        _ => "row, column and value",
    };
    Err(format!("unexpected {word}: an entry of this {field} matrix is {entry}"))
}
