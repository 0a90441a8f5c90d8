//! The interval of a claim's number that follows from the uncertainty of the measured times.
//!
//! Every time is varied at random within its own uncertainty, many times, and the number is computed anew each time.
//! The interval contains 95 % of these numbers. The times of the methods that the same processes measured are varied
//! together, so that what makes a whole process slower changes no ratio.

use std::collections::BTreeMap;

use rand::rngs::Xoshiro256PlusPlus;

use super::quantity::measure;
use crate::files::read::RecordedRow;
use crate::papers::claim::{Claim, Quantity};
use crate::row::Processes;
use crate::statistics::interval::{Interval, NORMAL, ends, normal, outside, random};
use crate::statistics::{median, sorted};
use spmv_matrix::device::Device;

/// How often the times are varied.
const VARIATIONS: usize = 100;

/// Returns half the 95 % interval of a time relative to it, at least, if a single process measured it: by so much the
/// times of a method on one matrix differ between two runs on the same machine.
const fn between_runs(device: Option<Device>) -> f64 {
    match device {
        Some(Device::Gpu) => 0.03,
        _ => 0.1,
    }
}

/// What the uncertainty of times means for a claim.
pub struct Uncertainty {
    pub interval: Interval,
    /// Whether the number is in the claim's range for so many variations that it surely is there, or surely is not.
    pub is_sure: bool,
}

impl Uncertainty {
    /// Returns `None` if the claim's number, which is computed from these rows, does not depend on measured times.
    pub fn of(claim: &Claim, lines: &[&RecordedRow]) -> Option<Self> {
        let mut varied: Vec<RecordedRow> = lines.iter().map(|line| (*line).clone()).collect();
        let mut random = random();
        let mut number = || {
            let mut draws = BTreeMap::new();
            for (varied, line) in varied.iter_mut().zip(lines) {
                vary(varied, line, &mut draws, &mut random);
            }
            measure(&claim.measured, &varied.iter().collect::<Vec<_>>(), 1.0).0
        };
        let first = number()?;
        if Some(first) == number() {
            return None;
        }
        let mut numbers = sorted((0..VARIATIONS).filter_map(|_| number()));
        // The largest of times that vary is larger than the largest time: only the width of the interval is meant.
        let number = measure(&claim.measured, lines, 1.0).0?;
        use Quantity::{Number, Ratio, Speed};
        if matches!(claim.measured, Speed { .. } | Ratio { .. } | Number { .. }) {
            let bias = median(&numbers)? - number;
            numbers.iter_mut().for_each(|number| *number -= bias);
        }
        let holds = |number: &&f64| claim.holds.is_some_and(|range| range.contains(**number));
        let holding = numbers.iter().filter(holds).count();
        let is_sure = holding.min(numbers.len() - holding) <= outside(numbers.len());
        Some(Self { interval: ends(&numbers)?, is_sure })
    }
}

/// The random numbers of a variation for the processes of a run on a matrix, two for each process.
#[derive(Default)]
struct Draw(Vec<[f64; 2]>);

impl Draw {
    /// Returns by how much the mean of logarithms is varied: by Student's t with the error of the mean, so that the
    /// numbers of this mean and of any difference between two have the same intervals as in reports.
    fn shift(&mut self, logs: &[f64], random: &mut Xoshiro256PlusPlus) -> f64 {
        while self.0.len() < logs.len() {
            self.0.push([normal(random), normal(random)]);
        }
        let (numbers, count) = (&self.0[..logs.len()], logs.len() as f64);
        let mean = logs.iter().sum::<f64>() / count;
        let sum: f64 = numbers.iter().zip(logs).map(|([own, _], log)| own * (log - mean)).sum();
        let squares: f64 = numbers[1..].iter().map(|[_, square]| square.powi(2)).sum();
        sum / (count * squares).sqrt()
    }
}

/// The draws of a variation, by run and matrix.
type Draws<'a> = BTreeMap<(&'a str, &'a str), Draw>;

/// Multiplies the times of `line` by a random factor.
fn vary<'a>(varied: &mut RecordedRow, line: &'a RecordedRow, draws: &mut Draws<'a>, random: &mut Xoshiro256PlusPlus) {
    let row = &line.row;
    if row.device.and_then(Device::model_name).is_some() {
        return;
    }
    let shift = match &row.process_ms {
        Some(Processes(times)) if times.len() > 1 => {
            let logs: Vec<_> = times.iter().map(|ms| ms.ln()).collect();
            draws.entry((&row.run_id, &row.file)).or_default().shift(&logs, random)
        }
        _ => {
            let own = row.uncertainty().map_or(0.0, |percent| percent / 100.0);
            own.max(between_runs(row.device)) / NORMAL * normal(random)
        }
    };
    let by = |ms: f64| ms * shift.exp();
    varied.row.median_ms = row.typical_ms().map(by);
    varied.row.process_ms = row.process_ms.as_ref().map(|of| Processes(of.0.iter().copied().map(by).collect()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::estimate::Estimate;

    /// The processes drift by 0.5; the second method takes twice as long, with its own spread.
    #[test]
    fn variations_have_the_intervals_of_pairs() {
        let [a, b]: [[f64; 4]; 2] = [[0.0, 0.5, -0.4, 0.1], [0.71, 1.2, 0.28, 0.8]];
        let mut random = random();
        let shifts = |_| {
            let mut draw = Draw::default();
            [draw.shift(&a, &mut random), draw.shift(&b, &mut random)]
        };
        let shifts: Vec<_> = (0..4000).map(shifts).collect();
        let [a, b] = [a, b].map(|logs| logs.map(f64::exp));
        let own = Estimate::of(a).unwrap().half.unwrap();
        let of_pairs = Estimate::of_pairs(&b, &a).unwrap().half.unwrap();
        let found = [sorted(shifts.iter().map(|[a, _]| *a)), sorted(shifts.iter().map(|[a, b]| b - a))];
        for (found, half) in found.iter().zip([own, of_pairs]) {
            let (low, high) = ends(found).unwrap();
            assert!((-low / half - 1.0).abs() < 0.1 && (high / half - 1.0).abs() < 0.1, "{low} {high} {half}");
        }
        assert!(of_pairs < own / 5.0, "{of_pairs} {own}");
    }
}
