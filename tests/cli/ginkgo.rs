//! Tests of the format of Ginkgo's benchmarks: written rows are read back, and `report` and `compare` read published
//! files.

use std::path::Path;

use spmv_bench::cli::CommandStatus;
use spmv_bench::record::read::read_any;
use spmv_bench::record::row::Row;

use super::SMALL;
use super::env::{Dir, run};

/// Returns a result file in Ginkgo's format, with times in seconds multiplied by `unit`.
fn published(unit: f64) -> String {
    let matrix = |name: &str, coo: f64| {
        format!(
            r#"{{"filename": "/mtx/{name}.mtx", "problem": {{"name": "{name}", "rows": 9, "cols": 9, "nonzeros": 50}},
             "spmv": {{"coo": {{"storage": 800, "time": {}, "completed": true}}, "ell": {{"completed": false}}}}}}"#,
            coo * unit
        )
    };
    format!("[{}, {}]", matrix("a", 2e-5), matrix("b", 4e-5))
}

/// Returns the part of a row that the format can store. Times are rounded, because they are converted.
fn held(row: Row) -> Row {
    let seven = |number: Option<f64>| number.map(|number| format!("{number:.7e}").parse().unwrap());
    let matrix = Row {
        file: row.file.clone(),
        num_rows: row.num_rows,
        num_cols: row.num_cols,
        num_nonzeros: row.num_nonzeros,
        row_length_mean: row.row_length_mean,
        row_length_std_dev: seven(row.row_length_std_dev),
        row_length_variation: seven(row.row_length_variation),
        row_length_skewness: row.row_length_skewness,
        max_row_length: row.max_row_length,
        variance: row.variance,
        kind: row.kind.clone(),
        ..Row::default()
    };
    Row {
        method_name: row.method_name.clone(),
        avg_spmv_ms: seven(row.avg_spmv_ms),
        gflops: seven(row.gflops),
        effective_gbs: seven(row.effective_gbs),
        compulsory_gbs: seven(row.compulsory_gbs),
        required_bytes: row.required_bytes,
        iterations: row.iterations,
        precision: row.precision,
        device: row.device,
        threads: row.threads,
        transpose: row.transpose,
        cache: row.cache,
        order: row.order,
        status: row.status,
        reason: row.reason.clone().filter(|_| !row.is_ok()),
        run_id: row.run_id,
        ..matrix
    }
}

fn rows(path: &Path) -> Vec<Row> {
    let (lines, _) = read_any(path, None).unwrap();
    let mut rows: Vec<_> = lines.into_iter().map(|line| held(line.row)).collect();
    rows.sort_by(|a, b| (&a.file, &a.method_name).cmp(&(&b.file, &b.method_name)));
    rows
}

/// Tests results, a skipped method, an unreadable matrix and a matrix without results.
#[test]
fn rows_are_read_back_from_the_format() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("bad.mtx", "nonsense")]);
    for options in ["--precision f32", "--order rcm --transpose"] {
        for (form, output) in [("csv", "a.csv"), ("ginkgo", "a.json")] {
            let ran = dir.run(&format!(
                "corpus DIR gen:wheel,spokes=200 gen:dense,nnz=5,cols=5 --methods seq,coo,dia --threads 1 \
                 --iterations 8 --rounds 1 --no-bandwidth --force --format {form} --output DIR/{output} {options}"
            ));
            assert_eq!(ran.result, Ok(CommandStatus::Bad), "{ran:?}");
        }
        let [csv, ginkgo] = ["a.csv", "a.json"].map(|name| rows(&dir.path(name)));
        assert_eq!(ginkgo, csv);
        assert!(csv.iter().any(|row| row.required_bytes.is_some()), "{csv:?}");
        assert!(csv.iter().any(|row| row.method_name.is_none()), "{csv:?}");
    }
    dir.run("report DIR/a.json").prints("taken as seconds: spmv-bench wrote the file.");
}

#[test]
fn one_matrix_is_an_array_and_two_precisions_are_refused() {
    let exact =
        "gen:wheel,spokes=40 --methods seq --iterations 2 --rounds 1 --threads 1 --format ginkgo";
    let ran = run(exact);
    let array: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(array[0]["problem"]["nonzeros"], 80, "{array}");
    assert_eq!(array[0]["spmv"]["seq"]["time"], 0.001, "{array}");
    for (option, values) in
        [("precision", "both"), ("cache", "hot,cold"), ("order", "natural,rcm"), ("threads", "1,2")]
    {
        let error = run(&format!("{exact} --{option} {values}")).error();
        assert!(error.contains(&format!("choose one --{option}, or another format")), "{error}");
    }
}

#[test]
fn published_files_are_reported_and_compared_in_their_units() {
    let [old, new] = [1e9, 0.5].map(published);
    let dir = Dir::new(&[
        ("old.json", &old),
        ("new.json", &new),
        ("b.csv", "file,method_name,avg_spmv_ms,run_id\n"),
    ]);
    let ran = dir.run("compare DIR/old.json DIR/new.json").ok();
    for (file, unit, other) in
        [("old", "nanoseconds", "seconds"), ("new", "seconds", "nanoseconds")]
    {
        let note =
            format!("DIR/{file}.json` are taken as {unit}: as {other} they are not plausible.");
        assert!(ran.stderr.contains(&dir.words(&format!("note: The times of `{note}"))), "{ran:?}");
    }
    assert!(ran.stdout.contains("ginkgo:coo") && ran.stdout.contains("0.500"), "{}", ran.stdout);
    let ran = dir.run("report DIR/old.json");
    for part in
        ["taken as nanoseconds: as seconds they are not plausible.", "f64, GPU", "ginkgo:ell"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let other = "--ginkgo-times: no file is in the format of Ginkgo's benchmarks";
    dir.refuses(&[
        (
            "report DIR/old.json --ginkgo-times s",
            "coo on /mtx/a.mtx takes 20000, which cannot be seconds",
        ),
        ("report DIR/b.csv --ginkgo-times s", other),
        ("compare DIR/b.csv DIR/b.csv --ginkgo-times s", other),
    ]);
}
