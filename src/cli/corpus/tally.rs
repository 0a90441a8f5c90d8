//! What a corpus' summary counts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::method::Device;
use crate::record::row::{Row, Status};
use crate::report::standings::{Standings, Time};
use crate::scalar::Precision;

/// The counts.
#[derive(Default)]
pub struct Tally {
    matrices: usize,
    trivial: usize,
    unreadable: usize,
    rows: BTreeMap<Status, usize>,
    times: BTreeMap<(Option<Precision>, Option<Device>), Vec<Time>>,
    /// Whether a result is wrong or something failed.
    pub bad: bool,
}

impl Tally {
    /// Counts the rows of a matrix.
    pub fn take<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) {
        self.matrices += 1;
        for row in rows {
            *self.rows.entry(row.status.expect("every row has one")).or_default() += 1;
            self.bad |= row.is_bad();
            if row.method_name.is_none() {
                self.trivial += usize::from(row.is_trivial());
                self.unreadable += usize::from(!row.is_trivial());
            }
            let time = Time::of(row, self.matrices);
            self.times.entry((row.precision, row.device)).or_default().extend(time);
        }
    }

    /// Whether there are matrices, but no method has a right result on any.
    pub fn is_without_result(&self) -> bool {
        self.matrices > 0 && !self.rows.contains_key(&Status::Ok)
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
        for ((precision, device), times) in self.times.iter().filter(|group| !group.1.is_empty()) {
            let standings = Standings::of(times);
            let precision = precision.map_or("no precision", Precision::name);
            writeln!(err, "\n{precision}, {}", device.map_or("no device", Device::name))?;
            writeln!(err, "{}", standings.table().to_text(None))?;
            standings.notes().iter().try_for_each(|note| writeln!(err, "{note}"))?;
        }
        Ok(())
    }
}
