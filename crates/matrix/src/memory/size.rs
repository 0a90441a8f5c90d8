//! Parses and formats sizes in bytes with units.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

/// The letters of the units: powers of 1024 if the letter is alone or followed by `iB`, powers of 1000 with `B`.
const LETTERS: &str = "KMGT";

/// The error that a text is not a size.
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
        let mut scaled = self.0 as f64 / 1024.0;
        let mut units = LETTERS.chars();
        let mut unit = units.next();
        while scaled >= 1024.0
            && let Some(next) = units.next()
        {
            (scaled, unit) = (scaled / 1024.0, Some(next));
        }
        match unit {
            Some(unit) if self.0 >= 1024 => write!(f, "{scaled:.1} {unit}iB"),
            _ => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_their_units() {
        for (text, bytes) in [
            ("0", 0),
            ("123", 123),
            ("7B", 7),
            ("16GiB", 16 << 30),
            ("16g", 16 << 30),
            ("1.5 KiB", 1536),
            ("2MB", 2_000_000),
            ("3T", 3 << 40),
            ("99999999999999999999", u64::MAX),
        ] {
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
