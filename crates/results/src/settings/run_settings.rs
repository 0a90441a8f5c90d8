//! The settings of a run: which methods run where, in which combinations, and how each is measured. Pure data.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::choices::CacheState;
use super::measurement::Settings;
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::reader::{Edges, Options};
use spmv_matrix::scalar::Precision;

/// What a run measures on each matrix, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    pub methods: Option<Vec<String>>,
    /// Whether methods that do not depend on the number of threads are left out.
    pub only_parallel: bool,
    pub device: DeviceChoice,
    /// The precisions, without duplicates and at least one, as in the following lists.
    pub precisions: Vec<Precision>,
    /// The numbers of threads. If empty: one thread per core.
    pub threads: Vec<usize>,
    pub orders: Vec<Order>,
    pub caches: Vec<CacheState>,
    /// How each method is measured. The cache state is the first one of `caches`.
    pub settings: Settings,
    /// Whether symmetric files are expanded to both triangles.
    pub expand: bool,
    /// What edge lists mean, as far as the user declares it.
    pub edges: Option<Edges>,
    /// Whether parsed matrices are read from the cache and written to it.
    pub matrix_cache: bool,
    /// Whether only errors are printed to stderr.
    pub quiet: bool,
}

impl RunSettings {
    /// Returns the settings of a run of all methods in double precision, on unordered and expanded matrices.
    pub fn new(settings: Settings) -> Self {
        Self {
            methods: None,
            only_parallel: false,
            device: DeviceChoice::All,
            precisions: vec![Precision::F64],
            threads: Vec::new(),
            orders: vec![Order::Natural],
            caches: vec![settings.cache],
            settings,
            expand: true,
            edges: None,
            matrix_cache: true,
            quiet: false,
        }
    }

    pub fn reading(&self) -> Options {
        Options::new(self.expand, self.edges)
    }

    pub fn gpu(&self) -> Option<usize> {
        if let DeviceChoice::Gpu(number) = self.device { number } else { None }
    }

    pub fn models(&self) -> &[String] {
        if let DeviceChoice::Models(names) = &self.device { names } else { &[] }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceChoice {
    Cpu,
    /// The GPU with this number, or the first one.
    Gpu(Option<usize>),
    /// Modelled GPUs, by name or device file. An empty list occurs only with `reproduce` and stands for the
    /// GPUs of each experiment's source.
    Models(Vec<String>),
    /// The CPU, and a GPU if there is one.
    All,
}

impl DeviceChoice {
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
