//! What every measuring command takes.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use crate::bench::plan::{Cache, Fill, Protocol, Settings, Values};
use crate::cli::choice::MethodName;
use crate::matrix::order::Order;
use crate::memory::Size;
use crate::method::Device;
use crate::record::write::Format;
use crate::scalar::Precision;
use crate::simd::Isa;

/// What every measuring command takes.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Methods to run: names or globs, separated by commas, each with its parameters as in
    /// gpu-light:level=vector [default: all]
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = MethodName,
          hide_possible_values = true)]
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
    /// Threads of the parallel methods, each pinned [default: one per core, fewer
    /// where a control group bounds the CPUs' time]
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
    /// Give up on a method that takes longer on a matrix, setup and verification included
    /// [default: 900]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Leave out matrices and methods that would need more memory together: 16GiB, 500M or bytes; never
    /// more than the system leaves [default: what it leaves]
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Size>,
    /// Let all methods take turns N times; with 1 they run one by one and are kept in memory one by
    /// one [default: 6]
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
    /// Values of the matrix: as stored, or replaced by random ones or by ones before any method sees them
    #[arg(long, value_enum, default_value = "stored")]
    pub values: Values,
    /// Seed of the random x, and of random values
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
    /// Form of the output [default: as the name of --output ends, .csv, .json, .md or .txt; else text for one
    /// matrix, csv for a corpus]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write the results to a file, and the facts of the run to FILE.run.json
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    pub force: bool,
    /// Where to write the facts of the run: command, machine, bandwidth, libraries
    #[arg(long, value_name = "FILE")]
    pub run_record: Option<PathBuf>,
    /// Do not measure the machine's bandwidth for the facts of the run, which takes seconds and 2 GiB
    #[arg(long)]
    pub no_bandwidth: bool,
    /// Time the kernels and library calls that a GPU product consists of, too; shown as text and in
    /// json
    #[arg(long)]
    pub stages: bool,
    /// Measure each method of the GPU twice: as its kernels are launched one by one, and as one CUDA graph,
    /// in rows whose method ends in :graph=on
    #[arg(long)]
    pub graphs: bool,
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

pub fn device(text: &str) -> Result<DeviceChoice, String> {
    Ok(match text {
        "cpu" => DeviceChoice::Cpu,
        "gpu" => DeviceChoice::Gpu(None),
        "all" => DeviceChoice::All,
        _ => DeviceChoice::Gpu(Some(text.parse().map_err(|_| "cpu, gpu, all or a number")?)),
    })
}

impl MeasureArgs {
    /// The form of the results: the one given, that of the output's name, or `usual`.
    ///
    /// # Errors
    /// When the name says another form than `--format`.
    pub fn format(&self, usual: Format) -> Result<Format> {
        let ending = self.output.as_ref().and_then(|path| Some((path, Format::of_name(path)?)));
        let (Some(given), Some((path, named))) = (self.format, ending) else {
            return Ok(self.format.or(ending.map(|(_, named)| named)).unwrap_or(usual));
        };
        let (path, given_name) = (path.display(), given.name());
        ensure!(
            given == named,
            "{path} has the ending of {}, but --format is {given_name}: change one of them",
            named.name()
        );
        Ok(given)
    }

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
            timeout: self.timeout.unwrap_or(protocol.timeout),
            rounds: self.rounds.map_or(protocol.rounds, |n| n as usize),
            cache: self.cache.unwrap_or(protocol.cache),
            alpha: self.alpha,
            beta: self.beta,
            x: self.x.unwrap_or(protocol.x),
            values: self.values,
            seed: self.seed,
            transpose: self.transpose,
            isa: self.isa.unwrap_or(protocol.isa),
            stages: self.stages,
            max_memory: self.max_memory.map(|Size(bytes)| bytes),
            ..protocol
        }
    }
}

pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub fn finite(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("{value} is not finite")) }
}
