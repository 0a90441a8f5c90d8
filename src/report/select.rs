//! Selections of rows, such as `merge where order = natural and num_nonzeros < 6e6`.

use std::fmt;
use std::str::FromStr;

use glob::Pattern;

use super::column::{Column, unknown, word_columns};
use super::lines::RecordedRow;
use crate::record::column::Value;

/// Selects the rows of a method, or of several methods by a glob, that meet conditions.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Select {
    /// The text that the selection was parsed from.
    text: String,
    method: Pattern,
    conditions: Conditions,
}

/// Conditions that a row must all meet: `precision = f64 and num_nonzeros < 6e6`. Every row meets an empty list.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Conditions(Vec<Condition>);

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    left: Left,
    comparison: Comparison,
    right: String,
}

/// The left side of a condition.
#[derive(Clone, Debug, PartialEq)]
enum Left {
    /// A column of numbers, compared with a number.
    Number(Column),
    /// A column of words, compared with a word.
    Word(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// The word that is no column: the file name without folder and extension.
const MATRIX: &str = "matrix";

impl Select {
    /// Whether a row is selected.
    pub fn meets(&self, line: &RecordedRow) -> bool {
        self.names(line.method()) && self.conditions.meet(line)
    }

    /// Returns the text of the selection with further conditions added.
    pub fn narrowed(&self, conditions: &Conditions) -> String {
        let all = self.conditions.and(conditions);
        let method = self.method.as_str();
        if all.is_empty() { method.to_owned() } else { format!("{method} where {all}") }
    }

    /// Whether rows of the method of that name may be selected, whatever their parameters.
    pub fn names_method(&self, name: &str) -> bool {
        let own = self.method.as_str().split(':').next().unwrap_or_default();
        Pattern::new(own).is_ok_and(|own| own.matches(name))
    }

    /// Returns the name or glob of the methods.
    pub fn method(&self) -> &str {
        self.method.as_str()
    }

    /// Whether rows of that method, a name with parameters, may be selected.
    pub fn names(&self, method: &str) -> bool {
        self.method.as_str() == method || self.method.matches(method)
    }
}

impl Conditions {
    /// Whether a row meets all conditions.
    pub fn meet(&self, line: &RecordedRow) -> bool {
        self.0.iter().all(|condition| condition.meets(line))
    }

    /// Returns the conditions of both lists.
    pub fn and(&self, other: &Self) -> Self {
        Self([&self.0[..], &other.0].concat())
    }

    /// Returns the columns whose numbers are compared.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.0.iter().filter_map(|condition| match &condition.left {
            Left::Number(column) => Some(column),
            Left::Word(_) => None,
        })
    }

    /// Whether there are no conditions, so that all rows meet them.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Condition {
    /// Whether a row meets the condition. An unknown number never does.
    fn meets(&self, line: &RecordedRow) -> bool {
        match &self.left {
            Left::Number(column) => {
                let right: f64 = self.right.parse().expect("checked when it was parsed");
                let left = column.of_line(line);
                left.is_some_and(|left| match self.comparison {
                    Comparison::Equal => left == right,
                    Comparison::NotEqual => left != right,
                    Comparison::Less => left < right,
                    Comparison::AtMost => left <= right,
                    Comparison::Greater => left > right,
                    Comparison::AtLeast => left >= right,
                })
            }
            Left::Word(column) => {
                let left = match &column[..] {
                    MATRIX => Some(line.matrix()),
                    column => line.row.value(column).and_then(Value::text),
                };
                let equal = left.unwrap_or_default() == self.right;
                equal == (self.comparison == Comparison::Equal)
            }
        }
    }
}

impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (method, conditions) = text.split_once(" where ").unwrap_or((text, ""));
        let pattern = Pattern::new(method.trim()).map_err(|error| format!("'{text}': {error}"))?;
        Ok(Self { text: text.to_owned(), method: pattern, conditions: conditions.parse()? })
    }
}

impl FromStr for Conditions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(" and ").map(str::trim).filter(|part| !part.is_empty());
        Ok(Self(parts.map(str::parse).collect::<Result<_, _>>()?))
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<_> = text.split_whitespace().collect();
        let [left, comparison, right] = words[..] else {
            return Err(format!(
                "the condition '{text}' must have the form COLUMN < VALUE, with spaces around the operator"
            ));
        };
        let comparison = match comparison {
            "=" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            ">" => Comparison::Greater,
            ">=" => Comparison::AtLeast,
            other => {
                return Err(format!(
                    "the condition '{text}': '{other}' is not one of =, !=, <, <=, > and >="
                ));
            }
        };
        let word_columns = || word_columns().chain([MATRIX]);
        let is_word = word_columns().any(|column| column == left);
        if is_word && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return Err(format!(
                "the condition '{text}': the column {left} contains words, which can be compared only with = and !="
            ));
        }
        let number = || left.parse().map(Left::Number).map_err(|_| unknown(left, word_columns()));
        let left = if is_word { Left::Word(left.into()) } else { number()? };
        if !is_word && right.parse::<f64>().is_err() {
            return Err(format!("the condition '{text}': '{right}' is not a number"));
        }
        Ok(Self { left, comparison, right: right.to_owned() })
    }
}

impl TryFrom<String> for Select {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl TryFrom<String> for Conditions {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Writes the conditions in the form in which they are parsed.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let conditions: Vec<_> = self.0.iter().map(Condition::to_string).collect();
        f.write_str(&conditions.join(" and "))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let left = match &self.left {
            Left::Number(column) => column.name(),
            Left::Word(column) => column,
        };
        let comparison = match self.comparison {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
        };
        write!(f, "{left} {comparison} {}", self.right)
    }
}

/// Writes the text that the selection was parsed from.
impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::order::Order;
    use crate::record::row::Row;

    fn line() -> RecordedRow {
        RecordedRow::from(Row {
            file: "ufl_mtx/cant.mtx.gz".into(),
            method_name: Some("csr2:srs=96".into()),
            num_nonzeros: Some(600),
            variance: Some(10.0),
            order: Some(Order::BandK),
            ..Row::default()
        })
    }

    #[test]
    fn names_globs_and_conditions_select() {
        let meets = |text: &str| text.parse::<Select>().unwrap().meets(&line());
        assert!(meets("csr2:srs=96"));
        assert!(meets("csr2:*"));
        assert!(!meets("csr2"), "another choice of parameters");
        assert!(meets("csr2* where num_nonzeros < 601 and order = band-k"));
        assert!(!meets("csr2* where num_nonzeros < 600"));
        assert!(meets("csr2* where num_nonzeros <= 600 and variance >= 10"));
        assert!(!meets("csr2* where variance > 10"));
        assert!(meets("* where matrix = cant and order != natural"));
        assert!(!meets("* where gflops < 1e9"), "unknown");
        assert!(!meets("* where precision = f64"), "unknown");
    }

    #[test]
    fn errors_name_the_invalid_part() {
        let error = |text: &str| text.parse::<Select>().unwrap_err();
        assert!(
            error("merge where nnz < 3").starts_with("there is no column 'nnz'; docs/csv.md lists")
        );
        let like = "there is no column 'cahce'; did you mean cache? docs/csv.md lists";
        assert!(error("merge where cahce = hot").starts_with(like));
        for (text, problem) in [
            ("num_rows 3", " must have the form COLUMN < VALUE, with spaces around the operator"),
            ("num_rows ~ 3", ": '~' is not one of =, !=, <, <=, > and >="),
            ("num_rows < x", ": 'x' is not a number"),
            (
                "order < rcm",
                ": the column order contains words, which can be compared only with = and !=",
            ),
        ] {
            let message = error(&format!("merge where {text}"));
            assert_eq!(message, format!("the condition '{text}'{problem}"));
        }
    }
}
