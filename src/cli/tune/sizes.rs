//! `spmv-bench tune csr-k`: measures every size on every matrix and derives models of the best size (paper
//! csr-k, section 4).

use std::io::{self, Write};

use anyhow::{Result, ensure};

use super::{Rows, Tuning};
use crate::method::Choice;
use crate::record::row::Row;
use crate::record::tuning::{Size, SizeRow, Sweep};
use crate::record::{Group, MatrixReport};
use crate::scalar::Precision;

/// The methods whose sizes are tuned.
pub struct Sizes(Vec<Swept>);

/// A method with all sizes to measure.
struct Swept {
    /// The name of the method without the size parameters.
    name: String,
    sizes: Vec<Size>,
    /// The method with its parameters, one for each size.
    choices: Vec<Choice<'static>>,
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
    fn choices(&self) -> Vec<Choice<'static>> {
        self.0.iter().flat_map(|swept| swept.choices.clone()).collect()
    }

    fn take(&mut self, report: &MatrixReport, rows: &mut Rows) -> Result<()> {
        report.ended.iter().try_for_each(|row| rows.write(SizeRow::new(row, None)))?;
        for group in &report.groups {
            for (swept, own) in by_method(group, &mut self.0) {
                for (row, &size) in own.iter().zip(&swept.sizes) {
                    rows.write(SizeRow::new(row, Some((swept.name.clone(), size))))?;
                }
                let result = swept.results.iter_mut().find(|s| s.precision == group.precision);
                let (facts, gflops) = (&own[0], own.iter().map(Row::typical_gflops));
                let result = result.expect("one per precision");
                result.take(&facts.file, facts.row_length_mean, gflops);
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
        let srs = values(base, "srs");
        ensure!(
            !srs.is_empty(),
            "--methods {}: tune csr-k needs a method with the parameter srs",
            method.name
        );
        let mut ssrs: Vec<_> = values(base, "ssrs").into_iter().map(Some).collect();
        if ssrs.is_empty() {
            ssrs.push(None);
        }
        let others = given.iter().copied().filter(|(name, _)| !["srs", "ssrs"].contains(name));
        let others: Vec<_> = others.collect();
        let name = Choice { method, given: others.clone() }.name();
        let (mut sizes, mut choices) = (Vec::new(), Vec::new());
        for (srs, ssrs) in srs.iter().flat_map(|&srs| ssrs.iter().map(move |&ssrs| (srs, ssrs))) {
            sizes.push(Size { srs: number(srs), ssrs: ssrs.map(number) });
            let chosen = [Some(("srs", srs)), ssrs.map(|ssrs| ("ssrs", ssrs))];
            let given = others.iter().copied().chain(chosen.into_iter().flatten()).collect();
            choices.push(Choice { method, given });
        }
        let result = |&precision: &Precision| Sweep::new(name.clone(), precision, sizes.clone());
        let results = precisions.iter().map(result).collect();
        Ok(Self { name, sizes, choices, results })
    }
}

/// Returns the values of a size parameter: the given one, or all that the method supports.
fn values(choice: &Choice<'static>, name: &str) -> Vec<&'static str> {
    match choice.given.iter().find(|(given, _)| *given == name) {
        Some((_, value)) => vec![value],
        None => {
            let parameter = choice.method.parameters.iter().find(|known| known.name == name);
            parameter.map_or(Vec::new(), |parameter| parameter.values.to_vec())
        }
    }
}

fn number(word: &str) -> u32 {
    word.parse().expect("sizes are numbers")
}

/// Returns the rows of each method in the group, in the order of its sizes.
fn by_method<'a>(
    group: &'a Group,
    swept: &'a mut [Swept],
) -> impl Iterator<Item = (&'a mut Swept, &'a [Row])> {
    let mut rows = &group.rows[..];
    let here = swept.iter_mut().filter(|of| of.choices[0].method.device() == group.device);
    here.map(move |swept| {
        let own;
        (own, rows) = rows.split_at(swept.sizes.len());
        (swept, own)
    })
}
