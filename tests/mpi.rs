//! Runs mpi-merge under `mpirun` on matrices that are difficult to divide. The program itself verifies every row. The
//! shares and products of single ranks are tested without MPI in `src/bench/mpi/tests.rs`.

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::process::Command;

use support::{Dir, Ran, all};

const PROGRAM: &str = env!("CARGO_BIN_EXE_spmv-bench");
/// The columns in which a run of one process and runs of several processes must agree.
const FACTS: &str = "file num_rows num_cols num_nonzeros row_length_mean row_length_std_dev row_length_variation \
                     row_length_skewness max_row_length empty_rows kind";
const QUICK: &str = "--iterations 4 --warmups 1 --quiet --no-cache";

fn alone(words: &str) -> Ran {
    Ran::of(Command::new(PROGRAM).args(words.split_whitespace()).output().unwrap())
}

fn mpirun(ranks: usize, words: &str) -> Ran {
    let mut command = Command::new("mpirun");
    // After a failure it would wait two seconds for ranks that have ended.
    command.args(["--mca", "odls_base_sigkill_timeout", "0"]);
    command.args(["-n", &ranks.to_string(), "--oversubscribe", "--allow-run-as-root", PROGRAM]);
    Ran::of(command.args(words.split_whitespace()).output().expect("mpirun, of Open MPI"))
}

fn rows(ran: Ran) -> Vec<BTreeMap<String, String>> {
    support::rows(&ran.exits(0).stdout)
}

/// Checks the results on several numbers of ranks, with both ways of gathering x, in both precisions, with α and β.
fn check(source: &str) {
    let settings = "--rounds 2 --alpha -2 --beta 0.5 --precision both --format csv";
    let words = format!("--mtx {source} {QUICK} {settings}");
    let whole = &rows(alone(&format!("{words} --methods seq")))[0];
    let few_or_all = if all() { [1, 2, 3, 4, 7].as_slice() } else { &[3] };
    for &ranks in few_or_all {
        let ran = rows(mpirun(ranks, &format!("{words} --methods mpi-merge:gather=*")));
        let got: Vec<_> = ran.iter().map(|row| [&row["method_name"][..], &row["precision"]]).collect();
        let (need, all) = ("mpi-merge:gather=need", "mpi-merge:gather=all");
        assert_eq!(got, [[need, "f64"], [all, "f64"], [need, "f32"], [all, "f32"]]);
        for row in ran {
            assert_eq!(row["status"], "ok", "{source} on {ranks}: {}", row["reason"]);
            assert!(row["error_ratio"].parse::<f64>().unwrap() <= 2.0);
            assert_eq!([&row["threads"], &row["distinct_results"]], [&*ranks.to_string(), "1"]);
            assert!(row["avg_spmv_ms"].parse::<f64>().unwrap() > 0.0 && row["iterations"] == "4");
            assert!(row["reason"].starts_with(&format!("{ranks} rank")));
            for fact in FACTS.split(' ') {
                assert_eq!(row[fact], whole[fact], "{fact} of {source} on {ranks}");
            }
        }
    }
}

/// A dense row over all ranks, or some among empty ones; empty rows in clusters; a wide and a tall matrix; more ranks
/// than nonzeros.
#[test]
fn matrices_that_are_difficult_to_divide_are_right() {
    for source in [
        "gen:dense,rows=1,cols=3000",
        "gen:hubs,n=500,hubs=1,length=500,others=0,random=3",
        "gen:empty-rows,rows=900,nnz=4000,empty=0.7,clusters=3,random=1",
        "gen:uniform,rows=5,cols=3000,nnz=6000,random=2",
        "gen:uniform,rows=3000,cols=5,nnz=6000,random=2",
        "gen:uniform,rows=2,cols=2,nnz=1,random=4",
        "gen:uniform,rows=3,cols=4,nnz=0",
    ] {
        check(source);
    }
}

/// The file is expanded and has duplicates in both triangles.
#[test]
fn a_symmetric_file_with_duplicates() {
    let text = "%%MatrixMarket matrix coordinate real symmetric\n% kind: a test\n4 4 6\n\
                2 1 3\n3 1 1\n1 2 5\n4 4 2\n4 4 1\n4 1 1\n";
    let dir = Dir::new(&[("a.mtx", text)]);
    let path = dir.path("a.mtx").display().to_string();
    check(&path);
    mpirun(3, &format!("--mtx {path} --methods mpi-merge --no-cache")).says("a.mtx: 2 duplicate entries summed");
}

/// Only rank 0 writes results. `--quiet` prints a line per method, as without MPI.
#[test]
fn results_are_written_in_several_formats() {
    let dir = Dir::new(&[]);
    let file = |name: &str| dir.path(name).display().to_string();
    let exports = format!("--export {} --export {}", file("a.csv"), file("a.md"));
    let words = format!("gen:wheel,spokes=9 {QUICK} --methods mpi-merge {exports}");
    let lines = mpirun(2, &words).stdout;
    assert!(lines.starts_with("matrix=\"gen:wheel,spokes=9\" method=mpi-merge "), "{lines}");
    assert_eq!(lines.lines().count(), 1);
    let [csv, table] = ["a.csv", "a.md"].map(|name| dir.read(name));
    assert_eq!((csv.lines().count(), csv.matches(",mpi-merge,").count()), (2, 1), "{csv}");
    assert!(table.contains("\n| mpi-merge | PASS   | "), "{table}");
    // The files exist already.
    mpirun(2, &words).exits(2);
}

#[test]
fn parts_of_the_product_and_the_run_record_are_written() {
    let dir = Dir::new(&[]);
    let record = dir.path("run.json");
    let matrix = format!("--mtx gen:grid2d,n=40,points=5 {QUICK} --stages --format json");
    let ran = mpirun(3, &format!("{matrix} --methods mpi-merge --run-record {}", record.display()));
    let group = &ran.json()[0]["groups"][0];
    let stages: Vec<_> = group["stages"][0].as_array().unwrap().iter().map(|s| &s["name"]).collect();
    assert_eq!(stages, ["x gathered", "compute", "tails handed on"]);
    assert_eq!((&group["threads"], &group["rows"][0]["threads"]), (&3.into(), &3.into()));
    // 1600 rows and 7840 nonzeros are 9440 items. The cuts are after four nonzeros of row 535 (item 3147) and three
    // of row 1064 (item 6294). The first rank receives x from 535 to 574; the second from 496 to 534 and from 1064 to
    // 1103; the last from 1025 to 1063.
    let reason = group["rows"][0]["reason"].as_str().unwrap();
    let shares = "; by rank 2610 to 2618 nonzeros, 529 to 536 rows, 39 to 79 values of x received";
    assert!(reason.contains(shares), "{reason}");
    assert!(dir.json("run.json")["command"].as_array().unwrap().contains(&"mpi-merge".into()));
}

#[test]
fn without_a_launcher_there_is_one_rank() {
    let words = format!("--mtx gen:grid2d,n=9 {QUICK} --threads 1 --format csv --methods");
    let only = rows(alone(&format!("{words} mpi-merge")));
    assert!(only[0]["status"] == "ok" && only[0]["reason"].starts_with("1 rank: "), "{only:?}");
    let among = rows(alone(&format!("{words} seq,mpi-merge")));
    // A note about noise may follow.
    let has_note = among[1]["reason"].starts_with("1 rank, no communication");
    assert!(among[1]["status"] == "ok" && has_note, "{among:?}");
    alone("methods").prints(":gather=need|all");
}

/// Only one rank prints the error, and its exit status is that of the run.
#[test]
fn errors_are_printed_by_one_rank_only() {
    let head = "%%MatrixMarket matrix coordinate real general\n2 2 1\n";
    let (broken, large) = (format!("{head}1 3 1\n"), format!("{head}1 2 1e300\n"));
    let dir = Dir::new(&[("broken.mtx", &broken), ("large.mtx", &large)]);
    for (words, expected) in [
        ("--methods seq", "2 MPI processes were started, which can only run MATRIX --methods mpi-merge"),
        ("corpus gen:grid2d,n=3", "2 MPI processes were started"),
        ("MERGE --threads 2", "--threads: each process of mpi-merge has one thread"),
        ("MERGE --order rcm", "--order: mpi-merge has only the natural order"),
        ("MERGE --cache cold", "--cache cold: mpi-merge is measured with hot caches only"),
        ("MERGE --mtx BROKEN", "column index 3 exceeds 2 columns"),
        ("MERGE --mtx nosuch.mtx", "nosuch.mtx: "),
        (
            "MERGE --mtx gen:dense,cols=1000,rows=1000 --max-memory 20M",
            "MiB of memory to load its share and run, and 10.0 MiB are available (--max-memory)",
        ),
    ] {
        let words = words.replace("MERGE", "--methods mpi-merge");
        let broken = dir.path("broken.mtx").display().to_string();
        let ran = mpirun(2, &words.replace("BROKEN", &broken)).exits(2);
        let is_once = ran.stderr.matches(expected).count() == 1;
        assert!(is_once && ran.stdout.is_empty(), "{words}: {ran:?}");
    }
    for (words, reason) in [
        (
            format!("{} --precision f32", dir.path("large.mtx").display()),
            "the value 1e300 is too large for f32",
        ),
        ("--mtx gen:grid2d,n=5 --transpose".into(), "it has no transposed product"),
    ] {
        let ran = mpirun(2, &format!("{words} {QUICK} --methods mpi-merge --format csv"));
        let row = &rows(ran)[0];
        assert_eq!((&row["status"][..], &row["reason"][..]), ("skipped", reason));
    }
}

/// The ranks reach the limit at different times, but end at the same point.
#[test]
fn a_time_limit_ends_the_method_on_all_ranks() {
    let words = "--timeout 0.01 --methods mpi-merge:gather=* --format csv";
    let ran = mpirun(3, &format!("--mtx gen:grid2d,n=9 {QUICK} {words}"));
    assert_eq!(ran.exits(1).stdout.matches(",timeout,\"took ").count(), 2);
}
