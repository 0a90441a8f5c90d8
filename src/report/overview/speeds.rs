//! The speed of each method over all matrices of a setting.

use std::collections::BTreeSet;

use crate::record::read::RecordedRow;
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::Axis;
use crate::report::matched::{self, Numbers, timed};
use crate::report::ranking::Ranking;
use crate::report::standings::Standings;
use crate::report::statistics::Statistic;
use crate::report::values::Kinds;

/// Returns a table of the speed-up of each method over the baselines.
pub(super) fn over_baselines(standings: &Standings) -> View {
    View {
        title: "Speed-up over the best baseline on each matrix".into(),
        notes: standings.notes(),
        table: Some(standings.table()),
        ..View::default()
    }
}

/// Returns a bar chart of geometric means, the fastest method first, and a table that also has the extremes.
/// Returns `None` if no row is correct and timed.
pub(super) fn rates(lines: &[&RecordedRow]) -> Option<View> {
    let timed: Vec<_> = timed(lines.iter().copied()).collect();
    let [matrices, _] = matched::matrices(timed.iter().copied());
    let methods: BTreeSet<_> = timed.iter().map(|line| line.method()).collect();
    let rates = |method| -> Numbers {
        let own = timed.iter().filter(|line| line.method() == method);
        own.filter_map(|&line| Some((line, line.row.typical_gflops()?))).collect()
    };
    let rates = methods.into_iter().map(|method| (method, rates(method)));
    let ranking = Ranking::of(rates, matrices, true);
    let kinds = Kinds::of_lines(&timed);
    let axis = Axis::linear(format!("GFLOP/s, geometric mean over {matrices} matrices"));
    let table = Table::of(&ranking.methods)
        .column("method", |of| of.method)
        .column("matrices", |of| of.numbers.len())
        .column("least", |of| Statistic::Min.over(&of.numbers))
        .means(kinds, ("geometric mean", Statistic::GeometricMean), |of| &of.numbers)
        .column("greatest", |of| Statistic::Max.over(&of.numbers));
    (!ranking.methods.is_empty()).then(|| View {
        title: "Speed of each method, in GFLOP/s".into(),
        notes: kinds.note().into_iter().chain(ranking.note()).collect(),
        chart: Some(ranking.chart(axis, "GFLOP/s")),
        table: Some(table.build()),
        ..View::default()
    })
}
