//! Several runs as one side of a comparison: rows that measure the same become one, whose interval is that of the runs.
//! Times may be relative to a method of the same run, which cancels what makes a whole run slower.

use super::pair::Key;
use crate::files::read::RecordedRow;
use crate::report::matched::time;
use crate::report::select::Select;
use crate::report::{grouped, least};
use crate::row::Setting;
use crate::row::joined::joined;

/// Joins the rows of several runs. A row that is not ok in one of them stays so.
pub fn of_runs(lines: &[RecordedRow]) -> Vec<RecordedRow> {
    let groups = grouped(lines, |line| Key::of(line));
    let one = |(_, rows): &(Key, Vec<&RecordedRow>)| match rows.iter().find(|line| !line.is_ok()) {
        Some(bad) => (*bad).clone(),
        None => {
            let row = joined(&rows.iter().map(|line| &line.row).collect::<Vec<_>>());
            RecordedRow { row, ..rows[0].clone() }
        }
    };
    groups.iter().map(one).collect()
}

/// Divides the times of a run by those of a method on the same matrix with the same settings. Its own rows, which would
/// not differ, and rows without it are left out.
pub fn relative(lines: &mut Vec<RecordedRow>, to: &Select) {
    let setting = |line: &RecordedRow| {
        let Setting { precision, cache, order, transpose, .. } = line.setting();
        let matrix = line.matrix().to_owned();
        (matrix, precision, cache, order, transpose)
    };
    let of_method = lines.iter().filter(|line| to.meets(line));
    let times = of_method.filter_map(|line| Some((line, (line.row.uncertainty(), time(line)?))));
    let references = least(times.map(|(line, time)| (setting(line), time)));
    let is_compared = |line: &_| !to.meets(line) && references.contains_key(&setting(line));
    lines.retain(|line| !line.is_ok() || is_compared(line));
    for line in lines.iter_mut().filter(|line| line.is_ok()) {
        let (its_half, reference) = references[&setting(line)];
        let Some(ms) = time(line) else { continue };
        let halves = line.row.uncertainty().zip(its_half);
        set_time(line, ms / reference, halves.map(|(a, b)| a.hypot(b) / 100.0));
    }
}

/// Sets the median of a row and its interval, half of which is given relative to the median.
fn set_time(line: &mut RecordedRow, ms: f64, half: Option<f64>) {
    let row = &mut line.row;
    (row.median_ms, row.avg_spmv_ms) = (Some(ms), Some(ms));
    row.ci95_low_ms = half.map(|half| ms * (-half).exp());
    row.ci95_high_ms = half.map(|half| ms * half.exp());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::row;
    use crate::row::{Row, Status};

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

    /// The second run is twice as slow as the first in all methods.
    #[test]
    fn relative_times_do_not_drift() {
        let mut runs = [1.0, 2.0].map(|slow| vec![line("merge", 3.0 * slow), line("ref", slow)]);
        let to = "ref".parse().unwrap();
        runs.iter_mut().for_each(|run| relative(run, &to));
        let times = runs.map(|run| run[0].row.median_ms.unwrap());
        assert_eq!(times, [3.0, 3.0]);
    }
}
