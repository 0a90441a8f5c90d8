//! mpi-merge as it is run: the program under `mpirun`, on matrices that are awkward to divide. That shares
//! and products are right rank by rank is tested without MPI, in `src/mpi/tests.rs`; here every row of every
//! product is verified by the program itself.

use std::fs;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_spmv-bench");
/// What one process does and what several do must agree in these columns.
const FACTS: [&str; 11] = [
    "file",
    "num_rows",
    "num_cols",
    "num_nonzeros",
    "row_length_mean",
    "row_length_std_dev",
    "row_length_variation",
    "row_length_skewness",
    "max_row_length",
    "empty_rows",
    "kind",
];
const QUICK: &str = "--iterations 4 --warmups 1 --quiet --no-cache";

fn alone(words: &str) -> Output {
    Command::new(PROGRAM).args(words.split_whitespace()).output().unwrap()
}

fn mpirun(ranks: usize, words: &str) -> Output {
    let ranks = ranks.to_string();
    Command::new("mpirun")
        .args(["-n", &ranks, "--oversubscribe", "--allow-run-as-root", PROGRAM])
        .args(words.split_whitespace())
        .output()
        .expect("mpirun, of Open MPI")
}

/// Rows by the names of their columns.
type Rows = Vec<std::collections::HashMap<String, String>>;

fn rows(output: &Output) -> Rows {
    let told = [&output.stdout, &output.stderr].map(|told| String::from_utf8_lossy(told));
    assert!(output.status.success(), "{}", told.concat());
    csv::Reader::from_reader(&output.stdout[..]).deserialize().map(Result::unwrap).collect()
}

/// On any number of ranks, with both ways of gathering x, in both precisions, with α and β.
fn check(source: &str) {
    let words = format!(
        "--mtx {source} {QUICK} --rounds 2 --alpha -2 --beta 0.5 --precision both --format csv"
    );
    let whole = &rows(&alone(&format!("{words} --methods seq")))[0];
    for ranks in [1, 2, 3, 4, 7] {
        let ran = rows(&mpirun(ranks, &format!("{words} --methods mpi-merge:gather=*")));
        let got: Vec<_> =
            ran.iter().map(|row| [&row["method_name"][..], &row["precision"]]).collect();
        let (need, all) = ("mpi-merge:gather=need", "mpi-merge:gather=all");
        assert_eq!(got, [[need, "f64"], [all, "f64"], [need, "f32"], [all, "f32"]]);
        for row in ran {
            assert_eq!(row["status"], "ok", "{source} on {ranks}: {}", row["reason"]);
            assert!(row["error_ratio"].parse::<f64>().unwrap() <= 2.0);
            assert_eq!(
                (&row["threads"][..], &row["distinct_results"][..]),
                (&*ranks.to_string(), "1")
            );
            assert!(row["avg_spmv_ms"].parse::<f64>().unwrap() > 0.0 && row["iterations"] == "4");
            assert!(row["reason"].starts_with(&format!("{ranks} rank")));
            for fact in FACTS {
                assert_eq!(row[fact], whole[fact], "{fact} of {source} on {ranks}");
            }
        }
    }
}

#[test]
fn a_dense_row_over_all_ranks_or_some_among_empty_ones() {
    check("gen:dense,rows=1,cols=3000");
    check("gen:hubs,n=500,hubs=1,length=500,others=0,random=3");
}

#[test]
fn empty_rows_in_clusters() {
    check("gen:empty-rows,rows=900,nnz=4000,empty=0.7,clusters=3,random=1");
}

#[test]
fn wide_and_tall() {
    check("gen:uniform,rows=5,cols=3000,nnz=6000,random=2");
    check("gen:uniform,rows=3000,cols=5,nnz=6000,random=2");
}

#[test]
fn more_ranks_than_nonzeros() {
    check("gen:uniform,rows=2,cols=2,nnz=1,random=4");
    check("gen:uniform,rows=3,cols=4,nnz=0");
}

/// Expanded, with duplicates in both triangles, from one file, in a folder of its own.
#[test]
fn a_symmetric_file_with_duplicates() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mtx");
    let text = "%%MatrixMarket matrix coordinate real symmetric\n% kind: a test\n4 4 6\n\
                2 1 3\n3 1 1\n1 2 5\n4 4 2\n4 4 1\n4 1 1\n";
    fs::write(&path, text).unwrap();
    check(path.to_str().unwrap());
    let ran = mpirun(3, &format!("--mtx {} --methods mpi-merge --no-cache", path.display()));
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(told.contains("a.mtx: 2 duplicate entries summed"), "{told}");
}

/// Rank 0 alone writes them; `--quiet` means a line per method here, too.
#[test]
fn results_come_in_several_forms() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let exports = format!("--export-csv {} --export-markdown {}", file("a.csv"), file("a.md"));
    let words = format!("gen:wheel,spokes=9 {QUICK} --methods mpi-merge {exports}");
    let ran = mpirun(2, &words);
    let lines = String::from_utf8(ran.stdout).unwrap();
    assert!(lines.starts_with("matrix=\"gen:wheel,spokes=9\" method=mpi-merge "), "{lines}");
    assert_eq!(lines.lines().count(), 1);
    let [csv, table] = ["a.csv", "a.md"].map(|name| fs::read_to_string(file(name)).unwrap());
    assert_eq!((csv.lines().count(), csv.matches(",mpi-merge,").count()), (2, 1), "{csv}");
    assert!(table.contains("\n| mpi-merge | PASS | "), "{table}");
    assert_eq!(mpirun(2, &words).status.code(), Some(2), "the files are there already");
}

#[test]
fn parts_of_the_product_and_the_run_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("run.json");
    let words = format!(
        "--mtx gen:grid2d,n=40,points=5 {QUICK} --stages --run-record {}",
        record.display()
    );
    let ran = mpirun(3, &format!("{words} --methods mpi-merge --format json"));
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let group = &report["groups"][0];
    let stages: Vec<_> =
        group["stages"][0].as_array().unwrap().iter().map(|s| &s["name"]).collect();
    assert_eq!(stages, ["x gathered", "compute", "tails handed on"]);
    assert_eq!((&group["threads"], &group["rows"][0]["threads"]), (&3.into(), &3.into()));
    // 1600 rows and 7840 nonzeros make 9440 items. The cuts are behind four nonzeros of row 535, at 3147, and
    // three of row 1064, at 6294. The first rank lacks x from 535 to 574; the second from 496 to 534 and from
    // 1064 to 1103; the last from 1025 to 1063.
    let reason = group["rows"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains(
            "; by rank 2610 to 2618 nonzeros, 529 to 536 rows, 39 to 79 values of x received"
        ),
        "{reason}"
    );
    let record: serde_json::Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
    assert!(record["command"].as_array().unwrap().contains(&"mpi-merge".into()));
}

#[test]
fn without_a_launcher_there_is_one_rank() {
    let words = format!("--mtx gen:grid2d,n=9 {QUICK} --threads 1 --format csv --methods");
    let only = rows(&alone(&format!("{words} mpi-merge")));
    assert!(only[0]["status"] == "ok" && only[0]["reason"].starts_with("1 rank: "), "{only:?}");
    let among = rows(&alone(&format!("{words} seq,mpi-merge")));
    // The machine's noise may be told behind it.
    let is_told = among[1]["reason"].starts_with("1 rank, no communication");
    assert!(among[1]["status"] == "ok" && is_told, "{among:?}");
    let methods = String::from_utf8(alone("methods").stdout).unwrap();
    assert!(methods.contains(":gather=need|all"));
}

/// One rank speaks, and the status is its own.
#[test]
fn what_ranks_cannot_do_is_said_once() {
    let dir = tempfile::tempdir().unwrap();
    let (broken, large) = (dir.path().join("broken.mtx"), dir.path().join("large.mtx"));
    let head = "%%MatrixMarket matrix coordinate real general\n2 2 1\n";
    fs::write(&broken, format!("{head}1 3 1\n")).unwrap();
    fs::write(&large, format!("{head}1 2 1e300\n")).unwrap();
    let name = "mpi-merge";
    for (words, expected) in [
        (
            "--methods seq".into(),
            "2 MPI processes were started, which can only run MATRIX --methods mpi-merge",
        ),
        ("corpus gen:grid2d,n=3".into(), "2 MPI processes were started"),
        (
            format!("--methods {name} --threads 2"),
            "--threads: each process of mpi-merge has one thread",
        ),
        (format!("--methods {name} --order rcm"), "--order: mpi-merge has only the natural order"),
        (
            format!("--methods {name} --cache cold"),
            "--cache cold: mpi-merge is measured with hot caches only",
        ),
        (
            format!("--methods {name} --mtx {}", broken.display()),
            "column index 3 exceeds 2 columns",
        ),
        (format!("--methods {name} --mtx nosuch.mtx"), "nosuch.mtx: "),
    ] {
        let ran = mpirun(2, &words);
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!((told.matches(expected).count(), ran.status.code()), (1, Some(2)), "{told}");
        assert!(ran.stdout.is_empty(), "{words}");
    }
    for (words, reason) in [
        (format!("--mtx {} --fp32", large.display()), "the value 1e300 is too large for f32"),
        ("--mtx gen:grid2d,n=5 --transpose".into(), "it has no transposed product"),
    ] {
        let ran = mpirun(2, &format!("{words} {QUICK} --methods {name} --format csv"));
        let row = &rows(&ran)[0];
        assert_eq!((&row["status"][..], &row["reason"][..]), ("skipped", reason));
    }
}
