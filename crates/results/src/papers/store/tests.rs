use serde_json::json;

use super::*;
use crate::row::{Row, Status};
use crate::settings::{CacheState, Protocol, Settings};
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

fn key(method: &str) -> RowKey {
    let (precision, device, method) = (Precision::F64, Device::Cpu, method.into());
    let (threads, cache, order) = (Some(2), Some(CacheState::Hot), Some(Order::Natural));
    RowKey { precision, device, method, threads, cache, order }
}

fn report(run_id: &str, file: &str, methods: &[&str]) -> MatrixReport {
    let row =
        |method: &&str| Row { run_id: run_id.into(), ..crate::report::row(file, method, 1.0).with_key(&key(method)) };
    let mut report = MatrixReport::default();
    report.groups.push(crate::matrix::Group::of(methods.iter().map(row).collect()));
    report
}

fn settings() -> RunSettings {
    RunSettings::new(Settings::new(Protocol::MergeSpmv))
}

fn here(revision: &str) -> Value {
    json!({ "revision": revision, "system": { "cpu": "a CPU", "cores": 2 } })
}

fn begin(recorded: &mut Store, run_id: &str, revision: &str) {
    let mut run = here(revision);
    run["settings"] = json!(settings().settings);
    run["expand"] = json!(true);
    fs::create_dir_all(recorded.folder.join("runs")).unwrap();
    fs::write(recorded.run_path(run_id), run.to_string()).unwrap();
    recorded.begin(run_id).unwrap();
}

fn cell<'a>(run: &'a RunSettings, rows: &'a [RowKey], file: &'a str) -> GridCell<'a> {
    GridCell { run, gpu: None, rows, file }
}

fn rows(recorded: &Store, settings: &RunSettings, file: &str) -> Option<usize> {
    recorded.rows_of(cell(settings, &["a", "b"].map(key), file)).map(|rows| rows.len())
}

#[test]
fn cells_are_complete_or_missing_also_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorded = Store::open(dir.path()).unwrap();
    begin(&mut recorded, "r1", "1");
    recorded.append(&report("r1", "x.mtx", &["a", "b", "c"])).unwrap();
    recorded.append(&report("r1", "y.mtx", &["a"])).unwrap();
    let (file, reason) = ("z.mtx".into(), "broken".into());
    let unreadable = MatrixReport::without_groups(file, "r1", Status::Failed, reason);
    recorded.append(&unreadable).unwrap();
    for recorded in [recorded, Store::open(dir.path()).unwrap()] {
        assert_eq!(rows(&recorded, &settings(), "x.mtx"), Some(2), "c was not asked for");
        assert_eq!(rows(&recorded, &settings(), "y.mtx"), None, "b is missing");
        assert_eq!(rows(&recorded, &settings(), "z.mtx"), Some(1), "it cannot be read");
        let other = RunSettings { expand: false, ..settings() };
        assert_eq!(rows(&recorded, &other, "x.mtx"), None, "other settings");
        let other = ["a", "b"].map(|method| RowKey { threads: Some(1), ..key(method) });
        assert!(recorded.rows_of(cell(&settings(), &other, "x.mtx")).is_none());
        let (settings, both) = (settings(), ["a", "b"].map(key));
        let on_gpu = GridCell { gpu: Some("a GPU"), ..cell(&settings, &both, "x.mtx") };
        assert!(recorded.rows_of(on_gpu).is_none());
    }
}

#[test]
fn rows_of_the_same_origin_are_copied_and_others_refused() {
    let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut other = Store::open(from.path()).unwrap();
    begin(&mut other, "r1", "1");
    other.append(&report("r1", "x.mtx", &["a", "b"])).unwrap();
    begin(&mut other, "r2", "2");
    other.append(&report("r2", "y.mtx", &["a", "b"])).unwrap();
    let mut recorded = Store::open(to.path()).unwrap();
    let (settings, both) = (settings(), ["a", "b"].map(key));
    let mut take = |file| recorded.take(&other, cell(&settings, &both, file), &here("1")).unwrap();
    assert_eq!(["x.mtx", "y.mtx", "z.mtx"].map(&mut take), [true, false, false]);
    let recorded = Store::open(to.path()).unwrap();
    assert_eq!(rows(&recorded, &settings, "x.mtx"), Some(2));
    recorded.check_origin(&here("1")).unwrap();
    let error = other.check_origin(&here("1")).unwrap_err().to_string();
    let expected = "has rows of revision 2 on a CPU, 2 cores; this is revision 1";
    assert!(error.contains(expected), "{error}");
}

/// The ID becomes a part of the path of a file that is read and copied.
#[test]
fn a_run_id_of_another_form_is_refused() {
    for (run_id, is_one) in [
        ("20261124T211713176Z-706-hola-fig11-1", true),
        ("../victim", false),
        ("/victim", false),
        ("20260101T000000001Z-1/../victim", false),
        (".", false),
        ("", false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let rows = dir.path().join("rows.csv");
        let row = Row { file: "a.mtx".into(), run_id: run_id.into(), ..Row::default() };
        RowFile::open::<Row>(&rows).unwrap().add(&[row]).unwrap();
        let error = Store::open(dir.path()).err().unwrap().to_string();
        let refused = format!("{}: '{run_id}' is not the ID", rows.display());
        assert_eq!(error.starts_with(&refused), !is_one, "{error}");
    }
}
