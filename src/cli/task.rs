//! What a session is asked to measure of one matrix, and what it tells as it goes.

use serde::{Deserialize, Serialize};

use crate::bench::execute::Turn;
use crate::bench::outcome::Outcome;
use crate::bench::plan::CacheState;
use crate::matrix::order::Order;
use crate::matrix::source::Source;
use crate::method::{Choice, Device};
use crate::record::row::Row;
use crate::record::run::{RowKey, Timed};
use crate::record::{Group, MatrixReport};
use crate::scalar::Precision;

/// A matrix and what of it is open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixTask {
    pub source: Source,
    /// Whether a matrix of a single row or column is left out.
    pub skip_trivial: bool,
    /// Rows, columns and nonzeros that it had when the first rows were measured.
    pub sizes: Option<[usize; 3]>,
    /// What has a row already.
    pub done: Vec<Timed>,
    /// What is not to be run again, but has no row yet.
    pub ended: Vec<(RowKey, Ended)>,
}

/// How a method ended that took its process with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    Failed(String),
    Timeout(String),
}

/// What is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// What comes next: if the process ends there, that was it.
    Step(Step),
    /// The matrix is read, or why there is nothing else of it; no groups yet.
    Matrix(Box<MatrixReport>),
    /// What became of a method; its row without what depends on the others of its group.
    Final(Box<Row>),
    /// A group is complete.
    Group(Box<Group>),
    /// What there is of a group that was interrupted. It is for people only: where rows are kept, it would pass for
    /// a whole measurement.
    Partial(Box<Group>),
}

/// What all methods have in common that are measured one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Way {
    pub order: Order,
    pub precision: Precision,
    pub cache: CacheState,
}

impl Way {
    /// Whether a cell is measured so.
    pub fn has(&self, cell: &RowKey) -> bool {
        (cell.precision, cell.order, cell.cache)
            == (self.precision, Some(self.order), Some(self.cache))
    }

    /// The cell of a method, in a team of so many threads; methods of the GPU run on `gpu`.
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

/// A part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Reading the matrix, or making it.
    Load,
    /// Bringing it into an order.
    Order(Order),
    /// Vectors and reference; or, of a device, bringing the matrix there.
    Begin(Way, Option<Device>),
    /// A method's preparation, or one of its turns.
    Method(RowKey, Turn),
}

impl MatrixTask {
    /// All of a matrix.
    pub fn whole(source: &Source, skip_trivial: bool) -> Self {
        let (source, sizes) = (source.clone(), None);
        Self { source, skip_trivial, sizes, done: Vec::new(), ended: Vec::new() }
    }

    /// Why a matrix of that many rows, columns and nonzeros is not the one that has rows already.
    pub fn differs_from(&self, now: [usize; 3]) -> Option<String> {
        let then = self.sizes.filter(|then| *then != now)?;
        let shown = |[rows, cols, nnz]: [usize; 3]| format!("{rows} x {cols} with {nnz} nonzeros");
        let (then, now) = (shown(then), shown(now));
        Some(format!(
            "the matrix is now {now}, and its rows in the file are of {then}; remove these rows to measure it \
             again"
        ))
    }

    /// Whether a cell has its row.
    pub fn is_done(&self, cell: &RowKey) -> bool {
        self.done.iter().any(|timed| timed.cell == *cell)
    }

    /// Whether a cell has no row yet and has not ended.
    pub fn is_to_run(&self, cell: &RowKey) -> bool {
        !self.is_done(cell) && self.end_of(cell).is_none()
    }

    /// How a cell has ended, if it has.
    pub fn end_of(&self, cell: &RowKey) -> Option<&Ended> {
        self.ended.iter().find(|(ended, _)| ended == cell).map(|(_, end)| end)
    }
}

impl Step {
    /// Whether a cell cannot be had without it; none can without the matrix.
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

    /// Whether the matrix itself is at fault.
    pub fn is_of_matrix(&self) -> bool {
        matches!(self, Self::Load)
    }

    /// In words, after "while".
    pub fn describe(&self) -> String {
        match self {
            Self::Load => "reading the matrix".into(),
            Self::Order(order) => format!("bringing the matrix into the order {}", order.name()),
            Self::Begin(way, None) => {
                format!("making vectors and reference in {}", way.precision.name())
            }
            Self::Begin(way, Some(device)) => {
                let (device, precision) = (device.name(), way.precision.name());
                format!("bringing matrix and vectors to the {device} in {precision}")
            }
            Self::Method(cell, _) => format!("running {}", cell.method),
        }
    }
}

impl Event {
    /// Adds what is told of a matrix to its report.
    pub fn add_to(self, report: &mut MatrixReport) {
        match self {
            Self::Step(_) | Self::Final(_) | Self::Partial(_) => (),
            // Told again when a fresh process has read the matrix again.
            Self::Matrix(matrix) => {
                *report = MatrixReport { groups: std::mem::take(&mut report.groups), ..*matrix }
            }
            Self::Group(group) => report.groups.push(*group),
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
