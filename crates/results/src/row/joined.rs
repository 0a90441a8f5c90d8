//! Rows that measure the same in several processes or runs as one row. Its interval is that of the processes: times
//! differ more between them than within one, because each has its own pages of memory.

use super::rules::Joining;
use super::{Remark, Remarks, Row};
use crate::statistics::interval::{median_of_variance, student};
use crate::statistics::{median, variance};

/// The degrees of freedom that the usual variance counts as, beside those of the rows themselves.
const PRIOR_FREEDOM: usize = 4;

/// Returns the usual variance of the logarithms of times between processes, from the rows of several methods; `None`
/// for fewer than three. Few processes show their own variance badly, and that of others on the same matrix is alike.
pub fn usual(methods: &[Vec<&Row>]) -> Option<f64> {
    let variance = |rows: &Vec<&Row>| Some((variance(&logs(rows))?, rows.len()));
    let variances = methods.iter().filter_map(variance);
    let relative = |(variance, rows): (f64, usize)| variance / median_of_variance(rows);
    let relative: Vec<_> = variances.map(relative).collect();
    (relative.len() > 2).then(|| median(relative)).flatten()
}

/// Joins rows that are correct and timed, with the [`usual`] variance between them if it is known.
pub fn joined(rows: &[&Row], usual: Option<f64>) -> Row {
    if let [row] = rows {
        return (*row).clone();
    }
    let typical = of_setup(rows);
    let weights = rows.iter().map(|row| row.iterations.map_or(1.0, |count| count as f64));
    let mut joining = Joining { typical, weights: weights.collect(), differing: Vec::new() };
    let mut row = Row::join(rows, &mut joining);
    row.reason = remarks(&row.reason, &rows[typical].reason, joining.differing);
    let (middle, half) = interval(rows, usual);
    if let Some(ms) = middle {
        row = row.with_median(ms, (ms * (-half).exp(), ms * half.exp()));
    }
    if let Some(mean) = row.avg_spmv_ms {
        row = row.with_mean(mean);
    }
    row
}

/// Returns the remarks of `all` rows: on a setup only those of the row whose setup it is, and none on noise, which
/// their interval shows.
fn remarks(all: &Remarks, of_setup: &Remarks, differing: Vec<(&str, String)>) -> Remarks {
    let of_setup = of_setup.all().iter().filter(|remark| remark.is_of_setup());
    let is_of_all =
        |remark: &&Remark| !remark.is_of_setup() && !matches!(remark, Remark::Noisy { .. });
    let of_all = all.all().iter().filter(is_of_all);
    let disagreements = differing
        .into_iter()
        .map(|(column, values)| Remark::Differs { column: column.into(), values });
    of_setup.chain(of_all).cloned().chain(disagreements).collect()
}

/// Returns the geometric mean of the medians, and half the 95 % interval of its logarithm: Student's t, but not less
/// than the intervals within the rows allow.
fn interval(rows: &[&Row], usual: Option<f64>) -> (Option<f64>, f64) {
    let logs = logs(rows);
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let between = variance(&logs).map_or(0.0, |own| {
        let (freedom, prior) = (logs.len() - 1, if usual.is_some() { PRIOR_FREEDOM } else { 0 });
        let sum = freedom as f64 * own + prior as f64 * usual.unwrap_or(0.0);
        let freedom = freedom + prior;
        student(freedom) * (sum / freedom as f64 / count).sqrt()
    });
    let within = rows.iter().filter_map(|row| Some(row.uncertainty()? / 100.0));
    let within = within.fold(0.0, f64::max) / count.sqrt();
    ((!logs.is_empty()).then(|| mean.exp()), between.max(within))
}

fn logs(rows: &[&Row]) -> Vec<f64> {
    rows.iter().filter_map(|row| Some(row.typical_ms()?.ln())).collect()
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
            distinct_results: Some(hashes(&[setup as u64, 1])),
            ..Row::default().with_median(ms, (0.99 * ms, 1.01 * ms))
        };
        let rows = [row(1.0, 5.0, "merge"), row(1.1, 900.0, "packed"), row(0.9, 6.0, "packed")];
        let one = joined(&rows.each_ref(), None);
        // The logarithms have the mean -0.0034 and the standard deviation 0.1004: sinh(4.303 * 0.1004 / sqrt(3)).
        let (ms, half) = (one.median_ms.unwrap(), one.uncertainty().unwrap());
        assert!((ms - 0.9967).abs() < 1e-4 && (half - 25.2).abs() < 0.05, "{ms} {half}");
        // With four degrees of freedom of a variance of 0.01: s = sqrt((2 * 0.01007 + 4 * 0.01) / 6), sinh(2.447 s /
        // sqrt(3)).
        let with_usual = joined(&rows.each_ref(), Some(0.01)).uncertainty().unwrap();
        assert!((with_usual - 14.2).abs() < 0.05, "{with_usual}");
        let methods = vec![rows.iter().collect::<Vec<_>>(); 3];
        assert!((usual(&methods).unwrap() - 0.01007 / 0.693).abs() < 1e-4);
        assert_eq!(usual(&methods[..2]), None);
        assert_eq!((one.setup_ms, one.iterations), (Some(6.0), Some(40)));
        assert_eq!((one.joules_per_product, one.independent_ms), (Some(1.0), one.median_ms));
        assert!((one.avg_spmv_ms.unwrap() - 4.1 / 4.0).abs() < 1e-12);
        let remarks = "picked packed; picked differs between processes: merge, packed";
        assert_eq!((one.reason.text(), one.picked.as_deref()), (Some(remarks), Some("packed")));
        assert_eq!(serde_json::json!(one.process_ms), "1 1.1 0.9");
        assert_eq!(one.distinct_results.unwrap().count(), 4, "1 is in all");
        let noisy = [Remark::Noisy { percent: 9.0, repeats: 2 }, Remark::Text("other".into())];
        let noisy = Row { reason: noisy.into_iter().collect(), ..rows[0].clone() };
        assert_eq!(joined(&[&noisy, &noisy], None).reason.text(), Some("other"));
        let alike = joined(&[&rows[0], &rows[0]], None);
        let half = alike.uncertainty().unwrap();
        assert!((half - 1.0 / 2f64.sqrt()).abs() < 1e-4, "within the processes: {half}");
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
            let one = joined(&rows.iter().collect::<Vec<_>>(), None);
            let remark = Remark::LateSetup { ms: expected };
            let got = (one.setup_ms, one.reason.all(), one.extra_bytes);
            assert_eq!(got, (Some(expected), &[remark][..], Some(expected as u64)), "{setups:?}");
        }
    }
}
