//! The line below a chart that is a file of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::recorded::Recorded;
use super::shown::Shown;
use crate::files::read::RecordedRow;
use crate::report::matched::timed;
use crate::report::names::join;
use crate::report::select::Conditions;
use crate::run::facts::machine;

impl Recorded<'_> {
    /// Returns the foot of a chart of these rows: the matrices, their settings, where and when they were measured.
    pub fn foot(&self, lines: &[&RecordedRow]) -> String {
        let lines = timed(lines.iter().copied()).collect();
        let timed = Recorded { lines, ..Recorded::default() };
        let summary = Shown::of(&timed, &Conditions::default(), &[], &[]).summary();
        let planned = self.planned.map(|products| format!("for {products} products, with setup"));
        join([summary, planned.unwrap_or_default(), self.origin(&timed.lines)], "; ")
    }

    /// Returns the machines of these rows, each with the first and last day of its runs, from the run records.
    fn origin(&self, lines: &[&RecordedRow]) -> String {
        let mut days: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let runs: HashMap<_, _> = lines.iter().map(|line| ((&line.row.run_id, line.row.device), *line)).collect();
        for line in runs.into_values() {
            let (machine, day) = self.machine_and_day(line).unwrap_or_default();
            days.entry(machine).or_default().insert(day);
        }
        let machines = days.into_iter().map(|(machine, days)| match (days.first(), days.last()) {
            _ if machine.is_empty() => "machine and date not recorded".to_owned(),
            (Some(first), Some(last)) if first < last => format!("{machine}, {first} to {last}"),
            (day, _) => format!("{machine}, {}", day.unwrap_or(&"")),
        });
        join(machines, "; ")
    }

    fn machine_and_day(&self, line: &RecordedRow) -> Option<(String, &str)> {
        let run = self.runs.iter().find(|run| run["run_id"] == line.row.run_id[..])?;
        let date = run["date"].as_str()?;
        Some((machine(run, line.row.device?.name())?, date.get(..10).unwrap_or(date)))
    }
}
