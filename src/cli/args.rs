//! The definition of the command line: commands and their help texts. Each command defines its own arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::cache::CacheArgs;
use super::check_method::CheckMethodArgs;
use super::cite::CiteArgs;
use super::compare::CompareArgs;
use super::corpus::CorpusArgs;
use super::explain::ExplainArgs;
use super::fetch::FetchArgs;
use super::generate::GenerateArgs;
use super::gpu_file::GpuFileArgs;
use super::measure::{PrecisionChoice, WHAT, grouped};
use super::merge::MergeArgs;
use super::methods::MethodsArgs;
use super::new_method::NewMethodArgs;
use super::report::ReportArgs;
use super::reproduce::args::ReproduceArgs;
use super::single::SingleArgs;
use super::system::SystemArgs;
use super::tune::TuneArgs;
use crate::campaign::libraries::Vendor;

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
#[command(max_term_width = WIDTH, mut_args = grouped)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub single: SingleArgs,
}

/// The methods of the user.
#[derive(Clone, Debug, Default, Args)]
pub struct AddedArgs {
    /// Add the methods of a plug-in (`new-method` writes one) or of a folder of them; may be given several times, and
    /// in SPMV_BENCH_PLUGINS
    #[arg(help_heading = WHAT, hide_short_help = true, long = "plugin", value_name = "FILE|DIR")]
    pub plugins: Vec<PathBuf>,
    /// Add a method that is a single .cu file, and measure it alone unless --methods names others; without a GPU it
    /// runs on a modelled one
    #[arg(help_heading = WHAT, hide_short_help = true, long = "kernel", value_name = "FILE.cu")]
    pub kernels: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures many matrices: all below a folder, the smallest first
    Corpus(CorpusArgs),
    /// Shows results as tables and charts, errors first
    ///
    /// The results are CSV files of this program or JSON files of Ginkgo's benchmarks. With --output, writes two
    /// reports into a folder: report.html, which is self-contained, and report.md with its charts as .svg files.
    /// Without --output, prints the main tables. Rows are compared only if precision, device, number of threads, cache
    /// state, order and direction are the same; several runs of the same measurement are shown separately. The machine
    /// and the settings are read from FILE.csv.run.json.
    Report(ReportArgs),
    /// Compares two result files: what is faster, slower, or now wrong
    ///
    /// Pairs the rows of A and B by matrix, method, precision, device, threads and transpose. B is faster or
    /// slower than A if the 95 % confidence interval of the ratio of the two times does not contain 1; otherwise
    /// the two are the same. Files with different cache states (hot or cold), orders or matrices are refused. If
    /// both files have a FILE.run.json, different alpha, beta or expansion of symmetric matrices are refused too,
    /// and other differences in the settings, or different machines, cause a warning. The intervals of one run of
    /// each side do not describe the drift between the two; those of as many runs of A as of B, in turns, do.
    ///
    /// Exit status: 0 if the files were compared, 1 if B is worse than --fail-above allows, 2 if they could
    /// not be compared, 3 if the intervals are too wide to say whether B is worse.
    Compare(CompareArgs),
    /// Merges the result files that `corpus --shard` wrote
    ///
    /// The rows are in the order of a run without --shard. Files that are not shards of the same corpus, or
    /// were measured with different settings or on different machines, are refused.
    ///
    /// Exit status: 0 if the result is complete, 1 if something is missing (the missing parts are listed), 2
    /// if the files could not be merged.
    Merge(MergeArgs),
    /// Downloads matrices of the SuiteSparse Matrix Collection
    ///
    /// Downloads named sets, single matrices, or all matrices of the collection that pass a filter. Without any of
    /// these, downloads the set `default`. Matrices that are already in the folder are not downloaded again, and
    /// interrupted downloads are resumed. The checksum of every archive, and the size and number of entries of every
    /// matrix, are verified, and a matrix file in the folder is always complete. Unfinished downloads and the list of
    /// all files with their hashes are in its hidden folder .spmv-bench. Proxies are read from the environment
    /// variables.
    ///
    /// Exit status: 0 if all matrices are present, 1 if one could not be downloaded or has changed, 2 if the
    /// command could not run.
    Fetch(FetchArgs),
    /// Writes a generated matrix, or one that was read, to a .mtx file
    Generate(GenerateArgs),
    /// Lists the methods with their sources and parameters
    Methods(MethodsArgs),
    /// Finds the best parameter values of a method over many matrices
    ///
    /// csr-k: measures every value of the parameter srs, and of ssrs if the method has it, unless --methods
    /// sets a value. The default methods are csr2 and csr3, or gpu-csrk-3 and gpu-csrk-3.5 on a GPU or a modelled one.
    /// Prints the best sizes, their logarithmic regression over the mean row length, their geometric mean, and the
    /// constant size with the smallest slowdown. With --output, writes one CSV row per matrix and size.
    ///
    /// shapes: measures the parameter combinations that --methods names, by default the launch shapes of the
    /// main GPU methods. Prints the speed of each combination as a percentage of the best one, as the
    /// geometric mean over the matrices. With --output, writes the same rows as corpus.
    ///
    /// Unless --rounds is given, there is one round, so that only one size is in memory at a time.
    Tune(TuneArgs),
    /// Explains the modelled time of a GPU method on one page
    ///
    /// Executes one product of METHOD on the CPU, verifies it, and prints for each kernel: its modelled time and
    /// bottleneck; the source lines with the most sectors, wasted sectors, idle lanes and bank conflicts; and the
    /// time that it would take without each of these problems. Needs NVRTC to compile the kernels, but no GPU.
    ///
    /// Exit status: 0 if the page was printed, 1 if the command was interrupted, 2 if it could not run.
    Explain(ExplainArgs),
    /// Repeats the papers' experiments and judges their claims
    ///
    /// Without an ID, lists the experiments. With an ID, runs the measurements of the experiment, writes the
    /// rows, the claims and a report into a folder, and prints the paper's numbers next to the measured ones,
    /// each with a verdict. Nothing is measured twice: rows of an interrupted run are reused, and so are rows
    /// that another experiment measured on the same day and machine.
    ///
    /// Exit status: 0 if all results are correct, whatever the verdicts, 1 if a result is wrong or a method
    /// failed, 2 if the command or an experiment could not run.
    Reproduce(ReproduceArgs),
    /// Writes a folder with a simple method of your own to start from
    ///
    /// It has a correct method, the interface, a build file, and a README that says how to build, check and measure it:
    /// `make`, `spmv-bench check-method NAME/libNAME.so`, `spmv-bench a.mtx --plugin NAME/libNAME.so`.
    NewMethod(NewMethodArgs),
    /// Checks a method of your own before it is measured
    ///
    /// Each method of a plug-in runs in child processes, in both precisions: every small matrix that is named for a
    /// bug, several factors alpha and beta, 1 to 7 threads, arrays at odd addresses, NaN in x, several matrices at the
    /// same time, and repeated preparations. It must write only y, leave matrix and threads as they were, and release
    /// its memory. A failure names the smallest matrix that shows it.
    ///
    /// Exit status: 0 if all checks passed, 1 if one failed, 2 if the plug-in cannot be used.
    CheckMethod(CheckMethodArgs),
    /// Prints the BibTeX entries to cite for methods or papers
    ///
    /// Each entry is printed once, sorted by key. A method of this project or of a library has an entry for the
    /// software.
    Cite(CiteArgs),
    /// Describes this machine: CPU, GPUs, libraries, memory bandwidth
    System(SystemArgs),
    /// Measures a GPU so that it can be modelled on other machines
    ///
    /// Writes a device file for --device model:FILE.toml. Measures the clock, the latencies, the bandwidths of the
    /// second-level cache and of memory, the throughput of double precision and atomic operations, and the launch
    /// times. The other values are from the driver or from published descriptions of the architecture. The file states
    /// the source of each value.
    ///
    /// Exit status: 0 if the file was written, 2 if it could not be written.
    GpuFile(GpuFileArgs),
    /// Lists or clears the cache of parsed matrix files
    ///
    /// It is in the folder spmv-bench of the user's cache folder, or in that of SPMV_BENCH_CACHE.
    Cache(CacheArgs),
    /// Prints a completion script for a shell
    ///
    /// For bash: spmv-bench completions bash > ~/.local/share/bash-completion/completions/spmv-bench
    Completions {
        /// The shell that reads the script
        shell: clap_complete::Shell,
    },
    /// Prints the manual pages: spmv-bench man | man -l -
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
    /// Opens a GPU and sends its facts to the parent process
    #[command(hide = true)]
    GpuWorker {
        /// The number of the GPU; without one: the first
        number: Option<usize>,
    },
    /// Runs the checks of a method of a plug-in for the parent process
    #[command(hide = true)]
    CheckWorker {
        /// The shared object
        file: PathBuf,
        /// The name of the method
        method: String,
        /// The precision of the checked products
        precision: PrecisionChoice,
        /// The number of the first check
        from: usize,
    },
    /// Describes the methods of a plug-in to the parent process
    #[command(hide = true)]
    Plugin {
        /// The shared object
        file: PathBuf,
    },
}

impl Cli {
    /// Returns the user's methods if the command uses the list of methods. Those of the environment are further ones.
    pub fn added(&self) -> Option<AddedArgs> {
        let added = match self.command.as_ref() {
            None => &self.single.measure.added,
            Some(Command::Corpus(args)) => &args.measure.added,
            Some(Command::Tune(args)) => &args.measure.added,
            Some(Command::Reproduce(args)) => &args.added,
            Some(Command::Explain(args)) => &args.added,
            Some(Command::Methods(args)) => &args.added,
            Some(Command::Compare(_) | Command::Report(_)) => return Some(AddedArgs::default()),
            Some(_) => return None,
        };
        Some(added.clone())
    }
}
