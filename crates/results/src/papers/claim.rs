//! The claims of a source, and the numbers with which they are compared; `docs/experiments.md` describes their keys.

use std::fmt;

use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::report::numeric::Column;
use crate::report::select::{Conditions, Select};
use crate::statistics::Statistic;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub text: String,
    pub paper: String,
    #[serde(default, rename = "where")]
    pub conditions: Conditions,
    pub measured: Quantity,
    pub holds: Option<Range>,
    pub unjudged: Option<String>,
    #[serde(default)]
    pub any_matrix: bool,
    pub gpu: Option<String>,
    #[serde(default = "one")]
    pub least: usize,
}

fn one() -> usize {
    1
}

/// A number that is computed from rows. Times are medians of samples (means in files without medians). If a
/// selection matches several rows of one matrix and precision, the fastest is used.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Quantity {
    Speed { of: Select, over: Select, statistic: Statistic, products: Option<f64> },
    Faster { of: Select, than: Select },
    Best { of: Select, among: Vec<Select> },
    Number { of: Select, column: Column, statistic: Statistic },
    Ratio { of: Select, over: Select, column: Column, statistic: Statistic },
    Correlation { of: Select, between: [Column; 2] },
    Farther { of: Select, than: Select, between: [Column; 2], to: f64 },
    Share { of: Select, meets: Conditions },
}

impl Quantity {
    pub fn operands(&self) -> Vec<&Select> {
        match self {
            Self::Speed { of, over, .. } | Self::Ratio { of, over, .. } => vec![of, over],
            Self::Faster { of, than } | Self::Farther { of, than, .. } => vec![of, than],
            Self::Best { of, among } => std::iter::once(of).chain(among).collect(),
            Self::Number { of, .. } | Self::Correlation { of, .. } | Self::Share { of, .. } => {
                vec![of]
            }
        }
    }
}

/// An open range: `> 1`, `< 0.5` or `0.9 to 1.1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Range {
    low: f64,
    high: f64,
}

impl Range {
    pub fn contains(self, number: f64) -> bool {
        self.low < number && number < self.high
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { low, high: f64::INFINITY } => write!(f, "> {low}"),
            Self { low: f64::NEG_INFINITY, high } => write!(f, "< {high}"),
            Self { low, high } => write!(f, "{low} to {high}"),
        }
    }
}

impl From<Range> for String {
    fn from(range: Range) -> Self {
        range.to_string()
    }
}

impl TryFrom<String> for Range {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = |word: &str| word.trim().parse::<f64>().ok();
        let range = if let Some(low) = text.strip_prefix('>') {
            number(low).map(|low| Self { low, high: f64::INFINITY })
        } else if let Some(high) = text.strip_prefix('<') {
            number(high).map(|high| Self { low: f64::NEG_INFINITY, high })
        } else {
            let ends = text.split_once(" to ");
            ends.and_then(|(low, high)| Some(Self { low: number(low)?, high: number(high)? }))
        };
        let forms = "'> 1', '< 1' or '0.9 to 1.1'";
        range.ok_or_else(|| format!("holds = '{text}' must have the form {forms}"))
    }
}

impl Claim {
    pub(super) fn check(&self, gpus: &[String]) -> Result<()> {
        let Self { text, holds, unjudged, .. } = self;
        if let Some(gpu) = self.gpu.as_ref().filter(|gpu| !gpus.contains(gpu)) {
            bail!("claim '{text}': gpu = '{gpu}' is not one of the experiment's gpus");
        }
        let is_either = holds.is_some() != unjudged.is_some();
        ensure!(is_either, "claim '{text}' needs either holds or unjudged");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_open() {
        let parsed = |text: &str| Range::try_from(text.to_owned());
        let contains = |range: &str, number: f64| parsed(range).unwrap().contains(number);
        assert!(contains("> 1", 1.1) && !contains("> 1", 1.0));
        assert!(contains("< -0.5", -0.6) && !contains("< -0.5", -0.5));
        assert!(contains("0.9 to 1.1", 1.0) && !contains("0.9 to 1.1", 1.1));
        assert!(!contains("> 1", f64::NAN));
        for text in ["> 1", "< -0.5", "0.9 to 1.1"] {
            assert_eq!(parsed(text).unwrap().to_string(), text);
        }
        let error = "holds = 'about 1' must have the form '> 1', '< 1' or '0.9 to 1.1'";
        assert_eq!(parsed("about 1").unwrap_err(), error);
    }
}
