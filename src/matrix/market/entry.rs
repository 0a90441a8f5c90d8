//! The complete parser of one line of entries. It accepts all valid forms and returns a message for every
//! defect. `scan` is the faster parser for lines in the usual form.

use super::error::{quote, shown};
use super::header::{Field, Header, Symmetry};

/// An entry of the matrix. Indices start at 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub row: u32,
    pub col: u32,
    pub value: f64,
}

impl Entry {
    /// Returns the mirror image with the value multiplied by `sign`; `None` for a diagonal entry.
    #[inline(always)]
    pub fn image(self, sign: f64) -> Option<Self> {
        let (row, col) = (self.col, self.row);
        (row != col).then_some(Self { row, col, value: sign * self.value })
    }
}

/// Returns the words of a line up to a comment.
pub fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'%')
}

/// Parses a line of the coordinate format. Returns `None` if the line is blank or a comment.
pub fn coordinate(line: &[u8], header: &Header) -> Result<Option<Entry>, String> {
    let mut words = tokens(line);
    let Some(row) = words.next() else {
        return Ok(None);
    };
    let col =
        words.next().ok_or_else(|| format!("the column index is missing after {}", quote(row)))?;
    let row = index(row, "row", header.rows)?;
    let col = index(col, "column", header.cols)?;
    let value = match header.field {
        Field::Pattern => 1.0,
        field => {
            let word = words.next().ok_or("the value is missing after the indices")?;
            let value = number(word, field)?;
            check_diagonal(row, col, value, word, header)?;
            value
        }
    };
    no_more(words, header)?;
    Ok(Some(Entry { row, col, value }))
}

/// Parses a line of the array format. Returns `None` if the line is blank or a comment.
pub fn element(line: &[u8], header: &Header) -> Result<Option<f64>, String> {
    let mut words = tokens(line);
    let Some(word) = words.next() else {
        return Ok(None);
    };
    let value = number(word, header.field)?;
    match words.next() {
        Some(word) => Err(format!("unexpected {}: an array has one value per line", quote(word))),
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

/// Parses a value. The exponent letters of Fortran (`d`, `D`) are accepted.
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
            "diagonal entry ({at}, {at}) of a skew-symmetric matrix must be 0, not {word}"
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
    Err(format!("unexpected {word}: an entry of a {field} matrix has only {entry}"))
}
