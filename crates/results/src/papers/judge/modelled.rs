//! What modelled rows are sufficient to judge. A modelled GPU counts exactly, so counts are judged like measured
//! ones. Times of products have the error of the model: a comparison of times is judged only if its outcome is
//! the same within that error, and a time alone is never judged. Numbers that the model lacks are not judged
//! either: the copies to the GPU in the setup, and the random order of atomic operations.

use super::super::claim::{Claim, Quantity};
use crate::files::read::RecordedRow;
use crate::matrix::model_error::ModelError;
use crate::report::numeric::Column;
use crate::report::select::Conditions;
use spmv_matrix::method_name::MethodName;

#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    name: String,
    /// The error of times, in percent: a factor on times may be off by so much in either direction.
    percent: f64,
    is_validated: bool,
}

impl Model {
    pub fn of(lines: &[&RecordedRow]) -> Option<Self> {
        let name = lines.iter().find_map(|line| line.row.device?.model_name())?;
        let own = ModelError::of(name);
        let all = ModelError::all().filter_map(|model| model.largest());
        let worst = own.largest().or(all.reduce(f64::max)).unwrap_or(0.0);
        let percent_of =
            |line: &&RecordedRow| own.validated_methods.get(MethodName::parse(line.method()).method).copied();
        let percents: Option<Vec<_>> = lines.iter().map(percent_of).collect();
        let own = percents.and_then(|percents| percents.into_iter().reduce(f64::max));
        let (percent, is_validated) = (own.unwrap_or(worst), own.is_some());
        Some(Self { name: name.to_owned(), percent, is_validated })
    }

    /// Returns the GPU and the error of its times.
    pub fn remark(&self) -> String {
        let Self { name, percent, is_validated } = self;
        let error = if *is_validated {
            format!("median error of these methods' times {percent:.0} %")
        } else {
            format!("error of these methods' times not known, {percent:.0} % assumed")
        };
        format!("modelled, on {name}: {error}")
    }

    /// Returns the reason why modelled rows cannot judge the claim, if there is one. `number_if` returns the
    /// claim's number if all times of its first operand are multiplied by a factor.
    pub fn objection(&self, claim: &Claim, number_if: impl Fn(f64) -> Option<f64>) -> Option<String> {
        if let Some(reason) = beyond_the_model(claim) {
            return Some(format!("a model cannot judge {reason}"));
        }
        let margin = 1.0 + self.percent / 100.0;
        let holds = |number| claim.holds.is_some_and(|range| range.contains(number));
        let ends = [1.0, margin, 1.0 / margin].map(|factor| number_if(factor).is_some_and(holds));
        let survives = ends.iter().all(|&end| end == ends[0]);
        let word = if ends[0] { "hold" } else { "not hold" };
        (!survives).then(|| {
            format!("too close to the limit for an error of modelled times of {:.0} %; it would {word}", self.percent)
        })
    }
}

/// Returns the reason if a claim needs more than ratios of modelled times and counts.
fn beyond_the_model(claim: &Claim) -> Option<&'static str> {
    let relative = Column::not_modelled;
    let absolute = |column: &Column| {
        let alone = "times alone: it can judge only their ratios";
        relative(column).or_else(|| column.is_timed().then_some(alone))
    };
    let compared = |filter: &Conditions| filter.numbers().into_iter().find_map(|name| absolute(&Column::of(name)));
    let of_quantity = match &claim.measured {
        Quantity::Speed { .. } | Quantity::Faster { .. } | Quantity::Best { .. } => None,
        Quantity::Number { column, .. } => absolute(column),
        Quantity::Ratio { column, .. } => relative(column),
        Quantity::Correlation { between, .. } | Quantity::Farther { between, .. } => between.iter().find_map(relative),
        Quantity::Share { meets, .. } => compared(meets),
    };
    of_quantity.or_else(|| compared(&claim.conditions))
}
