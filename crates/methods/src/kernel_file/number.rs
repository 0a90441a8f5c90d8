//! A number of a definition, which may depend on parameters.

use serde::Deserialize;

/// A number, or a text such as `"threads / lanes * 2"`: numbers and names of parameters between `*` and `/`, which are
/// evaluated from left to right.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged, expecting = "expected a number from 0 on, or a text such as \"threads / lanes\"")]
pub enum Number {
    /// The number itself.
    Plain(usize),
    /// The text.
    Formula(String),
}

impl Default for Number {
    fn default() -> Self {
        Self::Plain(0)
    }
}

impl Number {
    /// Returns the value, where names stand for the chosen numbers.
    ///
    /// # Errors
    /// Returns what is wrong with the text: an unknown name, a division by 0 or with a remainder, or too large a product.
    pub fn value(&self, chosen: &[(&str, usize)]) -> Result<usize, String> {
        let text = match self {
            Self::Plain(number) => return Ok(*number),
            Self::Formula(text) => text,
        };
        let wrong = |what: String| format!("\"{text}\": {what}");
        let operand = |word: &str| {
            let named = chosen.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
            named.or_else(|| word.parse().ok()).ok_or_else(|| {
                let names: Vec<_> = chosen.iter().map(|(name, _)| *name).collect();
                wrong(format!("'{word}' is neither a number nor one of: {}", names.join(", ")))
            })
        };
        let mut rest = text.split_inclusive(['*', '/']);
        let (mut value, mut operator) = split(rest.next().unwrap_or_default());
        let mut result = operand(value)?;
        for next in &mut rest {
            let before = operator;
            (value, operator) = split(next);
            let right = operand(value)?;
            result = match before {
                Some('*') => result.checked_mul(right),
                _ => result.checked_div(right).filter(|quotient| quotient * right == result),
            }
            .ok_or_else(|| {
                wrong(format!(
                    "{result} and {right} have no such product or quotient without remainder"
                ))
            })?;
        }
        match operator {
            None => Ok(result),
            Some(operator) => Err(wrong(format!("there is nothing after {operator}"))),
        }
    }
}

/// Divides a part of a text into the word and the operator after it.
fn split(part: &str) -> (&str, Option<char>) {
    let word = part.trim_end_matches(['*', '/']);
    (word.trim(), part[word.len()..].chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_evaluated_from_left_to_right() {
        let value =
            |text: &str| Number::Formula(text.into()).value(&[("threads", 256), ("lanes", 4)]);
        assert_eq!(value("threads / lanes * 2"), Ok(128));
        assert_eq!(value(" 7 "), Ok(7));
        assert_eq!(Number::Plain(3).value(&[]), Ok(3));
        for (text, reason) in [
            ("threads / lane", "'lane' is neither a number nor one of: threads, lanes"),
            ("threads / 0", "256 and 0 have no such product or quotient"),
            ("threads / 3", "without remainder"),
            ("threads * 99999999999999999", "256 and"),
            ("threads *", "nothing after *"),
            ("", "'' is neither"),
            ("2 * / 2", "'' is neither"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
