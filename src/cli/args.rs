//! What may be said on the command line.

mod measure;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::compare::CompareArgs;
use super::corpus::share::shard;
use super::fetch::args::FetchArgs;
use super::libraries::Vendor;
use super::merge::MergeArgs;
use super::methods::MethodsArgs;
use super::report::ReportArgs;
use super::reproduce::args::ReproduceArgs;
use super::tune::args::TuneArgs;
use crate::matrix::generate::forms;
use crate::record::run::Shard;
pub use measure::{DeviceChoice, MeasureArgs, device, finite, seconds};

/// What is measured when no matrix is named.
const DEFAULT_MATRIX: &str = "gen:grid2d,n=1000,points=5,random=1";

/// The reference benchmark for sparse matrix-vector multiplication, y = alpha A x + beta y.
///
/// With a matrix in the place of a command: reads it, runs every method on it, verifies each result and
/// prints what each costs. With neither: the same on a generated matrix.
///
/// Exit status: 0 all ok; 1 some result wrong or failed; 2 could not run.
#[derive(Debug, Parser)]
#[command(name = "spmv-bench", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub single: SingleArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures many matrices: below a folder every .mtx, .mtx.gz and .tar.gz file, in order of size
    Corpus(CorpusArgs),
    /// Brings matrices of the SuiteSparse Matrix Collection into a folder
    ///
    /// Brings named sets, matrices by GROUP/NAME, or all of the collection that pass a filter; without
    /// any of these the set `default`. What the folder has is not brought again, what was cut off is
    /// resumed, and every archive is checked: its checksum, and the matrix against the collection's
    /// facts. A name in the folder is always a whole file; parts and the ledger of what was brought,
    /// with hashes, are in its hidden folder .spmv-bench. Proxies are taken from the environment.
    ///
    /// Exit status: 0 all there; 1 some matrix was not brought, or is not as it was; 2 could not run.
    Fetch(FetchArgs),
    /// Compares two result files: what became faster, what slower, and what is no longer right
    ///
    /// Pairs the rows of A and B by matrix, method, precision, device, threads and transpose. A pair is
    /// faster or slower when the 95 % intervals of its times do not overlap, else the same. What was
    /// not measured alike is refused: hot with cold, other orders, other matrices, and where
    /// FILE.run.json lies beside both files, other alpha, beta and expansion; it warns of other settings
    /// and another machine. The intervals are of the spread within a run and know nothing of drift
    /// between the two.
    ///
    /// Exit status: 0 compared; 1 worse by what --fail-above says; 2 could not compare.
    Compare(CompareArgs),
    /// Joins the result files of a corpus' shares
    ///
    /// The rows come in the order of an undivided run. Files that are no shares of one corpus, or were
    /// measured under other settings or on another machine, are refused.
    ///
    /// Exit status: 0 all there; 1 something is missing, which is named; 2 could not join.
    Merge(MergeArgs),
    /// Finds the best values of a method's parameters over many matrices
    ///
    /// csr-k: sweeps every value of srs, and of ssrs where the method has it, that --methods does not fix; by
    /// default of csr2 and csr3, with --device gpu of gpu-csrk-3 and gpu-csrk-3.5, in one round, so that
    /// one size at a time is in memory. Prints the best sizes, their logarithmic regression over the mean
    /// row length, their geometric mean, and the constant that loses least. --output takes a CSV row per
    /// matrix and size.
    ///
    /// shapes: sweeps the combinations that --methods names, by default the launch shapes of the main GPU
    /// methods, and prints how much of each matrix' best each of them reaches in the geometric mean.
    /// --output takes the rows, as of corpus.
    Tune(TuneArgs),
    /// Shows results that were written as CSV: what is wrong, then tables and charts
    ///
    /// With --output writes into a folder: report.html, one file that needs no other; report.md, the same
    /// with its charts as .svg files beside it. Without, prints the main tables. Rows are compared only
    /// within one precision, device, number of threads, cache, order and direction; runs that measured
    /// the same are shown apart. What stands in FILE.csv.run.json tells of machine and settings.
    Report(ReportArgs),
    /// Runs the experiments of the documents: every table and figure as one command
    ///
    /// Without an ID: lists them. Measures what an experiment defines, writes rows, claims and a report
    /// with its views into a folder, and prints the document's numbers beside those measured, with a
    /// verdict each. What is measured already is not measured again: neither what an earlier, interrupted
    /// run left nor what another experiment of the same day and machine has.
    ///
    /// Exit status: 0 all ok, whatever the verdicts; 1 some result wrong or failed; 2 could not run.
    Reproduce(ReproduceArgs),
    /// Lists the methods
    Methods(MethodsArgs),
    /// Shows the machine: CPU, caches, NUMA nodes, memory, libraries, measured bandwidth
    System(SystemArgs),
    /// Writes a generated matrix, or what the reader understood of a file, as a general coordinate file
    Generate(GenerateArgs),
    /// Shows or clears what is kept of parsed files
    Cache(CacheArgs),
    /// Prints a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual pages, for `man -l -`
    Man {
        /// Only the page of this command
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
    /// Measures for the process that started it
    #[command(hide = true)]
    Worker,
    /// Looks for a vendor's library for the process that started it
    #[command(hide = true)]
    Library {
        /// Which
        vendor: Vendor,
    },
}

#[derive(Clone, Debug, Args)]
pub struct SingleArgs {
    /// The matrix: a file, GROUP/NAME or gen:SPEC [default: gen:grid2d,n=1000,points=5,random=1]
    ///
    /// A Matrix Market file (.mtx, .mtx.gz or .tar.gz); a matrix of the collection that `fetch` has brought
    /// into ufl_mtx (GROUP/NAME, such as HB/west0479); a generated matrix (gen:NAME,KEY=VALUE,…; `generate
    /// --help` lists the generators); or the generated stand-in of a matrix of the collection
    /// (stand-in:GROUP/NAME). A file that is called like a command is named with a folder: ./corpus.
    pub matrix: Option<OsString>,
    /// For the message about them.
    #[arg(hide = true)]
    pub further: Vec<OsString>,
    /// The same as MATRIX
    #[arg(long, value_name = "MATRIX", conflicts_with = "matrix")]
    pub mtx: Option<OsString>,
    /// Measure in this process, not in a child that may crash, hang or run out of memory without
    /// ending the run
    #[arg(long)]
    pub no_isolate: bool,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

impl SingleArgs {
    /// What names the matrix.
    pub fn word(&self) -> &OsStr {
        self.matrix.as_deref().or(self.mtx.as_deref()).unwrap_or(OsStr::new(DEFAULT_MATRIX))
    }
}

#[derive(Debug, Args)]
pub struct CorpusArgs {
    /// Folders, files, generators (gen:NAME,key=value,…), and what stands in for matrices of the
    /// collection (stand-in:SET or stand-in:GROUP/NAME; fetch --list shows them)
    #[arg(required = true, value_name = "DIR|FILE|gen:SPEC|stand-in:SET")]
    pub sources: Vec<OsString>,
    /// Go on with the rows that --output FILE has: only what is missing is measured. Settings, methods
    /// and machine must be those of FILE.run.json
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Measure the K-th of N shares that take about as long as each other, the same on every machine;
    /// merge joins their files
    #[arg(long, value_name = "K/N", default_value = "1/1", value_parser = shard)]
    pub shard: Shard,
    /// Measure in this process, not in a child that may crash, hang or run out of memory without
    /// ending the run
    #[arg(long)]
    pub no_isolate: bool,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct SystemArgs {
    /// Most threads to measure bandwidth with [default: one per core, fewer
    /// where a control group bounds the CPUs' time]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Form of the output: text or json
    #[arg(long, value_enum, default_value = "text")]
    pub format: SystemFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SystemFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// A generator's specification, a Matrix Market file, or what stands in for a matrix of the
    /// collection
    #[arg(value_name = "gen:SPEC|FILE|stand-in:SET",
          long_help = format!("A file; stand-in:GROUP/NAME, or with --mirror stand-in:SET; or a \
          generator: {}", forms()))]
    pub source: OsString,
    /// The file to write; compressed if its name ends in .gz
    #[arg(short, long, value_name = "FILE", required_unless_present = "mirror")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long, conflicts_with = "mirror")]
    pub force: bool,
    /// Write stand-ins as archives into a folder that is laid out like the collection's site, for
    /// fetch --mirror when a web server shows it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "no_expand"])]
    pub mirror: Option<PathBuf>,
    /// A file of further matrices and sets, in the form of the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Keep only the stored triangle of a symmetric or skew-symmetric file
    #[arg(long)]
    pub no_expand: bool,
}

#[derive(Debug, Args)]
pub struct CacheArgs {
    /// What to do
    #[arg(value_enum)]
    pub what: CacheVerb,
    /// Clear only what belongs to files that have changed or gone
    #[arg(long)]
    pub stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CacheVerb {
    /// The matrices kept, the largest first
    List,
    /// Remove them
    Clear,
}
