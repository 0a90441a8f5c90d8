//! The numbers of rows: numeric columns, and numbers that are computed from several columns.

use std::fmt;
use std::str::FromStr;

use super::derived::DERIVED;
use crate::record::column::{ColumnInfo, Kind, Role, Value};
use crate::record::read::RecordedRow;
use crate::record::row::Row;
use crate::record::table::Cell;
use spmv_matrix::near::hint;

/// The name of a number that rows have: a column of the file, a number that follows from several columns, or
/// `gen:KEY`, a number from the generator's specification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Column(String);

/// The beginning of the name of a number from the generator's specification.
const GENERATOR: &str = "gen:";

/// The end of the message about an unknown column.
const WHOLE: &str = "docs/csv.md lists the columns";

impl Column {
    /// Returns the column of that name. Panics if there is no such column.
    pub fn of(name: &str) -> Self {
        name.parse().expect("a known column")
    }

    /// Returns the name of the column in result files.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the label of an axis that shows the column, with its unit.
    pub fn label(&self) -> &str {
        self.role().label().unwrap_or(&self.0[GENERATOR.len()..])
    }

    /// Whether an axis of this column is logarithmic.
    pub fn is_log(&self) -> bool {
        self.info().is_none_or(|info| matches!(info.role, Role::Log(_) | Role::Time(_)))
    }

    /// Returns a number of this column as a table cell.
    pub fn cell(&self, number: f64) -> Cell {
        if self.is_count() { Cell::Count(number as u64) } else { Cell::Number(number) }
    }

    /// Whether the numbers of this column are integers.
    pub fn is_count(&self) -> bool {
        self.info().is_some_and(|info| info.kind == Kind::Count)
    }

    /// Whether a greater number is better.
    pub fn more_is_better(&self) -> bool {
        matches!(self.role(), Role::Rate(_) | Role::Efficiency(_))
    }

    /// Whether the column is the time of a product or a rate that follows from it.
    pub fn is_timed(&self) -> bool {
        matches!(self.role(), Role::Time(_) | Role::Rate(_))
    }

    /// Returns the names of all columns of numbers except `gen:KEY`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        numbers().map(|info| info.name)
    }

    /// Returns the reason why modelled rows do not have this number, if they do not.
    pub fn not_modelled(&self) -> Option<&'static str> {
        self.info()?.not_modelled
    }

    /// Returns the facts about the column; `None` for a number of the generator's specification.
    fn info(&self) -> Option<&'static ColumnInfo> {
        numbers().find(|info| info.name == self.0)
    }

    fn role(&self) -> Role {
        self.info().map_or(Role::Unused, |info| info.role)
    }

    /// Returns the number in a row, or `None` if it is unknown. Rates are computed from the median time, like all
    /// numbers that are compared.
    pub fn of_line(&self, line: &RecordedRow) -> Option<f64> {
        if let Some(key) = self.0.strip_prefix(GENERATOR) {
            return line.generator(key)?.parse().ok();
        }
        if let Some((_, compute)) = DERIVED.iter().find(|(info, _)| info.name == self.0) {
            return compute(line);
        }
        let row = &line.row;
        let number = || row.value(&self.0).and_then(Value::number);
        match self.role() {
            _ if self.0 == "median_ms" => row.typical_ms(),
            Role::Rate(_) => row.typical(number()?),
            _ => number(),
        }
    }

    /// Returns the 95 % interval of the number in a row, derived from the interval of the time, for the median
    /// time and for rates. Returns `None` for other columns, and if the number is outside the interval: files of
    /// older versions have the interval of the mean.
    pub fn interval(&self, line: &RecordedRow) -> Option<(f64, f64)> {
        let (low, high) = line.row.interval_ms()?;
        let number = self.of_line(line)?;
        let ends = match &self.0[..] {
            "median_ms" => Some((low, high)),
            _ if matches!(self.role(), Role::Rate(_)) && low > 0.0 => {
                let work = number * line.row.typical_ms()?;
                Some((work / high, work / low))
            }
            _ => None,
        };
        ends.filter(|ends| ends.0 <= number && number <= ends.1)
    }
}

/// Returns the facts about all columns and derived numbers that are used as numbers.
fn numbers() -> impl Iterator<Item = &'static ColumnInfo> {
    let derived = DERIVED.iter().map(|(info, _)| info);
    Row::COLUMNS.iter().chain(derived).filter(|info| info.role.label().is_some())
}

/// Returns the names of the columns of words.
pub(super) fn word_columns() -> impl Iterator<Item = &'static str> {
    Row::COLUMNS.iter().filter(|info| info.role == Role::Word).map(|info| info.name)
}

/// The error that there is no column of numbers with this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no column '{name}'{}", hint(name, Column::names(), WHOLE))]
pub struct ColumnError {
    name: String,
}

impl FromStr for Column {
    type Err = ColumnError;

    fn from_str(name: &str) -> Result<Self, ColumnError> {
        let known = name.starts_with(GENERATOR) || numbers().any(|info| info.name == name);
        if known { Ok(Self(name.to_owned())) } else { Err(ColumnError { name: name.to_owned() }) }
    }
}

impl TryFrom<String> for Column {
    type Error = ColumnError;

    fn try_from(name: String) -> Result<Self, ColumnError> {
        name.parse()
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}
