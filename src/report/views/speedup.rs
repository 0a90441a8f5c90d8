//! The view `speedup`: the speed-up of methods over one baseline.

use serde::Deserialize;

use super::setting::label;
use super::shown::Shown;
use super::{axis, few};
use crate::report::View;
use crate::report::chart::{Axis, Chart, Guide, Mark, Plane, Point, Series};
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::matched;
use crate::report::select::{Conditions, Select};
use crate::report::statistics::Statistic;
use crate::report::table::{Cell, Table};
use crate::report::values::Kinds;

/// The speed-up of each method in `of` over the baseline `over`: time of `over` / time of the method, on each
/// matrix.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speedup {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
    /// The baseline. Its fastest row of each matrix and precision is used.
    pub over: Select,
    /// The column of the horizontal axis.
    #[serde(default = "nonzeros")]
    pub x: Column,
}

fn nonzeros() -> Column {
    Column::of("num_nonzeros")
}

/// The name of a method, and its speed-up on each matrix.
type Speeds<'a> = (String, Vec<(&'a RecordedRow, f64)>);

impl Speedup {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[self.x.name()]);
        let (over, on_baseline) = shown.baseline(lines, &self.conditions, &self.over);
        let others = shown.series.iter().filter(|series| !series.is(&self.over));
        let speeds: Vec<Speeds> = others
            .map(|series| (series.name.clone(), matched::ratios(&series.times(), &over)))
            .filter(|(_, speeds)| !speeds.is_empty())
            .collect();
        let kinds = Kinds::of_lines(&shown.lines);
        let meaning =
            format!("time of {} / time of the method: above 1 the method is faster", self.over);
        let notes = shown.notes().into_iter().chain(on_baseline).chain(shown.note_on_several());
        View {
            title: self.title.clone(),
            notes: notes.chain([meaning]).chain(kinds.note()).collect(),
            chart: Some(self.chart(&speeds)),
            table: Some(table(&speeds, kinds)),
            ..View::default()
        }
    }

    fn chart(&self, speeds: &[Speeds]) -> Chart {
        let series = speeds.iter().map(|(name, speeds)| {
            let points = speeds.iter().filter_map(|&(line, y)| {
                let label = Some(label(matched::matrix(line)));
                Some(Point { x: self.x.of_line(line)?, y, label, ..Point::default() })
            });
            Series { name: name.clone(), mark: Mark::Dots, points: points.collect() }
        });
        let series: Vec<_> = series.collect();
        let x = series.iter().flat_map(|series| &series.points).map(|point| point.x);
        let x: Vec<_> = x.filter(|&x| x > 0.0 || !self.x.is_log()).collect();
        let ends = Statistic::Min.of(&x).into_iter().chain(Statistic::Max.of(&x));
        let equal = Guide { name: "equally fast".into(), points: ends.map(|x| (x, 1.0)).collect() };
        let y = Axis::log(format!("speed-up over {}", self.over));
        let few = few::of_points(&series, true);
        Chart::Plane(Plane { x: axis(&self.x), y, series, guides: vec![equal], few })
    }
}

fn table(speeds: &[Speeds], kinds: Kinds) -> Table {
    let ends = [Statistic::Min, Statistic::Max];
    let means = [Statistic::HarmonicMean, Statistic::GeometricMean];
    let row = |(name, speeds): &Speeds| {
        let numbers: Vec<_> = speeds.iter().map(|speed| speed.1).collect();
        let faster = numbers.iter().filter(|&&speed| speed > 1.0).count();
        let percent = 100.0 * faster as f64 / numbers.len() as f64;
        let mut row = vec![Cell::text(name), numbers.len().into()];
        row.extend(ends.map(|end| Cell::from(end.of(&numbers))));
        row.extend(means.into_iter().flat_map(|mean| kinds.cells(speeds, mean)));
        row.push(percent.into());
        row
    };
    let of_means = means.into_iter().flat_map(|mean| kinds.columns(mean.name().into()));
    let columns = ["method", "matrices"].into_iter().chain(ends.map(Statistic::name));
    let columns = columns.map(String::from).chain(of_means).chain(["% faster".into()]);
    Table::new(columns, speeds.iter().map(row).collect())
}
