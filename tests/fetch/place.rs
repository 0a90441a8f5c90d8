//! A test folder and a web server for running the program.

use std::ops::Deref;
use std::process::{Command, Output, Stdio};

use walkdir::WalkDir;

use crate::archive::{Tar, large};
use crate::server::{Reply, Server};
use crate::support::{Dir, Ran, eventually};

/// The matrices of the tests; `T/tiny` and `U/tiny` have the same name.
const DATASETS: &str = r#"
matrix = [
    { id = "T/tiny", rows = 3, cols = 4, nnz = 3, entries = 4, kind = "tiny problem" },
    { id = "U/tiny", rows = 2, cols = 2, nnz = 3, kind = "tiny problem", numerical-symmetry = 1.0 },
    { id = "T/large", rows = 400, cols = 400, nnz = 4000, kind = "large problem" },
    { id = "T/giant", rows = 1_000_000_000_000, cols = 1_000_000_000_000, nnz = 1_000_000_000_000_000_000, kind = "k" },
]

[set.default]
source = "these tests"
members = ["T/tiny", "U/tiny"]
"#;

pub const TINY: &str = "%%MatrixMarket matrix coordinate real general\n% c\n3 4 4\n1 1 2\n1 4 3\n3 2 0\n3 3 5\n";
pub const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 1 1\n";
/// What is behind every message about failed addresses.
pub const HINT: &str = "; --mirror URL names another copy of the collection";
/// The partial archive of `T/large`.
pub const PART: &str = "to/.spmv-bench/T.large.tar.gz.part";
pub const LEDGER: &str = "to/.spmv-bench/ledger.csv";

pub struct Place {
    dir: Dir,
    pub server: Server,
    mirror: String,
}

impl Deref for Place {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        &self.dir
    }
}

impl Place {
    pub fn new() -> Self {
        let (dir, server) = (Dir::new(&[("my.toml", DATASETS)]), Server::start());
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

    pub fn asking(self, mirror: String) -> Self {
        Self { mirror, ..self }
    }

    pub fn asking_also(self, other: &Server) -> Self {
        let both = format!("{},{}", self.server.address(), other.address());
        self.asking(both)
    }

    /// Returns all files below the folder except the cache, the datasets, the ledger and the lock.
    pub fn files(&self) -> Vec<String> {
        let root = self.path("");
        let entries = WalkDir::new(&root).sort_by_file_name().into_iter().map(Result::unwrap);
        let files = entries.filter(|entry| !entry.file_type().is_dir());
        let names = files.map(|it| it.path().strip_prefix(&root).unwrap().display().to_string());
        let usual = ["my.toml", LEDGER, "to/.spmv-bench/lock"];
        names.filter(|it| !it.starts_with("cache/") && !usual.contains(&&**it)).collect()
    }

    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        command.env_clear().env("SPMV_BENCH_CACHE", self.path("cache"));
        command.env("SPMV_BENCH_MIRROR", &self.mirror);
        command.current_dir(self.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.args(["fetch", "--datasets", "my.toml", "--to", "to", "--pause", "0.001"]);
        command.args(words.split_whitespace());
        command
    }

    pub fn run(&self, words: &str) -> Ran {
        self.ran(self.command(words).output().unwrap())
    }

    pub fn run_with(&self, variables: &[(&str, &str)], words: &str) -> Ran {
        self.ran(self.command(words).envs(variables.iter().copied()).output().unwrap())
    }

    /// Returns the result of a run, with the server's address replaced, and without times and the free space.
    pub fn ran(&self, output: Output) -> Ran {
        let ran = Ran::of(output);
        let text = |text: &str| {
            let text = text.replace(&self.server.address(), "SERVER");
            let lines = text.lines().map(|line| match line.rsplit_once(" of archives") {
                Some((counts, _)) => format!("{counts} of archives\n"),
                None => format!("{line}\n"),
            });
            lines.collect::<String>()
        };
        Ran { stdout: text(&ran.stdout), stderr: text(&ran.stderr), ..ran }
    }

    pub fn succeed(&self, words: &str) -> Ran {
        self.run(words).exits(0)
    }

    /// Runs a download that must fail. Returns the line with the reason, without its beginning.
    pub fn fail(&self, words: &str) -> String {
        let ran = self.run(words).exits(1);
        let reason = ran.stderr.lines().find_map(|line| line.split_once(": not downloaded: "));
        reason.unwrap_or_else(|| panic!("{ran:?}")).1.to_owned()
    }

    /// As [`fail`](Self::fail), and no file may be left except the lock and the ledger.
    pub fn fail_cleanly(&self, words: &str) -> String {
        let reason = self.fail(words);
        assert_eq!(self.files(), [""; 0], "{reason}");
        reason
    }

    /// Waits until a file has this many bytes.
    #[track_caller]
    pub fn await_bytes(&self, name: &str, bytes: u64) {
        let has_them = || self.path(name).metadata().is_ok_and(|metadata| metadata.len() >= bytes);
        assert!(eventually(has_them), "{name} does not have {bytes} bytes");
    }
}
