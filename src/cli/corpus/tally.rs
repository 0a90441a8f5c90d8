//! What a corpus' summary counts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::method::Device;
use crate::record::row::{Row, Status};
use crate::scalar::Precision;

/// The methods that speeds are given over: the first on the same device that has a time.
const BASELINES: [&str; 4] = ["mkl-csrmv", "seq", "cusparse-csr", "gpu-csr-vector"];

/// The counts.
#[derive(Default)]
pub struct Tally {
    matrices: usize,
    trivial: usize,
    unreadable: usize,
    rows: BTreeMap<Status, usize>,
    /// Method → baseline → (Σ ln speed, matrices).
    speeds: BTreeMap<(String, &'static str), (f64, usize)>,
    /// Whether a result is wrong or something failed.
    pub bad: bool,
}

impl Tally {
    /// Counts the rows of a matrix.
    pub fn take<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) {
        self.matrices += 1;
        let mut groups = BTreeMap::<(Option<Precision>, Option<Device>), Vec<&Row>>::new();
        for row in rows {
            *self.rows.entry(row.status.expect("every row has one")).or_default() += 1;
            self.bad |= row.is_bad();
            if row.method_name.is_none() {
                self.trivial += usize::from(row.is_trivial());
                self.unreadable += usize::from(!row.is_trivial());
            }
            groups.entry((row.precision, row.device)).or_default().push(row);
        }
        groups.values().for_each(|rows| self.take_speeds(rows));
    }

    fn take_speeds(&mut self, rows: &[&Row]) {
        let time_of = |name: &str| {
            let named = |row: &&&Row| row.method_name.as_deref() == Some(name);
            rows.iter().find(named).and_then(|row| row.avg_spmv_ms)
        };
        let baseline = BASELINES.iter().find_map(|&name| Some((name, time_of(name)?)));
        let Some((baseline, baseline_ms)) = baseline else { return };
        for row in rows {
            if let (Some(name), Some(ms)) = (&row.method_name, row.avg_spmv_ms) {
                let (sum, count) = self.speeds.entry((name.clone(), baseline)).or_default();
                *sum += (baseline_ms / ms).ln();
                *count += 1;
            }
        }
    }

    /// Writes the summary.
    ///
    /// # Errors
    /// When `err` does not take it.
    pub fn write(&self, err: &mut dyn Write, interrupted: bool) -> io::Result<()> {
        let of = |status| self.rows.get(&status).copied().unwrap_or(0);
        let Self { matrices, trivial, unreadable, .. } = self;
        let stopped = if interrupted { "interrupted after " } else { "" };
        writeln!(
            err,
            "{stopped}{matrices} matrices ({unreadable} not measured; {trivial} trivial ones \
             skipped); rows: {} ok, {} skipped, {} wrong, {} failed, {} timeout",
            of(Status::Ok),
            of(Status::Skipped),
            of(Status::Wrong),
            of(Status::Failed),
            of(Status::Timeout)
        )?;
        for ((method, baseline), (sum, count)) in &self.speeds {
            let mean = (sum / *count as f64).exp();
            writeln!(err, "  {method:<16} {mean:.3} x {baseline} (geometric mean of {count})")?;
        }
        Ok(())
    }
}
