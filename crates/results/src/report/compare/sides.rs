//! Several runs as one side of a comparison: rows that measure the same become one, whose interval is that of the runs.
//! Times may be relative to a method of the same run, which cancels what makes a whole run slower.

use std::collections::{BTreeMap, BTreeSet};

use super::pair::Key;
use crate::files::read::RecordedRow;
use crate::report::groups::{grouped, least};
use crate::report::matched::time;
use crate::report::select::Select;
use crate::row::joined::joined;
use crate::row::{GroupKey, Processes, Row};

/// Joins the rows of several runs, which take the place of processes. A row that is not ok in one of them stays so.
pub fn of_runs(lines: &[RecordedRow]) -> Vec<RecordedRow> {
    let one = |(_, rows): (Key, Vec<&RecordedRow>)| {
        if let Some(bad) = rows.iter().find(|line| !line.is_ok()) {
            return (*bad).clone();
        }
        let times: Option<_> = rows.iter().map(|line| time(line)).collect();
        let row = joined(&rows.iter().map(|line| &line.row).collect::<Vec<_>>());
        let row = Row { process_ms: times.map(Processes), process_setup_ms: None, ..row };
        RecordedRow { row, ..rows[0].clone() }
    };
    grouped(lines, |line| Key::of(line)).into_iter().map(one).collect()
}

/// Checks that a run has each row once: another one would count as that of a further run.
pub fn check_once(name: &str, lines: &[RecordedRow]) -> Result<(), String> {
    let mut keys = BTreeSet::new();
    let mut measured = lines.iter().filter(|line| !line.method().is_empty());
    let Some(again) = measured.find(|line| !keys.insert(Key::of(line))) else { return Ok(()) };
    let (method, file) = (again.method(), &again.row.file);
    Err(format!("{name} contains two rows of {method} on {file}; put only the rows of one run into a file"))
}

/// Divides the times of a run by those of a method on the same matrix with the same settings. Its own rows, which would
/// not differ, and rows without it are left out.
pub fn relative(lines: &mut Vec<RecordedRow>, to: &Select) {
    let setting = |line: &RecordedRow| {
        let GroupKey { precision, cache, order, transpose, .. } = line.group_key();
        let matrix = line.matrix().to_owned();
        (matrix, precision, cache, order, transpose)
    };
    let of_method = lines.iter().filter(|line| to.meets(line));
    let times = of_method.filter_map(|line| Some((setting(line), (line, time(line)?))));
    let timing = |(line, _): (&RecordedRow, f64)| line.row.timing(None);
    let references = least(times).into_iter().filter_map(|(key, line)| Some((key, timing(line)?)));
    let references: BTreeMap<_, _> = references.collect();
    let is_compared = |line: &_| !to.meets(line) && references.contains_key(&setting(line));
    lines.retain(|line| !line.is_ok() || is_compared(line));
    for line in lines.iter_mut().filter(|line| line.is_ok()) {
        let reference = &references[&setting(line)];
        line.row = std::mem::take(&mut line.row).relative_to(reference);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::row;
    use crate::row::Status;

    fn line(method: &str, ms: f64) -> RecordedRow {
        RecordedRow::from(row("a.mtx", method, ms).with_median(ms, (0.99 * ms, 1.01 * ms)))
    }

    #[test]
    fn a_row_that_is_not_ok_in_one_run_stays_so() {
        let bad = Row { status: Some(Status::Wrong), ..row("a.mtx", "merge", 1.0) };
        let runs = [line("merge", 1.0), RecordedRow::from(bad), line("seq", 2.0)];
        let joined = of_runs(&runs);
        assert_eq!(joined.len(), 2);
        assert_eq!(joined[0].row.status, Some(Status::Wrong));
    }

    /// The second run is twice as slow as the first in all methods, and so is the second process of each.
    #[test]
    fn relative_times_do_not_drift() {
        let line = |method: &str, ms: f64| {
            let mut line = line(method, ms);
            line.row.process_ms = Some(Processes(vec![ms, 2.0 * ms, 1.01 * ms]));
            line
        };
        let mut runs = [1.0, 2.0].map(|slow| vec![line("merge", 3.0 * slow), line("ref", slow)]);
        let to = "ref".parse().unwrap();
        runs.iter_mut().for_each(|run| relative(run, &to));
        for row in runs.map(|mut run| run.remove(0).row) {
            assert!((row.median_ms.unwrap() - 3.0).abs() < 1e-12 && row.uncertainty().unwrap() < 1e-9);
            assert_eq!(row.process_ms, Some(Processes(vec![3.0; 3])));
        }
        let mut run = vec![self::line("merge", 3.0), self::line("ref", 1.0)];
        relative(&mut run, &to);
        let half = run[0].row.uncertainty().unwrap();
        assert!((half - 2f64.sqrt()).abs() < 1e-3, "two independent halves of 1 %: {half}");
    }
}
