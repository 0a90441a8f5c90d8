//! The arguments that all measuring commands have in common.

mod files;
pub mod settings;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::help::{GPU, LONG, OUTPUT, RARE, WHAT, described};
use super::values::{MethodName, OrderName, device, finite, seconds, whole, whole_from};
use super::verb::{AddedArgs, Needs};
use spmv_matrix::memory::Size;
use spmv_matrix::order::Order;
use spmv_matrix::reader::Edges;
use spmv_matrix::scalar::Precision;
use spmv_methods::simd::Isa;
use spmv_results::files::write::Format;
use spmv_results::settings::{CacheState, DeviceChoice, Fill, MAX_ROUNDS, Pages, Protocol, Values};
use spmv_results::text::Sort;

/// The error message of a measuring command without any correct result.
pub const NOTHING: &str = "nothing was measured: no method has a correct result; the reason is in each row";

/// The arguments that all measuring commands have in common.
#[derive(Clone, Debug, Args)]
#[command(mut_args = described)]
pub struct MeasureArgs {
    /// Only these methods, by name or pattern: merge,'mkl-*'
    ///
    /// `spmv-bench methods` lists them. They may have parameters: gpu-light:level=vector.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = MethodName)]
    pub methods: Option<Vec<String>>,
    /// Where: cpu, gpu, 1 (GPU 1), model:h200 [default: all]
    ///
    /// Several modelled GPUs may be given, model:v100,a100, or a device file, model:FILE.toml.
    #[arg(long, value_name = "WHERE", default_value = "all", value_parser = device)]
    pub device: DeviceChoice,
    /// Planned products: the setup counts, spread over N
    ///
    /// Methods that choose by it, such as auto, are told.
    #[arg(long, value_name = "N", value_parser = whole_from(1, u32::MAX))]
    pub products: Option<u32>,
    /// Precision: f64, f32, both or f64,f32 [default: f64]
    #[arg(long, value_name = "P", value_enum, default_value = "f64", value_delimiter = ',')]
    pub precision: Vec<PrecisionChoice>,
    /// Threads, or a list: 1,2,4 [default: one per core]
    ///
    /// Each is bound to a CPU. Methods with one thread and GPU methods are measured once, with the largest number. A
    /// CPU limit of a control group (cgroup) lowers the default.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = whole::<usize>)]
    pub threads: Vec<usize>,
    /// Time per method and matrix, such as 2s [default: 600ms]
    ///
    /// Of its turns; the duel of the best methods in a process takes three times as long. Without a named matrix it is
    /// 0.15 s; protocols have their own.
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,
    /// Format: text, csv, json, md … [default: by --output]
    ///
    /// Others are lines (key=value, for scripts), latex, ginkgo and google-benchmark (the JSON of these benchmarks).
    /// Without --output it is text for one matrix (lines with --quiet) and csv for a corpus.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write results to this file, facts to FILE.run.json
    ///
    /// The extension chooses the format: .csv, .json, .md, .tex or .txt.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print only errors to stderr, and a line per method
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub added: AddedArgs,
    /// The caches before each sample: hot, as the product before left them (the default), cold, without matrix and
    /// vectors, or both: hot,cold
    #[arg(help_heading = WHAT, long, value_name = "STATE", value_enum, value_delimiter = ',')]
    pub cache: Vec<CacheState>,
    /// The factor alpha of y = alpha A x + beta y [default: 1]
    #[arg(help_heading = WHAT, long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true,
          value_parser = finite)]
    pub alpha: f64,
    /// The factor beta [default: 0, with which the old y is not read]
    #[arg(help_heading = WHAT, long, value_name = "FACTOR", default_value_t = 0.0, allow_negative_numbers = true,
          value_parser = finite)]
    pub beta: f64,
    /// The values of x: random or ones [default: random, or as in the protocol]
    #[arg(help_heading = WHAT, long, value_name = "VALUES", value_enum)]
    pub x: Option<Fill>,
    /// The values of the matrix: stored (those of the file), random or ones [default: stored]
    #[arg(help_heading = WHAT, long, value_name = "VALUES", value_enum, default_value = "stored")]
    pub values: Values,
    /// Multiply by the transpose, y = alpha A^T x + beta y
    #[arg(help_heading = WHAT, long)]
    pub transpose: bool,
    /// Reorder rows and columns before any method runs: rcm, band-k, band-3, band-volta, band-ampere, file:PATH,
    /// inverse-file:PATH, or a list: natural,rcm. docs/usage.md describes them [default: natural]
    #[arg(help_heading = WHAT, long, value_name = "ORDER", value_parser = OrderName, default_value = "natural",
          value_delimiter = ',')]
    pub order: Vec<Order>,
    /// Use only the stored triangle of a symmetric or skew-symmetric file
    #[arg(help_heading = WHAT, long)]
    pub no_expand: bool,
    /// What edge lists mean if their files do not say it: directed, undirected or bipartite, and base=0, base=1 or
    /// compact
    #[arg(help_heading = WHAT, long, value_name = "WORDS")]
    pub edges: Option<Edges>,
    /// A protocol of docs/methodology.md, which sets what the options below change: merge-spmv, csr-k, five-gpu or
    /// power [default: merge-spmv]
    #[arg(help_heading = LONG, long, value_name = "NAME", value_enum, default_value = "merge-spmv")]
    pub protocol: Protocol,
    /// Timed products [default: 2^34 / nonzeros, from 100 to 200000, or to 50000 on a GPU]
    #[arg(help_heading = LONG, long, value_name = "N", value_parser = whole_from(1, u32::MAX))]
    pub iterations: Option<u32>,
    /// Untimed products before each round; at least one runs [default: 5]
    #[arg(help_heading = LONG, long, value_name = "N", value_parser = whole::<usize>)]
    pub warmups: Option<usize>,
    /// The least time for a method on a matrix [default: 0]
    #[arg(help_heading = LONG, long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub min_time: Option<Duration>,
    /// Stop a method that takes longer on a matrix, with setup and verification [default: 900]
    #[arg(help_heading = LONG, long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Rounds, in each of which every method has its turn; with 1, only one method is in memory at a time [default: 6]
    #[arg(help_heading = LONG, long, value_name = "N", value_parser = whole_from(1, MAX_ROUNDS))]
    pub rounds: Option<u32>,
    /// Child processes that share the rounds of CPU methods, because times differ more between processes than within
    /// one [default: 3, and up to 12 more for the best methods alone; 1 with the protocols csr-k and five-gpu]
    #[arg(help_heading = LONG, long, value_name = "N", value_parser = whole_from(1, 100))]
    pub processes: Option<u32>,
    /// Replace files that already exist
    #[arg(help_heading = OUTPUT, long)]
    pub force: bool,
    /// Also write the results to this file, in the format of its extension; may be given several times
    #[arg(help_heading = OUTPUT, long = "export", value_name = "FILE",
          value_parser = PathBufValueParser::new().try_map(exported))]
    pub exports: Vec<(Format, PathBuf)>,
    /// The order of rows in tables of text, Markdown and LaTeX: command, speed or name [default: command]
    #[arg(help_heading = OUTPUT, long, value_enum, value_name = "BY", default_value = "command")]
    pub sort: Sort,
    /// Write the facts of the run (command, settings, machine, libraries) to this file
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub run_record: Option<PathBuf>,
    /// Write every sample to this file, to compute times and intervals again (docs/samples.md)
    #[arg(help_heading = OUTPUT, hide_short_help = true, long, value_name = "FILE.csv[.zst]")]
    pub samples: Option<PathBuf>,
    /// Also time each kernel of a product; shown in the formats text and json
    #[arg(help_heading = GPU, long)]
    pub stages: bool,
    /// Set aside a part of the L2 cache for x, from compute capability 8.0 on
    #[arg(help_heading = GPU, long)]
    pub persist_x: bool,
    /// Skip what needs more memory than this: 16GiB, 500M [default: the available memory]
    #[arg(help_heading = RARE, long, value_name = "SIZE")]
    pub max_memory: Option<Size>,
    /// The pages of memory that large arrays are in: huge, where the system has them, small, or system, which asks for
    /// none [default: huge]
    #[arg(help_heading = RARE, long, value_name = "PAGES", value_enum, default_value = "huge")]
    pub pages: Pages,
    /// The vector instructions of own methods, and the widest of MKL: portable, avx2 or avx512 [default: the widest]
    #[arg(help_heading = RARE, long, value_name = "NAME", value_enum)]
    pub isa: Option<Isa>,
    /// Further matrices and sets for surrogate:…, in the format of the project's datasets.toml
    #[arg(help_heading = RARE, long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Neither read nor write the cache of parsed matrices
    #[arg(help_heading = RARE, long)]
    pub no_cache: bool,
    /// Do not measure the memory bandwidth for the facts of the run: some seconds, 2 GiB
    #[arg(help_heading = RARE, long)]
    pub no_bandwidth: bool,
    /// Measure in this process: a crash or lack of memory then ends the whole run
    #[arg(help_heading = RARE, long)]
    pub no_isolate: bool,
}

/// Returns the format of a file of `--export`.
fn exported(path: PathBuf) -> Result<(Format, PathBuf), &'static str> {
    let format = Format::of_name(&path).ok_or("its extension must be .csv, .json, .md, .tex or .txt")?;
    Ok((format, path))
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
    pub fn needs(&self) -> Needs {
        // Before methods can be looked up.
        let is_mpi = self.methods.iter().flatten().any(|word| word.starts_with("mpi"));
        let is_rank = cfg!(feature = "mpi") && is_mpi;
        let own_pages = (self.no_isolate || is_rank).then_some(self.pages);
        Needs { own_pages, added: Some(self.added.clone()), ..Needs::ORDER }
    }
}
