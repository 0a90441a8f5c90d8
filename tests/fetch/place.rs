//! A test folder and a web server for running the program.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use walkdir::WalkDir;

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
/// What is behind every message about failed addresses.
pub const HINT: &str = "; --mirror URL names another copy of the collection";
/// The partial archive of `T/large`.
pub const PART: &str = "to/.spmv-bench/T.large.tar.gz.part";
pub const LEDGER: &str = "to/.spmv-bench/ledger.csv";

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

    /// Creates a test folder whose server has both matrices of the default set.
    pub fn with_both() -> Self {
        let place = Self::with(&Tar::of("tiny", TINY).gzip());
        place.server.serve("/MM/U/tiny.tar.gz", &Tar::of("tiny", SYMMETRIC).gzip(), &[Reply::File]);
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

    /// Asks this server and then another one.
    pub fn asking_also(self, other: &Server) -> Self {
        let both = format!("{},{}", self.server.address(), other.address());
        self.asking(both)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Returns all files below the folder except those of the cache.
    pub fn files(&self) -> Vec<String> {
        let entries = WalkDir::new(self.dir.path()).sort_by_file_name().into_iter();
        let files = entries.map(Result::unwrap).filter(|entry| !entry.file_type().is_dir());
        let names = files.map(|file| {
            let name = file.path().strip_prefix(self.dir.path()).unwrap();
            name.to_str().unwrap().to_owned()
        });
        names.filter(|name| !name.starts_with("cache/")).collect()
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

    /// Runs the program with these environment variables.
    pub fn run_with(&self, variables: &[(&str, &str)], words: &[&str]) -> Ran {
        let mut command = self.command(words);
        self.ran(command.envs(variables.iter().copied()).output().unwrap())
    }

    /// Returns the result of a run, with the server's address replaced and times removed.
    pub fn ran(&self, output: Output) -> Ran {
        let text = |bytes| {
            let text = String::from_utf8(bytes).unwrap().replace(&self.server.address(), "SERVER");
            let lines = text.lines().map(|line| match line.rsplit_once(" of archives in ") {
                Some((counts, _)) => format!("{counts} of archives\n"),
                None => format!("{line}\n"),
            });
            lines.collect::<String>()
        };
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Ran { status: output.status.code(), stdout, stderr }
    }

    /// Runs a download that must succeed.
    pub fn succeed(&self, words: &[&str]) -> Ran {
        let ran = self.run(words);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        ran
    }

    /// Runs a download that must fail. Returns the line with the reason, without its beginning.
    pub fn fail(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.status, Some(1), "{ran:?}");
        let mut reasons =
            ran.stderr.lines().filter_map(|line| line.split_once(": not downloaded: "));
        reasons.next().unwrap_or_else(|| panic!("{ran:?}")).1.to_owned()
    }

    /// As [`fail`](Self::fail), and no file may be left except the lock and the ledger.
    pub fn fail_cleanly(&self, words: &[&str]) -> String {
        let reason = self.fail(words);
        let rest = ["my.toml", LEDGER, "to/.spmv-bench/lock"];
        let left = self.files();
        assert!(left.iter().all(|file| rest.contains(&file.as_str())), "{left:?}: {reason}");
        reason
    }

    /// Waits until a file has this many bytes, but for a limited time, so that a failing test reports what it was waiting
    /// for.
    pub fn await_bytes(&self, name: &str, bytes: u64) {
        for _ in 0..30_000 {
            if self.path(name).metadata().is_ok_and(|metadata| metadata.len() >= bytes) {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        panic!("{name} does not have {bytes} bytes after a minute");
    }
}

/// Sends an interrupt, like Ctrl-C.
pub fn interrupt(child: &Child) {
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
}
