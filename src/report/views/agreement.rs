//! The view `agreement`: compares modelled times with published times of the same products.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::axis;
use super::setting::label;
use super::shown::{Series, Shown};
use crate::report::View;
use crate::report::chart::{self, Chart, Guide, Mark, Point};
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::matched::matrix;
use crate::report::select::{Conditions, Select};
use crate::report::statistics::{Statistic, spearman};
use crate::report::table::{Cell, Table, significant};

/// The factor up to which a modelled time counts as near the published one.
const NEAR: f64 = 1.5;
/// The minimum number of methods for comparing their order.
const FEWEST: usize = 3;
/// The rank correlation from which two orders count as alike.
const ALIKE: f64 = 0.9;

/// The errors of modelled times, including launching and waiting, against published ones: a row for each method
/// and device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
    /// The minimum published time of a long case, in milliseconds. Shorter times are mostly launching and
    /// waiting, so long cases are also shown separately.
    #[serde(default)]
    pub long_ms: f64,
    /// The number of cases with the largest errors that are listed.
    #[serde(default)]
    pub farthest: usize,
}

/// A row with a published time.
struct Case<'a> {
    line: &'a RecordedRow,
    published_ms: f64,
    modelled_ms: f64,
}

impl Case<'_> {
    fn ratio(&self) -> f64 {
        self.modelled_ms / self.published_ms
    }

    /// Returns how far the ratio is from 1 in either direction, as a factor of 1 or more.
    fn factor(&self) -> f64 {
        self.ratio().max(1.0 / self.ratio())
    }
}

impl Agreement {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[]);
        let cases: Vec<_> = shown.series.iter().map(|series| (series, cases(series))).collect();
        let rows = cases.iter().filter(|(_, cases)| !cases.is_empty());
        let columns = [
            "method",
            "cases",
            "median error (%)",
            "within a factor of 1.5 (%)",
            "of them long: cases",
            "median error (%)",
            "within a factor of 1.5 (%)",
        ];
        let all: Vec<&Case> = cases.iter().flat_map(|(_, cases)| cases).collect();
        let meaning = format!(
            "error: |modelled time with launching and waiting / published time - 1|; long: published times of {} ms or \
             more",
            self.long_ms
        );
        let notes = shown.notes().into_iter().chain([meaning]);
        View {
            title: self.title.clone(),
            notes: notes.chain(self.orders(&all)).chain(self.farthest(&all)).collect(),
            table: Some(Table::new(
                columns,
                rows.map(|(series, cases)| self.row(series, cases)).collect(),
            )),
            chart: Some(chart(&cases)),
            ..View::default()
        }
    }

    fn row(&self, series: &Series, cases: &[Case]) -> Vec<Cell> {
        let of = |cases: &[&Case]| {
            let errors: Vec<_> =
                cases.iter().map(|case| 100.0 * (case.ratio() - 1.0).abs()).collect();
            let near = cases.iter().filter(|case| case.factor() <= NEAR).count();
            let share = (!cases.is_empty()).then(|| 100.0 * near as f64 / cases.len() as f64);
            [cases.len().into(), Statistic::Median.of(&errors).into(), share.into()]
        };
        let all: Vec<_> = cases.iter().collect();
        let long: Vec<_> = cases.iter().filter(|case| case.published_ms >= self.long_ms).collect();
        [&[Cell::text(&series.name)][..], &of(&all), &of(&long)].concat()
    }

    /// Returns a note for each device on whether the model predicts the published order of the methods on a
    /// matrix. Only matrices with a long case are used.
    fn orders(&self, cases: &[&Case]) -> Vec<String> {
        let mut by_device = BTreeMap::<_, BTreeMap<_, Vec<(f64, f64)>>>::new();
        for case in cases {
            let matrices = by_device.entry(case.line.device());
            let of_matrix = matrices.or_default().entry(matrix(case.line)).or_default();
            of_matrix.push((case.published_ms, case.modelled_ms));
        }
        let note = |(device, matrices): (&str, BTreeMap<_, Vec<(f64, f64)>>)| {
            let is_meant = |times: &Vec<(f64, f64)>| {
                times.len() >= FEWEST && times.iter().any(|time| time.0 >= self.long_ms)
            };
            let meant = matrices.into_values().filter(is_meant);
            let orders: Vec<_> = meant.filter_map(|times| spearman(&times)).collect();
            let median = Statistic::Median.of(&orders)?;
            let alike = orders.iter().filter(|&&order| order >= ALIKE).count();
            Some(format!(
                "{device}: rank correlation of modelled and published times over the methods of each matrix: median \
                 {median:.2}, {ALIKE} or more on {alike} of {} matrices with {FEWEST} or more methods, of which at \
                 least one has a long published time",
                orders.len()
            ))
        };
        by_device.into_iter().filter_map(note).collect()
    }

    /// Returns a note for each of the long cases with the largest errors.
    fn farthest(&self, cases: &[&Case]) -> Vec<String> {
        let mut long: Vec<_> =
            cases.iter().filter(|case| case.published_ms >= self.long_ms).collect();
        long.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
        let note = |(number, case): (usize, &&&Case)| {
            let Case { line, published_ms, modelled_ms } = case;
            format!(
                "largest error {number}: {} on {}, {}: {} ms modelled, {} ms published, ratio {:.2}",
                line.method(),
                label(matrix(line)),
                line.device(),
                significant(*modelled_ms),
                significant(*published_ms),
                case.ratio()
            )
        };
        (1..).zip(long.iter().take(self.farthest)).map(note).collect()
    }
}

fn cases<'a>(series: &Series<'a>) -> Vec<Case<'a>> {
    let published = series.numbers(&Column::of("published_ms")).into_iter();
    let case = |(line, published_ms)| {
        let modelled_ms = Column::of("waited_ms").of_line(line)?;
        Some(Case { line, published_ms, modelled_ms })
    };
    published.filter_map(case).collect()
}

fn chart(cases: &[(&Series, Vec<Case>)]) -> Chart {
    let series = cases.iter().map(|(series, cases)| {
        let point = |case: &Case| Point {
            x: case.published_ms,
            y: case.modelled_ms,
            label: Some(label(matrix(case.line))),
            ..Point::default()
        };
        let points = cases.iter().map(point).collect();
        chart::Series { name: series.name.clone(), mark: Mark::Dots, points }
    });
    let series: Vec<_> = series.filter(|series| !series.points.is_empty()).collect();
    let all = series.iter().flat_map(|series| &series.points).map(|point| point.x);
    let (least, most) = all.fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(x), b.max(x)));
    let line = |name: String, factor: f64| Guide {
        name,
        points: [least, most].map(|x| (x, factor * x)).to_vec(),
    };
    let guides = match series.is_empty() {
        true => Vec::new(),
        false => vec![
            line("equal".into(), 1.0),
            line("1.5 times".into(), NEAR),
            line("1.5 times less".into(), 1.0 / NEAR),
        ],
    };
    let (x, y) = (axis(&Column::of("published_ms")), axis(&Column::of("waited_ms")));
    Chart::Plane(chart::Plane { x, y, series, guides, ..chart::Plane::default() })
}
