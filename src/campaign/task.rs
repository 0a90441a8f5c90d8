//! The task of measuring one matrix, and the events that report its progress and results.

use serde::{Deserialize, Serialize};

use crate::bench::execute::Turn;
use spmv_matrix::order::Order;
use spmv_matrix::source::Source;
use spmv_methods::device::Stage;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::Row;
use spmv_results::row::key::RowKey;
use spmv_results::row::setting::Setting;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixTask {
    pub source: Source,
    /// The numbers of rows, columns and nonzeros of the matrix when it was read before.
    pub sizes: Option<[usize; 3]>,
    pub cells: Vec<RowKey>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// The next step. If the process ends before another event, this step is the cause.
    Step(Step),
    /// The matrix has been read, or the reason why it cannot be measured. Contains no groups.
    Matrix(Box<MatrixReport>),
    /// The result of a method, without what follows from other rows, and the parts of its product.
    Row(Box<Row>, Vec<Stage>),
    /// All rows of a group were sent. The process that measures sends the group without rows, which
    /// [`Collector`](super::collect::Collector) adds.
    Group(Box<Group>),
    /// The same after an interrupt. These results are only displayed, never stored, because stored rows would be taken
    /// for a complete measurement.
    Partial(Box<Group>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Reading or generating the matrix.
    Load,
    /// Computing this order and permuting the matrix.
    Order(Order),
    /// Computing the vectors and the reference; or if the setting has a device, copying the matrix to that device.
    Begin(Setting),
    Method(RowKey, Turn),
}

impl MatrixTask {
    /// Returns an error message if the matrix has another size than before.
    pub fn differs_from(&self, now: [usize; 3]) -> Option<String> {
        let then = self.sizes.filter(|then| *then != now)?;
        let shown = |[rows, cols, nnz]: [usize; 3]| format!("{rows} x {cols} with {nnz} nonzeros");
        let (then, now) = (shown(then), shown(now));
        Some(format!(
            "the matrix is now {now}, but its rows in the file belong to {then}; remove these rows to measure \
             it again"
        ))
    }
}

impl Step {
    /// Returns whether a cell needs this step. Every cell needs the matrix.
    pub fn concerns(&self, cell: &RowKey) -> bool {
        match self {
            Self::Load => true,
            Self::Order(order) => cell.order == Some(*order),
            Self::Begin(setting) => setting.has(cell),
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
            Self::Begin(Setting { precision, device, .. }) => {
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
        }
    }
}
