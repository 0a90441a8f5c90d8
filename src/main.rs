//! The entry point: runs the command line, prints an error with its causes and returns the exit status.

use std::hint::black_box;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::sys::prctl::set_thp_disable;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction, signal};
use spmv_bench::bench::clock::SystemClock;
use spmv_bench::cli::{CommandLine, CommandStatus, Env, Interrupted, OUT_OF_MEMORY, REQUEST_TO_CHILD, allocator};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::system::System;
use spmv_matrix::system::huge;
use spmv_methods::library::float_state;
use spmv_methods::vendor::mkl;
use spmv_results::files::output::Output;
use spmv_results::settings::Pages;
use spmv_results::table::terminal::Shown;

#[global_allocator]
static ALLOCATOR: allocator::ReportingAllocator = allocator::ReportingAllocator;

/// Whether a signal that requests the end of the run (such as SIGINT) has arrived.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The exit status when a second signal ends the process at once: 128 + SIGINT, as shells report it.
const ENDED_AT_ONCE: i32 = 130;
/// Signals within this time after the first one are ignored: a launcher may send the same signal both to
/// the process and to its process group.
const SAME_REQUEST: Duration = Duration::from_millis(300);
/// The signals that request the end of the run: those of a terminal, of other programs, and those by which batch
/// systems warn of the end of a job's time.
const REQUESTS: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGXCPU];
/// The moment from which [`FIRST_REQUEST`] counts.
static BEGIN: OnceLock<Instant> = OnceLock::new();
/// The time of the first request in milliseconds, from 1; 0 if there was none.
static FIRST_REQUEST: AtomicU64 = AtomicU64::new(0);

/// Runs before any library does.
#[used]
#[unsafe(link_section = ".preinit_array")]
static FIRST: extern "C" fn() = allocate_first;

/// Makes the first allocation, at which the allocator of glibc finds out whether the system gives huge pages on
/// request. Versions such as 2.36 read one byte too few for that, so what the stack has there decides. It must be zero.
extern "C" fn allocate_first() {
    clear_stack();
    // SAFETY: the memory is not used.
    unsafe { nix::libc::free(black_box(nix::libc::malloc(1))) };
}

#[inline(never)]
extern "C" fn clear_stack() {
    black_box([0u8; 1 << 13]);
}

fn main() -> ExitCode {
    let command_line = CommandLine::parse(std::env::args_os());
    let is_worker = command_line.is_worker();
    let needs = command_line.needs();
    if is_worker {
        allocator::end_with(OUT_OF_MEMORY);
    }
    needs.own_pages.into_iter().for_each(provide);
    if let Some(changed) = float_state::restore().filter(|_| !is_worker) {
        eprintln!("a library of LD_PRELOAD has changed {changed}; this was undone");
    }
    let huge_arrays = needs.own_pages.and_then(|_| huge::are_given());
    let system = System { huge_arrays, ..System::detect() };
    if is_worker || needs.own_pages.is_some() {
        // SAFETY: no other thread has been started yet.
        unsafe { mkl::place_threads(&system.cpus) };
    }
    // The first signal ends the other commands.
    let handled = if needs.ends_in_order { handle_signals(is_worker) } else { Ok(()) };
    let handled = handled.context("cannot handle signals such as Ctrl-C");
    // SAFETY: no handler is installed. Ignored, so that exceeding the file size limit is a write error.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    let mut plain = io::stdout().lock();
    let mut escaped = Shown::new(io::stdout(), None).with_colours();
    let (mut stderr, clock) = (stderr(), SystemClock::default());
    let is_terminal = io::stdout().is_terminal();
    let mut stdout = Output::stdout(if is_terminal { &mut escaped } else { &mut plain });
    let mut env = Env {
        terminal: io::stderr().is_terminal(),
        width: console::Term::stdout().size_checked().map(|(_, columns)| columns),
        program: Some("/proc/self/exe".into()), // works even after the file has been replaced
        matrices: Some(CacheFolder::of_user("matrices")),
        ..Env::new(&mut stdout, &mut stderr, &clock, &INTERRUPTED, system)
    };
    let result = handled.and_then(|()| command_line.run(&mut env));
    match result.and_then(|verdict| Ok(env.stdout.flush().map(|()| verdict)?)) {
        Ok(CommandStatus::Ok) => ExitCode::SUCCESS,
        Ok(CommandStatus::Bad) => ExitCode::from(1),
        Ok(CommandStatus::Undecided) => ExitCode::from(3),
        Err(error) => report(&error),
    }
}

/// Gives the arrays of this process these pages. For huge ones the program starts again with another environment, if
/// that is necessary and possible; the record of the run says which pages there are.
fn provide(pages: Pages) {
    match pages {
        Pages::Huge => {
            let Some(tunables) = huge::tunables() else { return };
            let mut words = std::env::args_os();
            let Ok(program) = std::env::current_exe() else { return };
            let name = words.next().unwrap_or_default();
            let _ = Command::new(program).arg0(name).args(words).env(huge::VARIABLE, tunables).exec();
        }
        Pages::Small => _ = set_thp_disable(true),
        Pages::System => (),
    }
}

/// Lets signals request the end of the run. A later signal ends the process at once, except a worker, which its parent
/// ends. A signal that the parent of this process ignores stays ignored, as `nohup` and background jobs of scripts need
/// it; a worker hears its parent in any case.
fn handle_signals(is_worker: bool) -> nix::Result<()> {
    BEGIN.get_or_init(Instant::now);
    let handler = if is_worker { note_request } else { take_request };
    let (flags, none) = (SaFlags::SA_RESTART, SigSet::empty());
    let action = SigAction::new(SigHandler::Handler(handler), flags, none);
    for request in REQUESTS {
        // SAFETY: the handlers use nothing but atomic variables, the clock and `_exit`.
        let before = unsafe { sigaction(request, &action) }?;
        let is_of_parent = is_worker && request == REQUEST_TO_CHILD;
        if matches!(before.handler(), SigHandler::SigIgn) && !is_of_parent {
            // SAFETY: the action was that of this signal before.
            unsafe { sigaction(request, &before) }?;
        }
    }
    Ok(())
}

/// Notes a request. Returns whether it comes after the first one, and is another.
fn is_repeated() -> bool {
    let begin = BEGIN.get().expect("it is set before the handlers are");
    let now = 1 + begin.elapsed().as_millis() as u64;
    INTERRUPTED.store(true, Ordering::Relaxed);
    let first = FIRST_REQUEST.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    first.is_err_and(|first| now > first + SAME_REQUEST.as_millis() as u64)
}

extern "C" fn note_request(_: i32) {
    is_repeated();
}

extern "C" fn take_request(_: i32) {
    if is_repeated() {
        // SAFETY: no invariants; nothing of this process runs afterwards.
        unsafe { nix::libc::_exit(ENDED_AT_ONCE) };
    }
}

/// Returns stderr, with lines that fit if it is a terminal.
fn stderr() -> impl Write {
    let width = console::Term::stderr().size_checked().map(|(_, columns)| columns);
    Shown::new(IgnoreErrors(io::stderr()), width)
}

/// Discards write errors, because a closed stderr must not end the run.
struct IgnoreErrors<W>(W);

impl<W: Write> Write for IgnoreErrors<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

/// Prints an error and returns the exit status. Prints nothing if the reader of stdout has closed the pipe.
fn report(error: &anyhow::Error) -> ExitCode {
    let closed = error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe);
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Without colours, because what the message quotes must not set any.
        let _ = write!(stderr(), "{}", usage.render());
    } else if !closed {
        let _ = writeln!(stderr(), "spmv-bench: {error:#}");
    }
    // A reader such as `head` has what it wants.
    ExitCode::from(if closed {
        0
    } else if error.is::<Interrupted>() {
        1
    } else {
        2
    })
}
