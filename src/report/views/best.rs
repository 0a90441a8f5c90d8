//! The view `best`: how much time is lost if a single method is used for all matrices.

use super::contest::Contest;
use super::{Kind, Recorded, counted, on_fewer};
use crate::report::View;
use crate::report::chart::{Axis, BarSeries, Bars, Chart};
use crate::report::matched::Numbers;
use crate::report::statistics::Statistic;
use crate::report::table::Table;
use crate::report::values::Kinds;

keys! {
    /// The number of matrices on which each method is the fastest, and its loss on the others.
    Best {}
}

/// The results of a method.
struct Standing<'a> {
    name: &'a str,
    /// Its losses: its time divided by the fastest time, on each matrix where it has a time.
    losses: Numbers<'a>,
    /// The geometric mean of its losses.
    mean: f64,
    /// The greatest loss, and the matrix of it.
    worst: (f64, &'a str),
}

impl Kind for Best {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let contests = Contest::all(&shown.series);
        let named = shown.series.iter().enumerate();
        let standings = named.filter_map(|(place, s)| Standing::of(place, &s.name, &contests));
        let mut standings: Vec<_> = standings.collect();
        standings.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let matrices = shown.matrices().len();
        standings.sort_by_key(|standing| standing.losses.len() < matrices);
        let meaning = "loss: time divided by the time of the fastest method on the same matrix; means are over the \
                       matrices on which the method runs; equally fast methods all count as the fastest";
        let fewer = on_fewer(standings.iter().map(|standing| standing.losses.len()), matrices);
        let kinds = Kinds::of_lines(&shown.lines);
        let several = shown.note_on_several();
        let won = |standing: &Standing| standing.losses.iter().filter(|of| of.1 == 1.0).count();
        let table = Table::of(&standings)
            .column("method", |standing| standing.name)
            .column("fastest on", won)
            .column("runs on", |standing| standing.losses.len())
            .means(kinds, ("mean loss", Statistic::GeometricMean), |standing| &standing.losses)
            .column("greatest loss", |standing| standing.worst.0)
            .column("on", |standing| standing.worst.1);
        View {
            notes: shown.notes([several, Some(meaning.into()), kinds.note(), fewer]),
            chart: Some(chart(&standings, matrices)),
            table: Some(table.build()),
            ..View::default()
        }
    }
}

impl<'a> Standing<'a> {
    /// Returns the results of the series at a place, or `None` if it has no time at all.
    fn of(place: usize, name: &'a str, contests: &'a [Contest<'a>]) -> Option<Self> {
        let loss = |of: &'a Contest| Some((of, of.losses()[place]?));
        let losses: Vec<_> = contests.iter().filter_map(loss).collect();
        let mean = Statistic::GeometricMean.over(&losses)?;
        let (worst, loss) = losses.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let worst = (*loss, &worst.name[..]);
        let with_row = |(of, loss): (&'a Contest, f64)| Some((of.rows[place]?, loss));
        Some(Self { name, losses: losses.into_iter().filter_map(with_row).collect(), mean, worst })
    }
}

fn chart(standings: &[Standing], matrices: usize) -> Chart {
    let value = Axis::linear("mean loss: time / time of the fastest");
    let name = |standing: &Standing| counted(standing.name, standing.losses.len(), matrices);
    let categories = standings.iter().map(name).collect();
    let values = standings.iter().map(|standing| Some(standing.mean)).collect();
    let series = vec![BarSeries { name: "geometric mean".into(), values, ..BarSeries::default() }];
    Chart::Bars(Bars { value, categories, series, ..Bars::default() })
}
