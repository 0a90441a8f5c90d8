//! What identifies a row within its matrix.

use serde::{Deserialize, Serialize};

use super::Row;
use crate::settings::CacheState;
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RowKey {
    pub precision: Precision,
    pub device: Device,
    pub method: String,
    #[serde(default)]
    pub threads: Option<usize>,
    #[serde(default)]
    pub cache: Option<CacheState>,
    #[serde(default)]
    pub order: Option<Order>,
}

impl Row {
    /// Returns the key of the row within its matrix; `None` for the row of a matrix without methods.
    pub fn cell(&self) -> Option<RowKey> {
        let Self { threads, cache, order, .. } = *self;
        let (precision, device) = (self.precision?, self.device?);
        let method = self.method_name.clone()?;
        Some(RowKey { precision, device, method, threads, cache, order })
    }

    /// Sets the columns that identify the row within its matrix.
    pub fn with_key(self, cell: &RowKey) -> Self {
        let RowKey { precision, device, method, threads, cache, order } = cell.clone();
        let (precision, device, method_name) = (Some(precision), Some(device), Some(method));
        Self { precision, device, method_name, threads, cache, order, ..self }
    }

    pub fn has_key(&self, cell: &RowKey) -> bool {
        self.cell().as_ref() == Some(cell)
    }
}

impl RowKey {
    /// Returns whether the rows of both are in the same group, if the same process measures both.
    pub fn is_of_group(&self, other: &Self) -> bool {
        let group = |it: &Self| (it.precision, it.device, it.cache, it.order);
        group(self) == group(other)
    }

    /// Whether a row has this key. What run records of older versions lack is not compared.
    pub fn has(&self, row: &Self) -> bool {
        let Self { threads, cache, order, .. } = self;
        let known = Self { threads: threads.and(row.threads), cache: cache.and(row.cache), ..row.clone() };
        *self == Self { order: order.and(row.order), ..known }
    }
}

/// Returns the cells without a row, given the rows of a matrix in a run. Nothing is left to measure if every cell has
/// its row, or if there is a row with the reason why the matrix cannot be measured.
pub fn open_cells<'r>(rows: impl IntoIterator<Item = &'r Row>, cells: &[RowKey]) -> Vec<RowKey> {
    let Some(done) = rows.into_iter().map(Row::cell).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let is_open = |cell: &&RowKey| !done.iter().any(|done| cell.has(done));
    cells.iter().filter(is_open).cloned().collect()
}
