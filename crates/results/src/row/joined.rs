//! Rows that measure the same in several processes or runs as one row. Its interval is that of the processes: times
//! differ more between them than within one, because each has its own pages of memory.

use super::rules::Joining;
use super::{Remark, Remarks, Row};
use crate::statistics::estimate::Estimate;

/// A setup is longer than another one by more than noise if it takes more than so many times as long, and so many
/// milliseconds.
const MOST_NOISE: f64 = 2.0;
const NOISE_MS: f64 = 1.0;

/// Joins rows that are correct and timed.
pub fn joined(rows: &[&Row]) -> Row {
    if let [row] = rows {
        return (*row).clone();
    }
    let typical = of_setup(rows);
    let weights = rows.iter().map(|row| row.iterations.map_or(1.0, |count| count as f64));
    let mut joining = Joining { typical, weights: weights.collect(), differing: Vec::new() };
    let mut row = Row::join(rows, &mut joining);
    let later_ms = rows.iter().map(|row| later_ms(row)).fold(f64::INFINITY, f64::min);
    let setup_ms = before_products(rows[typical]);
    row.setup_ms = setup_ms.map(|ms| ms + later_ms);
    row.reason = remarks(&row.reason, &rows[typical].reason, joining.differing);
    row.reason.extend((later_ms > 0.0).then_some(Remark::LaterSetup { ms: later_ms }));
    let setups = rows.iter().filter_map(|row| before_products(row));
    let least = setups.fold(f64::INFINITY, f64::min);
    if let Some(most) = setup_ms.filter(|most| differ([least, *most])) {
        row.reason.push(Remark::SetupsDiffer { least, most });
    }
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
    let is_kept = |remark: &&Remark| remark.is_of_setup() && !matches!(remark, Remark::LaterSetup { .. });
    let of_setup = of_setup.all().iter().filter(is_kept);
    let of_all = all.all().iter().filter(|remark| !remark.is_of_setup());
    let disagreements = differing.into_iter().map(|(column, values)| Remark::Differs { column: column.into(), values });
    of_setup.chain(of_all).cloned().chain(disagreements).collect()
}

/// Returns what products after the first sample took so much longer that it is part of the setup. Each process must
/// confirm it, because an interruption can look like that.
fn later_ms(row: &Row) -> f64 {
    let ms = |remark: &Remark| match remark {
        Remark::LaterSetup { ms } => Some(*ms),
        _ => None,
    };
    row.reason.all().iter().find_map(ms).unwrap_or(0.0)
}

/// Returns the setup without that part.
fn before_products(row: &Row) -> Option<f64> {
    row.setup_ms.map(|ms| ms - later_ms(row))
}

/// Returns whether a setup is longer than another one by more than noise.
fn differ([shorter, longer]: [f64; 2]) -> bool {
    longer > MOST_NOISE * shorter + NOISE_MS
}

/// Returns the place of the row with the median of the setups, of two the shorter one; if the longest one is longer by
/// more than noise, that one: what a method has kept in one process may have spared it the work in others. For a method
/// of this program that prepares nothing, of the shortest: what the others took longer was not confirmed.
fn of_setup(rows: &[&Row]) -> usize {
    let setup = |place: usize| before_products(rows[place]).unwrap_or(f64::INFINITY);
    let mut places: Vec<_> = (0..rows.len()).collect();
    places.sort_by(|&a, &b| setup(a).total_cmp(&setup(b)));
    let (median, last) = (places[(rows.len() - 1) / 2], places[rows.len() - 1]);
    if rows[0].prepares_nothing() && rows[0].library_version.is_none() {
        places[0]
    } else if differ([setup(median), setup(last)]) {
        last
    } else {
        median
    }
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
        let rows = [row(1.0, 5.0, "merge"), row(1.1, 9.0, "packed"), row(0.9, 6.0, "packed")];
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
        assert_eq!(serde_json::json!(one.process_setup_ms), "5 9 6");
        assert_eq!(one.distinct_results.unwrap().count(), 4, "1 is in all");
    }

    /// The remark on what was late is that of the process whose setup is in the row.
    #[test]
    fn a_setup_is_that_of_a_process() {
        let row = |is_csr: bool, is_of_library: bool, setup: f64| Row {
            library_version: is_of_library.then(|| "1.0".into()),
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
        for (is_csr, is_of_library, setups, expected, differ) in [
            (false, false, &[40.0, 80.0, 50.0][..], 50.0, false),
            (false, false, &[40.0, 80.0], 40.0, false),
            (false, false, &[0.1, 0.9, 0.2], 0.2, false),
            (false, false, &[40.0, 90.0, 44.0], 90.0, true),
            (true, false, &[4.0, 9.0, 1.0], 1.0, false),
            (true, true, &[4.0, 9.5, 3.0], 9.5, true),
            (true, false, &[4.0], 4.0, false),
        ] {
            let row = |setup: &f64| row(is_csr, is_of_library, *setup);
            let rows: Vec<_> = setups.iter().map(row).collect();
            let one = joined(&rows.iter().collect::<Vec<_>>());
            let mut remarks = vec![Remark::LateSetup { ms: expected }];
            let least = setups.iter().copied().fold(expected, f64::min);
            remarks.extend(differ.then_some(Remark::SetupsDiffer { least, most: expected }));
            let got = (one.setup_ms, one.reason.all(), one.extra_bytes);
            assert_eq!(got, (Some(expected), &remarks[..], Some(expected as u64)), "{setups:?}");
        }
    }

    /// What only one process has seen was an interruption. The rest of the setup is compared without it.
    #[test]
    fn what_later_products_took_longer_is_setup_if_all_processes_saw_it() {
        for (later, setup, is_remarked) in [([300.0, 280.0], 285.0, true), ([300.0, 0.0], 5.0, false)] {
            let row = |ms: f64| Row {
                setup_ms: Some(5.0 + ms),
                median_ms: Some(1.0),
                reason: (ms > 0.0).then_some(Remark::LaterSetup { ms }).into_iter().collect(),
                ..Row::default()
            };
            let one = joined(&later.map(row).each_ref());
            let remark = is_remarked.then_some(Remark::LaterSetup { ms: later[1] });
            let remarks: Vec<_> = remark.into_iter().collect();
            assert_eq!((one.setup_ms, one.reason.all()), (Some(setup), &remarks[..]));
        }
    }
}
