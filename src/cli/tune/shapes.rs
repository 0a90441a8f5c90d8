//! `spmv-bench tune shapes`: measures every combination of the parameter values that `--methods` names on
//! every matrix, and prints the relative speed of each combination if it were used for all matrices.

use std::io::{self, Write};

use anyhow::Result;

use super::rows::{Rows, Tuning};
use crate::bench::regression::relative_speeds;
use crate::method::Choice;
use crate::record::row::Row;
use crate::record::{Group, MatrixReport};
use crate::scalar::Precision;

/// The default of `--methods`.
pub const DEFAULT: &[&str] = &[
    "gpu-merge:block=*:items=*",
    "gpu-hola:block=*:items=*:sort=*",
    "gpu-light:lanes=*:block=*",
    "gpu-csr5:sigma=*:block=*",
    "gpu-csr-vector:lanes=*:block=*",
];

/// The parameter sweeps, one for each method and precision.
pub struct Shapes(Vec<Sweep>);

/// The parameter sweep of one method in one precision.
struct Sweep {
    method: &'static str,
    precision: Precision,
    /// The names of the method with its parameters, one for each combination.
    names: Vec<String>,
    /// The speeds in GFLOP/s: for each matrix one value per name.
    speeds: Vec<Vec<f64>>,
    /// The number of matrices for which at least one combination has no time.
    incomplete: usize,
}

impl Shapes {
    /// Creates the sweeps. The choices must be sorted by method.
    pub fn of(choices: &[Choice<'static>], precisions: &[Precision]) -> Self {
        let methods = choices.chunk_by(|a, b| a.method.name == b.method.name);
        let sweep = |(choices, &precision): (&[Choice<'static>], &Precision)| Sweep {
            method: choices[0].method.name,
            precision,
            names: choices.iter().map(Choice::name).collect(),
            speeds: Vec::new(),
            incomplete: 0,
        };
        let pairs = methods.flat_map(|method| precisions.iter().map(move |p| (method, p)));
        Self(pairs.map(sweep).collect())
    }
}

impl Tuning for Shapes {
    fn keep(&mut self, is_measured: &dyn Fn(&str) -> bool) {
        self.0.retain(|sweep| is_measured(&sweep.names[0]));
    }

    fn take(&mut self, report: &MatrixReport, rows: &mut Rows) -> Result<()> {
        report.rows().try_for_each(|row| rows.write(row))?;
        for group in &report.groups {
            let own = self.0.iter_mut().filter(|sweep| sweep.is_of(group));
            own.for_each(|sweep| sweep.take(group));
        }
        Ok(())
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|sweep| sweep.write(out))
    }
}

impl Sweep {
    /// Returns whether the group has the results of this sweep.
    fn is_of(&self, group: &Group) -> bool {
        let is_own =
            |row: &Row| row.method_name.as_ref().is_some_and(|name| self.names.contains(name));
        self.precision == group.precision && group.rows.iter().any(is_own)
    }

    fn take(&mut self, group: &Group) {
        let speed = |name: &String| {
            let mut rows = group.rows.iter();
            rows.find(|row| row.method_name.as_ref() == Some(name)).and_then(Row::typical_gflops)
        };
        match self.names.iter().map(speed).collect() {
            Some(speeds) => self.speeds.push(speeds),
            None => self.incomplete += 1,
        }
    }

    /// Writes all combinations, the fastest on average first.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { method, precision, names, speeds, incomplete, .. } = self;
        let (shapes, matrices, precision) = (names.len(), speeds.len(), precision.name());
        writeln!(out, "{method}, {precision}: {shapes} shapes on {matrices} matrices")?;
        if *incomplete > 0 {
            writeln!(out, "left out, without a time for some shape: {incomplete}")?;
        }
        let speeds: Vec<_> = speeds.iter().map(Vec::as_slice).collect();
        let mut shares: Vec<_> = relative_speeds(&speeds).into_iter().zip(names).collect();
        shares.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (share, name) in shares {
            writeln!(out, "{:>6.1} % of each matrix' best  {name}", 100.0 * share)?;
        }
        writeln!(out)
    }
}
