//! Parse, dispatch, print the error chain, exit status.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use nix::sys::signal::{SigHandler, Signal, signal};
use spmv_bench::bench::clock::SystemClock;
use spmv_bench::cache::Cache;
use spmv_bench::cli::{self, Interrupted, Verdict, World};
use spmv_bench::device::cuda;
use spmv_bench::matrix::kept::Kept;
use spmv_bench::methods::vendor::mkl;
use spmv_bench::system::System;
use spmv_bench::system::noise::Readings;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let system = System::detect();
    // SAFETY: no other thread has been started yet.
    unsafe { mkl::place_threads(&system.cpus) };
    let handled = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    // SAFETY: no handler is installed. A file that may not grow is an error of writing, not the end.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    let now = jiff::Timestamp::now();
    let mut world = World {
        stdout: &mut io::stdout().lock(),
        stderr: &mut Heedless(io::stderr()),
        terminal: io::stderr().is_terminal(),
        width: console::Term::stdout().size_checked().map(|(_, columns)| columns),
        clock: &SystemClock::default(),
        date: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        run_id: format!("{}-{}", now.strftime("%Y%m%dT%H%M%S%3fZ"), std::process::id()),
        interrupted: &INTERRUPTED,
        system,
        readings: Readings::now,
        program: Some("/proc/self/exe".into()), // even when its file has been replaced
        arguments: Vec::new(),
        open_gpu: &cuda::open,
        profiles: Some(Cache::of_user("profiles")),
        matrices: Some(Kept::of(Cache::of_user("matrices"))),
    };
    let result = handled
        .context("cannot listen to interrupts")
        .and_then(|()| cli::run(std::env::args_os(), &mut world));
    match result.and_then(|verdict| Ok(world.stdout.flush().map(|()| verdict)?)) {
        Ok(Verdict::Ok) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(error) => report(&error),
    }
}

/// Messages that nobody takes are no reason to end.
struct Heedless<W>(W);

impl<W: Write> Write for Heedless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

/// Prints what went wrong; a reader that closed the pipe has had enough and is told nothing.
fn report(error: &anyhow::Error) -> ExitCode {
    let closed =
        error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe);
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        let _ = usage.print();
    } else if !closed {
        let _ = writeln!(io::stderr(), "spmv-bench: {error:#}");
    }
    ExitCode::from(if error.is::<Interrupted>() { 1 } else { 2 })
}
