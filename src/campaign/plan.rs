//! What a campaign measures on each matrix, and how. Pure data, which is also sent to child processes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::bench::plan::{CacheState, Settings};
use crate::device::model::DeviceFile;
use crate::matrix::order::Order;
use crate::method::{Device, Unavailable};
use crate::scalar::Precision;

/// What is measured on each matrix, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The methods, in the syntax of `--methods`; `None`: all methods that support the product.
    pub methods: Option<Vec<String>>,
    /// The parameters of which every value is measured, unless `methods` sets a value.
    pub sweep: Vec<String>,
    /// Whether each GPU method is also measured as a CUDA graph.
    pub graphs: bool,
    /// The devices on which methods run.
    pub device: DeviceChoice,
    /// The number of the GPU, if there are several.
    pub gpu: Option<usize>,
    /// The numbers of threads. An empty list stands for one thread per core.
    pub threads: Vec<usize>,
    /// Whether methods that do not depend on the number of threads are skipped.
    pub only_parallel: bool,
    /// The precisions, at least one.
    pub precisions: Vec<Precision>,
    /// The orders of rows and columns, at least one.
    pub orders: Vec<Order>,
    /// The cache states, at least one.
    pub caches: Vec<CacheState>,
    /// The settings of each measurement. Its cache state is one of `caches`.
    pub settings: Settings,
    /// Whether matrices with a single row or column are skipped.
    pub skip_trivial: bool,
    /// Whether both triangles of a symmetric file are used.
    pub expand: bool,
    /// Whether the cache of parsed matrices is used.
    pub use_cache: bool,
    /// Whether the bandwidth of the machine is measured for the run record.
    pub bandwidth: bool,
    /// Whether nothing but errors is printed on stderr.
    pub quiet: bool,
}

impl Plan {
    /// Creates a plan with these settings: all methods in f64, with one thread per core.
    pub fn new(settings: Settings) -> Self {
        Self {
            methods: None,
            sweep: Vec::new(),
            graphs: false,
            device: DeviceChoice::All,
            gpu: None,
            threads: Vec::new(),
            only_parallel: false,
            precisions: vec![Precision::F64],
            orders: vec![Order::Natural],
            caches: vec![settings.cache],
            settings,
            skip_trivial: false,
            expand: true,
            use_cache: true,
            bandwidth: false,
            quiet: false,
        }
    }

    /// Returns the plan for one of several numbers of threads, of which `most` is the largest. With the others, only
    /// the methods that depend on the number are measured.
    pub fn with_threads(&self, threads: usize, most: usize) -> Self {
        let is_first = threads == most;
        Self {
            threads: vec![threads],
            only_parallel: !is_first,
            bandwidth: self.bandwidth && is_first,
            quiet: self.quiet || !is_first,
            ..self.clone()
        }
    }

    /// Returns the plan for one of several modelled GPUs.
    pub fn with_model(&self, model: &str, is_first: bool) -> Self {
        let device = DeviceChoice::Models(vec![model.to_owned()]);
        Self { device, quiet: self.quiet || !is_first, ..self.clone() }
    }
}

/// The devices on which methods run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceChoice {
    /// The CPU.
    Cpu,
    /// The GPU with this number, or the one that `--gpu` selects.
    Gpu(Option<usize>),
    /// Modelled GPUs, by name or device file. An empty list occurs only with `reproduce` and stands for the
    /// GPUs of each experiment's source.
    Models(Vec<String>),
    /// The CPU and the GPU, if there is one.
    All,
}

impl DeviceChoice {
    /// Returns whether methods of `device` run.
    pub fn includes(&self, device: Device) -> bool {
        match self {
            Self::Cpu => device == Device::Cpu,
            Self::Gpu(_) | Self::Models(_) => device == Device::Gpu,
            Self::All => true,
        }
    }

    /// Returns the names of the modelled GPUs.
    pub fn models(&self) -> &[String] {
        match self {
            Self::Models(names) => names,
            _ => &[],
        }
    }
}

/// Why a text names no device.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("it must be cpu, gpu, all, the number of a GPU, or model:NAME")]
    Unknown,
    #[error(transparent)]
    NoModel(#[from] Unavailable),
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        if let Some(names) = text.strip_prefix("model:") {
            let names: Vec<_> = names.split(',').map(str::to_owned).collect();
            names.iter().try_for_each(|name| DeviceFile::find(name).map(drop))?;
            return Ok(Self::Models(distinct(&names)));
        }
        Ok(match text {
            "cpu" => Self::Cpu,
            "gpu" => Self::Gpu(None),
            "all" => Self::All,
            _ => Self::Gpu(Some(text.parse().map_err(|_| DeviceError::Unknown)?)),
        })
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

/// Returns the distinct elements in the order of their first occurrence.
pub fn distinct<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let firsts = all.iter().enumerate().filter(|(place, one)| !all[..*place].contains(one));
    firsts.map(|(_, one)| one.clone()).collect()
}
