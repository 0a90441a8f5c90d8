//! Tests of the format of Ginkgo's benchmarks: written rows are read back, and `report` and `compare` read published
//! files.

use std::path::Path;

use serde_json::Value;
use spmv_results::files::ginkgo::parse;
use spmv_results::files::read::{self, read_any};
use spmv_results::report::overview::{self, Question, ResultFile};
use spmv_results::row::Row;

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

/// The columns that the format can store.
const HELD: &str = "file num_rows num_cols num_nonzeros row_length_mean row_length_std_dev row_length_variation \
                    row_length_skewness max_row_length variance kind method_name avg_spmv_ms gflops effective_GBs \
                    compulsory_GBs required_bytes iterations precision device threads transpose cache order status \
                    reason run_id";

/// Returns these columns of a row. Numbers are rounded, because times are converted, and `ok` has no reason.
fn held(row: &Row) -> Vec<Value> {
    let row = serde_json::to_value(row).unwrap();
    let value = |name: &str| match row[name].as_f64() {
        Some(number) => format!("{number:.7e}").into(),
        None if name == "reason" && row["status"] == "ok" => Value::Null,
        None => row[name].clone(),
    };
    HELD.split(' ').map(value).collect()
}

fn rows(path: &Path) -> Vec<Row> {
    let (lines, _) = read_any(path, None).unwrap();
    let mut rows: Vec<_> = lines.into_iter().map(|line| line.row).collect();
    rows.sort_by(|a, b| (&a.file, &a.method_name).cmp(&(&b.file, &b.method_name)));
    rows
}

/// Tests results, a skipped method, an unreadable matrix and a matrix without results.
#[test]
fn rows_are_read_back_from_the_format() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("bad.mtx", "nonsense")]);
    for options in ["--precision f32", "--order rcm --transpose"] {
        for (form, output) in [("csv", "a.csv"), ("ginkgo", "a.json")] {
            let words = format!(
                "corpus DIR gen:wheel,spokes=200 gen:dense,nnz=5,cols=5 --methods seq,coo,dia --threads 1 \
                 --iterations 8 --rounds 1 --no-bandwidth --force --format {form} --output DIR/{output} {options}"
            );
            dir.run(&words).exits(1);
        }
        let [csv, ginkgo] = ["a.csv", "a.json"].map(|name| rows(&dir.path(name)));
        let [held_by_csv, held_by_ginkgo] = [&csv, &ginkgo].map(|rows| rows.iter().map(held));
        assert!(held_by_ginkgo.eq(held_by_csv), "{ginkgo:?} {csv:?}");
        assert!(csv.iter().any(|row| row.required_bytes.is_some()), "{csv:?}");
        assert!(csv.iter().any(|row| row.method_name.is_none()), "{csv:?}");
    }
    dir.run("report DIR/a.json").prints("taken as seconds: spmv-bench wrote the file.");
}

#[test]
fn one_matrix_is_an_array_and_two_precisions_are_refused() {
    let exact = "gen:wheel,spokes=40 --methods seq --iterations 2 --rounds 1 --threads 1 --format ginkgo";
    let ran = run(exact);
    let array = ran.json().remove(0);
    assert_eq!(array[0]["problem"]["nonzeros"], 80, "{array}");
    assert_eq!(array[0]["spmv"]["seq"]["time"], 0.001, "{array}");
    for (option, values) in [("precision", "both"), ("cache", "hot,cold"), ("order", "natural,rcm"), ("threads", "1,2")]
    {
        let expected = format!("choose one --{option}, or another format");
        run(&format!("{exact} --{option} {values}")).exits(2).says(&expected);
    }
}

/// A file that ends early or has a wrong byte is read or refused with its name, and what is read makes a report.
#[test]
fn damaged_files_are_read_or_refused() {
    let exact = "gen:wheel,spokes=40 --methods seq --iterations 2 --rounds 1 --threads 1 --format";
    let own = ["ginkgo", "google-benchmark", "json"].map(|form| run(&format!("{exact} {form}")));
    for text in own.map(|ran| ran.stdout).into_iter().chain([published(0.5)]) {
        let places = 0..text.len();
        let cut = places.clone().map(|end| text.as_bytes()[..end].to_vec());
        let wrong = places.flat_map(|place| {
            b"\"9-}\xff".map(|byte| [&text.as_bytes()[..place], &[byte], &text.as_bytes()[place + 1..]].concat())
        });
        for (number, text) in cut.chain(wrong).enumerate() {
            let path = Path::new("a.json");
            let read = match parse::is_list(&text) {
                true => parse::parse(path, &text, None).map(|(rows, _)| rows.into_iter().map(Into::into).collect()),
                false => read::parse(path, &text),
            };
            let shown = String::from_utf8_lossy(&text);
            match read {
                Err(error) => assert!(error.to_string().starts_with("a.json"), "{error}: {shown}"),
                Ok(lines) if number % 97 == 0 => {
                    let file = ResultFile { lines, ..ResultFile::default() };
                    assert!(!overview::page(&[file], Question::default()).to_html().is_empty());
                }
                Ok(_) => (),
            }
        }
    }
}

#[test]
fn published_files_are_reported_and_compared_in_their_units() {
    let [old, new] = [1e9, 0.5].map(published);
    let dir = Dir::new(&[("old.json", &old), ("new.json", &new), ("b.csv", "file,method_name,avg_spmv_ms,run_id\n")]);
    let ran = dir.run("compare DIR/old.json DIR/new.json").exits(0);
    for (file, unit, other) in [("old", "nanoseconds", "seconds"), ("new", "seconds", "nanoseconds")] {
        let note = format!("are taken as {unit}: as {other} they are not plausible.");
        ran.says(&format!("note: The times of `DIR/{file}.json` {note}"));
    }
    ran.prints("ginkgo:coo").prints("0.500");
    dir.run("report DIR/old.json")
        .prints("taken as nanoseconds: as seconds they are not plausible.")
        .prints("f64, GPU")
        .prints("ginkgo:ell");
    let other = "--ginkgo-times: no file is in the format of Ginkgo's benchmarks";
    dir.refuses(&[
        ("report DIR/old.json --ginkgo-times s", "coo on /mtx/a.mtx takes 20000, which cannot be"),
        ("report DIR/b.csv --ginkgo-times s", other),
        ("compare DIR/b.csv DIR/b.csv --ginkgo-times s", other),
    ]);
}
