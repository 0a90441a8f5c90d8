//! 95 % intervals: of numbers that are computed anew many times from data that vary at random, and of the times of
//! rows. The seed is fixed, so the same data always have the same interval.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::statistics::OfMatrix;
use crate::table::{Columns, significant};

/// The share of the numbers outside each end of an interval.
const OUTSIDE: f64 = 0.025;
/// How often the matrices of a mean are drawn.
const DRAWS: usize = 1000;

/// The ends of an interval.
pub type Interval = (f64, f64);

pub fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

/// Returns how many of some numbers may lie outside each end of their interval.
pub fn outside(count: usize) -> usize {
    (OUTSIDE * count as f64) as usize
}

/// Returns the interval of sorted numbers.
pub fn ends(sorted: &[f64]) -> Option<Interval> {
    let outside = outside(sorted.len());
    Some((*sorted.get(outside)?, *sorted.get(sorted.len().checked_sub(outside + 1)?)?))
}

/// Returns the interval of a geometric mean over several matrices: that of the means over as many matrices, drawn from
/// these with repetition (the bootstrap). A noisy time widens it as any other difference between matrices does.
pub fn of_mean(numbers: &[f64]) -> Option<Interval> {
    let logarithms: Vec<_> = numbers.iter().map(|number| number.ln()).collect();
    let (count, mut random) = (logarithms.len(), random());
    let mut mean = || {
        let drawn = (0..count).map(|_| logarithms[random.random_range(0..count)]);
        (drawn.sum::<f64>() / count as f64).exp()
    };
    let mut means: Vec<_> = (0..DRAWS).filter(|_| count > 1).map(|_| mean()).collect();
    means.sort_by(f64::total_cmp);
    ends(&means)
}

impl<'a, T> Columns<'a, T> {
    /// Adds the interval of the geometric mean of an item's numbers.
    pub fn interval<M: OfMatrix, N: AsRef<[(M, f64)]>>(
        self,
        heading: &str,
        numbers: impl Fn(&'a T) -> N,
    ) -> Self {
        self.column(heading, |item| {
            let numbers: Vec<_> = numbers(item).as_ref().iter().map(|number| number.1).collect();
            of_mean(&numbers).map(shown)
        })
    }
}

pub fn shown((low, high): Interval) -> String {
    format!("{} to {}", significant(low), significant(high))
}

/// Whether the interval of the least number lies below those of the others; `None` if they are not known.
pub fn is_apart(
    least: Option<Interval>,
    others: impl IntoIterator<Item = Option<Interval>>,
) -> Option<bool> {
    let (_, high) = least?;
    let mut others = others.into_iter().flatten().peekable();
    others.peek()?;
    Some(others.all(|(low, _)| high < low))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard deviation of ln 2 and ln 8 in turn is ln 2, that of a mean of 16 of them a fourth of it.
    #[test]
    fn a_mean_lies_in_an_interval_that_its_matrices_span() {
        let of_16 = of_mean(&[2.0, 8.0].repeat(8)).unwrap();
        let half = 1.96 * 2f64.ln() / 4.0;
        for (end, expected) in [(of_16.0, 4.0 * (-half).exp()), (of_16.1, 4.0 * half.exp())] {
            assert!((end / expected - 1.0).abs() < 0.07, "{end} for {expected}");
        }
        assert_eq!(of_mean(&[1.0, 1.0]), Some((1.0, 1.0)));
        assert_eq!((of_mean(&[2.0]), of_mean(&[])), (None, None));
    }

    #[test]
    fn intervals_are_apart_only_if_none_overlaps() {
        let [low, middle, high] = [(1.0, 2.0), (1.9, 3.0), (4.0, 5.0)].map(Some);
        for (least, others, expected) in [
            (low, vec![high, high], Some(true)),
            (low, vec![high, middle], Some(false)),
            (low, vec![None, high], Some(true)),
            (low, vec![None], None),
            (low, vec![], None),
            (None, vec![high], None),
        ] {
            assert_eq!(is_apart(least, others.clone()), expected, "{others:?}");
        }
    }
}
