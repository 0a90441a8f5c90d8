//! The view `best`: how much time is lost if a single method is used for all matrices.

use super::contest::{Contest, Run};
use super::{Kind, Recorded};
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::Axis;
use crate::report::ranking::{Ranked, Ranking};
use crate::report::statistics::Statistic;
use crate::report::values::Kinds;

keys! {
    /// The number of matrices on which each method is the fastest, and its loss on the others.
    Best {}
}

impl Kind for Best {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let contests = Contest::all(&shown.series);
        let series = shown.series.iter().enumerate();
        let losses = series.map(|(place, of)| (&of.name[..], Contest::losses_of(place, &contests)));
        let ranking = Ranking::of(losses, shown.matrices().len(), false);
        let meaning = "loss: time divided by the time of the fastest method on the same matrix; means are over the \
                       matrices on which the method runs; equally fast methods all count as the fastest";
        let kinds = Kinds::of_lines(&shown.lines);
        let several = shown.note_on_several();
        let axis = Axis::linear("mean loss: time / time of the fastest");
        let won = |of: &Ranked<Run>| of.numbers.iter().filter(|loss| loss.1 == 1.0).count();
        let table = Table::of(&ranking.methods)
            .column("method", |of| of.method)
            .column("fastest on", won)
            .column("runs on", |of| of.numbers.len())
            .means(kinds, ("mean loss", Statistic::GeometricMean), |of| &of.numbers)
            .column("greatest loss", |of| Statistic::Max.over(&of.numbers))
            .column("on", |of| Some(of.numbers.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0.1));
        View {
            notes: shown.notes([several, Some(meaning.into()), kinds.note(), ranking.note()]),
            chart: Some(ranking.chart(axis, "geometric mean")),
            table: Some(table.build()),
            ..View::default()
        }
    }
}
