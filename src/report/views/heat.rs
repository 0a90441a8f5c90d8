//! The view `heat`: a heat map of every method on every matrix.

use super::contest::Contest;
use super::setting::APART;
use super::{Kind, Recorded};
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::{self, Axis, Chart};

keys! {
    /// The speed of each method on each matrix, in percent of the fastest method's.
    Heat {}
}

impl Kind for Heat {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &APART);
        let contests = Contest::all(&shown.series);
        let cells = |of: &Contest| {
            let losses = of.losses().into_iter();
            losses.map(|loss| loss.map(|(_, loss)| 100.0 / loss)).collect::<Vec<_>>()
        };
        let columns: Vec<_> = shown.series.iter().map(|series| series.name.clone()).collect();
        let table = Table::of(&contests).column("matrix", |of| &of.name[..]);
        let meaning = "100 %: the fastest of these methods on that matrix".to_owned();
        View {
            notes: shown.notes([shown.note_on_several(), Some(meaning)]),
            table: Some(table.columns(&columns, cells).build()),
            chart: Some(Chart::Heat(chart::Heat {
                value: Axis::linear("% of the fastest's GFLOP/s"),
                range: (0.0, 100.0),
                rows: contests.iter().map(|of| of.name.clone()).collect(),
                columns,
                cells: contests.iter().map(cells).collect(),
            })),
            ..View::default()
        }
    }
}
