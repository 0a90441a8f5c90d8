//! The interval of a claim's number that follows from the uncertainty of the measured times.
//!
//! Every time is varied at random within its own uncertainty, many times, and the number is computed anew each time.
//! The interval contains 95 % of these numbers.

use rand::rngs::Xoshiro256PlusPlus;

use super::measure;
use crate::files::read::RecordedRow;
use crate::papers::claim::{Claim, Quantity};
use crate::statistics::interval::{Interval, ends, normal, outside, random};
use crate::statistics::{median, sorted};
use spmv_matrix::device::Device;

/// How often the times are varied.
const VARIATIONS: usize = 100;

/// Returns half the 95 % interval of a time relative to it, at least: by so much the times of a method on one matrix
/// differ between two runs on the same machine. The interval of the median in a row is that of one run.
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
            for (varied, line) in varied.iter_mut().zip(lines) {
                vary(varied, line, &mut random);
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

/// Multiplies the time of `line` by a random factor.
fn vary(varied: &mut RecordedRow, line: &RecordedRow, random: &mut Xoshiro256PlusPlus) {
    if line.row.device.and_then(Device::model_name).is_some() {
        return;
    }
    let own = line.row.uncertainty().map_or(0.0, |percent| percent / 100.0);
    let deviation = own.max(between_runs(line.row.device)) / 1.96;
    let factor = (deviation * normal(random)).exp();
    varied.row.median_ms = line.row.typical_ms().map(|ms| ms * factor);
}
