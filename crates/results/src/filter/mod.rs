//! Filters: conditions on items, as in `nnz < 1e7 && (kind ~ circuit || !square)`. The same language selects matrices
//! and recorded rows.

mod parse;
mod rule;

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::Deserialize;

use rule::Rule;
pub use rule::{Field, Filtered};

/// A condition on items of the type `T`. Filters with the same text are equal.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String", bound = "")]
pub struct Filter<T: Filtered> {
    text: String,
    rule: Rule<T>,
}

impl<T: Filtered> Filter<T> {
    /// Parses the filter that is the end of `text`, from the byte `start` on. Positions in errors are those in `text`.
    pub fn parse_end(text: &str, start: usize) -> Result<Self, String> {
        Ok(Self { text: text[start..].trim().to_owned(), rule: parse::rule(text, start)? })
    }

    /// Returns whether an item meets the condition. A comparison with an unknown number is false.
    pub fn passes(&self, item: &T) -> bool {
        self.rule.holds(item)
    }

    /// Returns the names of the fields whose numbers are compared.
    pub fn numbers(&self) -> Vec<&str> {
        self.rule.numbers()
    }

    /// Returns the filter that is passed by the items that pass both filters.
    pub fn and(&self, other: &Self) -> Self {
        let text = |filter: &Self| match filter.rule {
            Rule::Any(_) => format!("({filter})"),
            _ => filter.to_string(),
        };
        let both = [self, other];
        let texts: Vec<_> = both.map(text).into_iter().filter(|text| !text.is_empty()).collect();
        let rule = Rule::All(both.map(|filter| filter.rule.clone()).into());
        Self { text: texts.join(" && "), rule }
    }
}

impl<T: Filtered> FromStr for Filter<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse_end(text, 0)
    }
}

impl<T: Filtered> TryFrom<String> for Filter<T> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The filter that every item passes.
impl<T: Filtered> Default for Filter<T> {
    fn default() -> Self {
        Self { text: String::new(), rule: Rule::All(Vec::new()) }
    }
}

impl<T: Filtered> PartialEq for Filter<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Writes the text that the filter was parsed from.
impl<T: Filtered> Display for Filter<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}
