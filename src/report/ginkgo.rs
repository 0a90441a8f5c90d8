//! Files in the form of Ginkgo's benchmarks, read as rows. A file does not tell the unit of its times: it is found by
//! what is plausible.

use std::path::Path;

use super::lines::{self, LinesError, RecordedRow};
use crate::record::cells::to_csv;
use crate::record::ginkgo::{Matrix, Unit};

/// No matrix has so many rows, columns or nonzeros, or it would have more bytes than can be counted.
const MOST: usize = 1 << 48;

/// Bytes per second that no machine reads.
const FASTEST: f64 = 20e12;

/// Bytes that a nonzero takes at least: some formats have no indices, and precisions may be half.
const LEAST_BYTES: f64 = 2.0;

/// Seconds that no product takes.
const SLOWEST: f64 = 60.0;

/// A time of a kernel on a matrix.
struct Time<'a> {
    kernel: &'a str,
    matrix: String,
    nonzeros: usize,
    time: f64,
}

impl Time<'_> {
    fn is_plausible(&self, unit: Unit) -> bool {
        let seconds = self.time * unit.seconds();
        let least = LEAST_BYTES * self.nonzeros as f64 / FASTEST;
        seconds > 0.0 && (least..=SLOWEST).contains(&seconds)
    }
}

/// Whether a text can only be JSON: no CSV file of this program begins so.
pub fn is_json(text: &[u8]) -> bool {
    text.trim_ascii_start().first().is_some_and(|first| b"[{".contains(first))
}

/// The rows of a file that has this text, and what a reader of them must know. `told` is the unit that the user gave.
///
/// # Errors
/// When it has something else in it, or its times are not plausible.
pub fn parse(
    path: &Path,
    text: &[u8],
    told: Option<Unit>,
) -> Result<(Vec<RecordedRow>, String), LinesError> {
    let foreign = |what| LinesError::Foreign { path: path.to_owned(), what };
    let matrices: Vec<Matrix> =
        serde_json::from_slice(text).map_err(|error| foreign(error.to_string()))?;
    if matrices.iter().all(|matrix| matrix.spmv.is_none()) {
        return Err(foreign("no object of it has 'spmv'".into()));
    }
    if let Some(matrix) = matrices.iter().find(|matrix| !matrix.sizes().all(|size| size < MOST)) {
        return Err(foreign(format!("{} has sizes that no matrix has", matrix.file(0))));
    }
    let (unit, why) = unit(&times(&matrices), told, matrices.iter().any(Matrix::is_ours))
        .map_err(|what| LinesError::Unit { path: path.to_owned(), what })?;
    let rows = (1..).zip(&matrices).flat_map(|(place, matrix)| matrix.rows(place, unit));
    let csv = to_csv(&rows.collect::<Vec<_>>(), true).expect("memory takes rows");
    let note = format!("The times of `{}` are taken as {}: {why}.", path.display(), unit.name());
    Ok((lines::parse(path, &csv)?, note))
}

/// Those that were measured.
fn times(matrices: &[Matrix]) -> Vec<Time<'_>> {
    let times = (1..).zip(matrices).flat_map(|(place, matrix)| {
        let nonzeros = matrix.nonzeros().unwrap_or_default();
        matrix.spmv.iter().flatten().filter_map(move |(kernel, result)| {
            let (matrix, time) = (matrix.file(place), result.measured()?);
            Some(Time { kernel, matrix, nonzeros, time })
        })
    });
    times.collect()
}

/// The unit, and how it is known.
fn unit(times: &[Time], told: Option<Unit>, is_ours: bool) -> Result<(Unit, &'static str), String> {
    let implausible = |unit| times.iter().find(move |time| !time.is_plausible(unit));
    let known = match (told, is_ours) {
        (Some(unit), _) => Some((unit, "so --ginkgo-times says")),
        (None, true) => Some((Unit::S, "spmv-bench wrote the file")),
        (None, false) => None,
    };
    if let Some((unit, why)) = known {
        return implausible(unit).map_or(Ok((unit, why)), |time| Err(refused(time, &[unit])));
    }
    match [Unit::Ns, Unit::S].map(implausible) {
        [None, Some(_)] => Ok((Unit::Ns, "as seconds they are not plausible")),
        [Some(_), None] => Ok((Unit::S, "as nanoseconds they are not plausible")),
        [Some(_), Some(time)] => Err(refused(time, &[Unit::Ns, Unit::S])),
        [None, None] if times.is_empty() => Ok((Unit::S, "there are none")),
        [None, None] => Err("its times may be nanoseconds or seconds; say which with \
                             --ginkgo-times ns or --ginkgo-times s"
            .into()),
    }
}

fn refused(time: &Time, units: &[Unit]) -> String {
    let Time { kernel, matrix, nonzeros, time } = time;
    let units = units.iter().map(|unit| unit.name()).collect::<Vec<_>>().join(" or ");
    format!(
        "{kernel} on {matrix} takes {time}, which cannot be {units}: a product of {nonzeros} nonzeros takes no longer \
         than {SLOWEST} s, and no machine reads faster than 20 TB/s; see --ginkgo-times, and whether times of two \
         units are in the file"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::row::Status;

    const SMALL: &str =
        r#""problem": {"group": "HB", "name": "small", "rows": 4, "columns": 3, "nonzeros": 1000}"#;

    fn read(text: &str, told: Option<Unit>) -> Result<(Vec<RecordedRow>, String), String> {
        parse("a.json".as_ref(), text.as_bytes(), told).map_err(|error| error.to_string())
    }

    fn with_time(time: f64) -> String {
        format!(r#"[{{{SMALL}, "spmv": {{"coo": {{"time": {time}, "completed": true}}}}}}]"#)
    }

    #[test]
    fn the_unit_is_told_by_what_is_plausible() {
        for (time, told, ms, why) in [
            (15975.2, None, 0.0159752, "nanoseconds: as seconds they are not plausible"),
            (6.5e-6, None, 0.0065, "seconds: as nanoseconds they are not plausible"),
            (10.0, Some(Unit::Ns), 1e-5, "nanoseconds: so --ginkgo-times says"),
            (10.0, Some(Unit::S), 1e4, "seconds: so --ginkgo-times says"),
        ] {
            let (lines, note) = read(&with_time(time), told).unwrap();
            let found = lines[0].row.avg_spmv_ms.unwrap();
            assert!((found / ms - 1.0).abs() < 1e-12, "{found}");
            assert_eq!(note, format!("The times of `a.json` are taken as {why}."));
        }
    }

    #[test]
    fn a_unit_that_is_not_plausible_is_refused() {
        for (time, told, expected) in [
            (10.0, None, "a.json: its times may be nanoseconds or seconds; say which with"),
            (
                6.5e-6,
                Some(Unit::Ns),
                "a.json: coo on HB/small takes 0.0000065, which cannot be nanoseconds: ",
            ),
            (
                15975.2,
                Some(Unit::S),
                "takes 15975.2, which cannot be seconds: a product of 1000 nonzeros",
            ),
            (1e12, None, "cannot be nanoseconds or seconds: "),
            (-1.0, None, "cannot be nanoseconds or seconds: "),
        ] {
            let error = read(&with_time(time), told).unwrap_err();
            assert!(error.contains(expected) && error.contains("--ginkgo-times"), "{error}");
        }
    }

    #[test]
    fn other_json_and_impossible_sizes_are_refused() {
        for (text, expected) in [
            (r#"{"file": "a.mtx"}"#, "invalid type: map, expected a sequence at line 1 column 0"),
            (r#"[{"filename": "a", "solver": {}}]"#, "no object of it has 'spmv'"),
            (r#"[{"spmv": [{"time": 1}]}]"#, "invalid type: sequence, expected a map"),
            (r#"[{"filename": "a", "spmv": {}"#, "EOF while parsing"),
            (
                r#"[{"filename": "a", "rows": 18446744073709551615, "spmv": {}}]"#,
                "a has sizes that no matrix has",
            ),
        ] {
            let error = read(text, None).unwrap_err();
            let end = "; rows are what spmv-bench writes with --format csv or ginkgo, or what the benchmarks of Ginkgo \
                       write of their operation spmv";
            assert!(error.contains(expected) && error.ends_with(end), "{error}");
        }
    }

    /// The two places of sizes, orders, what failed, and names that no method of this program has.
    #[test]
    fn matrices_and_kernels_become_rows() {
        let text = r#"[
            {"filename": "/tmp/a.mtx", "problem": {"name": "a", "rows": 2, "cols": 3, "columns": 3, "nonzeros": 4,
             "kind": "a kind", "row_distribution": {"q1": 1.0, "max": 3, "mean": 2.0, "variance": 1.0, "skewness": 0.0}},
             "spmv": {"csr": {"storage": 60, "max_relative_norm2": 0.0, "time": 1e-5, "repetitions": 10, "completed": true},
                      "ell": {"error": "out of memory", "completed": false}, "sellp": {"completed": false}},
             "optimal": {"spmv": "csr"}},
            {"filename": "", "rows": 5, "cols": 5, "nonzeros": 9, "reordered": "rcm", "spmv": {"coo": {"time": 2e-5, "completed": true}}},
            {"filename": "b.mtx", "reordered": "amd", "spmv": {}},
            {"filename": "c.mtx", "reordered": "amd", "spmv": {"coo": {"time": 2e-5, "completed": true}}},
            {"filename": "d.mtx", "preconditioner": {}}
        ]"#;
        let (lines, _) = read(text, None).unwrap();
        let told = lines.iter().map(|line| {
            let row = &line.row;
            let (status, order) = (row.status.unwrap().name(), row.order.unwrap().name());
            format!(
                "{} {} {status} {order} {}",
                row.file,
                line.method(),
                row.reason.as_deref().unwrap_or("-")
            )
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "/tmp/a.mtx ginkgo:csr ok natural -",
                "/tmp/a.mtx ginkgo:ell failed natural out of memory",
                "/tmp/a.mtx ginkgo:sellp failed natural not completed",
                "matrix 2 ginkgo:coo ok rcm -",
                "c.mtx (reordered: amd) ginkgo:coo ok natural -",
            ]
        );
        let row = &lines[0].row;
        assert_eq!(row.status, Some(Status::Ok));
        assert_eq!((row.sizes(), row.iterations), (Some([2, 3, 4]), Some(10)));
        assert_eq!(row.required_bytes, Some(60 + 5 * 8));
        assert_eq!((row.row_length_variation, row.max_row_length), (Some(0.5), Some(3)));
        assert!((row.gflops.unwrap() / 8e-4 - 1.0).abs() < 1e-12);
        assert_eq!(row.kind.as_deref(), Some("a kind"));
    }
}
