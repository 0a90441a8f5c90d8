//! The child: measures what it is told to, and tells how far it is.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use nix::fcntl::OFlag;
use nix::sys::prctl::{set_name, set_pdeathsig};
use nix::sys::signal::Signal;
use nix::unistd::{dup2_stdin, getppid};

use super::wire::{Answer, Hello, receive, send};
use crate::bench::execute::Stopped;
use crate::cli::args::{Cli, Command, DeviceChoice, MeasureArgs};
use crate::cli::session::Session;
use crate::cli::task::MatrixTask;
use crate::cli::{CommandStatus, Env};

/// When memory runs out, the system is to end the child, not the program that keeps the results.
const OOM_SCORE: &str = "500";

/// Runs the child, until its parent has no more for it or ends.
pub fn run(env: &mut Env) -> Result<CommandStatus> {
    set_pdeathsig(Signal::SIGKILL)?;
    set_name(c"spmv-bench")?;
    // It may not be permitted; then the system chooses.
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let hello: Hello =
        receive(&socket).context("worker is a command that only spmv-bench itself runs")?;
    // It may have ended before this process asked to end with it.
    ensure!(getppid().as_raw() as u32 == hello.parent, "the program that started this has ended");
    take_input_of(hello.parent);
    let mut measure = measure_args(&hello)?;
    measure.quiet |= hello.quiet;
    measure.only_parallel = hello.only_parallel;
    if let Some(threads) = hello.threads {
        measure.threads = vec![threads];
    }
    if let Some(model) = &hello.model {
        measure.device = DeviceChoice::Models(vec![model.clone()]);
    }
    env.run_id.clone_from(&hello.run_id);
    let mut session = match Session::start(&measure, env) {
        Ok(session) => session.in_child(),
        Err(error) => {
            send(&socket, &Answer::Refused(format!("{error:#}")))?;
            return Ok(CommandStatus::Bad);
        }
    };
    let bandwidth = session.bandwidth(hello.bandwidth, &env.system);
    let command = hello.arguments().map(|word| word.to_string_lossy().into_owned()).collect();
    let record = session.facts(command, &env.date, &env.system, bandwidth);
    send(&socket, &Answer::Ready(Box::new(record)))?;
    while let Ok(task) = receive::<MatrixTask>(&socket) {
        // Without a parent there is nobody to go on for.
        let mut tell = |event| match send(&socket, &Answer::Told(event)) {
            Ok(()) => (),
            Err(_) => std::process::exit(2),
        };
        match session.carry_out(&task, &mut tell) {
            Ok(()) => send(&socket, &Answer::Done)?,
            Err(Stopped::Interrupted) => send(&socket, &Answer::Interrupted)?,
            Err(Stopped::Lost { reason, .. }) => {
                send(&socket, &Answer::Lost(reason))?;
                break;
            }
        }
    }
    Ok(CommandStatus::Ok)
}

/// Makes the parent's standard input this process' own, which the socket has been until now: `--mtx /dev/stdin` reads
/// it. Where it cannot be opened, the socket stays there, and reading it is refused.
fn take_input_of(parent: u32) {
    let mut options = File::options();
    // A pipe without a writer would not be opened for ever.
    options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    if let Ok(input) = options.open(format!("/proc/{parent}/fd/0")) {
        let _ = dup2_stdin(input);
    }
}

/// The options of the command line that the parent was given.
fn measure_args(hello: &Hello) -> Result<MeasureArgs> {
    let cli = Cli::try_parse_from(hello.arguments())?;
    Ok(match cli.command {
        None => cli.single.measure,
        Some(Command::Corpus(args)) => args.measure,
        Some(_) => bail!("this command does not measure in a child"),
    })
}
