//! Many points as few: the medians of ranges of x with their quartiles, and the points that are farthest from them.

use crate::report::chart::{Mark, Point, Series};
use crate::statistics::quantile;

/// The number of points from which on a series is shown by quantiles.
const THINNED_FROM: usize = 300;
/// The number of ranges of x, which have equally many points.
const RANGES: usize = 24;
/// The number of points beyond the quartiles that are shown.
const OUTLIERS: usize = 20;

/// The note on charts with such series.
pub(super) const NOTE: &str = "A series of many points is a line of medians in ranges of x with equally many \
    points; its band is from the lower to the upper quartile, and its marks are the points farthest from it.";

/// Returns a series of dots, or of quantiles and outliers if there are many.
pub(super) fn dots(name: &str, mut points: Vec<Point>) -> Series {
    let name = name.to_owned();
    if points.len() < THINNED_FROM {
        return Series { name, mark: Mark::Dots, points, outliers: vec![] };
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let (mut medians, mut outliers) = (Vec::new(), Vec::new());
    for range in points.chunks(points.len().div_ceil(RANGES)) {
        let of = |value: fn(&Point) -> f64, share| quantile(range.iter().map(value), share).unwrap_or(f64::NAN);
        let (x, y) = (of(|point| point.x, 0.5), of(|point| point.y, 0.5));
        let (low, high) = (of(|point| point.y, 0.25), of(|point| point.y, 0.75));
        medians.push(Point { x, y, spread: Some((low, high)), label: None });
        let factor = |point: &Point| (point.y / y).ln().abs();
        outliers.extend(range.iter().map(|point| (factor(point), point.clone())));
    }
    outliers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let outliers = outliers.into_iter().take(OUTLIERS).map(|(_, point)| point).collect();
    Series { name, mark: Mark::Trend, points: medians, outliers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_become_medians_and_the_farthest() {
        let point = |k: usize| Point {
            x: k as f64,
            y: if k == 100 { 50.0 } else { 1.0 + (k % 5) as f64 / 4.0 },
            label: Some(k.to_string()),
            ..Point::default()
        };
        let of = |count: usize| dots("a", (1..=count).map(point).collect());
        assert_eq!((of(299).points.len(), of(299).mark), (299, Mark::Dots));
        let many = of(2400);
        assert_eq!((many.points.len(), many.outliers.len(), many.mark), (24, 20, Mark::Trend));
        assert_eq!((many.points[0].x, many.points[0].y), (50.5, 1.5));
        assert_eq!(many.points[0].spread, Some((1.25, 1.75)));
        assert_eq!(many.outliers[0].label.as_deref(), Some("100"));
    }
}
