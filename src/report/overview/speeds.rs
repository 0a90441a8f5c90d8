//! How fast each method is over all matrices of a setting.

use std::collections::BTreeSet;

use crate::report::View;
use crate::report::chart::{Axis, BarSeries, Bars, Chart};
use crate::report::lines::Line;
use crate::report::matched;
use crate::report::statistics::Statistic;
use crate::report::table::{Cell, Table};
use crate::report::views::{counted, on_fewer};

/// A method's speeds in GFLOP/s, one per right and timed row.
struct Speeds<'a> {
    method: &'a str,
    gflops: Vec<f64>,
    mean: f64,
}

/// Bars of geometric means, the fastest first, with the extremes in the table. `None` where nothing is
/// right and timed.
pub(super) fn view(lines: &[&Line]) -> Option<View> {
    let timed: Vec<_> = lines.iter().filter(|line| matched::time(line).is_some()).collect();
    let matrices = timed.iter().map(|line| line.matrix()).collect::<BTreeSet<_>>().len();
    let methods: BTreeSet<_> = timed.iter().map(|line| line.method()).collect();
    let speeds = methods.into_iter().filter_map(|method| {
        let own = timed.iter().filter(|line| line.method() == method);
        let gflops: Vec<_> = own.filter_map(|line| line.row.gflops).collect();
        let mean = Statistic::GeometricMean.of(&gflops)?;
        Some(Speeds { method, gflops, mean })
    });
    let mut speeds: Vec<_> = speeds.collect();
    speeds.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let fewer = on_fewer(speeds.iter().map(|speeds| speeds.gflops.len()), matrices);
    (!speeds.is_empty()).then(|| View {
        title: "Speed of each method, in GFLOP/s".into(),
        notes: fewer.into_iter().collect(),
        chart: Some(chart(&speeds, matrices)),
        table: Some(table(&speeds)),
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

fn table(speeds: &[Speeds]) -> Table {
    let columns = ["method", "matrices", "least", "geometric mean", "greatest"];
    let rows = speeds.iter().map(|Speeds { method, gflops, mean }| {
        vec![
            Cell::text(*method),
            Cell::Count(gflops.len() as u64),
            Statistic::Min.of(gflops).into(),
            Cell::Number(*mean),
            Statistic::Max.of(gflops).into(),
        ]
    });
    Table::new(columns, rows.collect())
}
