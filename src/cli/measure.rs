//! The arguments that all measuring commands have in common.

mod files;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Parser};

use super::args::AddedArgs;
use super::values::{MethodName, OrderName, device, distinct, finite, seconds, whole, whole_from};
use crate::campaign::Plan;
use spmv_matrix::memory::Size;
use spmv_matrix::order::Order;
use spmv_matrix::reader::{self, Edges};
use spmv_matrix::scalar::Precision;
use spmv_methods::added;
use spmv_methods::simd::Isa;
use spmv_results::files::write::Format;
use spmv_results::settings::{
    CacheState, DeviceChoice, Fill, MAX_ROUNDS, Pages, Protocol, RunSettings, Settings, Values,
};
use spmv_results::text::Sort;

/// The error message of a measuring command without any correct result.
pub const NOTHING: &str =
    "nothing was measured: no method has a correct result; the reason is in each row";

/// The headings of the groups of options that the short help leaves out.
pub const WHAT: &str = "What to measure";
const LONG: &str = "How long to measure";
const OUTPUT: &str = "Output";
const GPU: &str = "GPU";
pub const RARE: &str = "Rarely needed";

/// Leaves the options of groups out of the short help.
pub fn grouped(arg: Arg) -> Arg {
    let is_in_group = arg.get_help_heading().is_some();
    arg.hide_short_help(is_in_group)
}

/// Leaves the options of groups out of the help of a command that has further ones: `spmv-bench --help` lists them.
pub fn shared(arg: Arg) -> Arg {
    let is_in_group = arg.get_help_heading().is_some();
    arg.hide_short_help(is_in_group).hide_long_help(is_in_group)
}

/// What the help of these commands says about the options that it leaves out.
pub const MORE: &str =
    "`spmv-bench --help` has more options of measurements, which can be given here, too.";

/// The arguments that all measuring commands have in common.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Only these methods, by name or pattern: merge,'mkl-*'
    ///
    /// `spmv-bench methods` lists them. They may have parameters: gpu-light:level=vector.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = MethodName, hide_possible_values = true)]
    pub methods: Option<Vec<String>>,
    /// Where: cpu, gpu, 1 (GPU 1), model:h200 [default: all]
    ///
    /// Several modelled GPUs may be given, model:v100,a100, or a device file, model:FILE.toml.
    #[arg(long, value_name = "WHERE", default_value = "all", hide_default_value = true, value_parser = device)]
    pub device: DeviceChoice,
    /// Planned products: the setup counts, spread over N
    ///
    /// Methods that choose by it, such as auto, are told.
    #[arg(long, value_name = "N", value_parser = whole_from(1, u32::MAX))]
    pub products: Option<u32>,
    /// Precision: f64, f32, both or f64,f32 [default: f64]
    #[arg(
        long,
        value_name = "P",
        value_enum,
        default_value = "f64",
        hide_default_value = true,
        value_delimiter = ',',
        hide_possible_values = true
    )]
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
    #[arg(long, value_enum, hide_possible_values = true)]
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
    #[arg(help_heading = WHAT, long, value_name = "STATE", value_enum, value_delimiter = ',',
          hide_possible_values = true)]
    pub cache: Vec<CacheState>,
    /// The factor alpha of y = alpha A x + beta y [default: 1]
    #[arg(help_heading = WHAT, long, value_name = "FACTOR", default_value_t = 1.0, hide_default_value = true,
          allow_negative_numbers = true, value_parser = finite)]
    pub alpha: f64,
    /// The factor beta [default: 0, with which the old y is not read]
    #[arg(help_heading = WHAT, long, value_name = "FACTOR", default_value_t = 0.0, hide_default_value = true,
          allow_negative_numbers = true, value_parser = finite)]
    pub beta: f64,
    /// The values of x: random or ones [default: random, or as in the protocol]
    #[arg(help_heading = WHAT, long, value_name = "VALUES", value_enum, hide_possible_values = true)]
    pub x: Option<Fill>,
    /// The values of the matrix: stored (those of the file), random or ones [default: stored]
    #[arg(help_heading = WHAT, long, value_name = "VALUES", value_enum, default_value = "stored",
          hide_default_value = true, hide_possible_values = true)]
    pub values: Values,
    /// Multiply by the transpose, y = alpha A^T x + beta y
    #[arg(help_heading = WHAT, long)]
    pub transpose: bool,
    /// Reorder rows and columns before any method runs: rcm, band-k, band-3, band-volta, band-ampere, file:PATH,
    /// inverse-file:PATH, or a list: natural,rcm. docs/usage.md describes them [default: natural]
    #[arg(help_heading = WHAT, long, value_name = "ORDER", value_parser = OrderName, default_value = "natural",
          hide_default_value = true, hide_possible_values = true, value_delimiter = ',')]
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
    #[arg(help_heading = LONG, long, value_name = "NAME", value_enum, default_value = "merge-spmv",
          hide_default_value = true, hide_possible_values = true)]
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
    #[arg(help_heading = OUTPUT, long, value_enum, value_name = "BY", default_value = "command",
          hide_default_value = true, hide_possible_values = true)]
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
    #[arg(help_heading = RARE, long, value_name = "PAGES", value_enum, default_value = "huge",
          hide_default_value = true, hide_possible_values = true)]
    pub pages: Pages,
    /// The vector instructions of own methods, and the widest of MKL: portable, avx2 or avx512 [default: the widest]
    #[arg(help_heading = RARE, long, value_name = "NAME", value_enum, hide_possible_values = true)]
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
    /// The same as --precision f32
    #[arg(hide = true, long, conflicts_with = "precision")]
    pub fp32: bool,
}

/// Returns the format of a file of `--export`.
fn exported(path: PathBuf) -> Result<(Format, PathBuf), &'static str> {
    let format =
        Format::of_name(&path).ok_or("its extension must be .csv, .json, .md, .tex or .txt")?;
    Ok((format, path))
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
        let is_requested = |one: &Precision| match self.fp32 {
            true => *one == Precision::F32,
            false => self.precision.iter().any(|p| p.single().is_none_or(|own| own == *one)),
        };
        let precisions = [Precision::F64, Precision::F32].into_iter().filter(is_requested);
        // A .cu file is measured alone unless the command line names methods.
        let kernels = Some(added::kernel_names()).filter(|names| !names.is_empty());
        RunSettings {
            methods: self.methods.clone().or(kernels),
            only_parallel: false,
            device: self.device.clone(),
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
    pub fn reading(&self) -> reader::Options {
        reader::Options::new(!self.no_expand, self.edges)
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
            further_processes: self.processes.map_or(protocol.further_processes, |_| 0),
            cache: self.caches()[0],
            alpha: self.alpha,
            beta: self.beta,
            x: self.x.unwrap_or(protocol.x),
            values: self.values,
            planned: self.products,
            transpose: self.transpose,
            isa: self.isa.unwrap_or(protocol.isa),
            persist_x: self.persist_x,
            stages: self.stages,
            samples: self.samples.is_some(),
            max_memory: self.max_memory.map(|Size(bytes)| bytes),
            pages: self.pages,
            ..protocol
        }
    }
}
