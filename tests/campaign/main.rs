//! Tests of the real program under crashes, hangs, kills, full disks and unusual files.

mod crash;
mod driver;
mod energy;
mod environment;
mod files;
mod gpu;
mod hostile;
mod kernels;
mod kill;
mod limits;
mod openmp;
mod own_methods;
mod plugins;
mod reading;
mod resume;
mod samples;
mod settings;
mod shards;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use nix::sys::signal::{SigHandler, Signal};
use nix::unistd::Pid;
use support::{Dir, Ran, column, eventually, rows, signal, skip};

/// Settings with which everything except times is the same in every run.
const EXACT: &str = "--no-bandwidth --threads 1 --iterations 20 --rounds 2 --device cpu --methods";

/// Columns that differ from run to run, beside those of times.
const TIMINGS: &str = "disturbed gflops effective_GBs samples compulsory_GBs percent_of_peak required_percent_of_peak \
                       break_even reason run_id joules_per_product";

/// Returns the words of a run over the folder `matrices` with two methods.
fn corpus(more: &str) -> String {
    format!("corpus matrices {EXACT} seq,merge {more}")
}

impl Dir {
    /// Creates a folder with the matrices `m1.mtx`, `m2.mtx` and so on, which have these numbers of rows.
    fn with_matrices(rows: &[usize]) -> Self {
        let dir = Self::new(&[]);
        fs::create_dir(dir.path("matrices")).unwrap();
        for (k, &rows) in rows.iter().enumerate() {
            dir.write(&format!("matrices/m{}.mtx", k + 1), band(rows));
        }
        dir
    }

    /// Returns a command that runs the program in this folder without the user's environment and cache.
    fn program(&self, words: &str) -> Command {
        // A shell may have set it to be ignored for background processes, such as these tests.
        // SAFETY: no handler is installed.
        unsafe { nix::sys::signal::signal(Signal::SIGINT, SigHandler::SigDfl) }.unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        command
            .args(words.split_whitespace())
            .current_dir(self.path(""))
            .env("SPMV_BENCH_CACHE", self.path("cache"))
            .env_remove("VIRTUAL_ENV")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &str) -> Ran {
        self.run_with(words, &[])
    }

    fn run_with(&self, words: &str, variables: &[(&str, &str)]) -> Ran {
        let output = self.program(words).envs(variables.iter().copied()).output();
        Ran { command: words.into(), ..Ran::of(output.unwrap()) }
    }
}

/// Runs a program with another command in front of it, such as `taskset -c 0`.
fn behind(front: &[&str], program: &Command) -> Ran {
    Ran::of(in_front(front, program).output().unwrap())
}

/// Returns the command of a program with another command in front of it.
fn in_front(front: &[&str], program: &Command) -> Command {
    let mut command = Command::new(front[0]);
    command.args(&front[1..]).arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().unwrap());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A command in front of the program with which its bandwidth is measured with the smallest working set only.
const LITTLE_MEMORY: [&str; 4] = ["sh", "-c", "ulimit -v 900000 && exec \"$@\"", "sh"];

/// The Python packages and libraries that `scripts/test` installs.
const VENV: (&str, &str) = ("VIRTUAL_ENV", concat!(env!("CARGO_MANIFEST_DIR"), "/.venv"));

/// Calls a function with each case, several at a time, because runs of the program mostly wait.
fn at_once<C: Sync>(cases: &[C], call: impl Fn(&C) + Sync) {
    let call = &call;
    std::thread::scope(|scope| {
        for share in cases.chunks(cases.len().div_ceil(4)) {
            scope.spawn(move || share.iter().for_each(call));
        }
    });
}

/// Compiles a source of the tests with these flags, once for all tests. Returns `None` without a compiler.
fn compiled(source: &str, flags: &[&str]) -> Option<PathBuf> {
    static ALL: Mutex<BTreeMap<String, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let name = format!("{source}{}", flags.concat()).replace(['/', '.'], "-");
    let compile = || {
        let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        let unfinished = output.with_extension(std::process::id().to_string());
        let is_made = support::compile(source, flags, &unfinished);
        (is_made && fs::rename(unfinished, &output).is_ok()).then_some(output)
    };
    ALL.lock().unwrap().entry(name.clone()).or_insert_with(compile).clone()
}

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

/// Returns the file with the rows that `edit` keeps and may change.
fn edited(csv: &str, edit: impl Fn(&mut BTreeMap<String, String>) -> bool) -> Vec<u8> {
    let header = csv::Reader::from_reader(csv.as_bytes()).headers().unwrap().clone();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).unwrap();
    for mut row in rows(csv) {
        if edit(&mut row) {
            writer.write_record(header.iter().map(|name| &row[name])).unwrap();
        }
    }
    writer.into_inner().unwrap()
}

/// Returns the rows as text, without the columns that differ from run to run.
fn timeless(csv: &str) -> Vec<String> {
    let mut rows = rows(csv);
    let is_timeless = |column: &str| !column.ends_with("_ms") && !TIMINGS.split(' ').any(|it| it == column);
    rows.iter_mut().for_each(|row| row.retain(|column, _| is_timeless(column)));
    rows.iter().map(|row| format!("{row:?}")).collect()
}

/// Asserts that two files have the same rows in the same order, except for times.
#[track_caller]
fn assert_same(left: &str, right: &str) {
    for (k, (a, b)) in timeless(left).into_iter().zip(timeless(right)).enumerate() {
        assert_eq!(a, b, "row {k}");
    }
    assert_eq!(rows(left).len(), rows(right).len(), "rows");
}

fn children(process: &Child) -> Vec<Pid> {
    let path = format!("/proc/{0}/task/{0}/children", process.id());
    let list = fs::read_to_string(path).unwrap_or_default();
    list.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap())).collect()
}

/// Returns how a process ends, which must be soon.
fn end_of(mut process: Child) -> Ran {
    assert!(eventually(|| process.try_wait().unwrap().is_some()), "it takes too long");
    Ran::of(process.wait_with_output().unwrap())
}
