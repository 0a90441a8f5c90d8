//! What may be said on the command line.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use super::compare::CompareArgs;
use super::fetch::args::FetchArgs;
use super::report::ReportArgs;
use super::reproduce::args::ReproduceArgs;
use super::tune::args::TuneArgs;
use crate::bench::plan::{Cache, Fill, Protocol, Settings};
use crate::matrix::generate::forms;
use crate::matrix::order::Order;
use crate::method::Device;
use crate::record::write::Format;
use crate::scalar::Precision;
use crate::simd::Isa;

/// The reference benchmark for sparse matrix-vector multiplication, y = alpha A x + beta y.
///
/// Without a command: reads one matrix, runs every method on it, verifies each result and prints
/// what each costs. Without --mtx too: on a generated matrix.
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
    /// Prints the manual page
    Man,
}

#[derive(Debug, Args)]
pub struct SingleArgs {
    /// Matrix Market file, .mtx, .mtx.gz or .tar.gz, or a generator: gen:NAME,key=value,…, or
    /// what stands in for a matrix of the collection: stand-in:GROUP/NAME
    #[arg(long, value_name = "FILE|gen:SPEC", default_value = "gen:grid2d,n=1000,points=5",
          long_help = format!("Matrix Market file, .mtx, .mtx.gz or .tar.gz; or what stands in for a \
          matrix of the collection, stand-in:GROUP/NAME; or a generator: {}", forms()))]
    pub mtx: OsString,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct CorpusArgs {
    /// Folders, files, generators (gen:NAME,key=value,…), and what stands in for matrices of the
    /// collection (stand-in:SET or stand-in:GROUP/NAME; fetch --list shows them)
    #[arg(required = true, value_name = "DIR|FILE|gen:SPEC|stand-in:SET")]
    pub sources: Vec<OsString>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub struct MethodsArgs {
    /// A table of the methods that ran, with what the results of a corpus say of them: times and memory
    /// against MKL and CSR, in f64
    #[arg(long, value_name = "CSV")]
    pub results: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SystemArgs {
    /// Most threads to measure bandwidth with [default: one per core]
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
    /// The file to write
    #[arg(short, long, value_name = "FILE", required_unless_present = "mirror")]
    pub output: Option<PathBuf>,
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

/// What every measuring command takes.
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// Methods to run: names or globs, separated by commas, each with its parameters as in
    /// gpu-light:level=vector [default: all]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub methods: Option<Vec<String>>,
    /// Where to run: cpu, gpu, all, or the number of a GPU
    #[arg(long, value_name = "cpu|gpu|all|N", default_value = "all", value_parser = device)]
    pub device: DeviceChoice,
    /// Which GPU, of several [default: 0]
    #[arg(long, value_name = "N")]
    pub gpu: Option<usize>,
    /// Precision of values and vectors
    #[arg(long, value_enum, default_value = "f64")]
    pub precision: PrecisionChoice,
    /// Short for --precision f32
    #[arg(long, conflicts_with = "precision")]
    pub fp32: bool,
    /// Threads of the parallel methods, each pinned [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// The published protocol to start from; the options below override it
    #[arg(long, value_enum, default_value = "merge-spmv")]
    pub protocol: Protocol,
    /// Products to time [default: clamp(2^34 / nnz, 100, 200000); at most 50000 on a GPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// Untimed products before each round [default: 5]
    #[arg(long, value_name = "N")]
    pub warmups: Option<usize>,
    /// Time at least so many seconds per method and matrix [default: 0]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub min_time: Option<Duration>,
    /// Begin no product after so many seconds per method and matrix [default: 2]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub max_time: Option<Duration>,
    /// Let all methods take turns N times; with 1 they run one by one and are kept in memory one by
    /// one [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// What the caches hold before a sample
    #[arg(long, value_enum)]
    pub cache: Option<Cache>,
    /// Factor of the product
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true, value_parser = finite)]
    pub alpha: f64,
    /// Factor of the old y; with 0 it is not read
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true, value_parser = finite)]
    pub beta: f64,
    /// What x holds [default: random]
    #[arg(long, value_enum)]
    pub x: Option<Fill>,
    /// Seed of the random x
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Multiply by the transpose, y = alpha A^T x + beta y
    #[arg(long)]
    pub transpose: bool,
    /// Bring each matrix into another order, P A P^T, before any method sees it; x and y stay in that
    /// order. The time is reported apart from all methods'. Square matrices only. (csr-k's authors do
    /// so with rcm for the libraries, not for CSR-k and CSR5.)
    #[arg(long, value_enum, default_value = "natural")]
    pub order: Order,
    /// Vector instructions of our own methods [default: the widest that the machine has]
    #[arg(long, value_enum)]
    pub isa: Option<Isa>,
    /// Keep only the stored triangle of symmetric and skew-symmetric files
    #[arg(long)]
    pub no_expand: bool,
    /// A file of further matrices and sets for stand-in:…, in the form of the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Parse every file, and keep no parsed matrix for the next time
    #[arg(long)]
    pub no_cache: bool,
    /// Form of the output [default: text for one matrix, csv for a corpus]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write the results to a file, and the facts of the run to FILE.run.json
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Where to write the facts of the run: command, machine, bandwidth, libraries
    #[arg(long, value_name = "FILE")]
    pub run_record: Option<PathBuf>,
    /// Time the kernels and library calls that a GPU product consists of, too; shown as text and in
    /// json
    #[arg(long)]
    pub stages: bool,
    /// Nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// One precision or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PrecisionChoice {
    F64,
    F32,
    Both,
}

/// Where methods may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    Cpu,
    /// On the GPU of that number, or the one that `--gpu` names.
    Gpu(Option<usize>),
    All,
}

impl DeviceChoice {
    /// Whether methods of `device` run.
    pub fn includes(self, device: Device) -> bool {
        match self {
            Self::Cpu => device == Device::Cpu,
            Self::Gpu(_) => device == Device::Gpu,
            Self::All => true,
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Cpu => write!(f, "cpu"),
            Self::Gpu(None) => write!(f, "gpu"),
            Self::Gpu(Some(number)) => write!(f, "{number}"),
            Self::All => write!(f, "all"),
        }
    }
}

pub(super) fn device(text: &str) -> Result<DeviceChoice, String> {
    Ok(match text {
        "cpu" => DeviceChoice::Cpu,
        "gpu" => DeviceChoice::Gpu(None),
        "all" => DeviceChoice::All,
        _ => DeviceChoice::Gpu(Some(text.parse().map_err(|_| "cpu, gpu, all or a number")?)),
    })
}

impl MeasureArgs {
    /// The GPU that was named.
    pub fn gpu(&self) -> Option<usize> {
        match self.device {
            DeviceChoice::Gpu(Some(number)) => Some(number),
            _ => self.gpu,
        }
    }

    /// The precisions asked for.
    pub fn precisions(&self) -> &'static [Precision] {
        match (self.fp32, self.precision) {
            (true, _) | (_, PrecisionChoice::F32) => &[Precision::F32],
            (_, PrecisionChoice::F64) => &[Precision::F64],
            (_, PrecisionChoice::Both) => &[Precision::F64, Precision::F32],
        }
    }

    /// The protocol's settings with what the command line changes.
    pub fn settings(&self) -> Settings {
        let protocol = Settings::new(self.protocol);
        Settings {
            iterations: self.iterations.map(|n| n as usize).or(protocol.iterations),
            warmups: self.warmups.unwrap_or(protocol.warmups),
            min_time: self.min_time.unwrap_or(protocol.min_time),
            max_time: self.max_time.unwrap_or(protocol.max_time),
            rounds: self.rounds.map_or(protocol.rounds, |n| n as usize),
            cache: self.cache.unwrap_or(protocol.cache),
            alpha: self.alpha,
            beta: self.beta,
            x: self.x.unwrap_or(protocol.x),
            seed: self.seed,
            transpose: self.transpose,
            isa: self.isa.unwrap_or(protocol.isa),
            stages: self.stages,
            ..protocol
        }
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub(super) fn finite(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("{value} is not finite")) }
}
