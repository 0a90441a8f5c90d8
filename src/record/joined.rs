//! Rows that measure the same in several processes or runs as one row. Its interval is that of the processes: times differ
//! more between them than within one, because each has its own pages of memory.

use super::row::Row;

/// The two-sided 95 % quantiles of Student's t for 1 to 10 degrees of freedom, the last of them a bound for more.
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// Joins rows that are correct and timed. What is not a time is that of the last one.
pub fn joined(rows: &[&Row]) -> Row {
    let last = *rows.last().expect("there is a row");
    if rows.len() == 1 {
        return last.clone();
    }
    let values = |of: fn(&Row) -> Option<f64>| rows.iter().filter_map(move |row| of(row));
    let least = |of| values(of).min_by(f64::total_cmp);
    let most = |of| values(of).max_by(f64::total_cmp);
    let weight = |row: &Row| row.iterations.map_or(1.0, |count| count as f64);
    let weights: f64 = rows.iter().map(|row| weight(row)).sum();
    let mean = rows.iter().map(|row| Some(weight(row) * row.avg_spmv_ms?)).sum::<Option<f64>>();
    let (median, half) = interval(rows);
    let row = Row {
        setup_ms: middle(values(|row| row.setup_ms).collect()),
        min_ms: least(|row| row.min_ms),
        median_ms: median,
        max_ms: most(|row| row.max_ms),
        std_dev_ms: most(|row| row.std_dev_ms),
        ci95_low_ms: median.map(|ms| ms * (1.0 - half)),
        ci95_high_ms: median.map(|ms| ms * (1.0 + half)),
        samples: rows.iter().map(|row| row.samples).sum(),
        iterations: rows.iter().map(|row| row.iterations).sum(),
        error_ratio: most(|row| row.error_ratio),
        distinct_results: rows.iter().filter_map(|row| row.distinct_results).max(),
        reason: reason(rows, last),
        ..last.clone()
    };
    mean.map_or(row.clone(), |mean| row.with_mean(mean / weights))
}

/// Returns the geometric mean of the medians, and half its 95 % interval relative to it: Student's t over the logarithms, but
/// not less than the intervals within the rows allow.
fn interval(rows: &[&Row]) -> (Option<f64>, f64) {
    let logs: Vec<_> = rows.iter().filter_map(|row| Some(row.typical_ms()?.ln())).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let between = match logs.len().checked_sub(2) {
        Some(freedom) => {
            let student = STUDENT.get(freedom).unwrap_or(&STUDENT[STUDENT.len() - 1]);
            student * (squares / (count - 1.0) / count).sqrt()
        }
        None => 0.0,
    };
    let within = rows.iter().filter_map(|row| Some(row.uncertainty()? / 100.0));
    let within = within.fold(0.0, f64::max) / count.sqrt();
    ((!logs.is_empty()).then(|| mean.exp()), between.max(within))
}

/// Returns the median, which an interrupted setup does not change.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Returns the remark of the last row, and what others chose if it is something else.
fn reason(rows: &[&Row], last: &Row) -> Option<String> {
    let other = rows.iter().filter_map(|row| row.picked()).find(|it| Some(*it) != last.picked());
    let other = other.map(|other| format!("another process picked {other}"));
    let notes: Vec<_> = last.reason.iter().cloned().chain(other).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_processes() {
        let row = |ms: f64, setup, picked: &str| Row {
            setup_ms: Some(setup),
            median_ms: Some(ms),
            avg_spmv_ms: Some(ms),
            ci95_low_ms: Some(0.99 * ms),
            ci95_high_ms: Some(1.01 * ms),
            iterations: Some(if ms == 1.1 { 20 } else { 10 }),
            reason: Some(format!("picked {picked}")),
            ..Row::default()
        };
        let rows = [row(1.0, 5.0, "merge"), row(1.1, 900.0, "packed"), row(0.9, 6.0, "packed")];
        let one = joined(&rows.each_ref());
        // The logarithms have the mean -0.0034 and the standard deviation 0.1004: 4.303 * 0.1004 / sqrt(3).
        let (ms, half) = (one.median_ms.unwrap(), one.uncertainty().unwrap());
        assert!((ms - 0.9967).abs() < 1e-4 && (half - 24.93).abs() < 0.05, "{ms} {half}");
        assert_eq!((one.setup_ms, one.iterations), (Some(6.0), Some(40)));
        assert!((one.avg_spmv_ms.unwrap() - 4.1 / 4.0).abs() < 1e-12);
        assert_eq!(one.reason.as_deref(), Some("picked packed; another process picked merge"));
        let alike = joined(&[&rows[0], &rows[0]]);
        let half = alike.uncertainty().unwrap();
        assert!((half - 1.0 / 2f64.sqrt()).abs() < 1e-9, "within the processes: {half}");
    }
}
