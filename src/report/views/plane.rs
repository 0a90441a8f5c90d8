//! The view `plane`: points over two axes.

use super::bins::{self, Bin};
use super::shown::{Series, Shown};
use super::{Kind, Recorded, axis, dot, drawn, few};
use crate::record::read::RecordedRow;
use crate::record::table::Table;
use crate::report::View;
use crate::report::chart::{self, Chart, Mark};
use crate::report::column::Column;
use crate::report::matched::timed;

keys! {
    /// A number of rows over another number, with a series per method. A point is a row (dots), all rows with one x
    /// (line), or all rows in a range of x (trend, as in hola-spmv-ics17, Figure 4).
    Plane {
        /// The column of the horizontal axis.
        pub x: Column,
        /// The column of the vertical axis.
        pub y: Column,
        /// How points are drawn; dots by default.
        #[serde(default)]
        pub mark: Mark,
    }
}

/// The name of a method, and its points.
type Binned<'a> = (&'a str, Vec<Bin>);

impl Kind for Plane {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[self.x.name()]);
        let points: Vec<_> = shown.series.iter().map(|series| self.points(series)).collect();
        let names = || shown.series.iter().map(|series| &series.name[..]);
        let bins = points.iter().map(|points| self.bins(points));
        let bins: Vec<Binned> = names().zip(bins).collect();
        let series = match self.mark {
            Mark::Dots => {
                let dots = points.iter().map(|points| points.iter().copied().map(dot).collect());
                drawn(self.mark, names().zip(dots))
            }
            Mark::Line | Mark::Trend => {
                let points = |bins: &Vec<Bin>| bins.iter().map(|bin| bin.point()).collect();
                drawn(self.mark, bins.iter().map(|(name, bins)| (*name, points(bins))))
            }
        };
        let (x, y) = (axis(&self.x), axis(&self.y));
        let few = few::of_points(&series, self.y.more_is_better());
        let plane = chart::Plane { x, y, series, few, ..chart::Plane::default() };
        View {
            notes: self.notes(&shown, &bins, points.iter().map(Vec::len).sum()),
            table: self.table(&bins),
            chart: Some(Chart::Plane(plane)),
            ..View::default()
        }
    }
}

impl Plane {
    /// Returns the rows with their x and y, if both axes can show them.
    fn points<'a>(&self, series: &Series<'a>) -> Vec<(&'a RecordedRow, (f64, f64))> {
        let is_drawn = |column: &Column, number: f64| number > 0.0 || !column.is_log();
        let points = series.points([&self.x, &self.y]).into_iter();
        points.filter(|&(_, (x, y))| is_drawn(&self.x, x) && is_drawn(&self.y, y)).collect()
    }

    fn bins(&self, points: &[(&RecordedRow, (f64, f64))]) -> Vec<Bin> {
        let points: Vec<_> = points.iter().map(|point| point.1).collect();
        match self.mark {
            Mark::Dots | Mark::Line => bins::same(&points),
            Mark::Trend => bins::trend(&points, self.x.is_log()),
        }
    }

    /// Returns the notes; `points` is the number of rows that both axes can show.
    fn notes(&self, shown: &Shown, bins: &[Binned], points: usize) -> Vec<String> {
        let (x, y) = (self.x.label(), self.y.label());
        let rows = || bins.iter().flat_map(|(_, bins)| bins).map(|bin| bin.rows);
        let drawn = if self.mark == Mark::Dots { points } else { rows().sum() };
        let timed = timed(shown.lines.iter().copied()).count();
        let meaning = match self.mark {
            Mark::Line if rows().any(|rows| rows > 1) => Some(format!(
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
        shown.notes([meaning, left_out])
    }

    fn table(&self, bins: &[Binned]) -> Option<Table> {
        match self.mark {
            Mark::Dots => None,
            Mark::Line => Some(self.side_by_side(bins)),
            Mark::Trend => Some(self.one_by_one(bins)),
        }
    }

    /// Returns a table with a row per x and a column per series.
    fn side_by_side(&self, bins: &[Binned]) -> Table {
        let mut all: Vec<_> = bins.iter().flat_map(|(_, bins)| bins).map(|bin| bin.x).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let heading = format!("{} \\ {}", self.x.label(), self.y.label());
        let table = Table::of(&all).column(heading, |&x| self.x.cell(x));
        let table = bins.iter().fold(table, |table, (name, bins)| {
            table.column(*name, |x| bins.iter().find(|bin| bin.x == *x).map(|bin| bin.y))
        });
        table.build()
    }

    /// Returns a table with a row per series and x.
    fn one_by_one(&self, bins: &[Binned]) -> Table {
        let rows = bins.iter().flat_map(|(name, bins)| bins.iter().map(move |bin| (*name, bin)));
        let rows: Vec<_> = rows.collect();
        let table = Table::of(&rows)
            .column("method", |(name, _)| *name)
            .column(self.x.label(), |(_, bin)| bin.x)
            .column(self.y.label(), |(_, bin)| bin.y)
            .column("lower quartile", |(_, bin)| bin.spread.map(|spread| spread.0))
            .column("upper quartile", |(_, bin)| bin.spread.map(|spread| spread.1))
            .column("rows", |(_, bin)| bin.rows);
        table.build()
    }
}
