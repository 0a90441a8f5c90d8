//! Runs commands in a test environment with a fake clock.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use spmv_bench::bench::clock::{Clock, FakeClock};
use spmv_bench::cli::{self, CommandStatus, Env};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::cached::MatrixCache;
use spmv_matrix::system::System;
use spmv_matrix::system::noise::Readings;
use spmv_methods::device::Gpu;
use spmv_methods::method::Unavailable;

/// The result of a command line.
#[derive(Debug)]
pub struct Ran {
    pub result: Result<CommandStatus, String>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command line on a machine without a GPU.
pub fn run_with(words: &str, clock: &dyn Clock, interrupted: &AtomicBool) -> Ran {
    run_on(words, clock, interrupted, &|_| Err(Unavailable("no CUDA driver".into())))
}

/// Runs a command line with `open_gpu` to open GPUs.
pub fn run_on(
    words: &str,
    clock: &dyn Clock,
    interrupted: &AtomicBool,
    open_gpu: &dyn Fn(Option<usize>) -> Result<Gpu, Unavailable>,
) -> Ran {
    run_in(words, clock, interrupted, open_gpu, [None, None])
}

/// Runs a command line with a folder for the machine's profiles.
pub fn run_with_profiles(words: &str, folder: &Path) -> Ran {
    run_with_caches(words, [Some(folder), None])
}

/// Runs a command line with a folder for the cache of parsed matrices.
pub fn run_keeping(words: &str, folder: &Path) -> Ran {
    run_with_caches(words, [None, Some(folder)])
}

fn run_with_caches(words: &str, caches: [Option<&Path>; 2]) -> Ran {
    let no_gpu: &dyn Fn(_) -> _ = &|_| Err(Unavailable("no CUDA driver".into()));
    let clock = FakeClock::new(Duration::from_millis(1));
    run_in(words, &clock, &AtomicBool::new(false), no_gpu, caches)
}

fn run_in(
    words: &str,
    clock: &dyn Clock,
    interrupted: &AtomicBool,
    open_gpu: &dyn Fn(Option<usize>) -> Result<Gpu, Unavailable>,
    [profiles, matrices]: [Option<&Path>; 2],
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

/// Runs a command line with a clock that advances by a millisecond at each call, so that every product takes a
/// millisecond.
pub fn run(words: &str) -> Ran {
    run_with(words, &FakeClock::new(Duration::from_millis(1)), &AtomicBool::new(false))
}

/// A clock that sets the interrupt flag at the given call.
pub struct Interrupting<'a> {
    pub clock: FakeClock,
    pub calls: Cell<usize>,
    pub at: usize,
    pub flag: &'a AtomicBool,
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

/// Runs the built program in a process.
pub fn program(words: &str) -> std::process::Output {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_spmv-bench"));
    std::process::Command::new(program).args(words.split_whitespace()).output().unwrap()
}
