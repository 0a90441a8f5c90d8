//! Reads result files of Ginkgo's benchmarks as rows. Such a file does not contain the unit of its times: the
//! unit is the one with which the times are plausible.

use std::path::Path;

use anyhow::{Result, anyhow};

use super::{Matrix, Unit};
use crate::row::Row;

/// The limit for numbers of rows, columns and nonzeros: the bytes of a larger matrix would exceed an integer.
const SIZE_LIMIT: usize = 1 << 48;

/// A bandwidth that no machine reaches, in bytes per second.
const BANDWIDTH_LIMIT: f64 = 20e12;

/// The smallest number of bytes per nonzero: some formats have no indices, and values may be half precision.
const LEAST_BYTES: f64 = 2.0;

/// The longest plausible time of a product, in seconds.
const MAX_SECONDS: f64 = 60.0;

/// The time of a kernel on a matrix, in an unknown unit.
struct Time<'a> {
    kernel: &'a str,
    matrix: String,
    nonzeros: usize,
    time: f64,
}

impl Time<'_> {
    fn is_plausible(&self, unit: Unit) -> bool {
        let seconds = self.time * unit.seconds();
        let least = LEAST_BYTES * self.nonzeros as f64 / BANDWIDTH_LIMIT;
        seconds > 0.0 && (least..=MAX_SECONDS).contains(&seconds)
    }

    fn refused_as(&self, units: &str) -> String {
        let Self { kernel, matrix, nonzeros, time } = self;
        format!(
            "{kernel} on {matrix} takes {time}, which cannot be {units}: a product of {nonzeros} nonzeros takes at \
             most {MAX_SECONDS} s and reads at most 20 TB/s; check --ginkgo-times, and that the file does not mix two \
             units"
        )
    }
}

/// Whether a text is a list in JSON. No CSV file of this program begins with `[`.
pub fn is_list(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"[")
}

/// Returns the rows, and a note about the unit of the times, which the user may have given.
pub fn parse(path: &Path, text: &[u8], given: Option<Unit>) -> Result<(Vec<Row>, String)> {
    let path = path.display();
    let foreign = |what: String| {
        anyhow!(
            "{path}: {what}; expected a file written by spmv-bench with --format csv or ginkgo, or the results of \
             Ginkgo's spmv benchmark"
        )
    };
    let matrices: Vec<Matrix> = serde_json::from_slice(text).map_err(|error| foreign(error.to_string()))?;
    if matrices.iter().all(|matrix| matrix.spmv.is_none()) {
        return Err(foreign("no object in it has the key 'spmv'".into()));
    }
    if let Some(matrix) = matrices.iter().find(|matrix| !matrix.sizes().all(|size| size < SIZE_LIMIT)) {
        let size = "an impossible size (2^48 rows, columns or nonzeros, or more)";
        return Err(foreign(format!("{} has {size}", matrix.file(0))));
    }
    let (unit, why) = unit(&times(&matrices), given, matrices.iter().any(Matrix::is_ours))
        .map_err(|error| anyhow!("{path}: {error}"))?;
    let rows = (1..).zip(&matrices).flat_map(|(place, matrix)| matrix.rows(place, unit));
    let note = format!("The times of `{path}` are taken as {}: {why}.", unit.name());
    Ok((rows.collect(), note))
}

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

/// Returns the unit of the times, and the reason for choosing it.
fn unit(times: &[Time], given: Option<Unit>, is_ours: bool) -> Result<(Unit, &'static str), String> {
    let implausible = |unit| times.iter().find(move |time| !time.is_plausible(unit));
    let known = given
        .map(|unit| (unit, "as given by --ginkgo-times"))
        .or(is_ours.then_some((Unit::S, "spmv-bench wrote the file")));
    if let Some((unit, why)) = known {
        return implausible(unit).map_or(Ok((unit, why)), |time| Err(time.refused_as(unit.name())));
    }
    let both = "its times may be nanoseconds or seconds; choose with --ginkgo-times ns or --ginkgo-times s";
    match [Unit::Ns, Unit::S].map(implausible) {
        [None, Some(_)] => Ok((Unit::Ns, "as seconds they are not plausible")),
        [Some(_), None] => Ok((Unit::S, "as nanoseconds they are not plausible")),
        [Some(_), Some(time)] => Err(time.refused_as("nanoseconds or seconds")),
        [None, None] if times.is_empty() => Ok((Unit::S, "it has no times")),
        [None, None] => Err(both.into()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const SMALL: &str = r#""problem": {"group": "HB", "name": "small", "rows": 4, "columns": 3, "nonzeros": 1000}"#;

    fn read(text: &str, given: Option<Unit>) -> Result<(Vec<Row>, String), String> {
        parse("a.json".as_ref(), text.as_bytes(), given).map_err(|error| error.to_string())
    }

    fn with_time(time: f64) -> String {
        format!(r#"[{{{SMALL}, "spmv": {{"coo": {{"time": {time}, "completed": true}}}}}}]"#)
    }

    #[test]
    fn the_unit_is_the_plausible_one() {
        for (time, given, ms, why) in [
            (15975.2, None, 0.0159752, "nanoseconds: as seconds they are not plausible"),
            (6.5e-6, None, 0.0065, "seconds: as nanoseconds they are not plausible"),
            (10.0, Some(Unit::Ns), 1e-5, "nanoseconds: as given by --ginkgo-times"),
            (10.0, Some(Unit::S), 1e4, "seconds: as given by --ginkgo-times"),
        ] {
            let (rows, note) = read(&with_time(time), given).unwrap();
            let found = rows[0].avg_spmv_ms.unwrap();
            assert!((found / ms - 1.0).abs() < 1e-12, "{found}");
            assert_eq!(note, format!("The times of `a.json` are taken as {why}."));
        }
    }

    #[test]
    fn a_unit_that_is_not_plausible_is_refused() {
        let (ns, s) = (Some(Unit::Ns), Some(Unit::S));
        let errors = [(10.0, None), (6.5e-6, ns), (15975.2, s), (1e12, None), (-1.0, None)];
        let errors = errors.map(|(time, given)| read(&with_time(time), given).unwrap_err() + "\n");
        expect![[r#"
            a.json: its times may be nanoseconds or seconds; choose with --ginkgo-times ns or --ginkgo-times s
            a.json: coo on HB/small takes 0.0000065, which cannot be nanoseconds: a product of 1000 nonzeros takes at most 60 s and reads at most 20 TB/s; check --ginkgo-times, and that the file does not mix two units
            a.json: coo on HB/small takes 15975.2, which cannot be seconds: a product of 1000 nonzeros takes at most 60 s and reads at most 20 TB/s; check --ginkgo-times, and that the file does not mix two units
            a.json: coo on HB/small takes 1000000000000, which cannot be nanoseconds or seconds: a product of 1000 nonzeros takes at most 60 s and reads at most 20 TB/s; check --ginkgo-times, and that the file does not mix two units
            a.json: coo on HB/small takes -1, which cannot be nanoseconds or seconds: a product of 1000 nonzeros takes at most 60 s and reads at most 20 TB/s; check --ginkgo-times, and that the file does not mix two units
        "#]].assert_eq(&errors.concat());
    }

    #[test]
    fn other_json_and_impossible_sizes_are_refused() {
        let errors = [
            r#"{"file": "a.mtx"}"#,
            r#"[{"filename": "a", "solver": {}}]"#,
            r#"[{"spmv": [{"time": 1}]}]"#,
            r#"[{"filename": "a", "spmv": {}"#,
            r#"[{"filename": "a", "rows": 18446744073709551615, "spmv": {}}]"#,
        ];
        let end = "; expected a file written by spmv-bench with --format csv or ginkgo, or the results of Ginkgo's \
                   spmv benchmark";
        let errors = errors.map(|text| read(text, None).unwrap_err().replace(end, ", expected…\n"));
        expect![[r#"
            a.json: invalid type: map, expected a sequence at line 1 column 0, expected…
            a.json: no object in it has the key 'spmv', expected…
            a.json: invalid type: sequence, expected a map at line 1 column 10, expected…
            a.json: EOF while parsing an object at line 1 column 29, expected…
            a.json: a has an impossible size (2^48 rows, columns or nonzeros, or more), expected…
        "#]]
        .assert_eq(&errors.concat());
    }

    /// Covers both places of sizes, orders, failed kernels, and kernels that are not methods of this program.
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
        let (rows, _) = read(text, None).unwrap();
        let shown = rows.iter().map(|row| {
            let Row { file, method_name: Some(method), .. } = row else { panic!("{row:?}") };
            let (status, order) = (row.status.unwrap().name(), row.order.unwrap().name());
            format!("{file} {method} {status} {order} {}\n", row.reason.text().unwrap_or("-"))
        });
        expect![[r#"
            /tmp/a.mtx ginkgo:csr ok natural -
            /tmp/a.mtx ginkgo:ell failed natural out of memory
            /tmp/a.mtx ginkgo:sellp failed natural not completed
            matrix 2 ginkgo:coo ok rcm -
            c.mtx (reordered: amd) ginkgo:coo ok natural -
        "#]]
        .assert_eq(&shown.collect::<String>());
        let row = &rows[0];
        assert_eq!((row.sizes(), row.iterations), (Some([2, 3, 4]), Some(10)));
        assert_eq!(row.required_bytes, Some(60 + 5 * 8));
        assert_eq!((row.row_length_variation, row.max_row_length), (Some(0.5), Some(3)));
        assert!((row.gflops.unwrap() / 8e-4 - 1.0).abs() < 1e-12);
        assert_eq!(row.kind.as_deref(), Some("a kind"));
    }
}
