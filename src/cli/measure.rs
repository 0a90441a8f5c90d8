//! The arguments that all measuring commands have in common.

mod files;

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser};

use super::args::AddedArgs;
use super::output::ExportArgs;
use super::values::{MethodName, OrderName, device, distinct, finite, seconds, whole, whole_from};
use crate::bench::plan::{CacheState, Fill, MAX_ROUNDS, Protocol, Settings, Values};
use crate::bench::run::{DeviceChoice, RunSettings};
use crate::campaign::Plan;
use crate::record::write::{Format, Sort};
use spmv_matrix::market::{self, Edges};
use spmv_matrix::memory::Size;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::added;
use spmv_methods::simd::Isa;

/// The error message of a measuring command without any correct result.
pub const NOTHING: &str =
    "nothing was measured: no method has a correct result; the reason is in each row";

/// The headings of options in help texts.
pub const WHAT: &str = "What to measure";
pub const LONG: &str = "How long to measure";
pub const OUTPUT: &str = "Output";
pub const GPU: &str = "GPU";
pub const ADVANCED: &str = "Advanced";

/// The arguments that all measuring commands have in common.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub added: AddedArgs,
    /// Methods to run: names or patterns such as 'mkl-*' [default: all]
    ///
    /// They are separated by commas, and may have parameters: gpu-light:level=vector. `spmv-bench methods` lists all of
    /// them.
    #[arg(help_heading = WHAT, long, value_name = "A,B", value_delimiter = ',', value_parser = MethodName,
          hide_possible_values = true)]
    pub methods: Option<Vec<String>>,
    /// Where to run: on CPU, GPU, or a modelled GPU such as model:h200
    ///
    /// Several modelled GPUs may be given, model:v100,a100, or a device file, model:FILE.toml. A number is that of a
    /// GPU.
    #[arg(help_heading = WHAT, long, value_name = "cpu|gpu|all|N|model:NAME", default_value = "all",
          value_parser = device)]
    pub device: DeviceChoice,
    /// Planned products: the setup counts, spread over N of them
    ///
    /// Tables and the answer then count the setup and N products, and methods that choose by it, such as auto, are
    /// told.
    #[arg(help_heading = WHAT, long, value_name = "N", value_parser = whole_from(1, u32::MAX))]
    pub products: Option<u32>,
    /// The number of the GPU if there are several [default: 0]
    #[arg(help_heading = GPU, hide_short_help = true, long, value_name = "N", value_parser = whole::<usize>)]
    pub gpu: Option<usize>,
    /// Precision of matrix and vectors; several may be given: f64,f32
    #[arg(help_heading = WHAT, long, value_enum, default_value = "f64", value_delimiter = ',')]
    pub precision: Vec<PrecisionChoice>,
    /// The same as --precision f32
    #[arg(help_heading = WHAT, hide_short_help = true, long, conflicts_with = "precision")]
    pub fp32: bool,
    /// Threads of parallel methods; several may be given: 1,2,4
    ///
    /// Each is bound to a CPU. Methods with one thread and GPU methods are measured once, together with the largest
    /// number [default: one per core, or fewer if a control group (cgroup) limits the CPU time]
    #[arg(help_heading = WHAT, long, value_name = "N", value_delimiter = ',', value_parser = whole::<usize>)]
    pub threads: Vec<usize>,
    /// The published measurement protocol whose settings are used; the options below override single settings
    #[arg(help_heading = LONG, hide_short_help = true, long, value_enum, default_value = "merge-spmv")]
    pub protocol: Protocol,
    /// Number of timed products [default: 2^34 / nonzeros, but at least 100 and at most 200000, or at most
    /// 50000 on a GPU; or as in the protocol]
    #[arg(help_heading = LONG, hide_short_help = true, long, value_name = "N", value_parser = whole_from(1, u32::MAX))]
    pub iterations: Option<u32>,
    /// Number of untimed products before each round; at least one runs [default: 5, or as in the protocol]
    #[arg(help_heading = LONG, hide_short_help = true, long, value_name = "N", value_parser = whole::<usize>)]
    pub warmups: Option<usize>,
    /// Time each method on each matrix for at least this many seconds [default: 0, or as in the protocol]
    #[arg(help_heading = LONG, hide_short_help = true, long, value_name = "S", value_parser = seconds,
          allow_negative_numbers = true)]
    pub min_time: Option<Duration>,
    /// Time for each method and matrix, such as 300ms [default: 2s]
    ///
    /// No further product starts after it. Without a named matrix it is 0.3 s; protocols have their own.
    #[arg(help_heading = LONG, long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,
    /// Stop a method if it takes longer than this many seconds on a matrix, including setup and verification
    /// [default: 900]
    #[arg(help_heading = LONG, hide_short_help = true, long, value_name = "S", value_parser = seconds,
          allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Skip a matrix or method if it would need more than this much memory: 16GiB, 500M or a number of bytes.
    /// The free memory is always an upper limit [default: the free memory]
    #[arg(help_heading = ADVANCED, hide_short_help = true, long, value_name = "SIZE")]
    pub max_memory: Option<Size>,
    /// Number of rounds; in each round every method is measured in turn. With 1, each method is measured
    /// completely before the next one, and only one is in memory at a time [default: 6, or as in the
    /// protocol]
    #[arg(help_heading = LONG, hide_short_help = true, long, value_name = "N", value_parser = whole_from(1,
          MAX_ROUNDS))]
    pub rounds: Option<u32>,
    /// Number of child processes among which the rounds of CPU methods are divided, at least two to each: times differ
    /// more between processes than within one [default: 3, or 1 with another protocol]
    #[arg(help_heading = LONG, hide_short_help = true, long, value_name = "N", value_parser = whole_from(1, 100))]
    pub processes: Option<u32>,
    /// State of the CPU or GPU caches before each timed sample; several may be given: hot,cold [default: hot,
    /// or cold if the protocol requires it]
    #[arg(help_heading = WHAT, hide_short_help = true, long, value_enum, value_delimiter = ',')]
    pub cache: Vec<CacheState>,
    /// The factor alpha of y = alpha A x + beta y
    #[arg(help_heading = WHAT, hide_short_help = true, long, default_value_t = 1.0, allow_negative_numbers = true,
          value_parser = finite)]
    pub alpha: f64,
    /// The factor beta of y = alpha A x + beta y; with 0 the old y is not read
    #[arg(help_heading = WHAT, hide_short_help = true, long, default_value_t = 0.0, allow_negative_numbers = true,
          value_parser = finite)]
    pub beta: f64,
    /// The values of the vector x [default: random, or as in the protocol]
    #[arg(help_heading = WHAT, hide_short_help = true, long, value_enum)]
    pub x: Option<Fill>,
    /// The values of the matrix: as stored in the file, or replaced before any method runs
    #[arg(help_heading = WHAT, hide_short_help = true, long, value_enum, default_value = "stored")]
    pub values: Values,
    /// Seed of the random numbers of x and of --values random
    #[arg(help_heading = ADVANCED, hide_short_help = true, long, value_name = "N", default_value_t = 1,
          value_parser = whole::<u64>)]
    pub seed: u64,
    /// Multiply by the transpose, y = alpha A^T x + beta y
    #[arg(help_heading = WHAT, hide_short_help = true, long)]
    pub transpose: bool,
    /// Reorder the rows and columns of each matrix (P A P^T) before any method runs; x and y are reordered in
    /// the same way. Several may be given: natural,rcm. The time for reordering is reported separately and is
    /// not part of any method. Only for square matrices. (The authors of the paper csr-k use rcm for the
    /// libraries, but not for CSR-k and CSR5.) file:PATH reads an order of another program, a number per row
    /// that counts from 0 or 1: the old row at each new position, as in MATLAB's A(p,p); inverse-file:PATH the new
    /// position of each row, as METIS and SCOTCH write. In a folder, the matrix NAME has NAME.perm or NAME.iperm.
    #[arg(help_heading = WHAT, hide_short_help = true, long, value_parser = OrderName, default_value = "natural",
          value_delimiter = ',')]
    pub order: Vec<Order>,
    /// Vector instruction set for this program's own methods, and the widest that MKL may use [default: the
    /// widest that this CPU supports]
    #[arg(help_heading = ADVANCED, hide_short_help = true, long, value_enum)]
    pub isa: Option<Isa>,
    /// Use only the stored triangle of a symmetric or skew-symmetric file
    #[arg(help_heading = WHAT, hide_short_help = true, long)]
    pub no_expand: bool,
    /// What edge lists mean, where the files do not say it: directed, undirected or bipartite, and base=0 or base=1
    #[arg(help_heading = WHAT, hide_short_help = true, long, value_name = "WORDS")]
    pub edges: Option<Edges>,
    /// A file that defines further matrices and sets for surrogate:…, in the format of the project's datasets.toml
    #[arg(help_heading = ADVANCED, hide_short_help = true, long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Neither read nor write the cache of parsed matrices
    #[arg(help_heading = ADVANCED, hide_short_help = true, long)]
    pub no_cache: bool,
    /// Format of the results [default: by the name of --output]
    ///
    /// The extension of --output (.csv, .json, .md, .tex or .txt) decides, or else it is text for one matrix (lines
    /// with --quiet) and csv for a corpus.
    #[arg(help_heading = OUTPUT, long, value_enum)]
    pub format: Option<Format>,
    /// Write the results to this file, and the run's facts to FILE.run.json
    #[arg(help_heading = OUTPUT, long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that already exist
    #[arg(help_heading = OUTPUT, hide_short_help = true, long)]
    pub force: bool,
    #[command(flatten)]
    pub exports: ExportArgs,
    /// Order of the rows in text and Markdown tables; csv, json and lines always use the order in which the
    /// methods run
    #[arg(help_heading = OUTPUT, hide_short_help = true, long, value_enum, value_name = "BY",
          default_value = "command")]
    pub sort: Sort,
    /// Write the run record (command, settings, machine, bandwidth, libraries) to this file
    #[arg(help_heading = OUTPUT, hide_short_help = true, long, value_name = "FILE")]
    pub run_record: Option<PathBuf>,
    /// Do not measure the machine's memory bandwidth for the run record: it takes some seconds and 2 GiB
    #[arg(help_heading = ADVANCED, hide_short_help = true, long)]
    pub no_bandwidth: bool,
    /// Set aside a part of a GPU's L2 cache for x (an access policy window), from compute capability 8.0 on. The note
    /// of each row states its size
    #[arg(help_heading = GPU, hide_short_help = true, long)]
    pub persist_x: bool,
    /// Also time each kernel and library call of a product on a GPU; shown in the formats text and json
    #[arg(help_heading = GPU, hide_short_help = true, long)]
    pub stages: bool,
    /// Measure each GPU method twice: with its kernels launched one by one, and as one CUDA graph; the method
    /// name in the graph rows ends in :graph=on
    #[arg(help_heading = GPU, hide_short_help = true, long)]
    pub graphs: bool,
    /// Print only errors to stderr, and one line per method
    ///
    /// The results for one matrix are then in the format lines, unless --format or the extension of --output selects
    /// another one.
    #[arg(help_heading = OUTPUT, long, short)]
    pub quiet: bool,
}

/// Options of a measurement without a matrix or a command.
#[derive(clap::Parser)]
#[command(name = "measure", no_binary_name = true)]
struct Options {
    #[command(flatten)]
    measure: MeasureArgs,
}

/// Returns the settings that options such as `--max-time=1` describe.
pub fn run_settings(options: &[String]) -> Result<RunSettings, clap::Error> {
    let Options { measure } = Options::try_parse_from(options)?;
    if measure.output.is_some() || measure.run_record.is_some() || measure.format.is_some() {
        let why = "--output, --run-record and --format are options of commands, which write files";
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, why));
    }
    Ok(measure.run_settings())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PrecisionChoice {
    F64,
    F32,
    Both,
}

impl PrecisionChoice {
    /// Returns the precision, or `None` if both are selected.
    pub fn single(self) -> Option<Precision> {
        match self {
            Self::F64 => Some(Precision::F64),
            Self::F32 => Some(Precision::F32),
            Self::Both => None,
        }
    }
}

impl MeasureArgs {
    fn caches(&self) -> Vec<CacheState> {
        let usual = Settings::new(self.protocol).cache;
        if self.cache.is_empty() { vec![usual] } else { distinct(&self.cache) }
    }

    pub fn plan(&self) -> Plan {
        let bandwidth = self.wants_bandwidth();
        Plan { skip_trivial: true, bandwidth, ..Plan::new(self.run_settings()) }
    }

    pub fn run_settings(&self) -> RunSettings {
        let gpu = match self.device {
            DeviceChoice::Gpu(Some(number)) => Some(number),
            _ => self.gpu,
        };
        let is_requested = |one: &Precision| match self.fp32 {
            true => *one == Precision::F32,
            false => self.precision.iter().any(|p| p.single().is_none_or(|own| own == *one)),
        };
        let precisions = [Precision::F64, Precision::F32].into_iter().filter(is_requested);
        // A .cu file is measured alone unless the command line names methods.
        let kernels = Some(added::kernel_names()).filter(|names| !names.is_empty());
        RunSettings {
            methods: self.methods.clone().or(kernels),
            graphs: self.graphs,
            only_parallel: false,
            device: self.device.clone(),
            gpu,
            precisions: precisions.collect(),
            threads: distinct(&self.threads),
            orders: distinct(&self.order),
            caches: self.caches(),
            settings: self.settings(),
            expand: !self.no_expand,
            edges: self.edges,
            matrix_cache: !self.no_cache,
            quiet: self.quiet,
        }
    }

    /// Returns how files are read.
    pub fn reading(&self) -> market::Options {
        market::Options::new(!self.no_expand, self.edges)
    }

    pub fn settings(&self) -> Settings {
        let protocol = Settings::new(self.protocol);
        Settings {
            iterations: self.iterations.map(|n| n as usize).or(protocol.iterations),
            warmups: self.warmups.unwrap_or(protocol.warmups),
            min_time: self.min_time.unwrap_or(protocol.min_time),
            max_time: self.max_time.unwrap_or(protocol.max_time),
            timeout: self.timeout.unwrap_or(protocol.timeout),
            rounds: self.rounds.map_or(protocol.rounds, |n| n as usize),
            processes: self.processes.map_or(protocol.processes, |n| n as usize),
            cache: self.caches()[0],
            alpha: self.alpha,
            beta: self.beta,
            x: self.x.unwrap_or(protocol.x),
            values: self.values,
            planned: self.products,
            seed: self.seed,
            transpose: self.transpose,
            isa: self.isa.unwrap_or(protocol.isa),
            persist_x: self.persist_x,
            stages: self.stages,
            max_memory: self.max_memory.map(|Size(bytes)| bytes),
            ..protocol
        }
    }
}
