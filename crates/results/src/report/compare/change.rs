//! How a row of B compares with its row of A.

use serde::Serialize;

use crate::files::read::RecordedRow;
use crate::statistics::estimate::Estimate;

/// How the time of a row of B compares with that of its row of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// The 95 % interval of the ratio B/A lies below 1.
    Faster,
    Same,
    /// It lies above 1.
    Slower,
    /// One of the rows has no interval, because its time has too few samples.
    Unknown,
}

impl Judgement {
    pub fn of(ratio: &Estimate) -> Self {
        match ratio.interval() {
            None => Self::Unknown,
            Some((_, high)) if high < 1.0 => Self::Faster,
            Some((low, _)) if low > 1.0 => Self::Slower,
            Some(_) => Self::Same,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Change {
    /// The median time per product of B divided by that of A; above 1, B is slower.
    pub ratio: Estimate,
    /// The ratios of the turns, if there are any.
    pub turns: Vec<f64>,
    pub judgement: Judgement,
    pub values_repeat: Option<bool>,
}

impl Change {
    /// Returns the change, or `None` unless both rows are ok. Rows that are ok have times.
    pub fn of(a: &RecordedRow, b: &RecordedRow, in_turns: bool) -> Option<Self> {
        let timing = |line: &RecordedRow| line.row.timing(None).filter(|_| line.is_ok());
        let (time_a, time_b) = (timing(a)?, timing(b)?);
        let turns = if in_turns { time_b.each_over(&time_a) } else { Vec::new() };
        let ratio = Estimate::of(&turns).unwrap_or_else(|| time_b.of_other_run_over(&time_a));
        let values_repeat = a.row.values_repeat().or(b.row.values_repeat());
        Some(Self { judgement: Judgement::of(&ratio), ratio, turns, values_repeat })
    }
}
