//! The view `matrices`: a table of facts of each matrix.

use super::{Kind, Recorded};
use crate::report::View;
use crate::report::column::Column;
use crate::report::names::label;
use crate::table::Table;

keys! {
    /// A row per matrix: facts of the matrix, then a number of each method.
    Matrices {
        /// The columns with the facts.
        pub columns: Vec<Column>,
        /// The column of the number, taken from the fastest row of each method. Without it, only facts are shown.
        pub value: Option<Column>,
    }
}

impl Kind for Matrices {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
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
        let on_several = shown.note_on_several().filter(|_| self.value.is_some());
        View { notes: shown.notes([on_several]), table: Some(table.build()), ..View::default() }
    }
}
