//! The JSON of Google Benchmark, which its compare.py, github-action-benchmark and Bencher read.

use serde::Serialize;

use crate::row::{GroupKey, Row, Status, matrix_name};

#[derive(Debug, Serialize)]
pub struct Context {
    /// The beginning of the run, from its name.
    date: String,
    executable: &'static str,
    library_build_type: &'static str,
    num_cpus: usize,
    /// Some readers require the list; what the caches are is in the run record.
    caches: [(); 0],
}

#[derive(Debug, Serialize)]
pub struct Benchmark {
    /// Matrix, method and settings, separated by slashes.
    name: String,
    run_name: String,
    run_type: &'static str,
    threads: usize,
    iterations: usize,
    real_time: f64,
    cpu_time: f64,
    time_unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_occurred: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
}

impl Context {
    /// Reads the date from the name of a run, which begins with it: `20261126T132650455Z-24406`.
    pub fn of(run_id: &str) -> Self {
        let part = |from: usize, to: usize| run_id.get(from..to).unwrap_or_default();
        let date = [part(0, 4), part(4, 6), part(6, 8)].join("-");
        let time = [part(9, 11), part(11, 13), part(13, 15)].join(":");
        let date = format!("{date}T{time}+00:00");
        Self {
            date,
            executable: "spmv-bench",
            library_build_type: "release",
            num_cpus: std::thread::available_parallelism().map_or(1, usize::from),
            caches: [],
        }
    }
}

impl Benchmark {
    /// Returns the benchmark of a row with a method; one of a skipped method does not exist.
    pub fn of(row: &Row) -> Option<Self> {
        let method = row.method_name.as_deref()?;
        let key = GroupKey::from(row);
        let words = GroupKey::NAMES.iter().filter_map(|name| key.word(name));
        let words: Vec<_> = words.map(|word| word.replace(' ', "-")).collect();
        let name = format!("{}/{method}/{}", matrix_name(&row.file), words.join("/"));
        let ms = row.typical_ms().filter(|_| row.is_ok()).unwrap_or(0.0);
        let is_bad = row.is_bad();
        (row.status != Some(Status::Skipped)).then(|| Self {
            run_name: name.clone(),
            name,
            run_type: "iteration",
            threads: row.threads.unwrap_or(1),
            iterations: row.iterations.unwrap_or(0),
            real_time: 1e6 * ms,
            cpu_time: 1e6 * ms,
            time_unit: "ns",
            error_occurred: is_bad.then_some(true),
            error_message: row.reason.text().filter(|_| is_bad).map(String::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_benchmark() {
        let row = crate::report::row("ufl_mtx/cant.mtx.gz", "merge", 0.5);
        let of = |row: &Row| serde_json::to_value(Benchmark::of(row)).unwrap();
        let ok = of(&row);
        assert_eq!(ok["name"], "cant/merge/f64/cpu/2-threads");
        assert_eq!((&ok["real_time"], &ok["time_unit"]), (&5e5.into(), &"ns".into()));
        let wrong = Row { status: Some(Status::Wrong), reason: "bad".into(), ..row.clone() };
        assert_eq!(of(&wrong)["error_message"], "bad");
        assert!(of(&Row { status: Some(Status::Skipped), ..row }).is_null());
        let context = Context::of("20261126T132650455Z-24406");
        assert_eq!(context.date, "2026-11-26T13:26:50+00:00");
    }
}
