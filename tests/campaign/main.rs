//! A long run survives: crashes, hangs, kills, full disks and odd files, seen from outside on the real
//! program.

mod crash;
mod environment;
mod files;
mod gpu;
mod hostile;
mod kill;
mod liars;
mod resume;
mod settings;
mod shards;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Settings under which all but times is the same in every run.
const EXACT: &str = "--no-bandwidth --threads 1 --iterations 20 --rounds 2 --device cpu --methods";

/// Columns that are times or come from times.
const TIMINGS: [&str; 18] = [
    "setup_ms",
    "avg_spmv_ms",
    "gflops",
    "effective_GBs",
    "min_ms",
    "median_ms",
    "max_ms",
    "std_dev_ms",
    "ci95_low_ms",
    "ci95_high_ms",
    "samples",
    "compulsory_GBs",
    "percent_of_peak",
    "required_percent_of_peak",
    "break_even",
    "order_ms",
    "reason",
    "run_id",
];

/// A folder with matrices and what is made of them.
struct Place(TempDir);

impl Place {
    /// With matrices of so many rows each, `m1.mtx` and so on, of falling size.
    fn with_matrices(rows: &[usize]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("matrices")).unwrap();
        for (k, &rows) in rows.iter().enumerate() {
            fs::write(place.path(&format!("matrices/m{}.mtx", k + 1)), band(rows)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program in this folder, with nothing of the user's.
    fn program(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        command
            .args(words.split_whitespace())
            .current_dir(self.0.path())
            .env("SPMV_BENCH_CACHE", self.path("cache"))
            .env_remove("VIRTUAL_ENV")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it.
    fn run(&self, words: &str) -> Ran {
        Ran::of(self.program(words).output().unwrap())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

/// What a run of the program did.
#[derive(Debug)]
struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Self { status: output.status.code(), stdout, stderr }
    }
}

/// A banded matrix.
fn band(rows: usize) -> String {
    let mut text = String::new();
    let mut entries = 0;
    for row in 1..=rows {
        for col in [row.saturating_sub(3), row, row + 2] {
            if (1..=rows).contains(&col) {
                text += &format!("{row} {col} {}\n", (row * 7 + col) % 5 + 1);
                entries += 1;
            }
        }
    }
    format!("%%MatrixMarket matrix coordinate real general\n{rows} {rows} {entries}\n{text}")
}

/// Rows as maps from column to cell.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// Rows as text, without what differs from run to run.
fn timeless(csv: &str) -> Vec<String> {
    let mut rows = rows(csv);
    rows.iter_mut().for_each(|row| row.retain(|column, _| !TIMINGS.contains(&&**column)));
    rows.iter().map(|row| format!("{row:?}")).collect()
}

/// Whether two files have the same rows but for times, in the same order.
#[track_caller]
fn assert_same(left: &str, right: &str) {
    for (k, (a, b)) in timeless(left).into_iter().zip(timeless(right)).enumerate() {
        assert_eq!(a, b, "row {k}");
    }
    assert_eq!(rows(left).len(), rows(right).len(), "rows");
}

/// The cells of a column, one per row.
fn column(csv: &str, name: &str) -> Vec<String> {
    rows(csv).into_iter().map(|row| row[name].clone()).collect()
}

/// Waits for something; `false` if it does not come within a minute.
fn eventually(mut is_there: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !is_there() {
        if start.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// The children of a process.
fn children(pid: u32) -> Vec<i32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let list = fs::read_to_string(path).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}
