//! The summary of a corpus run.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::record::row::{Row, Status};
use crate::record::run::RowKey;
use crate::record::setting::Setting;
use crate::report::standings::{Standings, Time};

#[derive(Default)]
pub struct Tally {
    matrices: usize,
    trivial: usize,
    unreadable: usize,
    rows: BTreeMap<Status, usize>,
    /// The largest number of threads in the run.
    threads: Option<usize>,
    times: BTreeMap<Setting, Vec<Time>>,
    /// Whether a result is wrong or something failed.
    pub bad: bool,
}

impl Tally {
    pub fn of(cells: &[RowKey]) -> Self {
        let threads = cells.iter().filter_map(|cell| cell.threads).max();
        Self { threads, ..Self::default() }
    }

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
            self.times.entry(Setting::of(row, self.threads)).or_default().extend(time);
        }
    }

    pub fn is_without_result(&self) -> bool {
        self.matrices > 0 && !self.rows.contains_key(&Status::Ok)
    }

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
        for (setting, times) in self.times.iter().filter(|group| !group.1.is_empty()) {
            let standings = Standings::of(times);
            writeln!(err, "\n{setting}\n{}", standings.table().to_text(None))?;
            standings.notes().iter().try_for_each(|note| writeln!(err, "{note}"))?;
        }
        Ok(())
    }
}
