//! What a filter consists of: the fields that items have, and rules about their values.

use std::fmt::Debug;

/// An item that filters can select by its fields.
pub trait Filtered: Clone + Debug {
    fn field(name: &str) -> Option<Field<Self>>;

    fn names() -> impl Iterator<Item = &'static str>;

    /// Describes the valid names, for messages.
    fn expected() -> String;
}

/// How the value of a field follows from an item and the name of the field.
#[derive(Clone)]
pub enum Field<T> {
    /// A number, or `None` if it is unknown.
    Number(fn(&T, &str) -> Option<f64>),
    Word(for<'i> fn(&'i T, &str) -> &'i str),
    Property(fn(&T) -> bool),
}

#[derive(Clone, Debug)]
pub(super) enum Rule<T: Filtered> {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Number(String, fn(&T, &str) -> Option<f64>, fn(&f64, &f64) -> bool, f64),
    Word(String, for<'i> fn(&'i T, &str) -> &'i str, fn(&str, &str) -> bool, String),
    Property(fn(&T) -> bool),
}

impl<T: Filtered> Rule<T> {
    pub fn holds(&self, item: &T) -> bool {
        match self {
            Self::All(rules) => rules.iter().all(|rule| rule.holds(item)),
            Self::Any(rules) => rules.iter().any(|rule| rule.holds(item)),
            Self::Not(rule) => !rule.holds(item),
            Self::Number(name, number, compare, right) => number(item, name).is_some_and(|left| compare(&left, right)),
            Self::Word(name, word, compare, right) => compare(word(item, name), right),
            Self::Property(has) => has(item),
        }
    }

    pub fn numbers(&self) -> Vec<&str> {
        match self {
            Self::All(rules) | Self::Any(rules) => rules.iter().flat_map(Self::numbers).collect(),
            Self::Not(rule) => rule.numbers(),
            Self::Number(name, ..) => vec![name],
            Self::Word(..) | Self::Property(_) => Vec::new(),
        }
    }
}
