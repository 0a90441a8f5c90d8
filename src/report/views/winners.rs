//! The view `winners`: a table of the fastest method on each matrix.

use super::contest::Contest;
use super::setting::APART;
use super::{Kind, Recorded};
use crate::record::table::{Cell, Table};
use crate::report::View;
use crate::report::column::Column;
use crate::report::names::count;

keys! {
    /// The fastest and the second fastest method on each matrix.
    Winners {}
}

impl Kind for Winners {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &APART);
        let contests = Contest::all(&shown.series);
        let ranked: Vec<_> = contests.iter().map(|of| (of, of.ranking())).collect();
        let overlaps = contests.iter().filter(|of| of.intervals_are_apart() == Some(false)).count();
        let meaning = format!(
            "±: half the 95 % confidence interval of the median, in percent; where the intervals of both overlap, the \
             order is uncertain: on {}",
            count(overlaps, "matrix")
        );
        let name = |(_, ranking): &Ranked, place: usize| {
            Some(Cell::text(&shown.series[ranking.get(place)?.0].name))
        };
        let table = Table::of(&ranked)
            .column("matrix", |(of, _)| &of.name[..])
            .column("nonzeros", |of| number(of, 0, "num_nonzeros"))
            .column("fastest", |of| name(of, 0))
            .column("GFLOP/s", |of| number(of, 0, "gflops"))
            .column("± (%)", |of| number(of, 0, "uncertainty"))
            .column("second", |of| name(of, 1))
            .column("takes longer by (%)", |(_, ranking)| {
                Some(100.0 * (ranking.get(1)?.1 / ranking[0].1 - 1.0))
            })
            .column("± (%)", |of| number(of, 1, "uncertainty"))
            .column("intervals", |(of, _)| {
                of.intervals_are_apart().map(|apart| if apart { "apart" } else { "overlap" })
            });
        View {
            notes: shown.notes([shown.note_on_several(), Some(meaning)]),
            table: Some(table.build()),
            ..View::default()
        }
    }
}

/// The rows of a matrix, and the indices of series with their times, the fastest first.
type Ranked<'a> = (&'a Contest<'a>, Vec<(usize, f64)>);

/// Returns a number of the row at a place in the ranking.
fn number((contest, ranking): &Ranked, place: usize, column: &str) -> Option<Cell> {
    let column = Column::of(column);
    let (line, _) = contest.rows[ranking.get(place)?.0]?;
    Some(column.cell(column.of_line(line)?))
}
