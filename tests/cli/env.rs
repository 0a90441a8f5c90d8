//! Runs commands in a test environment with a fake clock.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, FakeClock};
use spmv_bench::cli::{self, CommandStatus, Env};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::cached::MatrixCache;
use spmv_matrix::system::System;
use spmv_matrix::system::noise::Readings;
use spmv_methods::device::Gpu;
use spmv_methods::device::model::Model;
use spmv_methods::method::Unavailable;
use tempfile::TempDir;

#[derive(Debug)]
pub struct Ran {
    pub result: Result<CommandStatus, String>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Asserts that everything was measured.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.result, Ok(CommandStatus::Ok), "{self:?}");
        self
    }

    #[track_caller]
    pub fn error(&self) -> String {
        self.result.clone().unwrap_err()
    }

    #[track_caller]
    pub fn prints(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "no {text}: {self:?}");
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text}: {self:?}");
        self
    }

    pub fn column(&self, name: &str) -> Vec<String> {
        let mut reader = csv::Reader::from_reader(self.stdout.as_bytes());
        let place = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
        reader.records().map(|record| record.unwrap()[place].to_owned()).collect()
    }

    /// Returns the values in stdout, one after the other.
    pub fn json(&self) -> Vec<serde_json::Value> {
        serde_json::Deserializer::from_str(&self.stdout).into_iter().map(Result::unwrap).collect()
    }
}

/// A folder of a test. `DIR` in a command line is its path.
pub struct Dir(pub TempDir);

impl Dir {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let dir = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| dir.write(name, text));
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Writes a file, and the folders in which it is.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn count(&self) -> usize {
        self.0.path().read_dir().unwrap().count()
    }

    pub fn words(&self, words: &str) -> String {
        words.replace("DIR", self.0.path().to_str().unwrap())
    }

    pub fn run(&self, words: &str) -> Ran {
        run(&self.words(words))
    }

    /// Runs a command line with `DIR/profiles` for the profiles of the machine and `DIR/cache` for parsed matrices.
    pub fn run_keeping(&self, words: &str) -> Ran {
        let caches = ["profiles", "cache"].map(|name| Some(self.path(name)));
        run_in(&self.words(words), &fake_clock(), &AtomicBool::new(false), &no_gpu, caches)
    }

    /// Asserts that each command line is refused with an error that contains these words.
    #[track_caller]
    pub fn refuses(&self, cases: &[(&str, &str)]) {
        for (words, expected) in cases {
            let (error, expected) = (self.run(words).error(), self.words(expected));
            assert!(error.contains(&expected), "{words}: {error}");
        }
    }
}

/// A clock that advances by a millisecond at each call, so that every product takes a millisecond.
pub fn fake_clock() -> FakeClock {
    FakeClock::new(Duration::from_millis(1))
}

fn no_gpu(_: Option<usize>) -> Result<Gpu, Unavailable> {
    Err(Unavailable("no CUDA driver".into()))
}

/// Runs a command line on a machine without a GPU, with the fake clock.
pub fn run(words: &str) -> Ran {
    run_in(words, &fake_clock(), &AtomicBool::new(false), &no_gpu, [None, None])
}

/// Runs a command line on a machine whose only GPU, with the number 0, is a model.
pub fn run_on(words: &str, clock: &dyn Clock, model: impl Fn() -> Model) -> Ran {
    let open = |number: Option<usize>| match number {
        None | Some(0) => Ok(Gpu::new(model())),
        Some(_) => Err(Unavailable("there is one GPU".into())),
    };
    run_in(words, clock, &AtomicBool::new(false), &open, [None, None])
}

/// Runs a command line that is interrupted at the given call of the fake clock. Also returns whether it was so long.
pub fn interrupted(words: &str, at: usize) -> (Ran, bool) {
    let flag = AtomicBool::new(false);
    let clock = Interrupting { clock: fake_clock(), calls: Cell::new(0), at, flag: &flag };
    let ran = run_in(words, &clock, &flag, &no_gpu, [None, None]);
    (ran, flag.into_inner())
}

fn run_in(
    words: &str,
    clock: &dyn Clock,
    interrupted: &AtomicBool,
    open_gpu: &dyn Fn(Option<usize>) -> Result<Gpu, Unavailable>,
    [profiles, matrices]: [Option<PathBuf>; 2],
) -> Ran {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut env = Env {
        stdout: &mut stdout,
        stderr: &mut stderr,
        terminal: false,
        width: None,
        clock,
        date: "2026-01-02T03:04:05Z".into(),
        run_id: "test".into(),
        interrupted,
        // With so little memory, only the smallest working set is swept for a run record.
        system: System {
            cpu: Some("a CPU".into()),
            memory_bytes: Some(128 << 20),
            ..System::detect()
        },
        readings: Readings::default,
        program: None,
        open_gpu,
        gpus: Default::default(),
        profiles: profiles.map(CacheFolder::at),
        matrices: matrices.map(|folder| MatrixCache::of(CacheFolder::at(folder))),
    };
    let args = std::iter::once("spmv-bench").chain(words.split_whitespace()).map(OsString::from);
    let result = cli::run(args, &mut env).map_err(|error| format!("{error:#}"));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { result, stdout: text(stdout), stderr: text(stderr) }
}

/// A clock that sets the interrupt flag at the given call.
struct Interrupting<'a> {
    clock: FakeClock,
    calls: Cell<usize>,
    at: usize,
    flag: &'a AtomicBool,
}

impl Clock for Interrupting<'_> {
    fn now(&self) -> Duration {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() == self.at {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.clock.now()
    }
    fn pause(&self, time: Duration) {
        self.clock.pause(time);
    }
}

pub fn program(words: &str) -> std::process::Output {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_spmv-bench"));
    std::process::Command::new(program).args(words.split_whitespace()).output().unwrap()
}
