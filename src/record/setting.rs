//! What identifies a row in addition to its matrix and its method: the settings with which it was measured. Rows are
//! compared only with rows of the same settings.

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
    pub precision: Option<Precision>,
    pub device: Option<Device>,
    pub threads: Option<usize>,
    pub cache: Option<CacheState>,
    pub order: Option<Order>,
    pub transpose: bool,
}

impl Setting {
    /// The names of the settings, as those of columns and options.
    pub const NAMES: [&str; 6] = ["precision", "device", "threads", "cache", "order", "transpose"];

    /// Returns the setting of a row for comparisons between methods. `most` is the largest number of threads in its
    /// run. Sequential methods are compared with methods that have that many threads.
    pub fn of(row: &Row, most: Option<usize>) -> Self {
        // The method of a plug-in is not known any more when its rows are read.
        let is_parallel = match row.method() {
            Some(method) => method.threads(2) == Some(2),
            None => row.threads.is_some_and(|threads| threads > 1),
        };
        let threads = if is_parallel { row.threads } else { most.filter(|&threads| threads > 0) };
        let is_gpu = matches!(row.device, Some(Device::Gpu | Device::Model(_)));
        Self { threads: threads.filter(|_| !is_gpu), ..Self::from(row) }
    }

    /// Returns whether a cell has these settings, apart from its number of threads.
    pub fn has(&self, cell: &RowKey) -> bool {
        let of_cell = Self::from(cell);
        *self == Self { threads: self.threads, device: self.device.and(of_cell.device), ..of_cell }
    }

    /// Returns the text of the setting of that name, if it is known. A product that is not transposed has no text.
    pub fn word(&self, name: &str) -> Option<String> {
        match name {
            "precision" => self.precision.map(|precision| precision.name().into()),
            "device" => self.device.map(|device| device.name().into()),
            "threads" => self.threads.map(|threads| match threads {
                1 => "1 thread".into(),
                _ => format!("{threads} threads"),
            }),
            "cache" => self.cache.map(|cache| cache.name().into()),
            "order" => self.order.map(|order| order.name().into()),
            _ => self.transpose.then(|| "transposed".into()),
        }
    }

    /// Joins the texts of the settings with these names.
    pub fn words(&self, names: &[&str]) -> String {
        names.iter().filter_map(|name| self.word(name)).collect::<Vec<_>>().join(" ")
    }
}

impl From<&Row> for Setting {
    fn from(row: &Row) -> Self {
        let Row { precision, device, threads, cache, order, .. } = *row;
        Self { precision, device, threads, cache, order, transpose: row.transpose == Some(true) }
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
    /// Writes for example `f64, CPU, 2 threads, hot cache`; order and transpose only if they are not the default.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let words = Self::NAMES.into_iter().filter_map(|name| match (name, self.word(name)?) {
            ("device", _) => self.device.map(Device::label),
            ("cache", word) => Some(format!("{word} cache")),
            ("order", _) if self.order == Some(Order::Natural) => None,
            ("order", word) => Some(format!("order {word}")),
            (_, word) => Some(word),
        });
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}
