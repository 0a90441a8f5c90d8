//! The command line: one file per verb, glue and terminal output only.

mod args;
mod cache;
mod choice;
mod cite;
mod compare;
mod corpus;
mod explain;
mod fetch;
mod generate;
mod gpu_file;
mod install;
mod isolate;
mod libraries;
mod man;
mod merge;
mod methods;
mod named;
mod ordered;
mod progress;
#[cfg(feature = "mpi")]
mod ranks;
mod report;
mod reproduce;
mod run_facts;
mod session;
mod single;
mod sources;
mod system;
mod task;
mod tune;
mod written;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::{CommandFactory, Parser};

use crate::bench::clock::Clock;
use crate::cache::CacheFolder;
use crate::device::Gpu;
use crate::matrix::cached::MatrixCache;
use crate::method::Unavailable;
use crate::system::System;
use crate::system::noise::Readings;
use args::{Cli, Command};
pub use isolate::{Interrupted, OUT_OF_MEMORY};

/// Everything outside the program that a command touches; tests put fakes in its place.
pub struct Env<'a> {
    /// Results.
    pub stdout: &'a mut dyn Write,
    /// Progress, warnings, summaries.
    pub stderr: &'a mut dyn Write,
    /// Whether progress may be drawn on the real stderr.
    pub terminal: bool,
    /// Characters in a line of stdout, if it is a terminal.
    pub width: Option<u16>,
    /// Time.
    pub clock: &'a dyn Clock,
    /// When the run began, UTC, as `2026-11-21T04:15:00Z`.
    pub date: String,
    /// A name for the run that no other has.
    pub run_id: String,
    /// Raised by Ctrl-C.
    pub interrupted: &'a AtomicBool,
    /// The machine, before any thread was pinned.
    pub system: System,
    /// What else it does at the moment.
    pub readings: fn() -> Readings,
    /// This program's file, to start children of; `None`: nothing runs in a process of its own.
    pub program: Option<PathBuf>,
    /// The command line, as given.
    pub arguments: Vec<OsString>,
    /// Opens the GPU of that number, or the first.
    pub open_gpu: &'a dyn Fn(Option<usize>) -> Result<Gpu, Unavailable>,
    /// Where profiles of the machine are kept; `None`: none is measured.
    pub profiles: Option<CacheFolder>,
    /// Where parsed matrices are kept, if they are.
    pub matrices: Option<MatrixCache>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStatus {
    /// All asked for is right: exit status 0.
    Ok,
    /// Some result is wrong or failed, or slower than it may be: exit status 1.
    Bad,
}

/// Whether a command line is that of a child that measures.
pub fn is_worker(args: impl IntoIterator<Item = OsString>) -> bool {
    let cli = Cli::try_parse_from(args);
    matches!(cli, Ok(Cli { command: Some(Command::Worker), .. }))
}

/// Whether a command looks at [`Env::interrupted`], and ends in order when it is raised. The others
/// are to be ended by the first signal: they leave nothing behind.
pub fn ends_in_order(args: impl IntoIterator<Item = OsString>) -> bool {
    let Ok(cli) = Cli::try_parse_from(args) else { return false };
    !matches!(
        cli.command,
        Some(
            Command::Compare(_)
                | Command::Merge(_)
                | Command::Report(_)
                | Command::Methods(_)
                | Command::Cite(_)
                | Command::System(_)
                | Command::GpuFile(_)
                | Command::Library { .. }
                | Command::Cache(_)
                | Command::Completions { .. }
                | Command::Man { .. }
        )
    )
}

/// Runs a command line.
///
/// # Errors
/// When it could not run: exit status 2.
pub fn run(args: impl IntoIterator<Item = OsString>, env: &mut Env) -> Result<CommandStatus> {
    let args: Vec<OsString> = args.into_iter().collect();
    let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    env.arguments.clone_from(&args);
    if let Some(misspelt) = named::misspelt_command(&args) {
        return Err(misspelt);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(message) if message.use_stderr() => return Err(message.into()),
        Err(help) => return written(write!(env.stdout, "{}", help.render())),
    };
    #[cfg(feature = "mpi")]
    if let Some(verdict) = ranks::run(cli.command.is_none().then_some(&cli.single), &words, env)? {
        return Ok(verdict);
    }
    match cli.command {
        None => single::run(&cli.single, words, env),
        Some(Command::Worker) => isolate::worker::run(env),
        Some(Command::Library { vendor }) => libraries::tell(vendor),
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
            // It panics when it cannot write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "spmv-bench", &mut script);
            written(env.stdout.write_all(&script))
        }
        Some(Command::Man { command }) => man::run(command.as_deref(), env.stdout),
    }
}

/// The end of a command that only prints.
fn written(result: io::Result<()>) -> Result<CommandStatus> {
    Ok(result.map(|()| CommandStatus::Ok)?)
}
