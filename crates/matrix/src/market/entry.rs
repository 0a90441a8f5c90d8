//! The complete parser of one line of entries. It accepts all valid forms and returns a message for every
//! defect. `scan` is the faster parser for lines in the usual form.

use super::error::{Defect, quote, shown};
use super::header::{Field, Header, Symmetry};
use super::line::tokens;

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

    /// Returns whether the kind of file may forbid this entry, which [`coordinate`] then decides. The faster parsers have
    /// checked that the line is well formed and the entry within the matrix.
    #[inline(always)]
    pub fn is_doubtful(&self, header: &Header) -> bool {
        header.symmetry == Symmetry::SkewSymmetric && self.row == self.col
            || header.field == Field::UnsignedInteger && self.value < 0.0
    }
}

/// Parses a line of the coordinate format. Returns `None` if the line is blank or a comment.
pub fn coordinate(line: &[u8], header: &Header) -> Result<Option<Entry>, Defect> {
    let mut words = tokens(line);
    let Some(row) = words.next() else {
        return Ok(None);
    };
    let col = words.next().ok_or_else(|| Defect::ColumnMissing(quote(row)))?;
    let row = index(row, "row", header.rows)?;
    let col = index(col, "column", header.cols)?;
    let value = match header.field {
        Field::Pattern => 1.0,
        field => {
            let word = words.next().ok_or(Defect::ValueMissing)?;
            let value = number(word, field)?;
            check_diagonal(row, col, value, word, header)?;
            value
        }
    };
    no_more(words, header)?;
    Ok(Some(Entry { row, col, value }))
}

/// Parses a line of the array format. Returns `None` if the line is blank or a comment.
pub fn element(line: &[u8], header: &Header) -> Result<Option<f64>, Defect> {
    let mut words = tokens(line);
    let Some(word) = words.next() else {
        return Ok(None);
    };
    let value = number(word, header.field)?;
    match words.next() {
        Some(word) => Err(Defect::SurplusElement(quote(word))),
        None => Ok(Some(value)),
    }
}

fn index(word: &[u8], what: &'static str, size: usize) -> Result<u32, Defect> {
    if !word.iter().all(u8::is_ascii_digit) {
        return Err(Defect::Index { what, word: quote(word) });
    }
    let value = word.iter().fold(0u64, |value, digit| {
        value.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    });
    match value {
        0 => Err(Defect::IndexZero { what }),
        _ if value <= size as u64 => Ok((value - 1) as u32),
        _ => Err(Defect::IndexTooLarge { what, index: shown(word, 40), size }),
    }
}

/// Parses a value. The exponent letters of Fortran (`d`, `D`) are accepted.
fn number(word: &[u8], field: Field) -> Result<f64, Defect> {
    let text: String = word
        .iter()
        .map(|&byte| if matches!(byte, b'd' | b'D') { 'e' } else { char::from(byte) })
        .collect();
    match text.parse::<f64>() {
        Err(_) => Err(Defect::NotNumber(quote(word))),
        Ok(value) if !value.is_finite() => Err(Defect::NotFinite(quote(word))),
        Ok(value) if value < 0.0 && field == Field::UnsignedInteger => {
            Err(Defect::Negative(quote(word)))
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
) -> Result<(), Defect> {
    if header.symmetry == Symmetry::SkewSymmetric && row == col && value != 0.0 {
        return Err(Defect::Diagonal { at: row + 1, word: quote(word) });
    }
    Ok(())
}

fn no_more<'a>(mut words: impl Iterator<Item = &'a [u8]>, header: &Header) -> Result<(), Defect> {
    let Some(word) = words.next() else {
        return Ok(());
    };
    let wanted = match header.field {
        Field::Pattern => "row and column",
        _ => "row, column and value",
    };
    Err(Defect::SurplusWord { word: quote(word), field: header.field.name(), wanted })
}
