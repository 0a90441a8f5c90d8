//! Runs commands in a test environment with a fake clock.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, FakeClock};
use spmv_bench::cli::{self, CommandStatus, Env};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::system::System;
use spmv_matrix::system::noise::Readings;
use spmv_methods::device::Gpu;
use spmv_methods::device::model::Model;
use spmv_methods::method::Unavailable;

pub use crate::support::{Dir, Ran, skip};

impl Ran {
    #[track_caller]
    pub fn error(&self) -> &str {
        assert_eq!(self.status, Some(2), "{self:?}");
        self.stderr.rsplit_once("spmv-bench: ").unwrap().1.trim_end()
    }
}

impl Dir {
    /// Puts the path of the folder in the place of `DIR`.
    pub fn words(&self, words: &str) -> String {
        words.replace("DIR", self.path("").to_str().unwrap().trim_end_matches('/'))
    }

    /// Runs a command line in which `DIR` is the folder, and so is `DIR` in what it prints.
    pub fn run(&self, words: &str) -> Ran {
        self.shown(run(&self.words(words)))
    }

    /// As [`run`](Self::run), with `profiles` for the profiles of the machine and `cache` for parsed matrices.
    pub fn run_keeping(&self, words: &str) -> Ran {
        let caches = ["profiles", "cache"].map(|name| Some(self.path(name)));
        let no_interrupt = AtomicBool::new(false);
        self.shown(run_in(&self.words(words), &fake_clock(), &no_interrupt, &no_gpu, caches))
    }

    /// Runs the real program in this folder.
    pub fn program(&self, words: &str) -> Ran {
        self.program_with(&[], words)
    }

    /// Runs the real program in this folder with variables of the environment.
    pub fn program_with(&self, variables: &[(&str, &str)], words: &str) -> Ran {
        let mut program = Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        program.envs(variables.iter().copied()).current_dir(self.path("")).args(words.split_whitespace());
        Ran::of(program.output().unwrap())
    }

    fn shown(&self, ran: Ran) -> Ran {
        let [stdout, stderr] = [&ran.stdout, &ran.stderr].map(|text| text.replace(&self.words("DIR"), "DIR"));
        Ran { stdout, stderr, ..ran }
    }

    /// Asserts that each command line is refused with an error that contains these words.
    #[track_caller]
    pub fn refuses(&self, cases: &[(&str, &str)]) {
        for (words, expected) in cases {
            let ran = self.run(words);
            assert!(ran.error().contains(expected), "{words}: {}", ran.stderr);
        }
    }

    pub fn count(&self) -> usize {
        self.path("").read_dir().unwrap().count()
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
        words: Vec::new(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        terminal: false,
        width: None,
        clock,
        date: "2026-01-02T03:04:05Z".into(),
        run_id: "test".into(),
        interrupted,
        // With so little memory, only the smallest working set is swept for a run record.
        system: System { cpu: Some("a CPU".into()), memory_bytes: Some(128 << 20), ..System::detect() },
        readings: Readings::default,
        usage: || None,
        powercap: "/dev/null".into(),
        program: None,
        open_gpu,
        gpus: Default::default(),
        profiles: profiles.map(CacheFolder::at),
        matrices: matrices.map(CacheFolder::at),
        together: Default::default(),
    };
    let args = std::iter::once("spmv-bench").chain(words.split_whitespace()).map(OsString::from);
    let (status, message) = match cli::run(args, &mut env) {
        Ok(CommandStatus::Ok) => (0, String::new()),
        Ok(CommandStatus::Bad) => (1, String::new()),
        Ok(CommandStatus::Undecided) => (3, String::new()),
        Err(error) => (2, format!("spmv-bench: {error:#}\n")),
    };
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Ran { command: words.into(), status: Some(status), stdout, stderr: stderr + &message }
}

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
