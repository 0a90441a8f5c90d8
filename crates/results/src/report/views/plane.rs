//! The view `plane`: points over two axes. Many points are combined into few: one per x, or one per range of x.

use super::few;
use super::kind::*;

/// The number of ranges of equal width into which the x of a trend are divided.
const RANGES: f64 = 12.0;

/// The minimum number of rows in a range. Smaller ranges are merged with a neighbour.
const MIN_ROWS_PER_RANGE: usize = 3;

keys! {
    /// A number of rows over another. A point is a row (dots), all rows with one x (line), or in a range of x (trend).
    Plane {
        pub x: Column,
        pub y: Column,
        #[serde(default)]
        pub mark: Mark,
    }
}

/// A point without a label, and the number of rows that it shows.
type Bin = (Point, usize);

type Binned<'a> = (&'a str, Vec<Bin>);

impl Kind for Plane {
    fn along(&self) -> Vec<&str> {
        vec![self.x.name()]
    }

    fn view(&self, shown: &Shown) -> View {
        let bins = shown.series.iter().map(|series| (&series.name[..], self.bins(series)));
        let bins: Vec<Binned> = bins.collect();
        let points = |bins: &[Bin]| bins.iter().map(|bin| bin.0.clone()).collect();
        let series = drawn(self.mark, bins.iter().map(|(name, bins)| (*name, points(bins))));
        let notes = self.notes(shown, &bins);
        let table = match self.mark {
            Mark::Dots => None,
            Mark::Line => Some(self.side_by_side(&bins)),
            Mark::Trend => Some(self.one_by_one(&bins)),
        };
        let (x, y) = (axis(&self.x), axis(&self.y));
        let few = few::of_points(&series, self.y.more_is_better());
        View::of(notes, Chart::Plane(chart::Plane { x, y, series, few, guides: vec![] }), table)
    }
}

impl Plane {
    /// Combines the rows that both axes can show.
    fn bins(&self, series: &Series) -> Vec<Bin> {
        let has_place = |column: &Column, number: f64| number > 0.0 || !column.is_log();
        let mut rows = series.points([&self.x, &self.y]);
        rows.retain(|(_, (x, y))| has_place(&self.x, *x) && has_place(&self.y, *y));
        let points: Vec<_> = rows.iter().map(|row| row.1).collect();
        match self.mark {
            Mark::Dots => rows.into_iter().map(|row| (dot(row), 1)).collect(),
            Mark::Line => same(&points),
            Mark::Trend => trend(&points, self.x.is_log()),
        }
    }

    fn notes(&self, shown: &Shown, bins: &[Binned]) -> Vec<String> {
        let (x, y) = (self.x.label(), self.y.label());
        let rows = || bins.iter().flat_map(|(_, bins)| bins).map(|bin| bin.1);
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
        let reason = match self.mark {
            Mark::Trend => "unknown, infinite, not above 0, or too few",
            Mark::Dots | Mark::Line => "unknown, infinite, or not above 0",
        };
        let left_out = timed.saturating_sub(rows().sum());
        let left_out = (left_out > 0).then(|| format!("not drawn: {left_out} of {timed} rows ({x} or {y}: {reason})"));
        shown.notes([meaning, left_out])
    }

    fn side_by_side(&self, bins: &[Binned]) -> Table {
        let mut all = sorted(bins.iter().flat_map(|(_, bins)| bins).map(|bin| bin.0.x));
        all.dedup();
        let heading = format!("{} \\ {}", self.x.label(), self.y.label());
        let mut table = Table::of(&all).column(heading, |&x| self.x.cell(x));
        for (name, bins) in bins {
            table = table.column(*name, |x| Some(bins.iter().find(|bin| bin.0.x == *x)?.0.y));
        }
        table.build()
    }

    fn one_by_one(&self, bins: &[Binned]) -> Table {
        let rows = bins.iter().flat_map(|(name, bins)| bins.iter().map(move |bin| (*name, bin)));
        Table::of(&rows.collect::<Vec<_>>())
            .column("method", |(name, _)| *name)
            .column(self.x.label(), |(_, bin)| bin.0.x)
            .column(self.y.label(), |(_, bin)| bin.0.y)
            .column("lower quartile", |(_, bin)| bin.0.spread.map(|spread| spread.0))
            .column("upper quartile", |(_, bin)| bin.0.spread.map(|spread| spread.1))
            .column("rows", |(_, bin)| bin.1)
            .build()
    }
}

/// Combines the points with the same x. The spread is from the smallest to the greatest y.
fn same(points: &[(f64, f64)]) -> Vec<Bin> {
    let bin = |(_, points): (_, Vec<_>)| match points[..] {
        [(x, y)] => Some((Point { x, y, ..Point::default() }, 1)),
        _ => several(points[0].0, &points, [0.0, 1.0]),
    };
    grouped(by_x(points), |point| point.0.to_bits()).into_iter().filter_map(bin).collect()
}

/// Combines the points in ranges of equal width, of the logarithm of x if `log`. A range with too few points is
/// merged with the next, the last one with the one before. The spread is from the lower to the upper quartile.
/// Returns nothing if there are too few points altogether.
fn trend(points: &[(f64, f64)], log: bool) -> Vec<Bin> {
    let place = |x: f64| if log { x.ln() } else { x };
    let points = by_x(points);
    let [(first, _), .., (last, _)] = points[..] else { return Vec::new() };
    let range = |x: f64| {
        let width = (place(last) - place(first)) / RANGES;
        ((place(x) - place(first)) / width).floor()
    };
    let mut bins: Vec<Vec<(f64, f64)>> = Vec::new();
    for point in points {
        match bins.last_mut() {
            Some(bin) if bin.len() < MIN_ROWS_PER_RANGE || range(bin[0].0) == range(point.0) => bin.push(point),
            _ => bins.push(vec![point]),
        }
    }
    if let Some(rest) = bins.pop_if(|bin| bin.len() < MIN_ROWS_PER_RANGE) {
        bins.last_mut().into_iter().for_each(|bin| bin.extend(&rest));
    }
    let middle = |bin: &Vec<(f64, f64)>| {
        let places = bin.iter().map(|point| place(point.0));
        let mean = Statistic::Mean.of(places).expect("a bin has points");
        if log { mean.exp() } else { mean }
    };
    bins.iter().filter_map(|bin| several(middle(bin), bin, [0.25, 0.75])).collect()
}

/// Returns the points as one, or `None` if a y is negative, because then there is no geometric mean.
fn several(x: f64, points: &[(f64, f64)], spread: [f64; 2]) -> Option<Bin> {
    let y: Vec<_> = points.iter().map(|point| point.1).collect();
    let [low, high] = spread.map(|share| quantile(&y, share));
    let mean = Statistic::GeometricMean.of(&y)?;
    Some((Point { x, y: mean, spread: low.zip(high), label: None }, y.len()))
}

fn by_x(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}
