//! What a modelled GPU can say of a claim. The machine counts exactly, so counts are judged as they are. Times of
//! products have the error of the model: a comparison of them is judged only where its outcome survives that error,
//! and a time alone is never judged. What the machine does not have (the setup's copies to the GPU, the chance of
//! atomic operations) is not judged either.

use super::super::claim::{Claim, Quantity, Range};
use crate::device::model::DeviceFile;
use crate::report::column::Column;
use crate::report::lines::RecordedRow;

/// The model that rows come from, and how far its times may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    name: String,
    /// Half the width of the interval around a factor of 1, in percent.
    percent: f64,
    is_validated: bool,
}

impl Model {
    /// The model of these rows; `None` where all of them are measured.
    pub fn of(lines: &[&RecordedRow]) -> Option<Self> {
        let name = lines.iter().find_map(|line| line.row.device?.model_name())?;
        let percent_of = |name: &str| DeviceFile::find(name).ok()?.validated_percent();
        let own = percent_of(name);
        let worst = DeviceFile::names().filter_map(percent_of).fold(0.0, f64::max);
        Some(Self {
            name: name.to_owned(),
            percent: own.unwrap_or(worst),
            is_validated: own.is_some(),
        })
    }

    /// What every verdict that rests on it says: the GPU and the error of its times, which of a GPU that nobody has
    /// validated is assumed to be that of the worst other one.
    pub fn remark(&self) -> String {
        let Self { name, percent, is_validated } = self;
        match is_validated {
            true => format!("modelled, on {name}: median error of times {percent:.0} %"),
            false => {
                format!("modelled, on {name}: error of times not known, {percent:.0} % assumed")
            }
        }
    }

    /// Why rows of a model cannot judge the claim; `number_if` gives the claim's number if the times of its first
    /// operand were larger by a factor.
    pub fn objection(
        &self,
        claim: &Claim,
        number_if: impl Fn(f64) -> Option<f64>,
    ) -> Option<String> {
        if let Some(reason) = beyond_the_model(claim) {
            return Some(format!("a model cannot judge {reason}"));
        }
        let margin = 1.0 + self.percent / 100.0;
        let ends = [1.0, margin, 1.0 / margin].map(|factor| {
            let number = number_if(factor);
            claim
                .holds
                .zip(number)
                .is_some_and(|(range, number): (Range, f64)| range.contains(number))
        });
        let survives = ends.iter().all(|&end| end == ends[0]);
        let word = if ends[0] { "hold" } else { "not hold" };
        (!survives).then(|| {
            format!(
                "within {:.0} %, the error that is assumed of modelled times; it would {word}",
                self.percent
            )
        })
    }
}

/// What a column of modelled rows is worth.
enum Worth {
    /// A fact of the matrix or the format, or an exact count of the machine.
    Exact,
    /// The time of a product, or something over it.
    Timed,
    /// What the machine does not have.
    None(&'static str),
}

fn worth(column: &Column) -> Worth {
    match column.name() {
        "setup_ms" | "setup_products" | "break_even" | "order_ms" => {
            Worth::None("setups: it leaves out the host's work and the copies to the GPU")
        }
        "distinct_results" => {
            Worth::None("chance: its atomic operations have the same order every time")
        }
        "uncertainty" => Worth::None("noise: it has none"),
        _ if column.is_timed() => Worth::Timed,
        _ => Worth::Exact,
    }
}

/// Names what of the claim rests on more than relations of modelled times and counts.
fn beyond_the_model(claim: &Claim) -> Option<&'static str> {
    let absolute = |column: &Column| match worth(column) {
        Worth::Exact => None,
        Worth::Timed => Some("times alone: only their relations"),
        Worth::None(reason) => Some(reason),
    };
    let relative = |column: &Column| match worth(column) {
        Worth::Exact | Worth::Timed => None,
        Worth::None(reason) => Some(reason),
    };
    let of_quantity = match &claim.measured {
        Quantity::Speed { .. } | Quantity::Faster { .. } | Quantity::Best { .. } => None,
        Quantity::Number { column, .. } => absolute(column),
        Quantity::Ratio { column, .. } => relative(column),
        Quantity::Correlation { between, .. } | Quantity::Farther { between, .. } => {
            between.iter().find_map(relative)
        }
        Quantity::Share { meets, .. } => meets.columns().find_map(absolute),
    };
    of_quantity.or_else(|| claim.conditions.columns().find_map(absolute))
}
