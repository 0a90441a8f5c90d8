//! The answer to the question which method to use on several matrices, as a sentence: how often the best one wins, and
//! by how much over the best baseline. A method that only chose another measured one does not compete with it.

use std::collections::{BTreeMap, BTreeSet};

use super::least;
use super::names::count;
use super::standings::Time;
use super::statistics::Statistic;
use spmv_methods::BASELINES;

/// Returns the answer for times that may be compared, which contain the setup if `planned` products share it. `None` if
/// fewer than two methods have times. `baseline` is compared in the place of the best one.
pub fn answer(times: &[Time], planned: Option<u32>, baseline: Option<&str>) -> Option<String> {
    let contest = contest(times);
    let methods: BTreeSet<_> = contest.iter().map(|time| &time.method[..]).collect();
    if methods.len() < 2 {
        return None;
    }
    let first = least(contest.iter().map(|time| (time.matrix, (&time.method[..], time.ms))));
    let mut wins = BTreeMap::<&str, usize>::new();
    for (method, _) in first.values() {
        *wins.entry(method).or_default() += 1;
    }
    let (winner, won) = wins.into_iter().max_by_key(|(_, won)| *won)?;
    let matrices = count(first.len(), "matrix");
    let baselines = BASELINES.iter().map(|baseline| baseline.name);
    let baselines: Vec<_> = baseline.map_or_else(|| baselines.collect(), |name| vec![name]);
    let speeds = closest(&contest, winner, &baselines).map(|(baseline, speeds)| {
        let [mean, least, most] = [Statistic::GeometricMean, Statistic::Min, Statistic::Max]
            .map(|statistic| statistic.of(&speeds).unwrap_or(f64::NAN));
        let on = match speeds.len() {
            all if all == first.len() => String::new(),
            some => format!("; both have a time on {some}"),
        };
        let closest = if baselines.len() > 1 { ", the baseline that comes closest" } else { "" };
        format!(
            " In the geometric mean it is {mean:.2} times as fast as {baseline}{closest} (from {least:.2} to \
             {most:.2}{on})."
        )
    });
    let planned = planned.map(|products| format!("For {}, ", count(products as usize, "product")));
    Some(format!(
        "{}{winner} is the fastest on {won} of {matrices}.{}{}",
        planned.unwrap_or_default(),
        speeds.unwrap_or_default(),
        only(times, &first).unwrap_or_default()
    ))
}

/// Returns which method takes the least time if it is the only one, of those with a time on each of several matrices.
/// One that chooses others may be that.
fn only(times: &[Time], first: &BTreeMap<usize, (&str, f64)>) -> Option<String> {
    let mut losses = BTreeMap::<&str, Vec<f64>>::new();
    for time in times {
        losses.entry(&time.method).or_default().push(time.ms / first.get(&time.matrix)?.1);
    }
    let complete = losses.into_iter().filter(|(_, losses)| losses.len() == first.len());
    let means = complete
        .filter_map(|(method, losses)| Some((method, Statistic::GeometricMean.of(&losses)?)));
    let (method, mean) = means.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| first.len() > 1)?;
    Some(format!(
        " As the only method, {method} loses the least: it takes {mean:.2} times the time of the fastest on each \
         matrix."
    ))
}

/// Returns the times except those of methods that chose another measured method.
fn contest(times: &[Time]) -> Vec<&Time> {
    let measured: BTreeSet<_> = times.iter().map(|time| (time.matrix, &time.method[..])).collect();
    let chose_other = |time: &&Time| {
        time.picked.as_deref().is_some_and(|picked| measured.contains(&(time.matrix, picked)))
    };
    times.iter().filter(|time| !chose_other(time)).collect()
}

/// Returns the baseline over which a method gains the least, of those with a time on the most matrices, and the
/// speed-ups.
fn closest<'b>(
    times: &[&Time],
    method: &str,
    baselines: &[&'b str],
) -> Option<(&'b str, Vec<f64>)> {
    let of = |name: &str| -> BTreeMap<usize, f64> {
        let own = times.iter().filter(|time| time.method == name);
        own.map(|time| (time.matrix, time.ms)).collect()
    };
    let own = of(method);
    let speeds = baselines.iter().filter(|&&baseline| baseline != method).map(|&baseline| {
        let there = of(baseline).into_iter();
        let speeds = there.filter_map(|(matrix, ms)| Some(ms / own.get(&matrix)?));
        (baseline, speeds.collect::<Vec<_>>())
    });
    let speeds: Vec<_> = speeds.filter(|(_, speeds)| !speeds.is_empty()).collect();
    let most = speeds.iter().map(|(_, speeds)| speeds.len()).max()?;
    let mean = |speeds: &[f64]| Statistic::GeometricMean.of(speeds).unwrap_or(f64::INFINITY);
    let complete = speeds.into_iter().filter(|(_, speeds)| speeds.len() == most);
    complete.min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_method_is_compared_with_the_best_baseline() {
        let all = [
            (1, "packed", 1.0),
            (1, "mkl-ie", 2.0),
            (1, "csr-rows", 4.0),
            (1, "auto", 0.5),
            (2, "packed", 1.0),
            (2, "mkl-ie", 8.0),
            (3, "packed", 3.0),
            (3, "mkl-ie", 0.75),
            (3, "auto", 0.5),
        ];
        let time = |&(matrix, method, ms): &(usize, &str, f64)| {
            let picked = (matrix, method) == (1, "auto");
            let picked = picked.then(|| "packed".to_owned());
            Time { matrix, method: method.into(), ms, values_repeat: None, picked }
        };
        let times: Vec<_> = all.iter().map(time).collect();
        let expected = "packed is the fastest on 2 of 3 matrices. In the geometric mean it is 1.59 times as fast as \
                        mkl-ie, the baseline that comes closest (from 0.25 to 8.00). As the only method, packed loses \
                        the least: it takes 1.82 times the time of the fastest on each matrix.";
        assert_eq!(answer(&times, None, None).unwrap(), expected);
        let over = answer(&times, Some(1), Some("csr-rows")).unwrap();
        let expected = "For 1 product, packed is the fastest on 2 of 3 matrices. In the geometric mean it is 4.00 \
                        times as fast as csr-rows (from 4.00 to 4.00; both have a time on 1).";
        assert!(over.starts_with(expected), "{over}");
        assert_eq!(answer(&times[..1], None, None), None);
        let own = [times[0].clone(), Time { method: "sell".into(), ms: 2.0, ..times[0].clone() }];
        assert_eq!(answer(&own, None, None).unwrap(), "packed is the fastest on 1 of 1 matrix.");
    }
}
