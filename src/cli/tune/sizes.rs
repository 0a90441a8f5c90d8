//! `spmv-bench tune csr-k`: measures every size on every matrix and derives models of the best size (paper
//! csr-k, section 4).

use std::io::{self, Write};

use anyhow::{Context, Result};

use super::rows::{Rows, Tuning, rows_of};
use crate::campaign::choice::swept;
use crate::record::MatrixReport;
use crate::record::tuning::{Size, SizeRow, Sweep};
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Choice;

/// The parameters that are tuned.
pub const PARAMETERS: [&str; 2] = ["srs", "ssrs"];

/// The methods whose sizes are tuned.
pub struct Sizes(Vec<Swept>);

/// A method with all sizes to measure.
struct Swept {
    /// The name of the method without the size parameters.
    name: String,
    sizes: Vec<Size>,
    /// The names of the method with its parameters, one for each size.
    names: Vec<String>,
    /// The results, one for each precision.
    results: Vec<Sweep>,
}

impl Sizes {
    /// Creates the sizes to measure for these methods in these precisions.
    pub fn of(bases: &[Choice<'static>], precisions: &[Precision]) -> Result<Self> {
        Ok(Self(bases.iter().map(|base| Swept::of(base, precisions)).collect::<Result<_>>()?))
    }
}

impl Tuning for Sizes {
    fn keep(&mut self, is_measured: &dyn Fn(&str) -> bool) {
        self.0.retain(|swept| is_measured(&swept.names[0]));
    }

    fn take(&mut self, report: &MatrixReport, rows: &mut Rows) -> Result<()> {
        report.ended.iter().try_for_each(|row| rows.write(SizeRow::new(row, None)))?;
        for group in &report.groups {
            for swept in &mut self.0 {
                let Some(own) = rows_of(group, &swept.names) else { continue };
                for (row, &size) in own.iter().zip(&swept.sizes) {
                    rows.write(SizeRow::new(row, Some((swept.name.clone(), size))))?;
                }
                let result = swept.results.iter_mut().find(|s| s.precision == group.precision);
                result.expect("one per precision").take_rows(&own);
            }
        }
        Ok(())
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut results = self.0.iter().flat_map(|swept| &swept.results);
        results.try_for_each(|sweep| sweep.write(out))
    }
}

impl Swept {
    /// Creates every combination of the sizes that the choice does not fix.
    fn of(base: &Choice<'static>, precisions: &[Precision]) -> Result<Self> {
        let Choice { method, given } = base;
        let choices = swept(base, &PARAMETERS.map(String::from));
        let sizes: Option<Vec<_>> = choices.iter().map(size).collect();
        let sizes = sizes.with_context(|| {
            format!("--methods {}: tune csr-k needs a method with the parameter srs", method.name)
        })?;
        let others = given.iter().copied().filter(|(name, _)| !PARAMETERS.contains(name)).collect();
        let name = Choice { method, given: others }.name();
        let result = |&precision: &Precision| Sweep::new(name.clone(), precision, sizes.clone());
        let results = precisions.iter().map(result).collect();
        let names = choices.iter().map(Choice::name).collect();
        Ok(Self { name, sizes, names, results })
    }
}

/// Returns the size that a choice sets.
fn size(choice: &Choice) -> Option<Size> {
    let given = |name| choice.given.iter().find(|(given, _)| *given == name);
    let number = |(_, value): &(&str, &str)| value.parse().expect("sizes are numbers");
    Some(Size { srs: number(given("srs")?), ssrs: given("ssrs").map(number) })
}
