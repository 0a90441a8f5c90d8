//! The command line. Each command has its own module, which only calls other modules and prints results.

pub mod allocator;
mod args;
mod cache;
mod check_method;
mod cite;
mod compare;
mod corpus;
mod explain;
mod fetch;
mod folder;
mod generate;
mod gpu_file;
mod man;
mod measure;
mod merge;
mod methods;
mod named;
mod new_method;
mod output;
#[cfg(feature = "mpi")]
mod ranks;
mod report;
mod reproduce;
mod single;
mod sources;
mod system;
mod tune;
mod values;

use std::ffi::OsString;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};

pub use crate::campaign::env::Env;
use crate::campaign::isolate::worker;
pub use crate::campaign::isolate::{Interrupted, OUT_OF_MEMORY, REQUEST_TO_CHILD};
use crate::campaign::{gpus, libraries, plugins};
use args::{Cli, Command};
pub use measure::run_settings;
use spmv_results::settings::Pages;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStatus {
    /// Everything succeeded: exit status 0.
    Ok,
    /// A result is wrong, missing or slower than allowed: exit status 1.
    Bad,
    /// The measurements do not decide whether a result is slower than allowed: exit status 3.
    Undecided,
}

/// Returns whether a command line starts a worker, the child process that measures.
pub fn is_worker(args: impl IntoIterator<Item = OsString>) -> bool {
    let cli = Cli::try_parse_from(args);
    matches!(cli, Ok(Cli { command: Some(Command::Worker), .. }))
}

/// Returns the pages that the arrays of this process itself shall have; `None` if it does not measure, or child
/// processes do, which get their pages when they start.
pub fn own_pages(args: impl IntoIterator<Item = OsString>) -> Option<Pages> {
    let cli = Cli::try_parse_from(args).ok()?;
    let measure = match &cli.command {
        Some(Command::System(_)) => return Some(Pages::Huge),
        None => &cli.single.measure,
        Some(Command::Corpus(args)) => &args.measure,
        Some(Command::Tune(args)) => &args.measure,
        Some(_) => return None,
    };
    #[cfg(feature = "mpi")]
    let is_rank = ranks::is_named(measure);
    #[cfg(not(feature = "mpi"))]
    let is_rank = false;
    (measure.no_isolate || is_rank).then_some(measure.pages)
}

/// Returns whether a command checks [`Env::interrupted`] and then ends in an orderly way. The first signal
/// may end the other commands at once because they leave no unfinished files.
pub fn ends_in_order(args: impl IntoIterator<Item = OsString>) -> bool {
    let Ok(Cli { command, .. }) = Cli::try_parse_from(args) else { return false };
    command.is_none_or(|command| {
        matches!(
            command,
            Command::Corpus(_)
                | Command::CheckMethod(_)
                | Command::Fetch(_)
                | Command::Tune(_)
                | Command::Explain(_)
                | Command::Reproduce(_)
                | Command::Generate(_)
                | Command::Worker
        )
    })
}

pub fn run(args: impl IntoIterator<Item = OsString>, env: &mut Env) -> Result<CommandStatus> {
    let args: Vec<OsString> = args.into_iter().collect();
    let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(misspelt) = named::misspelt_command(&args, Cli::command()) {
        return Err(misspelt);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(message) if message.use_stderr() => return Err(message.into()),
        Err(help) => return ok(write!(env.stdout, "{}", help.render())),
    };
    #[cfg(feature = "mpi")]
    spmv_methods::added::add_own(&spmv_methods::cpu::mpi_merge::METHOD);
    #[cfg(feature = "mpi")]
    if let Some(verdict) = ranks::run(cli.command.is_none().then_some(&cli.single), &words, env)? {
        return Ok(verdict);
    }
    if let Some(added) = cli.added() {
        plugins::add(&added.plugins, &added.kernels, env.program.as_deref())?;
    }
    match cli.command {
        None => single::run(&cli.single, words, env),
        Some(Command::Worker) => ok(worker::carry_out_tasks(env)),
        Some(Command::Library { vendor }) => ok(libraries::send_to_parent(vendor)),
        Some(Command::GpuWorker { number }) => ok(gpus::answer(number, env)),
        Some(Command::CheckWorker { file, method, precision, from }) => {
            let precision = precision.single().context("choose one precision")?;
            ok(plugins::check_here(&file, &method, precision, from))
        }
        Some(Command::CheckMethod(args)) => check_method::run(&args, env),
        Some(Command::NewMethod(args)) => new_method::run(&args, env),
        Some(Command::Plugin { file }) => ok(plugins::send_to_parent(&file)),
        Some(Command::Corpus(args)) => corpus::run(&args, words, env),
        Some(Command::Compare(args)) => compare::run(&args, env),
        Some(Command::Merge(args)) => merge::run(&args, env),
        Some(Command::Fetch(args)) => fetch::run(&args, env),
        Some(Command::Tune(args)) => tune::run(args, words, env),
        Some(Command::Report(args)) => report::run(&args, env),
        Some(Command::Explain(args)) => explain::run(&args, env),
        Some(Command::Reproduce(args)) => reproduce::run(&args, env),
        Some(Command::Methods(args)) => methods::run(&args, env),
        Some(Command::Cite(args)) => cite::run(&args, env),
        Some(Command::System(args)) => system::run(&args, env),
        Some(Command::GpuFile(args)) => gpu_file::run(&args, env),
        Some(Command::Generate(args)) => generate::run(&args, env),
        Some(Command::Cache(args)) => cache::run(&args, env),
        Some(Command::Completions { shell }) => {
            // Generated into a buffer first: `generate` panics if it cannot write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "spmv-bench", &mut script);
            ok(env.stdout.write_all(&script))
        }
        Some(Command::Man { command }) => man::run(command.as_deref(), Cli::command(), env.stdout),
    }
}

/// Returns the status of a command that succeeds if it does not fail.
fn ok<E: Into<anyhow::Error>>(done: Result<(), E>) -> Result<CommandStatus> {
    done.map(|()| CommandStatus::Ok).map_err(E::into)
}
