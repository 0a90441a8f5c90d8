//! The speed of each method over all matrices of a setting.

use std::collections::BTreeSet;

use crate::report::View;
use crate::report::chart::{Axis, BarSeries, Bars, Chart};
use crate::report::lines::RecordedRow;
use crate::report::matched::{Numbers, timed};
use crate::report::standings::Standings;
use crate::report::statistics::Statistic;
use crate::report::table::Table;
use crate::report::values::Kinds;
use crate::report::views::{counted, on_fewer};

/// A method's speeds in GFLOP/s, one per row that is correct and timed.
struct Speeds<'a> {
    method: &'a str,
    gflops: Numbers<'a>,
    mean: f64,
}

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
    let matrices = timed.iter().map(|line| line.matrix()).collect::<BTreeSet<_>>().len();
    let methods: BTreeSet<_> = timed.iter().map(|line| line.method()).collect();
    let speeds = methods.into_iter().filter_map(|method| {
        let own = timed.iter().filter(|line| line.method() == method);
        let gflops: Numbers =
            own.filter_map(|&line| Some((line, line.row.typical_gflops()?))).collect();
        let mean = Statistic::GeometricMean.over(&gflops)?;
        Some(Speeds { method, gflops, mean })
    });
    let mut speeds: Vec<_> = speeds.collect();
    speeds.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    // Methods with fewer matrices come last, because their means cannot be compared with the others.
    speeds.sort_by_key(|speeds| speeds.gflops.len() < matrices);
    let kinds = Kinds::of_lines(&timed);
    let fewer = on_fewer(speeds.iter().map(|speeds| speeds.gflops.len()), matrices);
    (!speeds.is_empty()).then(|| View {
        title: "Speed of each method, in GFLOP/s".into(),
        notes: kinds.note().into_iter().chain(fewer).collect(),
        chart: Some(chart(&speeds, matrices)),
        table: Some(table(&speeds, kinds)),
        ..View::default()
    })
}

fn chart(speeds: &[Speeds], matrices: usize) -> Chart {
    let name = |speeds: &Speeds| counted(speeds.method, speeds.gflops.len(), matrices);
    let label = format!("GFLOP/s, geometric mean over {matrices} matrices");
    let values = speeds.iter().map(|speeds| Some(speeds.mean)).collect();
    Chart::Bars(Bars {
        value: Axis::linear(label),
        categories: speeds.iter().map(name).collect(),
        series: vec![BarSeries { name: "GFLOP/s".into(), values, ..BarSeries::default() }],
        ..Bars::default()
    })
}

fn table(speeds: &[Speeds], kinds: Kinds) -> Table {
    let table = Table::of(speeds)
        .column("method", |of| of.method)
        .column("matrices", |of| of.gflops.len())
        .column("least", |of| Statistic::Min.over(&of.gflops))
        .means(kinds, ("geometric mean", Statistic::GeometricMean), |of| &of.gflops)
        .column("greatest", |of| Statistic::Max.over(&of.gflops));
    table.build()
}
