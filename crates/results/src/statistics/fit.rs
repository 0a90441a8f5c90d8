//! Correlations and fits of pairs of numbers, and of the sizes of super-rows that were best on measured matrices (csr-k,
//! section 4).

use super::geometric_mean;

/// A least-squares fit of size = constant + slope · ln(row length).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogFit {
    pub constant: f64,
    /// The increase of the size for rows that are e times as long.
    pub slope: f64,
    /// The coefficient of determination R²; `None` if all sizes are equal.
    pub r_squared: Option<f64>,
}

impl LogFit {
    /// Fits pairs of row length and size. Lengths of 0 are ignored; without two different lengths there is no fit.
    pub fn of(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let points = points.into_iter().filter(|&(length, _)| length > 0.0);
        let points: Vec<_> = points.map(|(length, size)| (length.ln(), size)).collect();
        let ((x, y), [xx, xy, yy]) = moments(&points);
        (xx > 0.0).then(|| Self {
            constant: y - xy / xx * x,
            slope: xy / xx,
            r_squared: (yy > 0.0).then(|| xy * xy / (xx * yy)),
        })
    }
}

/// Returns the means of x and y, and the sums of xx, xy and yy over the deviations from them.
fn moments(points: &[(f64, f64)]) -> ((f64, f64), [f64; 3]) {
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    ((x, y), [sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y)])
}

/// Returns Pearson's correlation of pairs, if both numbers vary.
pub fn pearson(points: &[(f64, f64)]) -> Option<f64> {
    let (_, [xx, xy, yy]) = moments(points);
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx.sqrt() * yy.sqrt()))
}

/// Returns Spearman's rank correlation of pairs, if both numbers vary; equal numbers share the mean of their ranks.
pub fn spearman(points: &[(f64, f64)]) -> Option<f64> {
    let ranks = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let numbers: Vec<_> = points.iter().map(of).collect();
        let rank = |number: &f64| {
            let below = numbers.iter().filter(|&other| other < number).count();
            let equal = numbers.iter().filter(|&other| other == number).count();
            below as f64 + (equal as f64 - 1.0) / 2.0
        };
        numbers.iter().map(rank).collect()
    };
    let pairs = ranks(|point| point.0).into_iter().zip(ranks(|point| point.1));
    pearson(&pairs.collect::<Vec<_>>())
}

/// Returns for each index the geometric mean of the speed relative to the best of its list. Lists are equally long.
pub fn relative_speeds(speeds: &[&[f64]]) -> Vec<f64> {
    let relative = |list: &[f64], index: usize| list[index] / list.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mean = |index| geometric_mean(speeds.iter().map(|list| relative(list, index)));
    (0..speeds.first().map_or(0, |list| list.len())).filter_map(mean).collect()
}

/// Returns the index with the highest mean relative speed (the first if several are equal), and that mean.
pub fn best_constant(speeds: &[&[f64]]) -> Option<(usize, f64)> {
    let means = relative_speeds(speeds).into_iter().enumerate().rev();
    means.max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln lengths 0, 1, 2 and sizes 1, 5, 3: slope 2/2, mean 3, residuals -1, 2, -1, variance 8.
    #[test]
    fn a_fit_minimises_the_squared_error() {
        let e = std::f64::consts::E;
        let fit = LogFit::of([(1.0, 1.0), (e, 5.0), (e * e, 3.0), (0.0, 99.0)]).unwrap();
        assert!((fit.constant - 2.0).abs() < 1e-12 && (fit.slope - 1.0).abs() < 1e-12);
        assert!((fit.r_squared.unwrap() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn too_few_different_lengths_have_no_fit() {
        assert_eq!(LogFit::of([]), None);
        assert_eq!(LogFit::of([(3.0, 8.0), (3.0, 16.0), (0.0, 4.0)]), None);
        let flat = LogFit::of([(3.0, 8.0), (5.0, 8.0)]).unwrap();
        assert_eq!((flat.constant, flat.slope, flat.r_squared), (8.0, 0.0, None));
    }

    #[test]
    fn the_best_constant_has_the_highest_mean_relative_speed() {
        // The middle size is never the best. The first is 4 times too slow in one case, the last 2 times in both.
        let speeds: [&[f64]; 2] = [&[100.0, 95.0, 50.0], &[1.0, 3.8, 2.0]];
        let (index, mean) = best_constant(&speeds).unwrap();
        assert_eq!(index, 1);
        assert!((mean - 0.95f64.sqrt()).abs() < 1e-12);
        assert_eq!(best_constant(&[]), None);
    }

    #[test]
    fn ranks_correlate_whatever_the_distances() {
        let alike = [(1.0, 10.0), (2.0, 11.0), (1e9, 12.0)];
        let opposite = alike.map(|(x, y)| (x, -y));
        // Ranks 0, 1.5 and 1.5 against 0, 1 and 2: minus their means, -1, 0.5, 0.5 against -1, 0, 1.
        let equal = [(1.0, 1.0), (2.0, 2.0), (2.0, 3.0)];
        let of_equal = 1.5 / (1.5f64.sqrt() * 2f64.sqrt());
        for (points, expected) in [(alike, 1.0), (opposite, -1.0), (equal, of_equal)] {
            let found = spearman(&points).unwrap();
            assert!((found - expected).abs() < 1e-12, "{points:?}: {found}");
        }
    }

    #[test]
    fn one_point_or_a_constant_has_no_correlation() {
        for points in [&[(1.0, 1.0)][..], &[(1.0, 1.0), (1.0, 2.0)], &[(1.0, 2.0), (2.0, 2.0)]] {
            assert_eq!((pearson(points), spearman(points)), (None, None));
        }
    }
}
