//! The view `roofline`: how close products come to the speed that the memory bandwidth allows.

use serde::Deserialize;

use super::roofs::{roofs, working_set};
use super::setting::label;
use super::shown::{Series, Shown};
use super::{axis, few};
use crate::memory::Size;
use crate::report::View;
use crate::report::chart::{self, Axis, Chart, Mark, Plane, Point};
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::matched::{self, matrix};
use crate::report::select::{Conditions, Select};
use crate::report::statistics::Statistic;
use crate::report::table::{Cell, Table};
use crate::report::values::Kinds;

/// GFLOP/s over FLOP per compulsory byte, below the measured bandwidths.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roofline {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
}

impl Roofline {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let (x, y) = (Column::of("intensity"), Column::of("gflops"));
        let series = shown.series.iter().map(|series| chart::Series {
            name: series.name.clone(),
            mark: Mark::Dots,
            points: series.numbers(&x).into_iter().filter_map(|dot| point(dot, &y)).collect(),
        });
        let series: Vec<_> = series.filter(|series| !series.points.is_empty()).collect();
        let x_of = |point: &Point| point.x;
        let ends: Vec<_> = series.iter().flat_map(|series| &series.points).map(x_of).collect();
        let timed = shown.lines.iter().copied().filter(|line| matched::time(line).is_some());
        let guides = roofs(&timed.collect::<Vec<_>>(), &ends);
        let few = few::of_points(&series, true);
        let y = Axis { log: true, ..axis(&y) };
        let kinds = Kinds::of_lines(&shown.lines);
        View {
            title: self.title.clone(),
            notes: notes(&shown).into_iter().chain(kinds.note()).collect(),
            chart: Some(Chart::Plane(Plane { x: axis(&x), y, series, guides, few })),
            table: Some(table(&shown.series, kinds)),
            ..View::default()
        }
    }
}

fn point((line, x): (&RecordedRow, f64), y: &Column) -> Option<Point> {
    let size = working_set(line).map_or_else(String::new, |bytes| format!(", {}", Size(bytes)));
    let label = Some(label(matrix(line)) + &size);
    Some(Point { x, y: y.of_line(line)?, label, ..Point::default() })
}

fn peak_percent() -> Column {
    Column::of("percent_of_peak")
}

fn notes(shown: &Shown) -> Vec<String> {
    let percents = shown.series.iter().flat_map(|series| series.numbers(&peak_percent()));
    let above = percents.filter(|(_, percent)| *percent > 100.0).count();
    let meaning = "% of peak: the bandwidth if each product moves the CSR arrays, x and y once, in percent of the \
                   bandwidth of sweeps over as many bytes; a roof is the median of the bandwidths of these \
                   sweeps for a range of matrix sizes in which they differ little";
    let reason = format!(
        "above 100 % ({above} rows): the method stores fewer bytes than CSR, or has more of them in \
         the caches than the sweep had"
    );
    let reason = (above > 0).then_some(reason);
    shown.notes().into_iter().chain([meaning.into()]).chain(reason).collect()
}

fn table(series: &[Series], kinds: Kinds) -> Table {
    let row = |series: &Series| {
        let percents = series.numbers(&peak_percent());
        let by_percent = |a: &&(&RecordedRow, f64), b: &&(&RecordedRow, f64)| a.1.total_cmp(&b.1);
        let (least, most) =
            (percents.iter().min_by(by_percent)?, percents.iter().max_by(by_percent)?);
        let place = |of: &(&RecordedRow, f64)| Cell::text(label(matrix(of.0)));
        let medians = kinds.cells(&percents, Statistic::Median);
        let row = [Cell::text(&series.name)].into_iter().chain(medians);
        Some(row.chain([least.1.into(), place(least), most.1.into(), place(most)]).collect())
    };
    let columns = std::iter::once("method".into()).chain(kinds.columns("median % of peak".into()));
    let columns = columns.chain(["min", "on", "max", "on"].map(String::from));
    Table::new(columns, series.iter().filter_map(row).collect())
}
