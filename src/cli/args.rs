//! The definition of the command line: commands, arguments and their help texts.

mod measure;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::cite::CiteArgs;
use super::compare::CompareArgs;
use super::explain::ExplainArgs;
use super::fetch::args::FetchArgs;
use super::gpu_file::GpuFileArgs;
use super::merge::MergeArgs;
use super::methods::MethodsArgs;
use super::report::ReportArgs;
use super::reproduce::args::ReproduceArgs;
use super::tune::args::TuneArgs;
use super::written::OutputArgs;
use crate::campaign::libraries::Vendor;
use crate::campaign::share::shard;
use crate::matrix::generate::forms;
use crate::record::run::Shard;
pub use measure::{
    DeviceChoice, MeasureArgs, PrecisionChoice, device, finite, seconds, whole, whole_from,
};

/// The matrix that is measured if the command line names none.
const DEFAULT_MATRIX: &str = "gen:grid2d,n=1000,points=5,random=1";

/// A benchmark for sparse matrix-vector multiplication, y = alpha A x + beta y.
///
/// With a matrix instead of a command, the program reads the matrix, runs every method on it, verifies each
/// result, and prints the speed and the setup cost of each method. Without a matrix, it uses a generated one.
///
/// Exit status: 0 if all results are correct, 1 if a result is wrong or a method failed, 2 if the command
/// could not run.
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
    /// Measures many matrices: every .mtx, .mtx.gz and .tar.gz file below a folder, smallest first
    Corpus(CorpusArgs),
    /// Downloads matrices of the SuiteSparse Matrix Collection into a folder
    ///
    /// Downloads named sets, matrices given as GROUP/NAME, or all matrices of the collection that pass a
    /// filter. Without any of these, downloads the set `default`. Matrices that are already in the folder are
    /// not downloaded again, and interrupted downloads are resumed. The checksum of every archive is verified, and
    /// the size and the number of entries of the matrix are compared with those that the collection states. A
    /// matrix file in the folder is always complete; unfinished downloads and the list of all files with their
    /// hashes are in the hidden folder .spmv-bench. Proxies are read from the environment variables.
    ///
    /// Exit status: 0 if all matrices are present, 1 if one could not be downloaded or has changed, 2 if the
    /// command could not run.
    Fetch(FetchArgs),
    /// Compares two result files: reports what became faster, what became slower, and what is now wrong
    ///
    /// Pairs the rows of A and B by matrix, method, precision, device, threads and transpose. B is faster or
    /// slower than A if the 95 % confidence intervals of the two times do not overlap; otherwise the two are
    /// the same. Files with different cache states (hot or cold), orders or matrices are refused. If both files
    /// have a FILE.run.json, different alpha, beta or expansion of symmetric matrices are refused too, and other
    /// differences in the settings, or different machines, cause a warning. The intervals describe the variation
    /// within one run, not the drift between the two runs.
    ///
    /// Exit status: 0 if the files were compared, 1 if B is worse than --fail-above allows, 2 if they could
    /// not be compared.
    Compare(CompareArgs),
    /// Merges the result files that `corpus --shard` wrote
    ///
    /// The rows are in the order of a run without --shard. Files that are not shards of the same corpus, or
    /// were measured with different settings or on different machines, are refused.
    ///
    /// Exit status: 0 if the result is complete, 1 if something is missing (the missing parts are listed), 2
    /// if the files could not be merged.
    Merge(MergeArgs),
    /// Finds the best parameter values of a method over many matrices
    ///
    /// csr-k: measures every value of the parameter srs, and of ssrs if the method has it, unless --methods
    /// sets a value. The default methods are csr2 and csr3, or gpu-csrk-3 and gpu-csrk-3.5 with --device gpu.
    /// By default there is one round, so that only one size is in memory at a time. Prints the best
    /// sizes, their logarithmic regression over the mean row length, their geometric mean, and the constant
    /// size with the smallest slowdown. With --output, writes one CSV row per matrix and size.
    ///
    /// shapes: measures the parameter combinations that --methods names, by default the launch shapes of the
    /// main GPU methods. Prints the speed of each combination as a percentage of the best one, as the
    /// geometric mean over the matrices. With --output, writes the same rows as corpus.
    Tune(TuneArgs),
    /// Explains the modelled time of a GPU method in a one-page analysis for kernel authors
    ///
    /// Executes one product of METHOD on the CPU, verifies it, and prints for each kernel: its modelled time and
    /// bottleneck; the source lines with the most sectors, wasted sectors, idle lanes and bank conflicts; and the
    /// time that it would take without each of these problems. Needs NVRTC to compile the kernels, but no GPU.
    ///
    /// Exit status: 0 if the page was printed, 1 if the command was interrupted, 2 if it could not run.
    Explain(ExplainArgs),
    /// Creates a report from CSV results or the JSON output of Ginkgo's benchmarks: errors first, then tables
    /// and charts
    ///
    /// With --output, writes two reports into a folder: report.html, which is self-contained, and report.md
    /// with its charts as .svg files in the same folder. Without --output, prints the main tables. Rows are
    /// compared only if precision, device, number of threads, cache state, order and direction are the same;
    /// several runs of the same measurement are shown separately. The machine and the settings are read from
    /// FILE.csv.run.json.
    Report(ReportArgs),
    /// Repeats the experiments of the papers: one command for each table and figure
    ///
    /// Without an ID, lists the experiments. With an ID, runs the measurements of the experiment, writes the
    /// rows, the claims and a report into a folder, and prints the paper's numbers next to the measured ones,
    /// each with a verdict. Nothing is measured twice: rows of an interrupted run are reused, and so are rows
    /// that another experiment measured on the same day and machine.
    ///
    /// Exit status: 0 if all results are correct, whatever the verdicts, 1 if a result is wrong or a method
    /// failed, 2 if the command could not run.
    Reproduce(ReproduceArgs),
    /// Lists the methods with their sources and parameters
    Methods(MethodsArgs),
    /// Prints the BibTeX entries of the sources of methods, each once, sorted by key
    ///
    /// A method of this project or of a library has an entry for the software.
    Cite(CiteArgs),
    /// Describes the machine: CPU, caches, NUMA nodes, memory, libraries, measured bandwidth
    System(SystemArgs),
    /// Measures a GPU and writes a device file for its performance model: --device model:FILE.toml
    ///
    /// Measures the clock, the latencies, the bandwidths of the second-level cache and of memory, the throughput
    /// of double precision and atomic operations, and the launch times. The other values are from the driver or
    /// from published descriptions of the architecture. The file states the source of each value.
    ///
    /// Exit status: 0 if the file was written, 2 if it could not be written.
    GpuFile(GpuFileArgs),
    /// Writes a generated matrix, or the contents of a matrix file, as a general coordinate Matrix Market file
    Generate(GenerateArgs),
    /// Lists or clears the cache of parsed matrix files
    Cache(CacheArgs),
    /// Prints a completion script for a shell
    Completions {
        /// The shell for which the script is printed
        shell: clap_complete::Shell,
    },
    /// Prints the manual pages, for `man -l -`
    Man {
        /// Print only the manual page of this command
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
    /// Runs measurements for the parent process
    #[command(hide = true)]
    Worker,
    /// Searches for a vendor's library and reports the result to the parent process
    #[command(hide = true)]
    Library {
        /// The vendor of the library
        vendor: Vendor,
    },
}

#[derive(Clone, Debug, Args)]
pub struct SingleArgs {
    /// The matrix: a file, GROUP/NAME or gen:SPEC [default: gen:grid2d,n=1000,points=5,random=1]
    ///
    /// One of: a Matrix Market file (.mtx, .mtx.gz or .tar.gz); a matrix of the collection that `fetch` has
    /// downloaded into ufl_mtx (GROUP/NAME, such as HB/west0479); a generated matrix (gen:NAME,KEY=VALUE,…;
    /// `generate --help` lists the generators); or the generated stand-in for a matrix of the collection
    /// (stand-in:GROUP/NAME). If a file has the same name as a command, write it with its folder: ./corpus.
    pub matrix: Option<OsString>,
    /// Further arguments, which are accepted only to report them in a helpful error message.
    #[arg(hide = true)]
    pub further: Vec<OsString>,
    /// The same as MATRIX
    #[arg(long, value_name = "MATRIX", conflicts_with = "matrix")]
    pub mtx: Option<OsString>,
    /// Measure in this process instead of a child process; a crash or lack of memory then ends the whole run
    #[arg(long)]
    pub no_isolate: bool,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

impl SingleArgs {
    /// Returns the argument that names the matrix, or the default matrix.
    pub fn word(&self) -> &OsStr {
        self.matrix.as_deref().or(self.mtx.as_deref()).unwrap_or(OsStr::new(DEFAULT_MATRIX))
    }
}

#[derive(Debug, Args)]
pub struct CorpusArgs {
    /// Folders, files, downloaded matrices of the collection (GROUP/NAME), generated matrices
    /// (gen:NAME,KEY=VALUE,…), and generated stand-ins for matrices of the collection (stand-in:SET or
    /// stand-in:GROUP/NAME; fetch --list lists them)
    #[arg(required = true, value_name = "DIR|FILE|gen:SPEC|stand-in:SET")]
    pub sources: Vec<OsString>,
    /// Continue the result file of --output: measure only what is missing in it. Settings, methods and machine
    /// must be the same as in FILE.run.json
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Measure only shard K of N. All shards take about the same time, and the split is the same on every
    /// machine. `merge` merges the result files
    #[arg(long, value_name = "K/N", default_value = "1/1", value_parser = shard)]
    pub shard: Shard,
    /// Measure in this process instead of a child process; a crash or lack of memory then ends the whole run
    #[arg(long)]
    pub no_isolate: bool,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct SystemArgs {
    /// The largest number of threads for the bandwidth measurement [default: one per core, or fewer if a
    /// control group (cgroup) limits the CPU time]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub threads: Option<usize>,
    /// Format of the output [default: from the extension of --output (.json or .txt), else text]
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
    /// A generator with its parameters, a Matrix Market file, or the generated stand-in for a matrix of the
    /// collection
    #[arg(value_name = "gen:SPEC|FILE|stand-in:SET",
          long_help = format!("A file; stand-in:GROUP/NAME, or with --mirror stand-in:SET; or a \
          generator: {}", forms()))]
    pub source: OsString,
    /// The file to write; compressed if its name ends in .gz
    #[arg(short, long, value_name = "FILE", required_unless_present = "mirror")]
    pub output: Option<PathBuf>,
    /// Replace the file if it already exists
    #[arg(long, conflicts_with = "mirror")]
    pub force: bool,
    /// Write stand-ins as archives into a folder with the same layout as the collection's web site; a web
    /// server for this folder can be used with fetch --mirror
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "no_expand"])]
    pub mirror: Option<PathBuf>,
    /// A file that defines further matrices and sets, in the format of the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Use only the stored triangle of a symmetric or skew-symmetric file
    #[arg(long)]
    pub no_expand: bool,
}

#[derive(Debug, Args)]
pub struct CacheArgs {
    /// The action
    #[arg(value_enum)]
    pub what: CacheVerb,
    /// Select only the entries whose matrix files have changed or no longer exist
    #[arg(long)]
    pub stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CacheVerb {
    /// List the parsed matrices in the cache, the largest first
    List,
    /// Remove the parsed matrices from the cache
    Clear,
}
