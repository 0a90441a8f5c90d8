//! Filters: conditions on items, as in `nnz < 1e7 && (kind ~ circuit || !square)`. The same language selects matrices
//! and recorded rows; a [`Field`] connects it with the items.

mod parse;

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::Deserialize;

/// A field of items that conditions can name.
pub trait Field: Sized {
    /// The type of the items.
    type Item;

    /// Returns the field of that name.
    fn find(name: &str) -> Option<Self>;

    /// Returns the names of all fields.
    fn names() -> impl Iterator<Item = &'static str>;

    /// Describes the valid names, for messages.
    fn expected() -> String;

    /// Returns the kind of the field's values.
    fn kind(&self) -> Kind;

    /// Returns the value of an item, which is of the field's kind.
    fn value<'i>(&self, item: &'i Self::Item) -> Value<'i>;
}

/// The kind of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number, which may be unknown.
    Number,
    /// A text.
    Word,
    /// A property that an item has or does not have.
    Property,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'i> {
    /// A number, or `None` if it is unknown.
    Number(Option<f64>),
    /// A text.
    Word(&'i str),
    /// Whether the item has the property.
    Property(bool),
}

/// A condition on items whose fields are of the type `F`. Filters with the same text are equal.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String", bound = "F: Field")]
pub struct Filter<F> {
    text: String,
    rule: Rule<F>,
}

#[derive(Clone, Debug)]
enum Rule<F> {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Number(F, fn(&f64, &f64) -> bool, f64),
    Word(F, fn(&str, &str) -> bool, String),
    Property(F),
}

/// The reason why a text is not a valid filter, and the position.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("filter, character {column}: expected {allowed}, but found {found}")]
pub struct FilterError {
    /// The position of the error in characters, counted from 1.
    pub column: usize,
    found: String,
    allowed: String,
}

impl<F: Field> Filter<F> {
    /// Parses the filter that is the end of `text`, from the byte `start` on.
    ///
    /// # Errors
    /// Returns the position in `text` of the first invalid word, and the words that are valid there.
    pub fn parse_end(text: &str, start: usize) -> Result<Self, FilterError> {
        Ok(Self { text: text[start..].trim().to_owned(), rule: parse::rule(text, start)? })
    }

    /// Returns whether an item meets the condition. A comparison with an unknown number is false.
    pub fn passes(&self, item: &F::Item) -> bool {
        self.rule.holds(item)
    }

    /// Returns the fields that the condition uses.
    pub fn fields(&self) -> Vec<&F> {
        self.rule.fields()
    }

    /// Returns the filter that an item passes if it passes both filters.
    pub fn and(&self, other: &Self) -> Self
    where
        F: Clone,
    {
        let texts = [self, other].map(|filter| match &filter.rule {
            Rule::Any(_) => format!("({filter})"),
            _ => filter.to_string(),
        });
        let [left, right] = &texts;
        let sign = if left.is_empty() || right.is_empty() { "" } else { " && " };
        let rule = Rule::All(vec![self.rule.clone(), other.rule.clone()]);
        Self { text: format!("{left}{sign}{right}"), rule }
    }
}

impl<F> Filter<F> {
    /// Whether every item passes because there is no condition.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl<F: Field> Rule<F> {
    fn holds(&self, item: &F::Item) -> bool {
        match self {
            Self::All(rules) => rules.iter().all(|rule| rule.holds(item)),
            Self::Any(rules) => rules.iter().any(|rule| rule.holds(item)),
            Self::Not(rule) => !rule.holds(item),
            Self::Number(field, compare, right) => {
                matches!(field.value(item), Value::Number(Some(left)) if compare(&left, right))
            }
            Self::Word(field, compare, right) => {
                matches!(field.value(item), Value::Word(left) if compare(left, right))
            }
            Self::Property(field) => field.value(item) == Value::Property(true),
        }
    }

    fn fields(&self) -> Vec<&F> {
        match self {
            Self::All(rules) | Self::Any(rules) => rules.iter().flat_map(Self::fields).collect(),
            Self::Not(rule) => rule.fields(),
            Self::Number(field, ..) | Self::Word(field, ..) | Self::Property(field) => vec![field],
        }
    }
}

impl<F: Field> FromStr for Filter<F> {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        Self::parse_end(text, 0)
    }
}

impl<F: Field> TryFrom<String> for Filter<F> {
    type Error = FilterError;

    fn try_from(text: String) -> Result<Self, FilterError> {
        text.parse()
    }
}

/// The filter that every item passes.
impl<F> Default for Filter<F> {
    fn default() -> Self {
        Self { text: String::new(), rule: Rule::All(Vec::new()) }
    }
}

impl<F> PartialEq for Filter<F> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Writes the text that the filter was parsed from.
impl<F> Display for Filter<F> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
