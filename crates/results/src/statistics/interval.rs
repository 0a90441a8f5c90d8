//! 95 % intervals: what is known of a number that is computed from data that vary at random.

use std::cell::RefCell;
use std::collections::HashMap;

use rand::distr::uniform::{UniformSampler, UniformUsize};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

use super::{Numbers, collected, sorted};

/// The share of the numbers outside each end of an interval.
pub const OUTSIDE: f64 = 0.025;
/// Half the interval of a normal number, in standard deviations.
pub const NORMAL: f64 = 1.96;
/// How often the numbers of a mean are drawn.
const DRAWS: usize = 1000;

/// The ends of an interval.
pub type Interval = (f64, f64);

/// Returns the interval of the median of the distribution that `sorted` was drawn from, for independent samples (David
/// & Nagaraja, Order Statistics, 7.1). It extends from the k-th smallest to the k-th largest sample, with the greatest
/// k such that fewer than k of n samples lie below the median with a probability of at most 2.5 %. It makes no
/// assumption about the distribution. For fewer than six samples no such k exists.
pub fn median_interval(sorted: &[f64]) -> Option<Interval> {
    let count = sorted.len();
    let below = Binomial::new(0.5, count as u64).expect("1/2 is a probability");
    let k = below.inverse_cdf(OUTSIDE) as usize;
    (k > 0).then(|| (sorted[k - 1], sorted[count - k]))
}

/// Returns how many standard errors a mean of normal numbers may be off, for a standard deviation that is known with so
/// many degrees of freedom, one or more: the quantile of Student's t that leaves out this share at each end. Each
/// thread keeps those that it has computed: each ratio of two rows needs one of a few, which would take most of its
/// time.
pub fn student(freedom: usize, outside: f64) -> f64 {
    thread_local! {
        static KNOWN: RefCell<HashMap<(usize, u64), f64>> = RefCell::default();
    }
    let key = (freedom, outside.to_bits());
    KNOWN.with_borrow_mut(|known| *known.entry(key).or_insert_with(|| quantile(freedom, outside)))
}

fn quantile(freedom: usize, outside: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64).expect("there is a degree of freedom");
    t.inverse_cdf(1.0 - outside)
}

/// Returns the source of the numbers that data are drawn or varied by: the same for the same data, and so the interval.
pub fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

/// Returns a nearly normal number with a variance of one: a sum of twelve uniform ones.
pub fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

/// Returns how many of some numbers may lie outside each end of their interval.
pub fn outside(count: usize) -> usize {
    (OUTSIDE * count as f64) as usize
}

/// Returns the interval of sorted numbers, each of them computed anew from data that were drawn or varied.
pub fn ends(sorted: &[f64]) -> Option<Interval> {
    let outside = outside(sorted.len());
    Some((*sorted.get(outside)?, *sorted.get(sorted.len().checked_sub(outside + 1)?)?))
}

/// Returns the interval of the geometric mean of numbers, one of each matrix: that of the means over as many matrices,
/// drawn from these with repetition (the bootstrap). A noisy time widens it as any other difference between matrices
/// does. `None` for fewer than two.
pub fn mean_interval(numbers: impl Numbers) -> Option<Interval> {
    let logarithms: Vec<_> = collected(numbers).into_iter().map(f64::ln).collect();
    ends(&sorted(drawn_means(&logarithms)))
}

/// Returns the means over as many numbers as there are, drawn with repetition; none for fewer than two. A large report
/// draws hundreds of millions of them: this is one function for all types, so that the compiler can inline the draw,
/// which it does not do with `random_range`.
fn drawn_means(logarithms: &[f64]) -> Vec<f64> {
    let (count, mut random) = (logarithms.len(), random());
    let mut place = || UniformUsize::sample_single(0, count, &mut random).expect("there are numbers");
    let mean = |_| {
        let drawn = (0..count).map(|_| logarithms[place()]);
        (drawn.sum::<f64>() / count as f64).exp()
    };
    (0..DRAWS).filter(|_| count > 1).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard deviation of ln 2 and ln 8 in turn is ln 2, that of a mean of 16 of them a fourth of it.
    #[test]
    fn a_mean_lies_in_an_interval_that_its_matrices_span() {
        let of_16 = mean_interval([2.0, 8.0].repeat(8)).unwrap();
        let half = 1.96 * 2f64.ln() / 4.0;
        for (end, expected) in [(of_16.0, 4.0 * (-half).exp()), (of_16.1, 4.0 * half.exp())] {
            assert!((end / expected - 1.0).abs() < 0.07, "{end} for {expected}");
        }
        assert_eq!(mean_interval([1.0, 1.0]), Some((1.0, 1.0)));
        assert_eq!((mean_interval([2.0]), mean_interval([0.0; 0])), (None, None));
    }

    #[test]
    fn quantiles_equal_published_tables() {
        let table = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201];
        for (freedom, expected) in (1..).zip(table).chain([(30, 2.042), (120, 1.980)]) {
            let found = student(freedom, OUTSIDE);
            assert!((found - expected).abs() < 6e-4, "{freedom}: {found}");
        }
    }

    /// Compares k with tables of the binomial distribution with p = 1/2.
    #[test]
    fn the_interval_of_the_median_equals_the_tables() {
        let k = |n: usize| {
            let sorted: Vec<_> = (1..=n).map(|i| i as f64).collect();
            let (low, high) = median_interval(&sorted)?;
            assert_eq!(low + high, (n + 1) as f64, "the interval is symmetric");
            Some(low as usize)
        };
        let tables = [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (20, Some(6))];
        for (n, expected) in tables.into_iter().chain([(50, Some(18)), (100, Some(40))]) {
            assert_eq!(k(n), expected, "{n} samples");
        }
        // About n/2 - 0.98 sqrt(n), also where 2^-n underflows in f64.
        assert_eq!(k(10_000), Some(4902));
    }
}
