//! The task of measuring one matrix, and the events that report its progress and results.

use serde::{Deserialize, Serialize};

use crate::bench::execute::Turn;
use crate::bench::outcome::Outcome;
use crate::bench::plan::CacheState;
use crate::record::row::Row;
use crate::record::run::{RowKey, Timed};
use crate::record::{Group, MatrixReport};
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_matrix::source::Source;
use spmv_methods::method::{Choice, Device};

/// A matrix and the methods that are still to be measured on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixTask {
    pub source: Source,
    /// The numbers of rows, columns and nonzeros of the matrix when its existing rows were measured.
    pub sizes: Option<[usize; 3]>,
    /// The cells that already have a row.
    pub done: Vec<Timed>,
    /// The cells that must not be run again but have no row yet.
    pub ended: Vec<(RowKey, Ended)>,
}

/// The result of a method that ended its process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    Failed(String),
    Timeout(String),
}

/// A message about the progress or results of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// The next step. If the process ends before another event, this step is the cause.
    Step(Step),
    /// The matrix has been read, or the reason why it cannot be measured. Contains no groups.
    Matrix(Box<MatrixReport>),
    /// The result of a method: its row without the values that depend on other methods of its group.
    Final(Box<Row>),
    /// A group is complete.
    Group(Box<Group>),
    /// The partial results of an interrupted group. They are only displayed, never stored, because stored rows
    /// would be taken for a complete measurement.
    Partial(Box<Group>),
}

/// The properties that all methods of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Way {
    pub order: Order,
    pub precision: Precision,
    pub cache: CacheState,
}

impl Way {
    /// Returns whether a cell has these properties.
    pub fn has(&self, cell: &RowKey) -> bool {
        (cell.precision, cell.order, cell.cache)
            == (self.precision, Some(self.order), Some(self.cache))
    }

    /// Returns the cell of a method with a team of `team` threads. GPU methods run on `gpu`.
    pub fn cell(&self, choice: &Choice, gpu: Device, team: usize) -> RowKey {
        RowKey {
            precision: self.precision,
            device: choice.method.runs_on(gpu),
            method: choice.name(),
            threads: choice.method.threads(team),
            cache: Some(self.cache),
            order: Some(self.order),
        }
    }
}

/// A step of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Reading or generating the matrix.
    Load,
    /// Computing this order and permuting the matrix.
    Order(Order),
    /// Computing the vectors and the reference; or with a device, copying the matrix to that device.
    Begin(Way, Option<Device>),
    /// The preparation of a method, or one of its turns.
    Method(RowKey, Turn),
}

impl MatrixTask {
    /// Creates the task of measuring all methods on a matrix.
    pub fn whole(source: &Source) -> Self {
        Self { source: source.clone(), sizes: None, done: Vec::new(), ended: Vec::new() }
    }

    /// Returns an error message if the size of the matrix differs from the size when its existing rows were
    /// measured.
    pub fn differs_from(&self, now: [usize; 3]) -> Option<String> {
        let then = self.sizes.filter(|then| *then != now)?;
        let shown = |[rows, cols, nnz]: [usize; 3]| format!("{rows} x {cols} with {nnz} nonzeros");
        let (then, now) = (shown(then), shown(now));
        Some(format!(
            "the matrix is now {now}, but its rows in the file belong to {then}; remove these rows to measure \
             it again"
        ))
    }

    /// Returns whether a cell already has a row.
    pub fn is_done(&self, cell: &RowKey) -> bool {
        self.done.iter().any(|timed| timed.cell == *cell)
    }

    /// Returns whether a cell has no row and has not ended its process.
    pub fn is_to_run(&self, cell: &RowKey) -> bool {
        !self.is_done(cell) && self.end_of(cell).is_none()
    }

    /// Returns how a cell has ended its process, if it has.
    pub fn end_of(&self, cell: &RowKey) -> Option<&Ended> {
        self.ended.iter().find(|(ended, _)| ended == cell).map(|(_, end)| end)
    }
}

impl Step {
    /// Returns whether a cell needs this step. Every cell needs the matrix.
    pub fn concerns(&self, cell: &RowKey) -> bool {
        match self {
            Self::Load => true,
            Self::Order(order) => cell.order == Some(*order),
            Self::Begin(way, device) => {
                way.has(cell) && device.is_none_or(|device| cell.device == device)
            }
            Self::Method(of, _) => of == cell,
        }
    }

    /// Returns whether the matrix itself is the cause if the process ends in this step.
    pub fn is_of_matrix(&self) -> bool {
        matches!(self, Self::Load)
    }

    /// Describes the step for a message, after the word "while".
    pub fn describe(&self) -> String {
        match self {
            Self::Load => "reading the matrix".into(),
            Self::Order(order) => format!("reordering the matrix with {}", order.name()),
            Self::Begin(way, None) => {
                format!("computing vectors and reference in {}", way.precision.name())
            }
            Self::Begin(way, Some(device)) => {
                let (device, precision) = (device.name(), way.precision.name());
                format!("copying the matrix and vectors to the {device} in {precision}")
            }
            Self::Method(cell, _) => format!("running {}", cell.method),
        }
    }
}

impl From<Ended> for Outcome {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Failed(reason) => Self::Failed(reason),
            Ended::Timeout(reason) => Self::Timeout(reason),
        }
    }
}
