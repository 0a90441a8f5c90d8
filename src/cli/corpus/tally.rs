//! What the rows of a corpus say together, for the summary at the end.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::cli::sources::of_matrix;
use spmv_matrix::method_name::MethodName;
use spmv_results::report::advice::answer;
use spmv_results::report::means::Kinds;
use spmv_results::report::names::count;
use spmv_results::report::standings::{Standings, Time};
use spmv_results::row::{GroupKey, Row, Status};
use spmv_results::table::terminal::wrapped;

/// The number of matrices, and of methods, that a message names.
pub const NAMED: usize = 10;

#[derive(Default)]
pub struct Tally {
    pub matrices: usize,
    trivial: usize,
    /// The matrices that could not be measured, each with the reason.
    unreadable: Vec<String>,
    /// The methods whose results are wrong or that failed, each with its matrix and the reason.
    pub faults: Vec<String>,
    pub rows: BTreeMap<Status, usize>,
    threads: Option<usize>,
    planned: Option<u32>,
    times: BTreeMap<GroupKey, Vec<Time>>,
    /// Whether a result is wrong or something failed.
    pub bad: bool,
    /// Whether something failed, which is tried again when the run is continued.
    pub failed: bool,
}

impl Tally {
    /// Creates an empty tally of a run with at most so many threads, for a number of planned products.
    pub fn new(threads: Option<usize>, planned: Option<u32>) -> Self {
        Self { threads, planned, ..Self::default() }
    }

    pub fn take<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) {
        self.matrices += 1;
        for row in rows {
            *self.rows.entry(row.status.expect("every row has one")).or_default() += 1;
            self.bad |= row.is_bad();
            self.failed |= row.status == Some(Status::Failed);
            let reason = row.reason.text().unwrap_or("no reason given");
            match row.method_name.as_deref() {
                Some(method) if row.is_bad() => {
                    let status = row.status.map_or("", Status::name);
                    self.faults.push(format!("{status}: {method} on {}: {reason}", row.file));
                }
                Some(_) => {}
                None if row.is_trivial() => self.trivial += 1,
                None => self.unreadable.push(of_matrix(&row.file, reason)),
            }
            let asked = self.planned.map(|products| row.clone().with_setup(products));
            let time = Time::of(asked.as_ref().unwrap_or(row), self.matrices);
            let setting = GroupKey::of(row, is_sequential(row), self.threads);
            self.times.entry(setting).or_default().extend(time);
        }
    }

    pub fn write(&self, err: &mut dyn Write, width: Option<u16>, interrupted: bool) -> io::Result<()> {
        let of = |status| self.rows.get(&status).copied().unwrap_or(0);
        let Self { matrices, trivial, .. } = self;
        let unreadable = self.unreadable.len();
        let stopped = if interrupted { "interrupted after " } else { "" };
        writeln!(
            err,
            "{stopped}{} ({unreadable} not measured; {trivial} trivial ones \
             skipped); rows: {} ok, {} skipped, {} wrong, {} failed, {} timeout",
            count(*matrices, "matrix"),
            of(Status::Ok),
            of(Status::Skipped),
            of(Status::Wrong),
            of(Status::Failed),
            of(Status::Timeout)
        )?;
        write_first(err, "", &self.faults, "their rows have the reasons")?;
        write_first(err, "not measured: ", &self.unreadable, "their rows have no method")?;
        for (setting, times) in self.times.iter().filter(|group| !group.1.is_empty()) {
            let standings = Standings::over(times, None).together();
            let planned = self.planned.map(|products| format!(", {products} products with their setup"));
            writeln!(err, "\n{setting}{}", planned.unwrap_or_default())?;
            writeln!(err, "{}", standings.table().to_text(width))?;
            let lines = standings.notes().into_iter().chain(answer(times, self.planned, None));
            lines.into_iter().try_for_each(|line| writeln!(err, "{}", wrapped(&line, width)))?;
        }
        let times = self.times.values().flatten();
        let kinds = Kinds::of(times.map(|time| time.values_repeat)).together();
        kinds.note().iter().try_for_each(|note| writeln!(err, "{}", wrapped(note, width)))
    }
}

/// Writes the first lines, each after a word, and how many more there are.
fn write_first(err: &mut dyn Write, word: &str, lines: &[String], rest: &str) -> io::Result<()> {
    for line in lines.iter().take(NAMED) {
        writeln!(err, "{word}{line}")?;
    }
    if lines.len() > NAMED {
        writeln!(err, "and {} more: {rest}", lines.len() - NAMED)?;
    }
    Ok(())
}

/// Whether a row is of a method with a single thread. That of a plug-in, which may be closed already, is if it had one.
fn is_sequential(row: &Row) -> bool {
    let name = row.method_name.as_deref().unwrap_or_default();
    let method = spmv_methods::named(MethodName::parse(name).method);
    method.map_or(row.threads == Some(1), |method| method.threads(2) == Some(1))
}
