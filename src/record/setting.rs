//! The settings that rows must share to be compared.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Group;
use super::row::Row;
use super::run::RowKey;
use crate::bench::plan::CacheState;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Device;

/// The settings with which rows were measured, as far as they are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// The precision of the values and vectors.
    pub precision: Option<Precision>,
    /// The device on which the methods ran.
    pub device: Option<Device>,
    /// The number of threads of the run's parallel methods.
    pub threads: Option<usize>,
    pub cache: Option<CacheState>,
    pub order: Option<Order>,
    pub transpose: bool,
}

impl Setting {
    /// Returns the setting of a row. `most` is the largest number of threads in its run. Sequential methods are
    /// compared with methods that have that many threads.
    pub fn of(row: &Row, most: Option<usize>) -> Self {
        let name = row.method_name.as_deref().and_then(|name| name.split(':').next());
        let method = name.and_then(spmv_methods::named);
        // The method of a plug-in is not known any more when its rows are read.
        let is_parallel = match method {
            Some(method) => method.threads(2) == Some(2),
            None => row.threads.is_some_and(|threads| threads > 1),
        };
        let threads = if is_parallel { row.threads } else { most.filter(|&threads| threads > 0) };
        Self {
            precision: row.precision,
            device: row.device,
            threads: threads
                .filter(|_| !matches!(row.device, Some(Device::Gpu | Device::Model(_)))),
            cache: row.cache,
            order: row.order,
            transpose: row.transpose == Some(true),
        }
    }
}

impl Setting {
    /// Returns whether a cell has these settings, apart from its number of threads.
    pub fn has(&self, cell: &RowKey) -> bool {
        let of_cell = Self::from(cell);
        *self == Self { threads: self.threads, device: self.device.and(of_cell.device), ..of_cell }
    }
}

impl From<&Group> for Setting {
    fn from(group: &Group) -> Self {
        Self {
            precision: Some(group.precision),
            device: Some(group.device),
            threads: (group.device == Device::Cpu).then_some(group.threads),
            cache: Some(group.cache),
            order: Some(group.order),
            transpose: group.rows.iter().any(|row| row.transpose == Some(true)),
        }
    }
}

impl From<&RowKey> for Setting {
    fn from(cell: &RowKey) -> Self {
        let RowKey { precision, device, threads, cache, order, .. } = *cell;
        let (precision, device) = (Some(precision), Some(device));
        Self { precision, device, threads, cache, order, transpose: false }
    }
}

impl fmt::Display for Setting {
    /// Writes for example `f64, CPU, 2 threads, hot cache`; the order and the transpose only if they differ from the
    /// default.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let threads = |threads| format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
        let order = self.order.filter(|&order| order != Order::Natural);
        let parts = [
            self.precision.map(|precision| precision.name().into()),
            self.device.map(Device::label),
            self.threads.map(threads),
            self.cache.map(|cache| format!("{} cache", cache.name())),
            order.map(|order| format!("order {}", order.name())),
            self.transpose.then(|| "transposed".into()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        write!(f, "{}", parts.join(", "))
    }
}
