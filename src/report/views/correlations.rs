//! The view `correlations`: the correlation of two numbers of a method's rows.

use serde::Deserialize;

use super::shown::{Series, Shown};
use super::{Part, parts};
use crate::report::View;
use crate::report::chart::{Axis, BarSeries, Bars, Chart};
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::select::{Conditions, Select};
use crate::report::statistics::pearson;
use crate::report::table::{Cell, Table};

use super::setting::{grouped, join};

/// The minimum number of rows of a correlation. With fewer rows it is not shown, because it has no meaning.
const LEAST: usize = 10;

/// Pearson's correlation of pairs of columns over the rows of each method, as in merge-spmv-sc16, Figure 9, and
/// hola-spmv-ics17, Figure 6.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correlations {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
    /// The pairs of columns.
    pub pairs: Vec<[Column; 2]>,
    /// The parts that are shown separately; if empty, all rows together.
    #[serde(default)]
    pub split: Vec<Part>,
}

/// The correlation of a pair of columns for a method, in a part of the rows.
struct Correlation<'a> {
    method: &'a str,
    /// The name of the part and the pair.
    name: String,
    rows: usize,
    pearson: Option<f64>,
}

impl Correlations {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let mut all = Vec::new();
        for (part, conditions) in parts(&self.conditions, &self.split) {
            for pair in &self.pairs {
                all.extend(shown.series.iter().map(|series| of(series, part, &conditions, pair)));
            }
        }
        let before = all.len();
        all.retain(|of| of.rows >= LEAST);
        let left_out = before - all.len();
        let left_out = (left_out > 0).then(|| {
            format!(
                "left out: {left_out} of {before} correlations, which have fewer than {LEAST} rows"
            )
        });
        let meaning = "Pearson's correlation of the numbers, without logarithms, over the rows that are correct and timed";
        View {
            title: self.title.clone(),
            notes: shown.notes().into_iter().chain([meaning.into()]).chain(left_out).collect(),
            chart: Some(chart(&all)),
            table: Some(table(&all)),
            ..View::default()
        }
    }
}

fn of<'a>(
    series: &'a Series,
    part: &str,
    conditions: &Conditions,
    pair: &[Column; 2],
) -> Correlation<'a> {
    let [x, y] = pair;
    let numbers = series.numbers(x).into_iter().filter(|(line, _)| conditions.passes(line));
    let points = numbers.filter_map(|(line, x)| Some((x, y.of_line(line)?)));
    let points: Vec<_> = points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let name = join([part.to_owned(), format!("{} – {}", y.label(), x.label())], ": ");
    let pearson = pearson(&points);
    Correlation { method: &series.name, name, rows: points.len(), pearson }
}

fn chart(all: &[Correlation]) -> Chart {
    let methods: Vec<_> = grouped(all, |of| of.method).into_iter().map(|group| group.0).collect();
    let bars = grouped(all, |of| of.name.clone()).into_iter().map(|(name, all)| {
        let of_method = |method: &&str| all.iter().find(|of| of.method == *method)?.pearson;
        BarSeries { name, values: methods.iter().map(of_method).collect(), ..BarSeries::default() }
    });
    Chart::Bars(Bars {
        value: Axis::linear("correlation"),
        categories: methods.iter().map(|method| (*method).to_owned()).collect(),
        series: bars.collect(),
        ..Bars::default()
    })
}

fn table(all: &[Correlation]) -> Table {
    let row = |of: &Correlation| {
        vec![Cell::text(&of.name), Cell::text(of.method), of.rows.into(), of.pearson.into()]
    };
    Table::new(["of", "method", "rows", "correlation"], all.iter().map(row).collect())
}
