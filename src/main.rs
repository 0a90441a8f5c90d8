//! The entry point: runs the command line, prints an error with its causes and returns the exit status.

use std::borrow::Cow;
use std::hint::black_box;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::sys::prctl::set_thp_disable;
use nix::sys::signal::{SigHandler, Signal, signal};
use spmv_bench::bench::clock::SystemClock;
use spmv_bench::cli::{self, CommandStatus, Env, Interrupted, allocator};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::system::System;
use spmv_matrix::system::huge;
use spmv_matrix::system::processes::explained;
use spmv_methods::library::float_state;
use spmv_methods::vendor::mkl;
use spmv_results::settings::Pages;
use spmv_results::table::terminal::{self, Shown};

#[global_allocator]
static ALLOCATOR: allocator::ReportingAllocator = allocator::ReportingAllocator;

/// Whether a signal that requests the end of the run (such as SIGINT) has arrived.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The exit status when a second signal ends the process at once: 128 + SIGINT, as shells report it.
const ENDED_AT_ONCE: i32 = 130;
/// Signals within this time after the first one are ignored: a launcher may send the same signal both to
/// the process and to its process group.
const SAME_REQUEST: Duration = Duration::from_millis(300);

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
    let is_worker = cli::is_worker(std::env::args_os());
    if is_worker {
        allocator::end_with(cli::OUT_OF_MEMORY);
    }
    let own_pages = cli::own_pages(std::env::args_os());
    own_pages.into_iter().for_each(provide);
    if let Some(changed) = float_state::restore().filter(|_| !is_worker) {
        eprintln!("a library of LD_PRELOAD has changed {changed}; this was undone");
    }
    let huge_arrays = own_pages.and_then(|_| huge::are_given());
    let system = System { huge_arrays, ..System::detect() };
    // SAFETY: no other thread has been started yet.
    unsafe { mkl::place_threads(&system.cpus) };
    let handled = handle_signals(is_worker);
    // SAFETY: no handler is installed. Ignored, so that exceeding the file size limit is a write error.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    let (mut plain, mut shown) = (io::stdout().lock(), Shown::new(io::stdout(), None));
    let (mut stderr, clock) = (stderr(), SystemClock::default());
    let stdout: &mut dyn Write = if io::stdout().is_terminal() { &mut shown } else { &mut plain };
    let mut env = Env {
        terminal: io::stderr().is_terminal(),
        width: console::Term::stdout().size_checked().map(|(_, columns)| columns),
        program: Some("/proc/self/exe".into()), // works even after the file has been replaced
        matrices: Some(CacheFolder::of_user("matrices")),
        ..Env::new(stdout, &mut stderr, &clock, &INTERRUPTED, system)
    };
    let result = handled
        .context("cannot start the thread that handles signals such as Ctrl-C")
        .and_then(|()| cli::run(std::env::args_os(), &mut env));
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
            let _ =
                Command::new(program).arg0(name).args(words).env(huge::VARIABLE, tunables).exec();
        }
        Pages::Small => _ = set_thp_disable(true),
        Pages::System => (),
    }
}

/// Installs a signal handler that sets [`INTERRUPTED`] at the first signal. A later signal ends the process
/// at once, except a worker, which its parent ends. Commands that never read the flag get no handler, so
/// that the first signal ends them.
fn handle_signals(is_worker: bool) -> anyhow::Result<()> {
    if !cli::ends_in_order(std::env::args_os()) {
        return Ok(());
    }
    let mut first = None::<Instant>;
    let handled = ctrlc::set_handler(move || {
        let first = *first.get_or_insert_with(Instant::now);
        if first.elapsed() > SAME_REQUEST && !is_worker {
            // SAFETY: no invariants; nothing of this process runs afterwards.
            unsafe { nix::libc::_exit(ENDED_AT_ONCE) };
        }
        INTERRUPTED.store(true, Ordering::Relaxed);
    });
    handled.map_err(|error| match error {
        ctrlc::Error::System(error) => explained(error).into(),
        error => error.into(),
    })
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
    let closed =
        error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe);
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        let text = usage.render().to_string();
        let _ = match terminal::shown(&text) {
            // The text needs no escaping, so clap prints it with its colours.
            Cow::Borrowed(_) => usage.print(),
            Cow::Owned(text) => write!(io::stderr(), "{text}"),
        };
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
