//! Selects the series that a page shows at first if there are many: the best one, and the common baselines.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::chart::{BarSeries, Point, Series};
use crate::row::baseline::{BASELINES, Baseline, Kind};
use crate::statistics::Statistic;
use spmv_matrix::device::Device;
use spmv_matrix::method_name::MethodName;

/// The kinds of baselines that are shown. Of each kind, the first one on each device that has a series is shown.
const SHOWN: [Kind; 3] = [Kind::Csr, Kind::Merge, Kind::Vendor];

/// Selects from series of points. `more`: whether a greater number is better.
pub(super) fn of_points(series: &[Series], more: bool) -> Vec<String> {
    let place = |point: &Point| ((point.x.to_bits(), point.label.clone()), point.y);
    let numbers: Vec<_> = series.iter().map(|of| of.points.iter().map(place).collect()).collect();
    few(series.iter().map(|of| &of.name[..]), best(&numbers, more))
}

/// Selects from series of bars. `more`: whether a greater number is better.
pub(super) fn of_bars(series: &[BarSeries], more: bool) -> Vec<String> {
    let bar = |(category, value): (usize, &Option<f64>)| Some((category, (*value)?));
    let bars = |of: &BarSeries| of.values.iter().enumerate().filter_map(bar).collect();
    let numbers: Vec<_> = series.iter().map(bars).collect();
    few(series.iter().map(|of| &of.name[..]), best(&numbers, more))
}

/// Selects from names; `best` is the index of the best series.
pub(super) fn few<'n>(names: impl Iterator<Item = &'n str>, best: Option<usize>) -> Vec<String> {
    let names: Vec<_> = names.collect();
    let shown = baselines(&names);
    let named = names.iter().enumerate();
    let chosen = named.filter(|&(index, name)| Some(index) == best || shown.contains(name));
    chosen.map(|(_, name)| (*name).to_owned()).collect()
}

/// Returns the names of series of a baseline method.
fn baselines<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    let mut shown = BTreeSet::new();
    for device in [Device::Cpu, Device::Gpu] {
        for kind in SHOWN {
            let mut alike = BASELINES.iter().filter(|of| of.device() == device && of.kind == kind);
            let first = alike.find(|of| names.iter().any(|name| is_of(of, name)));
            shown.extend(names.iter().filter(|name| first.is_some_and(|of| is_of(of, name))));
        }
    }
    shown
}

fn is_of(baseline: &Baseline, series: &str) -> bool {
    MethodName::of_series(series).method == baseline.name
}

/// Returns the best of [`ranked`].
fn best<K: Ord>(series: &[Vec<(K, f64)>], more: bool) -> Option<usize> {
    ranked(series, more).first().copied()
}

/// Returns the places of the series: first those that are best at the most places where several have a number, of equal
/// ones those that are better in the mean. `more`: whether a greater number is better.
pub(super) fn ranked<K: Ord>(series: &[Vec<(K, f64)>], more: bool) -> Vec<usize> {
    let sign = if more { 1.0 } else { -1.0 };
    let mut places: BTreeMap<&K, Vec<(usize, f64)>> = BTreeMap::new();
    for (index, numbers) in series.iter().enumerate() {
        for (place, number) in numbers {
            places.entry(place).or_default().push((index, sign * number));
        }
    }
    let mut won = vec![0; series.len()];
    for numbers in places.values().filter(|of| of.iter().any(|number| number.0 != of[0].0)) {
        let greatest = numbers.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        greatest.into_iter().for_each(|&(index, _)| won[index] += 1);
    }
    let mean = |index: usize| {
        let numbers = series[index].iter().map(|number| sign * number.1);
        Statistic::Mean.of(numbers).unwrap_or(f64::NEG_INFINITY)
    };
    let mut ranked: Vec<_> = (0..series.len()).collect();
    ranked.sort_by(|&a, &b| won[b].cmp(&won[a]).then(mean(b).total_cmp(&mean(a))));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_and_the_first_baseline_of_each_kind_are_shown() {
        let names = "seq,csr-rows f32,csr-rows f64,mkl-csrmv,mkl-ie,csr5,merge:x=1,merge-numa";
        let few = |best| few(names.split(','), best).join(",");
        assert_eq!(few(None), "csr-rows f32,csr-rows f64,mkl-ie,merge:x=1");
        assert_eq!(few(Some(0)), "seq,csr-rows f32,csr-rows f64,mkl-ie,merge:x=1");
    }

    /// At 1, 2 and 3, `b` is the best twice. At 9 to 11, `alone` has no rival.
    #[test]
    fn the_best_wins_the_most_places() {
        let a = vec![(1, 5.0), (2, 1.0), (3, 1.0)];
        let b = vec![(1, 1.0), (2, 2.0), (3, 2.0)];
        let alone = vec![(9, 99.0), (10, 99.0), (11, 99.0), (11, 98.0), (10, 98.0)];
        assert_eq!(best(&[a.clone(), b.clone(), alone.clone()], true), Some(1));
        assert_eq!(best(&[a.clone(), b, alone.clone()], false), Some(0));
        assert_eq!(best(&[a, alone], true), Some(1), "no place is shared: the mean decides");
        assert_eq!(best::<u8>(&[], true), None);
    }
}
