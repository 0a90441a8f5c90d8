//! A test folder and a web server for running the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::archive::{Tar, large};
use crate::server::{Reply, Server};

/// The matrices of the tests; `T/tiny` and `U/tiny` have the same name.
const DATASETS: &str = r#"
[[matrix]]
id = "T/tiny"
rows = 3
cols = 4
nnz = 3
entries = 4
kind = "tiny problem"

[[matrix]]
id = "U/tiny"
rows = 2
cols = 2
nnz = 3
kind = "tiny problem"
numerical-symmetry = 1.0

[[matrix]]
id = "T/large"
rows = 400
cols = 400
nnz = 4000
kind = "large problem"

[[matrix]]
id = "T/giant"
rows = 1_000_000_000_000
cols = 1_000_000_000_000
nnz = 1_000_000_000_000_000_000
kind = "giant problem"

[set.default]
source = "these tests"
members = ["T/tiny", "U/tiny"]
"#;

pub const TINY: &str =
    "%%MatrixMarket matrix coordinate real general\n% c\n3 4 4\n1 1 2\n1 4 3\n3 2 0\n3 3 5\n";
pub const SYMMETRIC: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 1 1\n";

pub struct Place {
    dir: TempDir,
    pub server: Server,
    mirror: String,
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let (dir, server) = (tempfile::tempdir().unwrap(), Server::start());
        fs::write(dir.path().join("my.toml"), DATASETS).unwrap();
        let mirror = server.address();
        Self { dir, server, mirror }
    }

    /// Creates a test folder whose server has this archive as `T/tiny`.
    pub fn with(archive: &[u8]) -> Self {
        let place = Self::new();
        place.server.serve("/MM/T/tiny.tar.gz", archive, &[Reply::File]);
        place
    }

    /// Creates a test folder whose server has `T/large` and sends these replies.
    pub fn with_large(replies: &[Reply]) -> Self {
        let place = Self::new();
        place.server.serve("/MM/T/large.tar.gz", &Tar::of("large", &large()).gzip(), replies);
        place
    }

    /// Changes the mirrors that are requested.
    pub fn asking(self, mirror: String) -> Self {
        Self { mirror, ..self }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        command.env_clear().env("SPMV_BENCH_CACHE", self.path("cache"));
        command.env("SPMV_BENCH_MIRROR", &self.mirror);
        command.current_dir(self.dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.args(["fetch", "--datasets", "my.toml", "--to", "to", "--pause", "0.001"]);
        command.args(words);
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        self.ran(self.command(words).output().unwrap())
    }

    /// Returns the result of a run, with the server's address replaced and times removed.
    pub fn ran(&self, output: std::process::Output) -> Ran {
        let text = |bytes| {
            let text = String::from_utf8(bytes).unwrap().replace(&self.server.address(), "SERVER");
            let lines = text.lines().map(|line| match line.rsplit_once(" of archives in ") {
                Some((counts, _)) => format!("{counts} of archives\n"),
                None => format!("{line}\n"),
            });
            lines.collect::<String>()
        };
        Ran {
            status: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs a download that must fail and leave no file except the lock and the ledger. Returns the line with the
    /// reason.
    pub fn fail(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.status, Some(1), "{ran:?}");
        let rest = ["my.toml", "to/.spmv-bench/ledger.csv", "to/.spmv-bench/lock"];
        let left = self.files();
        assert!(left.iter().all(|file| rest.contains(&file.as_str())), "{left:?}");
        let line = ran.stderr.lines().find(|line| line.contains(": not downloaded: "));
        line.unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    }

    /// Returns all files below the folder except those of the cache.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        below(self.dir.path(), &mut files);
        let base = format!("{}/", self.dir.path().display());
        let mut files: Vec<String> = files
            .iter()
            .map(|file| file.to_str().unwrap().replace(&base, ""))
            .filter(|file| !file.starts_with("cache/"))
            .collect();
        files.sort();
        files
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Waits until a file exists.
    pub fn await_file(&self, name: &str) {
        self.await_bytes(name, 0);
    }

    /// Waits until a partial archive has this many bytes.
    pub fn await_part(&self, matrix: &str, bytes: u64) {
        self.await_bytes(&format!("to/.spmv-bench/{matrix}.tar.gz.part"), bytes);
    }

    /// Waits for a limited time, so that a failing test reports what it was waiting for.
    fn await_bytes(&self, name: &str, bytes: u64) {
        const INTERVAL: Duration = Duration::from_millis(2);
        const CHECKS: u32 = 30_000;
        let is_complete =
            || self.path(name).metadata().is_ok_and(|metadata| metadata.len() >= bytes);
        let is_complete = (0..CHECKS).any(|_| {
            is_complete() || {
                thread::sleep(INTERVAL);
                false
            }
        });
        assert!(is_complete, "{name} does not have {bytes} bytes after a minute");
    }
}

/// Sends an interrupt, like Ctrl-C.
pub fn interrupt(child: &Child) {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() && !path.is_symlink() {
            true => below(&path, files),
            false => files.push(path),
        }
    }
}
