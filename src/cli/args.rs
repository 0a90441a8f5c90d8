//! What may be said on the command line.

mod measure;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::cite::CiteArgs;
use super::compare::CompareArgs;
use super::corpus::share::shard;
use super::explain::ExplainArgs;
use super::fetch::args::FetchArgs;
use super::gpu_file::GpuFileArgs;
use super::libraries::Vendor;
use super::merge::MergeArgs;
use super::methods::MethodsArgs;
use super::report::ReportArgs;
use super::reproduce::args::ReproduceArgs;
use super::tune::args::TuneArgs;
use super::written::OutputArgs;
use crate::matrix::generate::forms;
use crate::record::run::Shard;
pub use measure::{
    DeviceChoice, MeasureArgs, PrecisionChoice, device, finite, seconds, whole, whole_from,
};

/// What is measured when no matrix is named.
const DEFAULT_MATRIX: &str = "gen:grid2d,n=1000,points=5,random=1";

/// The reference benchmark for sparse matrix-vector multiplication, y = alpha A x + beta y.
///
/// Given a matrix instead of a command, it reads the matrix, runs every method on it, verifies each result
/// and prints the costs of each method. Without a matrix it does so with a generated one.
///
/// Exit status: 0 if all is right, 1 if a result is wrong or a method failed, 2 if the command could not
/// run.
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
    /// Measures many matrices: every .mtx, .mtx.gz and .tar.gz file below a folder, the smallest first
    Corpus(CorpusArgs),
    /// Downloads matrices of the SuiteSparse Matrix Collection into a folder
    ///
    /// Downloads named sets, matrices by GROUP/NAME, or all matrices of the collection that pass a filter;
    /// without any of these the set `default`. Matrices that are in the folder are not downloaded again,
    /// interrupted downloads are resumed, and every archive is checked: its checksum, and the matrix against
    /// what the collection says of it. A matrix file in the folder is always complete; unfinished downloads
    /// and the list of all files with their hashes are in the hidden folder .spmv-bench. Proxies are taken
    /// from the environment.
    ///
    /// Exit status: 0 if all matrices are there, 1 if one could not be downloaded or has changed, 2 if the
    /// command could not run.
    Fetch(FetchArgs),
    /// Compares two result files: what became faster, what slower, and what is no longer right
    ///
    /// Pairs the rows of A and B by matrix, method, precision, device, threads and transpose. B is faster
    /// or slower than A where the 95 % intervals of the two times do not overlap, otherwise the two are the
    /// same. Measurements of different things are refused: hot and cold caches, different orders, different
    /// matrices, and where FILE.run.json lies beside both files, different alpha, beta and expansion of
    /// symmetric matrices. Other different settings and another machine are warned of. The intervals express
    /// the spread within one run; they say nothing about drift between the two runs.
    ///
    /// Exit status: 0 if the files were compared, 1 if B is worse than --fail-above allows, 2 if they could
    /// not be compared.
    Compare(CompareArgs),
    /// Joins the result files that `corpus --shard` wrote
    ///
    /// The rows are in the order of a run without --shard. Files that are not shares of the same corpus, or
    /// were measured with different settings or on different machines, are refused.
    ///
    /// Exit status: 0 if the result is complete, 1 if something is missing, which is named, 2 if the files
    /// could not be joined.
    Merge(MergeArgs),
    /// Finds the best values of a method's parameters over many matrices
    ///
    /// csr-k: measures every value of the parameter srs, and of ssrs where the method has it, unless
    /// --methods gives a value; by default for csr2 and csr3, with --device gpu for gpu-csrk-3 and
    /// gpu-csrk-3.5. It measures in one round, so that only one size is in memory at a time. It prints the best
    /// sizes, their logarithmic regression over the mean row length, their geometric mean, and the constant
    /// that loses least. With --output it writes a CSV row per matrix and size.
    ///
    /// shapes: measures the combinations of parameters that --methods names, by default the launch shapes of
    /// the main GPU methods. It prints which share of the best combination's speed each of them reaches, as
    /// the geometric mean over the matrices. With --output it writes the same rows as corpus.
    Tune(TuneArgs),
    /// Explains the time of a GPU method on a modelled GPU: one page for a kernel's author
    ///
    /// Executes one product of METHOD on the CPU, verifies it, and prints for each kernel: its modelled time and what
    /// binds it, the lines of its source with the most sectors, wasted sectors, idle lanes and bank conflicts, and the
    /// times that it would take without each of its problems. No GPU is needed, but NVRTC, which compiles the kernels.
    ///
    /// Exit status: 0 if there is a page, 1 if it was interrupted, 2 if there can be none.
    Explain(ExplainArgs),
    /// Shows results that were written as CSV or by Ginkgo's benchmarks: first what is wrong, then tables and
    /// charts
    ///
    /// With --output it writes two reports into a folder: report.html, which needs no other file, and
    /// report.md with its charts as .svg files beside it. Without --output it prints the main tables. Rows
    /// are compared only where precision, device, number of threads, cache, order and direction are the
    /// same; several runs of the same measurement are shown separately. The machine and the settings are
    /// taken from FILE.csv.run.json.
    Report(ReportArgs),
    /// Repeats the experiments of the papers: each table and figure is one command
    ///
    /// Without an ID it lists the experiments. With one it measures what the experiment defines, writes the
    /// rows, the claims and a report into a folder, and prints the paper's numbers beside the measured ones,
    /// each with a verdict. Nothing is measured twice: the rows of an interrupted run are used, and those
    /// that another experiment measured on the same day and machine.
    ///
    /// Exit status: 0 if all results are right, whatever the verdicts, 1 if a result is wrong or a method
    /// failed, 2 if the command could not run.
    Reproduce(ReproduceArgs),
    /// Lists the methods with their sources and parameters
    Methods(MethodsArgs),
    /// Prints the BibTeX entries of the sources of methods, each once, sorted by key
    ///
    /// A method of this project or of a library has an entry for the software.
    Cite(CiteArgs),
    /// Shows the machine: CPU, caches, NUMA nodes, memory, libraries, measured bandwidth
    System(SystemArgs),
    /// Measures a GPU and writes the file by which it can be modelled: --device model:FILE.toml
    ///
    /// Clock, latencies, bandwidths of second-level cache and memory, the rates of double precision and of atomic
    /// operations, and the times of launches are measured; the rest is what the driver says or what is published
    /// of the architecture. The file says which is which.
    ///
    /// Exit status: 0 if there is a file, 2 if there can be none.
    GpuFile(GpuFileArgs),
    /// Writes a generated matrix, or a matrix file as it was read, as a general coordinate file
    Generate(GenerateArgs),
    /// Lists or clears the cache of parsed matrix files
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
    /// Measure in this process instead of a child process, whose crash or lack of memory would not end the
    /// run
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
    /// Folders, files, matrices of the collection that fetch has brought (GROUP/NAME), generated matrices
    /// (gen:NAME,KEY=VALUE,…), and generated stand-ins of matrices of the collection (stand-in:SET or
    /// stand-in:GROUP/NAME; fetch --list shows them)
    #[arg(required = true, value_name = "DIR|FILE|gen:SPEC|stand-in:SET")]
    pub sources: Vec<OsString>,
    /// Continue the result file that --output names: only what it lacks is measured. Settings, methods and
    /// machine must be the same as in FILE.run.json
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Measure only share K of N; all shares take about the same time, and are the same on every machine.
    /// merge joins their result files
    #[arg(long, value_name = "K/N", default_value = "1/1", value_parser = shard)]
    pub shard: Shard,
    /// Measure in this process instead of a child process, whose crash or lack of memory would not end the
    /// run
    #[arg(long)]
    pub no_isolate: bool,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct SystemArgs {
    /// The greatest number of threads to measure the bandwidth with [default: one per core, or fewer where a
    /// control group (cgroup) limits the CPU time]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub threads: Option<usize>,
    /// Format of the output [default: as the name of --output ends, .json or .txt; else text]
    #[arg(long, value_enum)]
    pub format: Option<SystemFormat>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SystemFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// A generator with its parameters, a Matrix Market file, or the generated stand-in of a matrix of the
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
    /// Write stand-ins as archives into a folder that is organised like the collection's site; a web server
    /// that serves it can be given to fetch --mirror
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "no_expand"])]
    pub mirror: Option<PathBuf>,
    /// A file that defines further matrices and sets, written like the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Of a symmetric or skew-symmetric file, take only the triangle that it stores
    #[arg(long)]
    pub no_expand: bool,
}

#[derive(Debug, Args)]
pub struct CacheArgs {
    /// What to do
    #[arg(value_enum)]
    pub what: CacheVerb,
    /// Only the entries of files that have changed or no longer exist
    #[arg(long)]
    pub stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CacheVerb {
    /// List the parsed matrices in the cache, the largest first
    List,
    /// Remove them from the cache
    Clear,
}
