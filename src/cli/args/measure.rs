//! What every measuring command takes.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser};

use crate::bench::plan::{CacheState, Fill, Protocol, Settings, Values};
use crate::cli::choice::MethodName;
use crate::cli::written::ExportArgs;
use crate::device::model::DeviceFile;
use crate::matrix::order::Order;
use crate::memory::Size;
use crate::method::{Device, Unavailable};
use crate::record::sort::Sort;
use crate::record::write::Format;
use crate::scalar::Precision;
use crate::simd::Isa;

/// No time on the command line is longer: 30 years.
const MOST_SECONDS: f64 = 1e9;

/// What every measuring command takes.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Methods to run: names or globs such as 'mkl-*', separated by commas, each with parameters if wanted:
    /// gpu-light:level=vector; `spmv-bench methods` lists all of them [default: all]
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = MethodName,
          hide_possible_values = true)]
    pub methods: Option<Vec<String>>,
    /// Where to run: cpu, gpu, all, the number of a GPU, or modelled GPUs: model:h200, model:v100,a100, model:FILE.toml
    #[arg(long, value_name = "cpu|gpu|all|N|model:NAME", default_value = "all", value_parser = device)]
    pub device: DeviceChoice,
    /// The number of the GPU, where there are several [default: 0]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub gpu: Option<usize>,
    /// Precision of the matrix' values and of the vectors, or several: f64,f32, which is both
    #[arg(long, value_enum, default_value = "f64", value_delimiter = ',')]
    pub precision: Vec<PrecisionChoice>,
    /// Short for --precision f32
    #[arg(long, conflicts_with = "precision")]
    pub fp32: bool,
    /// Threads of the parallel methods, each bound to a CPU, or several counts: 1,2,4. Methods with one thread
    /// and those of the GPU are measured once, beside the largest count [default: one per core, or fewer where a
    /// control group (cgroup) limits the CPU time]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = whole::<usize>)]
    pub threads: Vec<usize>,
    /// Leaves out the methods that do not depend on the number of threads.
    #[arg(skip)]
    pub only_parallel: bool,
    /// The published measuring protocol whose settings apply; the options below override single settings
    #[arg(long, value_enum, default_value = "merge-spmv")]
    pub protocol: Protocol,
    /// How many products to time [default: 2^34 / nonzeros, but at least 100 and at most 200000, on a GPU
    /// 50000]
    #[arg(long, value_name = "N", value_parser = whole_from(1, u32::MAX))]
    pub iterations: Option<u32>,
    /// How many products to run before each round without timing them [default: 5]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub warmups: Option<usize>,
    /// Time each method on each matrix for at least so many seconds [default: 0]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub min_time: Option<Duration>,
    /// Start no further product of a method on a matrix after so many seconds [default: 2]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,
    /// Give up a method that takes longer than so many seconds on a matrix, setup and verification included
    /// [default: 900]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Skip matrices and methods that would together need more memory than this: 16GiB, 500M or a number of
    /// bytes; never more than what is free is used [default: what is free]
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Size>,
    /// In how many rounds the products of all methods are measured in turns; with 1 each method is measured
    /// as a whole, and only one is in memory at a time [default: 6]
    #[arg(long, value_name = "N", value_parser = whole_from(1, 1000))]
    pub rounds: Option<u32>,
    /// What the CPU's or GPU's caches hold before a sample is timed, or several: hot,cold [default: hot, but cold
    /// where --protocol says so]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub cache: Vec<CacheState>,
    /// The factor alpha of y = alpha A x + beta y
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true, value_parser = finite)]
    pub alpha: f64,
    /// The factor beta of y = alpha A x + beta y; with 0 the old y is not read
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true, value_parser = finite)]
    pub beta: f64,
    /// The values of the vector x [default: random]
    #[arg(long, value_enum)]
    pub x: Option<Fill>,
    /// The values of the matrix: as stored, or replaced before any method sees the matrix
    #[arg(long, value_enum, default_value = "stored")]
    pub values: Values,
    /// Seed of the random numbers of x and of --values random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>)]
    pub seed: u64,
    /// Multiply by the transpose, y = alpha A^T x + beta y
    #[arg(long)]
    pub transpose: bool,
    /// Reorder the rows and columns of each matrix, P A P^T, before any method sees it; x and y are in the
    /// same order. Several may be given: natural,rcm. The time for it is reported separately and belongs to no method. Square matrices only.
    /// (The authors of csr-k use rcm for the libraries, and not for CSR-k and CSR5.)
    #[arg(long, value_enum, default_value = "natural", value_delimiter = ',')]
    pub order: Vec<Order>,
    /// Vector instructions that this program's own methods use [default: the widest of this CPU]
    #[arg(long, value_enum)]
    pub isa: Option<Isa>,
    /// Of a symmetric or skew-symmetric file, take only the triangle that it stores
    #[arg(long)]
    pub no_expand: bool,
    /// A file that defines further matrices and sets for stand-in:…, written like the project's datasets.toml
    #[arg(long, value_name = "FILE")]
    pub datasets: Option<PathBuf>,
    /// Do not use or fill the cache of parsed matrices
    #[arg(long)]
    pub no_cache: bool,
    /// Format of the results [default: as the name of --output ends, .csv, .json, .md or .txt; else text for
    /// one matrix, or lines with --quiet, and csv for a corpus]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write the results to a file, and the facts of the run to FILE.run.json
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub exports: ExportArgs,
    /// Order of the rows in the tables of text and Markdown; csv, json and lines keep the order in which the
    /// methods run
    #[arg(long, value_enum, value_name = "BY", default_value = "command")]
    pub sort: Sort,
    /// Write the facts of the run (command, machine, bandwidth, libraries) to a file
    #[arg(long, value_name = "FILE")]
    pub run_record: Option<PathBuf>,
    /// Do not measure the machine's memory bandwidth for the facts of the run: it takes seconds and 2 GiB
    #[arg(long)]
    pub no_bandwidth: bool,
    /// Also time the single kernels and library calls of each product on a GPU; shown in the formats text
    /// and json
    #[arg(long)]
    pub stages: bool,
    /// Measure each GPU method twice: with its kernels launched one by one, and as one CUDA graph, in rows
    /// whose method ends in :graph=on
    #[arg(long)]
    pub graphs: bool,
    /// Nothing on stderr but errors; of one matrix the results are one line per method, unless --format or
    /// the name of --output asks for another form
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    Cpu,
    /// On the GPU of that number, or the one that `--gpu` names.
    Gpu(Option<usize>),
    /// On modelled GPUs, by name or file; none is for `reproduce` alone: those of each experiment's source.
    Models(Vec<String>),
    All,
}

impl DeviceChoice {
    /// Whether methods of `device` run.
    pub fn includes(&self, device: Device) -> bool {
        match self {
            Self::Cpu => device == Device::Cpu,
            Self::Gpu(_) | Self::Models(_) => device == Device::Gpu,
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
            Self::Models(names) if names.is_empty() => write!(f, "model"),
            Self::Models(names) => write!(f, "model:{}", names.join(",")),
            Self::All => write!(f, "all"),
        }
    }
}

pub fn device(text: &str) -> Result<DeviceChoice, String> {
    if let Some(names) = text.strip_prefix("model:") {
        let names: Vec<_> = names.split(',').map(str::to_owned).collect();
        names
            .iter()
            .try_for_each(|name| DeviceFile::find(name).map(drop))
            .map_err(|Unavailable(reason)| reason)?;
        return Ok(DeviceChoice::Models(distinct(&names)));
    }
    Ok(match text {
        "cpu" => DeviceChoice::Cpu,
        "gpu" => DeviceChoice::Gpu(None),
        "all" => DeviceChoice::All,
        _ => DeviceChoice::Gpu(Some(
            text.parse()
                .map_err(|_| "it must be cpu, gpu, all, the number of a GPU, or model:NAME")?,
        )),
    })
}

impl MeasureArgs {
    /// What the words of a measuring command say.
    ///
    /// # Errors
    /// Words that are none of it.
    pub fn of(words: impl Iterator<Item = String>) -> Result<Self, clap::Error> {
        /// These words alone.
        #[derive(Parser)]
        #[command(no_binary_name = true)]
        struct Words {
            #[command(flatten)]
            measure: MeasureArgs,
        }
        Words::try_parse_from(words).map(|words| words.measure)
    }

    /// The GPU that was named.
    pub fn gpu(&self) -> Option<usize> {
        match self.device {
            DeviceChoice::Gpu(Some(number)) => Some(number),
            _ => self.gpu,
        }
    }

    /// The modelled GPUs that were named.
    pub fn models(&self) -> &[String] {
        match &self.device {
            DeviceChoice::Models(names) => names,
            _ => &[],
        }
    }

    /// The numbers of threads asked for; none is one for each core.
    pub fn threads(&self) -> Vec<usize> {
        distinct(&self.threads)
    }

    /// The kinds of caches asked for, at least one.
    pub fn caches(&self) -> Vec<CacheState> {
        let usual = Settings::new(self.protocol).cache;
        if self.cache.is_empty() { vec![usual] } else { distinct(&self.cache) }
    }

    /// The orders asked for, at least one.
    pub fn orders(&self) -> Vec<Order> {
        distinct(&self.order)
    }

    /// The precisions asked for.
    pub fn precisions(&self) -> &'static [Precision] {
        let asks = |one| self.precision.iter().any(|&p| p == one || p == PrecisionChoice::Both);
        match (asks(PrecisionChoice::F64), asks(PrecisionChoice::F32)) {
            _ if self.fp32 => &[Precision::F32],
            (true, true) => &[Precision::F64, Precision::F32],
            (false, true) => &[Precision::F32],
            _ => &[Precision::F64],
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
            cache: self.caches()[0],
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

/// Each once, where it is first.
fn distinct<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let firsts = all.iter().enumerate().filter(|(place, one)| !all[..*place].contains(one));
    firsts.map(|(_, one)| one.clone()).collect()
}

pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = number(text)?;
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|_| seconds <= MOST_SECONDS);
    time.ok_or_else(|| format!("it must be a number of seconds from 0 to {MOST_SECONDS:e}"))
}

/// A whole number that is not negative.
pub fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "it must be a whole number such as 4".into())
}

/// A whole number from `least` to `most`.
pub fn whole_from(least: u32, most: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("it must be a whole number from {least} to {most}"))
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it is not a number".into())
}

pub fn finite(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value.is_finite() { Ok(value) } else { Err("it must be a finite number".into()) }
}
