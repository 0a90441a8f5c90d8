use super::*;
use crate::record::row::{MatrixFacts, Row, Status};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

fn report(run_id: &str, file: &str, methods: &[&str]) -> MatrixReport {
    let row = |method: &&str| Row {
        file: file.into(),
        method_name: Some((*method).into()),
        status: Some(Status::Ok),
        avg_spmv_ms: Some(1.0),
        run_id: run_id.into(),
        ..Row::default()
    };
    let mut report = MatrixReport::default();
    report.groups.push(crate::record::Group::of(methods.iter().map(row).collect()));
    report
}

fn begin(recorded: &mut Store, run_id: &str, options: &str, revision: &str) {
    let command = words(&format!("spmv-bench corpus {options} --methods a,b"));
    let system = serde_json::json!({ "cpu": "a CPU", "cores": 2 });
    let run = serde_json::json!({ "command": command, "revision": revision, "system": system });
    fs::create_dir_all(recorded.folder.join("runs")).unwrap();
    fs::write(recorded.run_path(run_id), run.to_string()).unwrap();
    recorded.begin(run_id).unwrap();
}

fn origin() -> Origin {
    Origin { revision: "1".into(), machine: "a CPU, 2 cores".into() }
}

/// Returns the number of rows of a cell with the methods a and b.
fn rows(recorded: &Store, options: &str, file: &str) -> Option<usize> {
    let (options, methods) = (words(options), words("a b"));
    let cell = GridCell { options: &options, methods: &methods, file };
    recorded.rows_of(cell).map(|rows| rows.len())
}

#[test]
fn cells_are_complete_or_missing_also_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorded = Store::open(dir.path()).unwrap();
    begin(&mut recorded, "r1", "--device cpu", "1");
    recorded.append(&report("r1", "x.mtx", &["a", "b", "c"])).unwrap();
    recorded.append(&report("r1", "y.mtx", &["a"])).unwrap();
    let unreadable = MatrixFacts { file: "z.mtx".into(), ..MatrixFacts::default() };
    let row = Row::of_matrix(&unreadable, "r1").ended(Status::Failed, "broken".into());
    recorded.append(&MatrixReport { ended: Some(row), ..MatrixReport::default() }).unwrap();
    for recorded in [recorded, Store::open(dir.path()).unwrap()] {
        assert_eq!(rows(&recorded, "--device cpu", "x.mtx"), Some(2), "c was not asked for");
        assert_eq!(rows(&recorded, "--device cpu", "y.mtx"), None, "b is missing");
        assert_eq!(rows(&recorded, "--device cpu", "z.mtx"), Some(1), "it cannot be read");
        assert_eq!(rows(&recorded, "--device cpu --fp32", "x.mtx"), None, "other options");
    }
}

#[test]
fn an_incomplete_last_row_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorded = Store::open(dir.path()).unwrap();
    begin(&mut recorded, "r1", "--device cpu", "1");
    recorded.append(&report("r1", "x.mtx", &["a", "b"])).unwrap();
    let whole = fs::read_to_string(recorded.rows_path()).unwrap();
    fs::write(recorded.rows_path(), format!("{whole}y.mtx,1,\"2")).unwrap();
    let mut recorded = Store::open(dir.path()).unwrap();
    assert_eq!(fs::read_to_string(recorded.rows_path()).unwrap(), whole);
    recorded.append(&report("r1", "y.mtx", &["a", "b"])).unwrap();
    let recorded = Store::open(dir.path()).unwrap();
    assert_eq!(rows(&recorded, "--device cpu", "y.mtx"), Some(2));
}

#[test]
fn rows_of_the_same_origin_are_copied_and_others_refused() {
    let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut other = Store::open(from.path()).unwrap();
    begin(&mut other, "r1", "--device cpu", "1");
    other.append(&report("r1", "x.mtx", &["a", "b"])).unwrap();
    begin(&mut other, "r2", "--device cpu", "2");
    other.append(&report("r2", "y.mtx", &["a", "b"])).unwrap();
    let mut recorded = Store::open(to.path()).unwrap();
    let (options, methods) = (words("--device cpu"), words("a b"));
    let mut take = |file| {
        let cell = GridCell { options: &options, methods: &methods, file };
        recorded.take(&other, cell, &origin()).unwrap()
    };
    assert_eq!(["x.mtx", "y.mtx", "z.mtx"].map(&mut take), [true, false, false]);
    let recorded = Store::open(to.path()).unwrap();
    assert_eq!(rows(&recorded, "--device cpu", "x.mtx"), Some(2));
    recorded.check_origin(&origin()).unwrap();
    let error = other.check_origin(&origin()).unwrap_err().to_string();
    assert!(
        error.contains("has rows of revision 2 on a CPU, 2 cores; this is revision 1"),
        "{error}"
    );
}
