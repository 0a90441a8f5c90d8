//! Selections of rows, such as `merge where order = natural && num_nonzeros < 6e6`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use anyhow::{Result, ensure};
use glob::Pattern;

use super::numeric::{Column, word_columns};
use crate::files::read::RecordedRow;
use crate::filter::{Field, Filter, Filtered};
use crate::row::column::Value;
use spmv_matrix::near::hint;

/// The largest number of methods that are listed in a message.
const MAX_LISTED: usize = 8;

/// Selects the rows of a method, or of several methods by a glob, that meet conditions.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Select {
    text: String,
    method: Pattern,
    conditions: Conditions,
}

/// Conditions on rows: `precision = f64 && num_nonzeros < 6e6`. Every row meets the default.
pub type Conditions = Filter<RecordedRow>;

const MATRIX: &str = "matrix";
const METHOD: &str = "method";
const RUN: &str = "run_id";

impl Select {
    pub fn meets(&self, line: &RecordedRow) -> bool {
        self.names(line.method()) && self.conditions.passes(line)
    }

    pub fn narrowed(&self, conditions: &Conditions) -> String {
        let method = self.method.as_str();
        match self.conditions.and(conditions).to_string() {
            all if all.is_empty() => method.to_owned(),
            all => format!("{method} where {all}"),
        }
    }

    /// Whether rows of the method of that name may be selected, whatever their parameters.
    pub fn method(&self) -> &str {
        self.method.as_str()
    }

    /// Whether rows of that method, a name with parameters, may be selected.
    pub fn names(&self, method: &str) -> bool {
        self.method.as_str() == method || self.method.matches(method)
    }
}

/// Checks that each selection meets a row.
pub fn check_met<'l>(selects: &[Select], lines: impl Iterator<Item = &'l RecordedRow> + Clone) -> Result<()> {
    for select in selects {
        let names: BTreeSet<_> = lines.clone().map(RecordedRow::method).collect();
        let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let whole = match names.len() {
            ..=MAX_LISTED => format!("the rows are of {}", names.join(", ")),
            many => format!("the rows are of {many} methods"),
        };
        let hint = hint(select.method(), names, &whole);
        let is_met = lines.clone().any(|line| select.meets(line));
        ensure!(is_met, "{select} matches no row{hint}");
    }
    Ok(())
}

fn words() -> impl Iterator<Item = &'static str> {
    word_columns().chain([MATRIX, METHOD, RUN])
}

impl Filtered for RecordedRow {
    /// A word that is unknown is empty.
    fn field(name: &str) -> Option<Field<Self>> {
        if words().any(|word| word == name) {
            return Some(Field::Word(|line, name| match name {
                MATRIX => line.matrix(),
                METHOD => line.method(),
                RUN => &line.row.run_id,
                column => line.row.value(column).and_then(Value::text).unwrap_or_default(),
            }));
        }
        let column = Column::try_from(name.to_owned()).ok();
        column.map(|_| Field::Number(|line, name| Column::of(name).of_line(line)))
    }

    fn names() -> impl Iterator<Item = &'static str> {
        Column::names().chain(words())
    }

    fn expected() -> String {
        "a column of docs/csv.md".into()
    }
}

impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        const WHERE: &str = " where ";
        let (method, conditions) = match text.find(WHERE) {
            Some(at) => (&text[..at], Conditions::parse_end(text, at + WHERE.len())?),
            None => (text, Conditions::default()),
        };
        let method = Pattern::new(method.trim()).map_err(|error| format!("'{text}': {error}"))?;
        Ok(Self { text: text.to_owned(), method, conditions })
    }
}

impl TryFrom<String> for Select {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::row::Row;
    use spmv_matrix::order::Order;

    #[test]
    fn names_globs_and_conditions_select() {
        let line = RecordedRow::from(Row {
            file: "ufl_mtx/cant.mtx.gz".into(),
            method_name: Some("csr2:srs=96".into()),
            num_nonzeros: Some(600),
            order: Some(Order::BandK),
            ..Row::default()
        });
        for (text, expected) in [
            ("csr2:srs=96", true),
            ("csr2:*", true),
            ("csr2", false),
            ("csr2* where num_nonzeros < 601 && order = band-k", true),
            ("csr2* where num_nonzeros < 600", false),
            ("csr2* where method != csr2", true),
            ("csr2* where method != csr2:srs=96", false),
            ("* where matrix = cant && order != natural", true),
            // What is not known.
            ("* where gflops < 1e9", false),
            ("* where precision = f64", false),
        ] {
            assert_eq!(text.parse::<Select>().unwrap().meets(&line), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_invalid_part() {
        let errors = ["nnz < 3", "cahce = hot", "num_rows 3", "order = rcm and num_rows < 3"];
        let errors = errors.map(|conditions| format!("merge where {conditions}").parse::<Select>().unwrap_err() + "\n");
        expect![[r#"
            filter, character 13: expected a column of docs/csv.md, ! or (, but found 'nnz'
            filter, character 13: expected a column of docs/csv.md, ! or (, but found 'cahce' (did you mean cache?)
            filter, character 22: expected <, <=, >, >=, = or !=, but found '3'
            filter, character 25: expected && or ||, but found 'and' (write &&, or put a text with 'and' in quotes)
        "#]]
        .assert_eq(&errors.concat());
    }
}
