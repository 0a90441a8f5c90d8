//! Rows that measure the same in several processes or runs as one row. Its interval is that of the processes: times
//! differ more between them than within one, because each has its own pages of memory.

use super::rules::Joining;
use super::{Remark, Remarks, Row};
use crate::statistics::estimate::Estimate;

/// Joins rows that are correct and timed.
pub fn joined(rows: &[&Row]) -> Row {
    if let [row] = rows {
        return (*row).clone();
    }
    let typical = of_setup(rows);
    let weights = rows.iter().map(|row| row.iterations.map_or(1.0, |count| count as f64));
    let mut joining = Joining { typical, weights: weights.collect(), differing: Vec::new() };
    let mut row = Row::join(rows, &mut joining);
    row.reason = remarks(&row.reason, &rows[typical].reason, joining.differing);
    let times: Vec<_> = rows.iter().filter_map(|row| row.typical_ms()).collect();
    let time = Estimate::of(times);
    if let Some((time, interval)) = time.and_then(|time| Some((time, time.interval()?))) {
        row = row.with_median(time.value, interval);
    }
    if let Some(mean) = row.avg_spmv_ms {
        row = row.with_mean(mean);
    }
    row
}

/// Returns the remarks of `all` rows: on a setup only those of the row whose setup it is.
fn remarks(all: &Remarks, of_setup: &Remarks, differing: Vec<(&str, String)>) -> Remarks {
    let of_setup = of_setup.all().iter().filter(|remark| remark.is_of_setup());
    let of_all = all.all().iter().filter(|remark| !remark.is_of_setup());
    let disagreements = differing
        .into_iter()
        .map(|(column, values)| Remark::Differs { column: column.into(), values });
    of_setup.chain(of_all).cloned().chain(disagreements).collect()
}

/// Returns the place of the row with the median of the setups, of two the shorter one, which an interrupted one does not
/// change. For a method that prepares nothing, of the shortest: what the others took longer was not confirmed.
fn of_setup(rows: &[&Row]) -> usize {
    let setup = |place: &usize| rows[*place].setup_ms.unwrap_or(f64::INFINITY);
    let mut places: Vec<_> = (0..rows.len()).collect();
    places.sort_by(|a, b| setup(a).total_cmp(&setup(b)));
    places[if rows[0].prepares_nothing() { 0 } else { (rows.len() - 1) / 2 }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Distinct, Processes};
    use spmv_matrix::scalar::Precision;

    fn hashes(of: &[u64]) -> Distinct {
        Distinct::from([of.iter().copied().collect(), Default::default()])
    }

    #[test]
    fn the_interval_is_that_of_the_processes() {
        let row = |ms: f64, setup, picked: &str| Row {
            setup_ms: Some(setup),
            avg_spmv_ms: Some(ms),
            joules_per_product: Some(ms),
            independent_ms: Some(ms),
            iterations: Some(if ms == 1.1 { 20 } else { 10 }),
            picked: Some(picked.into()),
            reason: Remarks::from_iter([Remark::Picked(picked.into())]),
            process_ms: Some(Processes::of(ms)),
            process_setup_ms: Some(Processes::of(setup)),
            distinct_results: Some(hashes(&[setup as u64, 1])),
            ..Row::default().with_median(ms, (0.99 * ms, 1.01 * ms))
        };
        let rows = [row(1.0, 5.0, "merge"), row(1.1, 900.0, "packed"), row(0.9, 6.0, "packed")];
        let one = joined(&rows.each_ref());
        // The logarithms have the mean -0.0034 and the standard deviation 0.1004: sinh(4.303 * 0.1004 / sqrt(3)).
        let (ms, half) = (one.median_ms.unwrap(), one.uncertainty().unwrap());
        assert!((ms - 0.9967).abs() < 1e-4 && (half - 25.2).abs() < 0.05, "{ms} {half}");
        assert_eq!((one.setup_ms, one.iterations), (Some(6.0), Some(40)));
        assert_eq!((one.joules_per_product, one.independent_ms), (Some(1.0), one.median_ms));
        assert!((one.avg_spmv_ms.unwrap() - 4.1 / 4.0).abs() < 1e-12);
        let remarks = "picked packed; picked differs between processes: merge, packed";
        assert_eq!((one.reason.text(), one.picked.as_deref()), (Some(remarks), Some("packed")));
        assert_eq!(serde_json::json!(one.process_ms), "1 1.1 0.9");
        assert_eq!(serde_json::json!(one.process_setup_ms), "5 900 6");
        assert_eq!(one.distinct_results.unwrap().count(), 4, "1 is in all");
    }

    /// What is late in one process is no setup, and the remark is that of the process whose setup is in the row.
    #[test]
    fn a_setup_is_that_of_a_process_and_is_confirmed_by_another() {
        let row = |is_csr: bool, setup: f64| Row {
            num_rows: Some(2),
            num_cols: Some(2),
            num_nonzeros: Some(4),
            precision: Some(Precision::F64),
            required_bytes: Some(if is_csr { 4 * 12 + 3 * 4 + 4 * 8 } else { 99 }),
            setup_ms: Some(setup),
            median_ms: Some(1.0),
            extra_bytes: Some(setup as u64),
            reason: Remarks::from_iter([Remark::LateSetup { ms: setup }]),
            ..Row::default()
        };
        for (is_csr, setups, expected) in [
            (false, &[40.0, 90.0, 50.0][..], 50.0),
            (false, &[40.0, 90.0], 40.0),
            (true, &[4.0, 5.0, 1.0], 1.0),
            (true, &[4.0, 5.0], 4.0),
            (true, &[4.0], 4.0),
        ] {
            let rows: Vec<_> = setups.iter().map(|setup| row(is_csr, *setup)).collect();
            let one = joined(&rows.iter().collect::<Vec<_>>());
            let remark = Remark::LateSetup { ms: expected };
            let got = (one.setup_ms, one.reason.all(), one.extra_bytes);
            assert_eq!(got, (Some(expected), &[remark][..], Some(expected as u64)), "{setups:?}");
        }
    }
}
