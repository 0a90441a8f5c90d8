//! How much memory is available, and how much matrices and methods need. A matrix or method that does not fit is
//! skipped with these figures, before an allocation fails or the process is killed.

mod bounds;
pub mod extent;
mod limits;

use std::fmt;
use std::str::FromStr;

pub use bounds::{ReadBounds, ReadStop, SizeHint};
pub use limits::Available;

/// Returns the reason for skipping `what`, which needs `bytes`; `None` if the memory is sufficient.
pub fn refusal(what: &str, bytes: u64, available: Available) -> Option<String> {
    let Available { bytes: left, by } = available;
    (bytes > left).then(|| format!("needs {} of memory {what}, and {} are available ({by})", Size(bytes), Size(left)))
}

/// Splits a list of memory needs into parts that fit into `available` bytes. Returns the indices in each part: in
/// order, as many as fit, and at most `most`. A need that does not fit alone is in no part.
pub fn parts(needs: &[u64], available: u64, most: usize) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut left = 0;
    for (index, &need) in needs.iter().enumerate().filter(|&(_, &need)| need <= available) {
        match parts.last_mut() {
            Some(part) if need <= left && part.len() < most => part.push(index),
            _ => {
                parts.push(vec![index]);
                left = available;
            }
        }
        left -= need;
    }
    parts
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

/// The letters of the units: powers of 1024 if the letter is alone or followed by `iB`, powers of 1000 with `B`.
const LETTERS: &str = "KMGT";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a size: write 16GiB, 500M or a number of bytes")]
pub struct SizeError(String);

/// Parses a size: `16GiB` and `16G` are 16·2³⁰ bytes, `16GB` is 16·10⁹ bytes, and a plain number is in bytes.
/// Fractions are allowed.
impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let wrong = || SizeError(text.to_owned());
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let unit = unit.trim().to_ascii_uppercase();
        let power = unit.chars().next().and_then(|letter| LETTERS.find(letter));
        let (base, power) = match (power, unit.get(1..)) {
            (Some(power), Some("" | "IB")) => (1024.0f64, power as i32 + 1),
            (Some(power), Some("B")) => (1000.0, power as i32 + 1),
            _ if unit.is_empty() || unit == "B" => (1.0, 0),
            _ => return Err(wrong()),
        };
        // The conversion saturates for too large numbers.
        Ok(Self((number * base.powi(power)) as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = self.0.checked_ilog2().unwrap_or(0) as usize / 10;
        let Some(last) = power.min(LETTERS.len()).checked_sub(1) else {
            return write!(f, "{} bytes", self.0);
        };
        let scaled = self.0 as f64 / 1024f64.powi(last as i32 + 1);
        write!(f, "{scaled:.1} {}iB", &LETTERS[last..=last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_large_as_fits_and_in_order() {
        let needs = [4, 5, 11, 2, 0, 9, 10, 0];
        // 4 + 5 (2 does not fit); 2 + 0 (9 does not fit); 9; 10 + 0. 11 never fits.
        let expected: [&[usize]; 4] = [&[0, 1], &[3, 4], &[5], &[6, 7]];
        assert_eq!(parts(&needs, 10, usize::MAX), expected);
        assert_eq!(parts(&needs, 41, usize::MAX), [(0..8).collect::<Vec<_>>()]);
        assert_eq!(parts(&[1, 1, 1], 10, 1), [[0], [1], [2]]);
        assert!(parts(&[1, 2], 0, 9).is_empty());
        assert_eq!(parts(&[u64::MAX, u64::MAX], u64::MAX, 9), [[0], [1]], "no overflow");
    }

    #[test]
    fn a_refusal_has_its_figures() {
        let available = Available { bytes: 3 << 29, by: "--max-memory" };
        assert_eq!(refusal("to load", 3 << 29, available), None);
        let words = "needs 2.0 GiB of memory to load, and 1.5 GiB are available (--max-memory)";
        assert_eq!(refusal("to load", 2 << 30, available).as_deref(), Some(words));
    }

    #[test]
    fn sizes_are_parsed_with_their_units() {
        let texts = ["0", "123", "7B", "16GiB", "16g", "1.5 KiB", "2MB", "3T", "99999999999999999999"];
        let bytes = [0, 123, 7, 16 << 30, 16 << 30, 1536, 2_000_000, 3 << 40, u64::MAX];
        for (text, bytes) in texts.into_iter().zip(bytes) {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "GiB", "-1", "1X", "1GiBs", "1.2.3", "1 2", "1KK", "nan", "1é"] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("'{text}' is not a size")), "{error}");
        }
    }

    #[test]
    fn sizes_are_formatted_with_one_decimal() {
        let shown = |bytes| Size(bytes).to_string();
        assert_eq!((shown(0), shown(1023)), ("0 bytes".into(), "1023 bytes".into()));
        assert_eq!((shown(1024), shown(1536 << 10)), ("1.0 KiB".into(), "1.5 MiB".into()));
        assert_eq!((shown(31 << 30), shown(5000 << 40)), ("31.0 GiB".into(), "5000.0 TiB".into()));
    }
}
