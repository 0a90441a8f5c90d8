//! Checks the output for other programs against `schema/`, and reads it with the example for pandas in `docs/csv.md`.
//! Without jsonschema and pandas in .venv, that test is skipped with a message.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use spmv_bench::bench::clock::SystemClock;
use spmv_bench::bench::peak::Peak;
use spmv_bench::device::Gpu;
use spmv_bench::device::facts::Clocks;
use spmv_bench::device::model::Model;
use spmv_bench::record::row::Row;
use spmv_bench::record::run::{Bandwidth, DeviceBandwidth, RunRecord};

use super::env::run_on;
use super::folder;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A matrix whose kind looks like a spreadsheet formula, and whose file name `NA` is a missing value for pandas.
const FORMULA: &str = "%%MatrixMarket matrix coordinate real general\n% kind: =1+1\n\
                       3 4 4\n1 1 2\n1 4 3\n3 2 1\n3 3 5\n";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// The table in `docs/csv.md`, the rows and their schema have the same columns.
#[test]
fn columns_are_the_same_in_docs_rows_and_schema() {
    let document = read("docs/csv.md");
    let (_, table) = document.split_once("| column | meaning |").unwrap();
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let names =
        lines.flat_map(|line| line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    let schema: Value = serde_json::from_str(&read("schema/row.schema.json")).unwrap();
    let row = serde_json::to_value(Row::default()).unwrap();
    let keys =
        |object: &Value| object.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(&schema["properties"]), keys(&row));
    assert_eq!(names.map(String::from).collect::<BTreeSet<_>>(), keys(&row));
}

/// Writes the results of a modelled GPU that reports its clocks.
fn write_modelled(folder: &Path) {
    let clocks = || Clocks { throttled_by: vec!["power cap".into()], ..Clocks::default() };
    let open = |_: Option<usize>| Ok(Gpu::new(Model::tiny(1).with_clocks(clocks())));
    let words = "corpus gen:wheel,spokes=40 --methods seq,csr-rows,hyb,gpu-csr-vector,gpu-sell --threads 1 \
                 --iterations 3 --rounds 1 --stages --order rcm --no-bandwidth --format json \
                 --output";
    let words = format!("{words} {}/gpu.json", folder.display());
    let ran = run_on(&words, &SystemClock::default(), &AtomicBool::new(false), &open);
    assert!(ran.result.is_ok(), "{ran:?}");
}

/// Writes a run record with the bandwidths, which take long to measure, and with the fields that `merge` adds.
fn write_merged(folder: &Path) {
    let text = fs::read_to_string(folder.join("gpu.json.run.json")).unwrap();
    let mut record: RunRecord = serde_json::from_str(&text).unwrap();
    let peak = Peak::Gpu { copy_gbs: 1.0, read_gbs: 2.0, nominal_gbs: 3.0 };
    record.bandwidth.push(Bandwidth { threads: 1, bytes: 8, peak: Peak::default() });
    record.gpu.as_mut().unwrap().bandwidth.push(DeviceBandwidth { bytes: 8, peak });
    record.joined.push("r1".into());
    let text = serde_json::to_string(&record).unwrap();
    fs::write(folder.join("merged.run.json"), text).unwrap();
}

/// Writes the output of the real program on this machine, including rows without results.
fn write_real(folder: &Path) {
    let quick =
        ["--device", "cpu", "--methods", "csr-rows,ell", "--iterations", "3", "--no-bandwidth"];
    for (output, sources, status) in [
        ("out.csv", &["gen:wheel,spokes=40", "NA.mtx", "bad.mtx"][..], 1),
        ("without.csv", &["bad.mtx", "gen:dense,nnz=5,cols=5"], 2),
        ("out.json", &["NA.mtx", "bad.mtx", "gen:dense,nnz=5,cols=5"], 1),
    ] {
        let format = output.rsplit('.').next().unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        program.current_dir(folder).arg("corpus").args(sources).args(quick);
        let ran = program.args(["--output", output, "--format", format]).output().unwrap();
        assert_eq!(ran.status.code(), Some(status), "{ran:?}");
    }
}

#[test]
fn the_output_conforms_to_the_schemas() {
    let python = Path::new(ROOT).join(".venv/bin/python");
    let has = Command::new(&python).args(["-c", "import jsonschema, pandas"]).output();
    if !has.is_ok_and(|ran| ran.status.success()) {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {} has no jsonschema or no pandas",
            python.display()
        );
        return;
    }
    let folder = folder(&[("NA.mtx", FORMULA), ("bad.mtx", "nonsense")]);
    write_modelled(folder.path());
    write_merged(folder.path());
    write_real(folder.path());
    let script = Path::new(ROOT).join("tests/cli/schema.py");
    let ran = Command::new(&python).arg(script).arg(ROOT).current_dir(&folder).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
