//! The view `listing`: any columns of the row of each method, setting and matrix.

use super::{Kind, Recorded};
use crate::record::column::Value;
use crate::record::read::RecordedRow;
use crate::record::table::{Cell, Table};
use crate::report::View;
use crate::report::column::{Column, word_columns};
use crate::report::matched::{matrix, timed};
use crate::report::names::label;

keys! {
    /// A row per method, setting and matrix, with a cell for each column.
    Listing {
        /// The columns, from left to right.
        pub columns: Vec<Fact>,
    }
}

/// A column of numbers or of words.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "String")]
pub enum Fact {
    /// A column of numbers.
    Number(Column),
    /// A column of words.
    Word(String),
}

impl TryFrom<String> for Fact {
    type Error = <Column as TryFrom<String>>::Error;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        match word_columns().any(|word| word == name) {
            true => Ok(Self::Word(name)),
            false => Column::try_from(name).map(Self::Number),
        }
    }
}

impl Fact {
    fn heading(&self) -> &str {
        match self {
            Self::Number(column) => column.label(),
            Self::Word(name) => name,
        }
    }

    fn of_line(&self, line: &RecordedRow) -> Option<Cell> {
        match self {
            Self::Number(column) => column.of_line(line).map(|number| column.cell(number)),
            Self::Word(name) => line.row.value(name).and_then(Value::text).map(Cell::text),
        }
    }
}

impl Kind for Listing {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let lines = shown.series.iter().flat_map(|series| {
            timed(series.lines.iter().copied()).map(move |line| (&series.name[..], line))
        });
        let lines: Vec<_> = lines.collect();
        let mut table = Table::of(&lines).column("method", |(name, _)| *name);
        if shown.matrices().len() > 1 {
            table = table.column("matrix", |(_, line)| label(matrix(line)));
        }
        for fact in &self.columns {
            table = table.column(fact.heading(), |(_, line)| fact.of_line(line));
        }
        View { notes: shown.notes([]), table: Some(table.build()), ..View::default() }
    }
}
