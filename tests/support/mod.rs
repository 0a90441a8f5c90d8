//! What the test programs share: folders with files, what a run of a program has printed, and how much is tested.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// A folder of a test.
pub struct Dir(TempDir);

impl Dir {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let dir = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| dir.write(name, text));
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Writes a file, and the folders in which it is.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Returns the only entry of a folder.
    pub fn only_entry(&self, folder: &str) -> PathBuf {
        let mut entries = self.path(folder).read_dir().unwrap().map(|entry| entry.unwrap().path());
        let (entry, None) = (entries.next().unwrap(), entries.next()) else {
            panic!("{folder} has several entries")
        };
        entry
    }
}

/// What a run has printed, and its exit status.
#[derive(Debug, Default)]
pub struct Ran {
    pub command: String,
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Self { command: String::new(), status: output.status.code(), stdout, stderr }
    }

    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:?}");
        self
    }

    /// Asserts that stdout contains this text.
    #[track_caller]
    pub fn prints(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "no {text}: {self:?}");
        self
    }

    /// Asserts that stderr contains this text.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text}: {self:?}");
        self
    }

    pub fn column(&self, name: &str) -> Vec<String> {
        column(&self.stdout, name)
    }

    /// Returns some columns of stdout, a row in each line; `-` where there is nothing.
    pub fn table(&self, names: &str) -> String {
        let columns: Vec<_> = names.split(' ').map(|name| self.column(name)).collect();
        let mut table = String::new();
        for row in 0..columns[0].len() {
            let cells = columns.iter().map(|column| match &*column[row] {
                "" => "-",
                cell => cell,
            });
            table += &(cells.collect::<Vec<_>>().join(" ") + "\n");
        }
        table
    }

    /// Returns the values in stdout, one after the other.
    pub fn json(&self) -> Vec<serde_json::Value> {
        serde_json::Deserializer::from_str(&self.stdout).into_iter().map(Result::unwrap).collect()
    }
}

pub fn column(csv: &str, name: &str) -> Vec<String> {
    if csv.is_empty() {
        return Vec::new();
    }
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let place = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[place].to_owned()).collect()
}

/// Returns the rows of CSV as maps from the names of columns to cells.
pub fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().map(Result::unwrap).collect()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Prints that a test is skipped: directly to stderr, because the test runner hides what a passing test prints. Returns
/// nothing, for a test or for a function that has no result then.
pub fn skip<T: Default>(reason: &str) -> T {
    let _ = writeln!(io::stderr(), "skipped: {reason}");
    T::default()
}

/// Returns whether everything is tested, and not only what a change often breaks.
pub fn all() -> bool {
    std::env::var_os("SPMV_BENCH_ALL_TESTS").is_some_and(|value| !value.is_empty())
}

/// The environment variable of a process in which only one test runs, with the case for which it runs.
const OWN_CASE: &str = "SPMV_BENCH_TEST_CASE";

/// Returns the case for which [`in_own_process`] started this process, if it did.
pub fn own_case() -> Option<String> {
    std::env::var(OWN_CASE).ok()
}

/// Runs a test of this program once more, in a process in which no other test runs.
#[track_caller]
pub fn in_own_process(test: &str, case: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(OWN_CASE, case).stderr(Stdio::inherit());
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.status == Some(0) && ran.stdout.contains("1 passed"), "{case}: {}", ran.stdout);
}

/// Compiles a source of the tests with these flags. Returns whether there is a compiler that accepts it.
pub fn compile(source: &str, flags: &[&str], output: &Path) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(if source.ends_with(".cpp") { "c++" } else { "cc" });
    command.args(["-O1", "-fPIC", "-I"]).arg(root.join("plugins"));
    command.arg(root.join("tests").join(source)).args(flags).arg("-o").arg(output);
    command.status().is_ok_and(|status| status.success())
}

/// Waits until the condition holds. Returns `false` if it does not hold within a minute.
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

pub fn signal(process: &Child, signal: Signal) {
    kill(Pid::from_raw(process.id().cast_signed()), signal).unwrap();
}
