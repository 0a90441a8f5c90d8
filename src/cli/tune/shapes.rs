//! `spmv-bench tune shapes`: measures every combination of the parameter values that `--methods` names on
//! every matrix, and prints the relative speed of each combination if it were used for all matrices.

use std::io::{self, Write};

use anyhow::Result;

use super::rows::{Rows, Tuning, rows_of};
use crate::record::MatrixReport;
use crate::record::regression::relative_speeds;
use crate::record::tuning::Sweep;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Choice;

/// The default of `--methods`.
pub const DEFAULT: &[&str] = &[
    "gpu-merge:block=*:items=*",
    "gpu-hola:block=*:items=*:sort=*",
    "gpu-light:lanes=*:block=*",
    "gpu-csr5:sigma=*:block=*",
    "gpu-csr-vector:lanes=*:block=*",
];

/// The sweeps, one for each method and precision, over the names of the method with its parameters.
pub struct Shapes(Vec<Sweep<String>>);

impl Shapes {
    /// Creates the sweeps. The choices must be sorted by method.
    pub fn of(choices: &[Choice<'static>], precisions: &[Precision]) -> Self {
        let methods = choices.chunk_by(|a, b| a.method.name == b.method.name);
        let sweep = |(choices, &precision): (&[Choice<'static>], &Precision)| {
            let names = choices.iter().map(Choice::name).collect();
            Sweep::new(choices[0].method.name.into(), precision, names)
        };
        let pairs = methods.flat_map(|method| precisions.iter().map(move |p| (method, p)));
        Self(pairs.map(sweep).collect())
    }
}

impl Tuning for Shapes {
    fn keep(&mut self, is_measured: &dyn Fn(&str) -> bool) {
        self.0.retain(|sweep| is_measured(&sweep.choices[0]));
    }

    fn take(&mut self, report: &MatrixReport, rows: &mut Rows) -> Result<()> {
        report.rows().try_for_each(|row| rows.write(row))?;
        for group in &report.groups {
            let own = self.0.iter_mut().filter(|sweep| sweep.precision == group.precision);
            own.for_each(|sweep| {
                rows_of(group, &sweep.choices).into_iter().for_each(|rows| sweep.take_rows(&rows));
            });
        }
        Ok(())
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|sweep| write(sweep, out))
    }
}

/// Writes all combinations, the fastest on average first.
fn write(sweep: &Sweep<String>, out: &mut dyn Write) -> io::Result<()> {
    sweep.heading("shape").iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let mut shares: Vec<_> =
        relative_speeds(&sweep.speeds()).into_iter().zip(&sweep.choices).collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (share, name) in shares {
        writeln!(out, "{:>6.1} % of each matrix' best  {name}", 100.0 * share)?;
    }
    writeln!(out)
}
