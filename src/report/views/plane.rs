//! The view `plane`: points over two axes.

use serde::Deserialize;

use super::bins::{self, Bin};
use super::shown::{Series, Shown};
use super::{axis, few};
use crate::report::View;
use crate::report::chart::{self, Chart, Mark, Point};
use crate::report::column::Column;
use crate::report::lines::RecordedRow;
use crate::report::matched;
use crate::report::select::{Conditions, Select};
use crate::report::table::{Cell, Table};

use super::setting::label;

/// A number of rows over another number, with a series per method. A point is a row (dots), all rows with one x
/// (line), or all rows in a range of x (trend, as in hola-spmv-ics17, Figure 4).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// The title of the view.
    pub title: String,
    /// The conditions that a row must meet to be included.
    #[serde(rename = "where", default)]
    pub conditions: Conditions,
    /// The methods to show, in this order; all methods if empty.
    #[serde(default)]
    pub of: Vec<Select>,
    /// The column of the horizontal axis.
    pub x: Column,
    /// The column of the vertical axis.
    pub y: Column,
    /// How points are drawn; dots by default.
    #[serde(default)]
    pub mark: Mark,
}

impl Plane {
    pub(super) fn view(&self, lines: &[&RecordedRow]) -> View {
        let shown = Shown::of(lines, &self.conditions, &self.of, &[self.x.name()]);
        let bins: Vec<_> = shown.series.iter().map(|series| self.bins(series)).collect();
        let points = |(series, bins): (&Series, &Vec<Bin>)| match self.mark {
            Mark::Dots => self.dots(series),
            Mark::Line | Mark::Trend => bins.iter().map(|bin| bin.point()).collect(),
        };
        let series = shown.series.iter().zip(&bins).map(|(series, bins)| chart::Series {
            name: series.name.clone(),
            mark: self.mark,
            points: points((series, bins)),
        });
        let series: Vec<_> = series.filter(|series| !series.points.is_empty()).collect();
        let (x, y) = (axis(&self.x), axis(&self.y));
        let few = few::of_points(&series, self.y.more_is_better());
        View {
            title: self.title.clone(),
            notes: self.notes(&shown, &bins),
            table: self.table(&shown.series, &bins),
            chart: Some(Chart::Plane(chart::Plane {
                x,
                y,
                series,
                few,
                ..chart::Plane::default()
            })),
            ..View::default()
        }
    }

    /// Returns the rows with their x and y, if both axes can show them.
    fn pairs<'a>(&self, series: &Series<'a>) -> Vec<(&'a RecordedRow, f64, f64)> {
        let is_drawn =
            |column: &Column, number: f64| number.is_finite() && (number > 0.0 || !column.is_log());
        let pair = |(line, x)| Some((line, x, self.y.of_line(line)?));
        let pairs = series.numbers(&self.x).into_iter().filter_map(pair);
        pairs.filter(|&(_, x, y)| is_drawn(&self.x, x) && is_drawn(&self.y, y)).collect()
    }

    fn dots(&self, series: &Series) -> Vec<Point> {
        let label = |line| Some(label(matched::matrix(line)));
        let dot = |(line, x, y)| Point { x, y, label: label(line), ..Point::default() };
        self.pairs(series).into_iter().map(dot).collect()
    }

    fn bins(&self, series: &Series) -> Vec<Bin> {
        let points: Vec<_> = self.pairs(series).into_iter().map(|(_, x, y)| (x, y)).collect();
        match self.mark {
            Mark::Dots | Mark::Line => bins::same(&points),
            Mark::Trend => bins::trend(&points, self.x.is_log()),
        }
    }

    fn notes(&self, shown: &Shown, bins: &[Vec<Bin>]) -> Vec<String> {
        let (x, y) = (self.x.label(), self.y.label());
        let drawn: usize = match self.mark {
            Mark::Dots => shown.series.iter().map(|series| self.pairs(series).len()).sum(),
            Mark::Line | Mark::Trend => bins.iter().flatten().map(|bin| bin.rows).sum(),
        };
        let timed = shown.lines.iter().filter(|line| matched::time(line).is_some()).count();
        let several = bins.iter().flatten().any(|bin| bin.rows > 1);
        let meaning = match self.mark {
            Mark::Line if several => Some(format!(
                "points: geometric means of the rows with the same {x}; strokes: from the least to the greatest"
            )),
            Mark::Trend => Some(format!(
                "points: geometric means of three or more rows with similar {x}; bands: from the lower to the upper \
                 quartile"
            )),
            Mark::Dots | Mark::Line => None,
        };
        let left_out = (timed > drawn).then(|| {
            let reason = match self.mark {
                Mark::Trend => "unknown, infinite, not above 0, or too few",
                Mark::Dots | Mark::Line => "unknown, infinite, or not above 0",
            };
            format!("not drawn: {} of {timed} rows ({x} or {y}: {reason})", timed - drawn)
        });
        shown.notes().into_iter().chain(meaning).chain(left_out).collect()
    }

    fn table(&self, series: &[Series], bins: &[Vec<Bin>]) -> Option<Table> {
        match self.mark {
            Mark::Dots => None,
            Mark::Line => Some(self.side_by_side(series, bins)),
            Mark::Trend => Some(self.one_by_one(series, bins)),
        }
    }

    /// Returns a table with a row per x and a column per series.
    fn side_by_side(&self, series: &[Series], bins: &[Vec<Bin>]) -> Table {
        let mut all: Vec<_> = bins.iter().flatten().map(|bin| bin.x).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let cell =
            |bins: &Vec<Bin>, x| Cell::from(bins.iter().find(|bin| bin.x == x).map(|bin| bin.y));
        let row = |&x: &f64| {
            let cells = bins.iter().map(|bins| cell(bins, x));
            std::iter::once(self.x.cell(x)).chain(cells).collect()
        };
        let heading = format!("{} \\ {}", self.x.label(), self.y.label());
        let names = series.iter().map(|series| series.name.clone());
        Table::new(std::iter::once(heading).chain(names), all.iter().map(row).collect())
    }

    /// Returns a table with a row per series and x.
    fn one_by_one(&self, series: &[Series], bins: &[Vec<Bin>]) -> Table {
        let row = |name: &str, bin: &Bin| {
            let (low, high) = bin.spread.unzip();
            vec![
                Cell::text(name),
                bin.x.into(),
                bin.y.into(),
                low.into(),
                high.into(),
                bin.rows.into(),
            ]
        };
        let rows = series
            .iter()
            .zip(bins)
            .flat_map(|(series, bins)| bins.iter().map(move |bin| row(&series.name, bin)));
        let (x, y) = (self.x.label(), self.y.label());
        let columns = ["method", x, y, "lower quartile", "upper quartile", "rows"];
        Table::new(columns, rows.collect())
    }
}
