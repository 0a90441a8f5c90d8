//! `roofline`: how near products come to what memory allows.

use serde::Deserialize;

use super::axis;
use super::setting::label;
use super::shown::{Series, Shown};
use crate::report::View;
use crate::report::chart::{self, Axis, Chart, Guide, Mark, Plane, Point};
use crate::report::column::Column;
use crate::report::lines::Line;
use crate::report::matched::{self, matrix};
use crate::report::select::{Conditions, Select};
use crate::report::statistics::Statistic;
use crate::report::table::{Cell, Table, significant};

/// GFLOP/s over FLOP per compulsory byte, below the bandwidth that was measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roofline {
    /// Of the view.
    pub title: String,
    /// What rows must meet.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods; without any, all.
    #[serde(default)]
    pub of: Vec<Select>,
}

impl Roofline {
    pub(super) fn view(&self, lines: &[&Line]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let (x, y) = (Column::of("intensity"), Column::of("gflops"));
        let series = shown.series.iter().map(|series| chart::Series {
            name: series.name.clone(),
            mark: Mark::Dots,
            points: series.numbers(&x).into_iter().filter_map(|dot| point(dot, &y)).collect(),
        });
        let series: Vec<_> = series.filter(|series| !series.points.is_empty()).collect();
        let guides = roofs(&shown, &series);
        let y = Axis { log: true, ..axis(&y) };
        View {
            title: self.title.clone(),
            notes: notes(&shown),
            chart: Some(Chart::Plane(Plane { x: axis(&x), y, series, guides })),
            table: Some(table(&shown.series)),
        }
    }
}

fn point((line, x): (&Line, f64), y: &Column) -> Option<Point> {
    Some(Point { x, y: y.of_line(line)?, spread: None, label: Some(label(matrix(line))) })
}

fn peak_percent() -> Column {
    Column::of("percent_of_peak")
}

fn notes(shown: &Shown) -> Vec<String> {
    let percents = shown.series.iter().flat_map(|series| series.numbers(&peak_percent()));
    let above = percents.filter(|(_, percent)| *percent > 100.0).count();
    let meaning = "% of peak: each array of CSR, x and y moved once per product, over the bandwidth that \
                   sweeps over as many bytes reached; the roofs are the least and the greatest such";
    let reason = format!(
        "above 100 % ({above} rows): the method keeps fewer bytes than CSR, or finds more of them in \
         caches than the sweep did"
    );
    let reason = (above > 0).then_some(reason);
    shown.notes().into_iter().chain([meaning.into()]).chain(reason).collect()
}

/// The bandwidth that a row was held against, in GB/s.
fn ceiling(line: &Line) -> Option<f64> {
    let percent = line.row.percent_of_peak.filter(|&percent| percent > 0.0)?;
    Some(100.0 * line.row.compulsory_gbs? / percent)
}

fn roofs(shown: &Shown, series: &[chart::Series]) -> Vec<Guide> {
    let timed = shown.lines.iter().filter(|line| matched::time(line).is_some());
    let ceilings: Vec<_> = timed.filter_map(|line| ceiling(line)).collect();
    let x: Vec<_> = series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    let ends = [Statistic::Min, Statistic::Max];
    let x = ends.map(|end| end.of(&x));
    let roof = |gbs: f64| Guide {
        name: format!("{} GB/s", significant(gbs)),
        points: x.iter().copied().flatten().map(|x| (x, x * gbs)).collect(),
    };
    let mut roofs: Vec<_> = ends.iter().filter_map(|end| end.of(&ceilings)).map(roof).collect();
    roofs.dedup_by(|a, b| a.name == b.name);
    roofs
}

fn table(series: &[Series]) -> Table {
    let row = |series: &Series| {
        let percents = series.numbers(&peak_percent());
        let numbers: Vec<_> = percents.iter().map(|percent| percent.1).collect();
        let by_percent = |a: &&(&Line, f64), b: &&(&Line, f64)| a.1.total_cmp(&b.1);
        let (least, most) =
            (percents.iter().min_by(by_percent)?, percents.iter().max_by(by_percent)?);
        let place = |of: &(&Line, f64)| Cell::text(label(matrix(of.0)));
        Some(vec![
            Cell::text(&series.name),
            Statistic::Median.of(&numbers).into(),
            least.1.into(),
            place(least),
            most.1.into(),
            place(most),
        ])
    };
    let columns = ["method", "median % of peak", "min", "on", "max", "on"];
    Table::new(columns, series.iter().filter_map(row).collect())
}
