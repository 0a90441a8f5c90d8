//! The numbers of texts.

use super::error::{Defect, quote};
use super::field::Field;

/// Parses a value. The exponent letters of Fortran (`d`, `D`) are accepted, and its exponents of three digits without a
/// letter (`1.25-120`).
pub fn value(word: &[u8], field: Field) -> Result<f64, Defect> {
    let text: String =
        word.iter().map(|&byte| if matches!(byte, b'd' | b'D') { 'e' } else { char::from(byte) }).collect();
    let parsed = text.parse::<f64>().or_else(|error| with_exponent(&text).ok_or(error)?.parse());
    let why = match parsed {
        Err(_) => "not a number",
        Ok(value) if !value.is_finite() => "not finite",
        Ok(value) if value < 0.0 && field == Field::UnsignedInteger => "negative in an unsigned-integer matrix",
        Ok(value) => return Ok(value),
    };
    Err(format!("value {} is {why}", quote(word)).into())
}

/// Returns a number with the letter of its exponent, if only that is missing.
fn with_exponent(text: &str) -> Option<String> {
    let at = text.rfind(['+', '-']).filter(|&at| at > 0)?;
    let (mantissa, exponent) = text.split_at(at);
    let ends = mantissa.ends_with(|c: char| c.is_ascii_digit() || c == '.') && exponent.len() == 4;
    ends.then(|| format!("{mantissa}e{exponent}"))
}

/// Parses a whole number from 0 to `most`.
pub fn whole(word: &[u8], what: &str, most: u64) -> Result<u64, Defect> {
    if word.is_empty() || !word.iter().all(u8::is_ascii_digit) {
        let word = quote(word);
        return Err(format!("{what} must be a whole number of at least 0, not {word}").into());
    }
    let number = digits(word).filter(|number| *number <= most);
    number.ok_or_else(|| format!("{what} {} is larger than {most}", quote(word)).into())
}

/// Returns the number of which all bytes of a word are digits; `None` if there are others, or more than a `u64` holds.
pub fn digits(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    let are_digits = word.iter().all(u8::is_ascii_digit);
    text.parse().ok().filter(|_| are_digits)
}
