//! What a measurement reports while it runs, in its own process and from a child process to its parent.

use serde::{Deserialize, Serialize};

use super::samples::Sample;
use spmv_matrix::order::Order;
use spmv_methods::device::Stage;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::{GroupKey, Row, RowKey};
use spmv_results::run::RunRecord;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// The first answer of a child process: it is ready to measure, or the reason why the command line cannot be run.
    Ready(Result<Box<RunRecord>, String>),
    /// The next step. If the process ends before another event, this step is the cause.
    Step(Step),
    /// The matrix has been read, or the reason why it cannot be measured. Contains no groups.
    Matrix(Box<MatrixReport>),
    /// The result of a method, without what follows from other rows, and the parts of its product.
    Row(Box<Row>, Vec<Stage>),
    /// All samples of a method, if they are asked for. The parent sets the number of the process, from 1.
    Samples { cell: RowKey, process: usize, samples: Vec<Sample> },
    /// All rows of a group were sent. The process that measures sends the group without rows, which the `Collector` of
    /// the campaign adds.
    Group(Box<Group>),
    /// The same after an interrupt. These results are only displayed, never stored, because stored rows would be taken
    /// for a complete measurement.
    Partial(Box<Group>),
    /// A child process has measured its task, or was stopped. If the device is lost, it ends after this event.
    End(Result<(), Stopped>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Reading or generating the matrix.
    Load,
    /// Computing this order and permuting the matrix.
    Order(Order),
    /// Computing the vectors and the reference; or if the setting has a device, copying the matrix to that device.
    Begin(GroupKey),
    Method(RowKey, Turn),
    /// These methods alternate sample by sample.
    Duel(Vec<RowKey>),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Turn {
    /// The method is prepared, and its first product is verified.
    Prepare,
    /// The method has its turn in a round.
    Round {
        /// The number of the round among those of all processes, from 1.
        number: usize,
        of: usize,
    },
    /// The method keeps the device under load, or is dropped.
    Other,
}

/// Why a measurement has ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum Stopped {
    /// The caller set `Bench::interrupted`.
    #[error("interrupted")]
    Interrupted,
    /// An error of the device, after which it accepts no more work from this process.
    #[error("{method}: {reason}")]
    Lost {
        /// The method with its parameters, or the step before the first method.
        method: String,
        reason: String,
    },
}

impl Step {
    /// Returns whether a cell needs this step. Every cell needs the matrix.
    pub fn concerns(&self, cell: &RowKey) -> bool {
        match self {
            Self::Load => true,
            Self::Order(order) => cell.order == Some(*order),
            Self::Begin(setting) => setting.has(cell),
            Self::Method(of, _) => of == cell,
            Self::Duel(of) => of.contains(cell),
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
            Self::Begin(GroupKey { precision, device, .. }) => {
                let precision = precision.map_or("", |precision| precision.name());
                match device {
                    None => format!("computing vectors and reference in {precision}"),
                    Some(device) => {
                        let device = device.name();
                        format!("copying the matrix and vectors to the {device} in {precision}")
                    }
                }
            }
            Self::Method(cell, _) => format!("running {}", cell.method),
            Self::Duel(cells) => {
                let methods: Vec<_> = cells.iter().map(|cell| &cell.method[..]).collect();
                format!("running {} in turns", methods.join(", "))
            }
        }
    }
}
