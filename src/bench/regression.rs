//! From the sizes that were best on each matrix to sizes for any: csr-k, section 4.

/// The least-squares fit of size = constant + slope · ln(row length).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogFit {
    /// The size at one entry per row.
    pub constant: f64,
    /// What a row e times as long adds.
    pub slope: f64,
    /// The share of the sizes' variance that the fit explains; `None` when they do not vary.
    pub r_squared: Option<f64>,
}

impl LogFit {
    /// Of (mean row length, size); lengths of 0 are left out, and there must be two others that differ.
    pub fn of(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let points = points.into_iter().filter(|&(length, _)| length > 0.0);
        let points: Vec<_> = points.map(|(length, size)| (length.ln(), size)).collect();
        let mean =
            |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let sum =
            |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
        let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
        (xx > 0.0).then(|| Self {
            constant: y - xy / xx * x,
            slope: xy / xx,
            r_squared: (yy > 0.0).then(|| xy * xy / (xx * yy)),
        })
    }
}

/// The constant that the paper takes for CPUs; `None` of nothing.
pub fn geometric_mean(sizes: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for size in sizes {
        sum += size.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / count as f64).exp())
}

/// For each index the geometric mean over all lists of its speed, relative to the best of the list. The
/// lists are of one length.
pub fn relative_speeds(speeds: &[&[f64]]) -> Vec<f64> {
    let relative = |list: &[f64], index: usize| {
        list[index] / list.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
    };
    let mean = |index| geometric_mean(speeds.iter().map(|list| relative(list, index)));
    (0..speeds.first().map_or(0, |list| list.len())).filter_map(mean).collect()
}

/// The index at which they are highest, the first of equals; and that mean.
pub fn best_constant(speeds: &[&[f64]]) -> Option<(usize, f64)> {
    let means = relative_speeds(speeds).into_iter().enumerate().rev();
    means.max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's formula for Volta gives back its coefficients.
    #[test]
    fn a_formula_is_recovered() {
        let fit = LogFit::of([2.0, 3.0, 7.5, 40.0].map(|r: f64| (r, 8.9 - 1.25 * r.ln()))).unwrap();
        assert!((fit.constant - 8.9).abs() < 1e-12 && (fit.slope + 1.25).abs() < 1e-12);
        assert!((fit.r_squared.unwrap() - 1.0).abs() < 1e-12);
    }

    /// ln lengths 0, 1, 2 and sizes 1, 5, 3: slope 2/2, mean 3, residuals -1, 2, -1, variance 8.
    #[test]
    fn a_fit_leaves_the_least_squares() {
        let e = std::f64::consts::E;
        let fit = LogFit::of([(1.0, 1.0), (e, 5.0), (e * e, 3.0), (0.0, 99.0)]).unwrap();
        assert!((fit.constant - 2.0).abs() < 1e-12 && (fit.slope - 1.0).abs() < 1e-12);
        assert!((fit.r_squared.unwrap() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn too_little_to_fit_is_none() {
        assert_eq!(LogFit::of([]), None);
        assert_eq!(LogFit::of([(3.0, 8.0), (3.0, 16.0), (0.0, 4.0)]), None);
        let flat = LogFit::of([(3.0, 8.0), (5.0, 8.0)]).unwrap();
        assert_eq!((flat.constant, flat.slope, flat.r_squared), (8.0, 0.0, None));
    }

    #[test]
    fn the_constant_is_the_one_that_loses_least() {
        assert!((geometric_mean([32.0, 128.0]).unwrap() - 64.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), None);
        // The middle one is never the best; the first loses 4 in one case, the last 2 and 2.
        let speeds: [&[f64]; 2] = [&[100.0, 95.0, 50.0], &[1.0, 3.8, 2.0]];
        let (index, mean) = best_constant(&speeds).unwrap();
        assert_eq!(index, 1);
        assert!((mean - 0.95f64.sqrt()).abs() < 1e-12);
        assert_eq!(best_constant(&[]), None);
    }
}
