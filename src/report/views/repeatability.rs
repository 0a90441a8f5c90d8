//! The view `repeatability`: whether a method's results are bitwise the same every time.

use super::{Kind, Recorded};
use crate::record::table::Table;
use crate::report::View;
use crate::report::column::Column;
use crate::report::matched::matrix;
use crate::report::names::{count, label};

keys! {
    /// The number of bitwise different results of each method for one and the same product.
    Repeatability {}
}

impl Kind for Repeatability {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let column = Column::of("distinct_results");
        let counted = shown.series.iter().filter_map(|series| {
            let counts = series.numbers(&column);
            let most = *counts.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some((&series.name[..], counts, most))
        });
        let counted: Vec<_> = counted.collect();
        let unknown = shown.series.len() - counted.len();
        let unknown = (unknown > 0)
            .then(|| format!("without a count of results: {}", count(unknown, "method")));
        let meaning =
            "compared: the bits of y after the first product and after each round, with the same x";
        let table = Table::of(&counted)
            .column("method", |(name, ..)| *name)
            .column("rows", |(_, counts, _)| counts.len())
            .column("always the same", |(_, counts, _)| {
                counts.iter().filter(|count| count.1 == 1.0).count()
            })
            .column("most different results", |(.., most)| column.cell(most.1))
            .column("on", |(.., (line, most))| (*most > 1.0).then(|| label(matrix(line))));
        View {
            notes: shown.notes([Some(meaning.into()), unknown]),
            table: Some(table.build()),
            ..View::default()
        }
    }
}
