//! The command line. Each command has its own module, which only calls other modules and prints results.

pub mod allocator;
mod cache;
mod check_method;
mod children;
mod cite;
mod compare;
mod completions;
mod corpus;
mod explain;
mod fetch;
mod folder;
mod generate;
mod gpu_file;
mod help;
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
mod verb;

use std::ffi::OsString;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

pub use crate::campaign::env::Env;
pub use crate::campaign::isolate::{Interrupted, OUT_OF_MEMORY, REQUEST_TO_CHILD};
use crate::campaign::plugins;
use children::Child;
pub use measure::settings::run_settings;
pub use verb::{CommandStatus, Needs};
use verb::{Verb, ok};

const EXAMPLES: &str = "\
Examples:
  spmv-bench a.mtx                         all methods on one matrix
  spmv-bench a.mtx --products 500          the least time for 500 products
  spmv-bench a.mtx --methods merge,mkl-ie  only these methods
  spmv-bench corpus DIR --output out.csv   all matrices in a folder
  spmv-bench report out.csv                the answer and tables of results
`spmv-bench --help` has all options, and `spmv-bench COMMAND --help`.";

/// The widest help text, which is also the width without a terminal.
const WIDTH: usize = 80;

/// A benchmark for sparse matrix-vector multiplication, y = alpha A x + beta y.
///
/// With a matrix instead of a command, the program runs every method on it, verifies each result, and prints the
/// speed and the setup cost of each method. Without a matrix, it uses a generated one.
///
/// Exit status: 0 if all results are correct, 1 if a result is wrong or a method failed, 2 if the command could not
/// run.
#[derive(Debug, Parser)]
#[command(name = "spmv-bench", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
#[command(max_term_width = WIDTH, mut_args = help::grouped)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    single: single::SingleArgs,
}

macro_rules! commands {
    ($($name:ident($args:ty),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name($args),)*
            #[command(flatten)]
            Child(Child),
        }

        impl Command {
            fn verb(&self) -> &dyn Verb {
                match self {
                    $(Self::$name(args) => args,)*
                    Self::Child(child) => child,
                }
            }
        }
    };
}

// In the order of the help text.
commands! {
    Corpus(corpus::CorpusArgs),
    Report(report::ReportArgs),
    Compare(compare::CompareArgs),
    Merge(merge::MergeArgs),
    Fetch(fetch::FetchArgs),
    Generate(generate::GenerateArgs),
    Methods(methods::MethodsArgs),
    Tune(tune::TuneArgs),
    Explain(explain::ExplainArgs),
    Reproduce(reproduce::ReproduceArgs),
    NewMethod(new_method::NewMethodArgs),
    CheckMethod(check_method::CheckMethodArgs),
    Cite(cite::CiteArgs),
    System(system::SystemArgs),
    GpuFile(gpu_file::GpuFileArgs),
    Cache(cache::CacheArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Verb for completions::CompletionsArgs {
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        ok(self.print(Cli::command(), env.stdout))
    }
}

impl Verb for man::ManArgs {
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        ok(self.print(Cli::command(), env.stdout))
    }
}

impl Cli {
    fn verb(&self) -> &dyn Verb {
        self.command.as_ref().map_or(&self.single, Command::verb)
    }
}

/// A command line, which is parsed once.
pub struct CommandLine {
    words: Vec<OsString>,
    parsed: Result<Cli, clap::Error>,
}

impl CommandLine {
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Self {
        let words: Vec<_> = words.into_iter().collect();
        let parsed = Cli::try_parse_from(&words);
        Self { words, parsed }
    }

    /// Returns whether it starts a worker, the child process that measures.
    pub fn is_worker(&self) -> bool {
        matches!(self.parsed, Ok(Cli { command: Some(Command::Child(Child::Worker)), .. }))
    }

    /// Returns what the command needs of its process; nothing if there is none, but an error or a help text.
    pub fn needs(&self) -> Needs {
        self.parsed.as_ref().map_or(Needs::NOTHING, |cli| cli.verb().needs())
    }

    pub fn run(self, env: &mut Env) -> Result<CommandStatus> {
        if let Some(misspelt) = named::misspelt_command(&self.words, Cli::command()) {
            return Err(misspelt);
        }
        let cli = match self.parsed {
            Ok(cli) => cli,
            Err(message) if message.use_stderr() => return Err(message.into()),
            Err(help) => return ok(write!(env.stdout, "{}", help.render())),
        };
        env.words = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        #[cfg(feature = "mpi")]
        spmv_methods::added::add_own(&spmv_methods::cpu::mpi_merge::METHOD);
        #[cfg(feature = "mpi")]
        if let Some(verdict) = ranks::run(cli.command.is_none().then_some(&cli.single), env)? {
            return Ok(verdict);
        }
        if let Some(added) = cli.verb().needs().added {
            plugins::add(&added.plugins, &added.kernels, env.program.as_deref())?;
        }
        cli.verb().run(env)
    }
}

pub fn run(words: impl IntoIterator<Item = OsString>, env: &mut Env) -> Result<CommandStatus> {
    CommandLine::parse(words).run(env)
}
