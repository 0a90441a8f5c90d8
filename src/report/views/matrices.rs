//! The view `matrices`: a table of facts of each matrix, and a number of each method on it.

use super::{Kind, Recorded, Shown};
use crate::record::table::Table;
use crate::report::View;
use crate::report::column::Column;
use crate::report::names::label;

keys! {
    /// A row per matrix: facts of the matrix, then a number of each method. Without facts, a row per method with its
    /// number on each matrix, which is easier to read if there are more methods than matrices.
    Matrices {
        /// The columns with the facts.
        #[serde(default)]
        pub columns: Vec<Column>,
        /// The column of the number, taken from the fastest row of each method. Without it, only facts are shown.
        pub value: Option<Column>,
    }
}

impl Kind for Matrices {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let on_several = shown.note_on_several().filter(|_| self.value.is_some());
        let (table, meaning) = match &self.value {
            Some(value) if self.columns.is_empty() => {
                (by_method(&shown, value), Some(format!("on each matrix: {}", value.label())))
            }
            _ => (self.by_matrix(&shown), None),
        };
        View { notes: shown.notes([on_several, meaning]), table: Some(table), ..View::default() }
    }
}

impl Matrices {
    fn by_matrix(&self, shown: &Shown) -> Table {
        let matrices = shown.matrices();
        let mut table = Table::of(&matrices).column("matrix", |(matrix, _)| label(*matrix));
        for column in &self.columns {
            let cell = |number| column.cell(number);
            table = table.column(column.label(), |(_, line)| column.of_line(line).map(cell));
        }
        for (value, series) in
            self.value.iter().flat_map(|value| shown.series.iter().map(move |of| (value, of)))
        {
            let heading = format!("{} {}", series.name, value.label());
            let numbers = series.by_matrix(value);
            table = table.column(heading, |(matrix, _)| {
                numbers.get(matrix).map(|&number| value.cell(number))
            });
        }
        table.build()
    }
}

/// Returns a table with a row per method that has a time, and a column per matrix.
fn by_method(shown: &Shown, value: &Column) -> Table {
    let methods = shown.series.iter().map(|of| (&of.name[..], of.by_matrix(value)));
    let methods: Vec<_> = methods.filter(|(_, numbers)| !numbers.is_empty()).collect();
    let mut table = Table::of(&methods).column("method", |(name, _)| *name);
    for (matrix, _) in shown.matrices() {
        let cell = |number: &f64| value.cell(*number);
        table = table.column(label(matrix), |(_, numbers)| numbers.get(&matrix).map(cell));
    }
    table.build()
}
