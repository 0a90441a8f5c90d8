//! The view `plane`: points over two axes. Many points are combined into few: one per x, or one per range of x.

use super::*;

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

/// Several rows that are shown as one point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    x: f64,
    /// The geometric mean of the rows' y.
    y: f64,
    /// The spread of the rows' y, or `None` for a single row.
    spread: Option<(f64, f64)>,
    rows: usize,
}

type Binned<'a> = (&'a str, Vec<Bin>);

impl Kind for Plane {
    fn view(&self, recorded: &Recorded) -> View {
        let shown = self.shown(recorded, &[self.x.name()]);
        let points: Vec<_> = shown.series.iter().map(|series| self.points(series)).collect();
        let names = || shown.series.iter().map(|series| &series.name[..]);
        let bins: Vec<Binned> = names().zip(points.iter().map(|of| self.bins(of))).collect();
        let point = |&Bin { x, y, spread, .. }: &Bin| Point { x, y, spread, label: None };
        let series = points.iter().zip(&bins).map(|(points, (name, bins))| match self.mark {
            Mark::Dots => (*name, points.iter().copied().map(dot).collect()),
            Mark::Line | Mark::Trend => (*name, bins.iter().map(point).collect()),
        });
        let series = drawn(self.mark, series);
        let notes = self.notes(&shown, &bins, points.iter().map(Vec::len).sum());
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
    /// Returns the rows with their x and y, if both axes can show them.
    fn points<'a>(&self, series: &Series<'a>) -> Vec<(&'a RecordedRow, (f64, f64))> {
        let is_drawn = |column: &Column, number: f64| number > 0.0 || !column.is_log();
        let points = series.points([&self.x, &self.y]).into_iter();
        points.filter(|&(_, (x, y))| is_drawn(&self.x, x) && is_drawn(&self.y, y)).collect()
    }

    fn bins(&self, points: &[(&RecordedRow, (f64, f64))]) -> Vec<Bin> {
        let points: Vec<_> = points.iter().map(|point| point.1).collect();
        match self.mark {
            Mark::Dots | Mark::Line => same(&points),
            Mark::Trend => trend(&points, self.x.is_log()),
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
        let reason = match self.mark {
            Mark::Trend => "unknown, infinite, not above 0, or too few",
            Mark::Dots | Mark::Line => "unknown, infinite, or not above 0",
        };
        let left_out = timed.saturating_sub(drawn);
        let left_out = (left_out > 0)
            .then(|| format!("not drawn: {left_out} of {timed} rows ({x} or {y}: {reason})"));
        shown.notes([meaning, left_out])
    }

    fn side_by_side(&self, bins: &[Binned]) -> Table {
        let mut all =
            crate::statistics::sorted(bins.iter().flat_map(|(_, bins)| bins).map(|bin| bin.x));
        all.dedup();
        let heading = format!("{} \\ {}", self.x.label(), self.y.label());
        let mut table = Table::of(&all).column(heading, |&x| self.x.cell(x));
        for (name, bins) in bins {
            table = table.column(*name, |x| Some(bins.iter().find(|bin| bin.x == *x)?.y));
        }
        table.build()
    }

    fn one_by_one(&self, bins: &[Binned]) -> Table {
        let rows = bins.iter().flat_map(|(name, bins)| bins.iter().map(move |bin| (*name, bin)));
        Table::of(&rows.collect::<Vec<_>>())
            .column("method", |(name, _)| *name)
            .column(self.x.label(), |(_, bin)| bin.x)
            .column(self.y.label(), |(_, bin)| bin.y)
            .column("lower quartile", |(_, bin)| bin.spread.map(|spread| spread.0))
            .column("upper quartile", |(_, bin)| bin.spread.map(|spread| spread.1))
            .column("rows", |(_, bin)| bin.rows)
            .build()
    }
}

/// Combines the points with the same x. The spread is from the smallest to the greatest y.
fn same(points: &[(f64, f64)]) -> Vec<Bin> {
    let bin = |(_, points): (_, Vec<_>)| match points[..] {
        [(x, y)] => Some(Bin { x, y, spread: None, rows: 1 }),
        _ => several(points[0].0, &points, [0.0, 1.0]),
    };
    grouped(sorted(points), |point| point.0.to_bits()).into_iter().filter_map(bin).collect()
}

/// Combines the points in ranges of equal width, of the logarithm of x if `log`. A range with too few points is
/// merged with the next, the last one with the one before. The spread is from the lower to the upper quartile.
/// Returns nothing if there are too few points altogether.
fn trend(points: &[(f64, f64)], log: bool) -> Vec<Bin> {
    let place = |x: f64| if log { x.ln() } else { x };
    let points = sorted(points);
    let [(first, _), .., (last, _)] = points[..] else { return Vec::new() };
    let range = |x: f64| {
        let width = (place(last) - place(first)) / RANGES;
        ((place(x) - place(first)) / width).floor()
    };
    let mut bins: Vec<Vec<(f64, f64)>> = Vec::new();
    for point in points {
        match bins.last_mut() {
            Some(bin) if bin.len() < MIN_ROWS_PER_RANGE || range(bin[0].0) == range(point.0) => {
                bin.push(point)
            }
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
    Some(Bin { x, y: mean, spread: low.zip(high), rows: y.len() })
}

fn sorted(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12 * b.abs()
    }

    #[test]
    fn a_number_below_0_has_no_geometric_mean() {
        let bins = same(&[(3.0, 1.0), (1.0, 5.0), (3.0, -1.0)]);
        assert_eq!(bins, [Bin { x: 1.0, y: 5.0, spread: None, rows: 1 }]);
    }

    /// From 1 to 10^12, each power of 10 begins a range. The first three points are in one range. 10^3 is alone
    /// in its range and is merged with 10^5 and 10^6. The last two points are too few for a range.
    #[test]
    fn the_ranges_of_a_trend_have_three_points_or_more() {
        let x = [0.0, 0.1, 0.2, 3.3, 5.3, 6.3, 8.3, 12.0];
        let y = [1.0, 2.0, 4.0, 1.0, 10.0, 100.0, 10.0, 10.0];
        let points: Vec<_> = x.iter().map(|x| 10f64.powf(*x)).zip(y).collect();
        let bins = trend(&points, true);
        assert_eq!(bins.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [3, 5]);
        assert!(close(bins[0].x, 10f64.powf(0.1)) && close(bins[0].y, 2.0), "{bins:?}");
        assert_eq!(bins[0].spread, Some((1.5, 3.0)));
        assert!(close(bins[1].y, 10.0), "{bins:?}");
        assert_eq!(trend(&points[..2], true), []);
        assert_eq!(trend(&[(1.0, 2.0); 4], true).len(), 1, "one x");
    }
}
