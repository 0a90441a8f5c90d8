//! What `tune` measures on every matrix, and what follows from it. `tune csr-k` compares every size, and derives models
//! of the best size (paper csr-k, section 4); `tune shapes` compares every combination of the parameter values that
//! `--methods` names.

use std::io::{self, Write};

use anyhow::{Context, Result};

use super::rows::Rows;
use crate::campaign::choice::swept;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Choice;
use spmv_results::files::tuning::{Size, SizeRow, Sweep};
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::Row;
use spmv_results::statistics::fit::relative_speeds;

/// The parameters that `tune csr-k` varies.
pub const SIZES: [&str; 2] = ["srs", "ssrs"];
/// The value of theirs for which a method searches by itself.
const TUNED: &str = "tuned";

/// The default of `--methods` for `tune shapes`.
pub const SHAPES: &[&str] = &[
    "gpu-merge:block=*:items=*",
    "gpu-hola:block=*:items=*:sort=*",
    "gpu-light:lanes=*:block=*",
    "gpu-csr5:sigma=*:block=*",
    "gpu-csr-vector:lanes=*:block=*",
];

/// The sweeps, one for each method and precision.
pub enum Sweeps {
    Sizes(Vec<SizeSweep>),
    /// Over the names of the method with its parameters.
    Shapes(Vec<Sweep<String>>),
}

pub struct SizeSweep {
    /// The name of the method without the size parameters.
    name: String,
    /// The names of the method with its parameters, one for each size.
    names: Vec<String>,
    sweep: Sweep,
}

impl Sweeps {
    /// Creates sweeps over every combination of the sizes that the choices do not fix.
    pub fn of_sizes(bases: &[Choice<'static>], precisions: &[Precision]) -> Result<Self> {
        let mut sweeps = Vec::new();
        for base @ Choice { method, given } in bases {
            let mut choices = swept(base, &SIZES.map(String::from));
            choices.retain(|choice| choice.given.iter().all(|(_, value)| *value != TUNED));
            let sizes: Option<Vec<_>> = choices.iter().map(size).collect();
            let sizes = sizes.with_context(|| {
                let name = method.name;
                format!("--methods {name}: tune csr-k needs a method with the parameter srs")
            })?;
            let given = given.iter().copied().filter(|(name, _)| !SIZES.contains(name)).collect();
            let name = Choice { method, given }.name();
            sweeps.extend(precisions.iter().map(|&precision| SizeSweep {
                name: name.clone(),
                names: choices.iter().map(Choice::name).collect(),
                sweep: Sweep::new(name.clone(), precision, sizes.clone()),
            }));
        }
        Ok(Self::Sizes(sweeps))
    }

    /// The choices must be sorted by method.
    pub fn of_shapes(choices: &[Choice<'static>], precisions: &[Precision]) -> Self {
        let mut sweeps = Vec::new();
        for choices in choices.chunk_by(|a, b| a.method.name == b.method.name) {
            for &precision in precisions {
                let names = choices.iter().map(Choice::name).collect();
                sweeps.push(Sweep::new(choices[0].method.name.into(), precision, names));
            }
        }
        Self::Shapes(sweeps)
    }

    /// Removes methods that are not measured, because there is no GPU.
    pub fn keep(&mut self, is_measured: impl Fn(&str) -> bool) {
        match self {
            Self::Sizes(all) => all.retain(|own| is_measured(&own.names[0])),
            Self::Shapes(all) => all.retain(|sweep| is_measured(&sweep.choices[0])),
        }
    }

    /// Adds the results of a matrix and writes their rows.
    pub fn take(&mut self, report: &MatrixReport, rows: &mut Rows) -> Result<()> {
        match self {
            Self::Sizes(all) => {
                report.ended.iter().try_for_each(|row| rows.write(SizeRow { row, of: None }))?;
                for group in &report.groups {
                    for SizeSweep { name, names, sweep } in all.iter_mut() {
                        let Some(own) = rows_of(group, sweep.precision, names) else { continue };
                        for (row, &size) in own.iter().zip(&sweep.choices) {
                            rows.write(SizeRow { row, of: Some((name, size)) })?;
                        }
                        sweep.take_rows(&own);
                    }
                }
            }
            Self::Shapes(all) => {
                report.rows().try_for_each(|row| rows.write(row))?;
                for group in &report.groups {
                    for sweep in all.iter_mut() {
                        if let Some(own) = rows_of(group, sweep.precision, &sweep.choices) {
                            sweep.take_rows(&own);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Sizes(all) => all.iter().try_for_each(|own| own.sweep.write(out)),
            Self::Shapes(all) => all.iter().try_for_each(|sweep| write_shapes(sweep, out)),
        }
    }
}

fn size(choice: &Choice) -> Option<Size> {
    let given = |name| choice.given.iter().find(|(given, _)| *given == name);
    let number = |(_, value): &(&str, &str)| value.parse().expect("sizes are numbers");
    Some(Size { srs: number(given("srs")?), ssrs: given("ssrs").map(number) })
}

/// Returns the rows of the methods with these names, in their order, if the group is of the precision and has all of
/// them.
fn rows_of<'g>(group: &'g Group, of: Precision, names: &[String]) -> Option<Vec<&'g Row>> {
    let row = |name: &String| group.rows.iter().find(|row| row.method_name.as_ref() == Some(name));
    if group.precision == of { names.iter().map(row).collect() } else { None }
}

/// Writes the relative speed of each combination if it were used for all matrices, the fastest on average first.
fn write_shapes(sweep: &Sweep<String>, out: &mut dyn Write) -> io::Result<()> {
    sweep.heading("shape").iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let mut shares: Vec<_> = relative_speeds(&sweep.speeds()).into_iter().zip(&sweep.choices).collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (share, name) in shares {
        writeln!(out, "{:>6.1} % of each matrix' best  {name}", 100.0 * share)?;
    }
    writeln!(out)
}
