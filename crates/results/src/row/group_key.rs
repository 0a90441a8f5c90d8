//! What rows of a matrix must have in common to be compared: the settings with which they were measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::row::{Row, RowKey};
use crate::settings::CacheState;
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

/// The settings with which rows were measured, as far as they are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKey {
    pub precision: Option<Precision>,
    pub device: Option<Device>,
    pub threads: Option<usize>,
    pub cache: Option<CacheState>,
    pub order: Option<Order>,
    pub transpose: bool,
}

impl GroupKey {
    /// The names of the settings, as those of columns and options.
    pub const NAMES: [&str; 6] = ["precision", "device", "threads", "cache", "order", "transpose"];

    /// Returns the key of a row for comparisons between methods, where `most` is the largest number of threads in
    /// its run. Sequential methods are compared with methods that have that many threads.
    pub fn of(row: &Row, is_sequential: bool, most: Option<usize>) -> Self {
        let threads = if is_sequential { most.filter(|&most| most > 0) } else { row.threads };
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

    pub fn words(&self, names: &[&str]) -> String {
        names.iter().filter_map(|name| self.word(name)).collect::<Vec<_>>().join(" ")
    }
}

/// The numbers of threads of runs: a method is sequential if it has one thread in a run in which others have more.
#[derive(Debug, Default)]
pub struct Threads<'a> {
    most: BTreeMap<&'a str, usize>,
    parallel: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Threads<'a> {
    pub fn of(rows: impl Iterator<Item = &'a Row>) -> Self {
        let mut all = Self::default();
        for row in rows {
            let threads = row.threads.unwrap_or_default();
            let most = all.most.entry(&row.run_id).or_default();
            *most = threads.max(*most);
            if threads > 1 {
                all.parallel.extend(row.method_name.as_deref().map(|method| (&row.run_id[..], method)));
            }
        }
        all
    }

    pub fn group_key(&self, row: &Row) -> GroupKey {
        let method = row.method_name.as_deref().unwrap_or_default();
        let is_sequential = !self.parallel.contains(&(&row.run_id[..], method));
        GroupKey::of(row, is_sequential, self.most.get(&row.run_id[..]).copied())
    }
}

impl From<&Row> for GroupKey {
    fn from(row: &Row) -> Self {
        let Row { precision, device, threads, cache, order, .. } = *row;
        Self { precision, device, threads, cache, order, transpose: row.transpose == Some(true) }
    }
}

impl From<&RowKey> for GroupKey {
    fn from(cell: &RowKey) -> Self {
        let RowKey { precision, device, threads, cache, order, .. } = *cell;
        let (precision, device) = (Some(precision), Some(device));
        Self { precision, device, threads, cache, order, transpose: false }
    }
}

impl fmt::Display for GroupKey {
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
