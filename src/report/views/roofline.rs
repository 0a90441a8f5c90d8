//! The view `roofline`: how close products come to the speed that the memory bandwidth allows.

use super::roofs::{roofs, working_set};
use super::shown::Series;
use super::{Kind, Recorded, axis, dot, drawn, ends, few};
use crate::record::read::RecordedRow;
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::{Axis, Chart, Mark, Plane, Point};
use crate::report::column::Column;
use crate::report::matched::{Numbers, matrix, timed};
use crate::report::names::label;
use crate::report::statistics::Statistic;
use crate::report::values::Kinds;
use spmv_matrix::memory::Size;

keys! {
    /// GFLOP/s over FLOP per compulsory byte, below the measured bandwidths.
    Roofline {}
}

impl Kind for Roofline {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[]);
        let (x, y) = (Column::of("intensity"), Column::of("gflops"));
        let points = shown.series.iter().map(|series| {
            (&series.name[..], series.points([&x, &y]).into_iter().map(point).collect())
        });
        let series = drawn(Mark::Dots, points);
        let timed: Vec<_> = timed(shown.lines.iter().copied()).collect();
        let guides = roofs(&timed, &ends(&series, x.is_log()));
        let few = few::of_points(&series, true);
        let y = Axis { log: true, ..axis(&y) };
        let percents = shown.series.iter().filter_map(Percents::of).collect::<Vec<_>>();
        let kinds = Kinds::of_lines(&shown.lines);
        let meaning = "% of peak: the bandwidth if each product moves the CSR arrays, x and y once, in percent of the \
                       bandwidth of sweeps over as many bytes; a roof is the median of the bandwidths of these \
                       sweeps for a range of matrix sizes in which they differ little";
        View {
            notes: shown.notes([Some(meaning.into()), note_on_above(&percents), kinds.note()]),
            chart: Some(Chart::Plane(Plane { x: axis(&x), y, series, guides, few })),
            table: Some(table(&percents, kinds)),
            ..View::default()
        }
    }
}

fn point(of: (&RecordedRow, (f64, f64))) -> Point {
    let size = working_set(of.0).map_or_else(String::new, |bytes| format!(", {}", Size(bytes)));
    Point { label: Some(label(matrix(of.0)) + &size), ..dot(of) }
}

/// The bandwidths of a method in percent of the peak.
struct Percents<'a> {
    method: &'a str,
    all: Numbers<'a>,
    least: (&'a RecordedRow, f64),
    most: (&'a RecordedRow, f64),
}

impl<'a> Percents<'a> {
    fn of(series: &'a Series<'a>) -> Option<Self> {
        let all = series.numbers(&Column::of("percent_of_peak"));
        let least = *all.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let most = *all.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Self { method: &series.name, all, least, most })
    }
}

/// Returns an explanation if the percentages of any rows are above 100.
fn note_on_above(percents: &[Percents]) -> Option<String> {
    let percents = percents.iter().flat_map(|of| &of.all);
    let above = percents.filter(|(_, percent)| *percent > 100.0).count();
    let reason = format!(
        "above 100 % ({above} rows): the method stores fewer bytes than CSR, or has more of them in \
         the caches than the sweep had"
    );
    (above > 0).then_some(reason)
}

fn table(percents: &[Percents], kinds: Kinds) -> Table {
    let table = Table::of(percents)
        .column("method", |of| of.method)
        .means(kinds, ("median % of peak", Statistic::Median), |of| &of.all)
        .column("min", |of| of.least.1)
        .column("on", |of| label(matrix(of.least.0)))
        .column("max", |of| of.most.1)
        .column("on", |of| label(matrix(of.most.0)));
    table.build()
}
