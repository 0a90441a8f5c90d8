//! Converts reports to Ginkgo's format. Times are in seconds.

use super::{Distribution, Kernel, Matrix, OwnFields, Problem};
use crate::record::MatrixReport;
use crate::record::row::{MatrixFacts, Row, matrix_name};
use spmv_matrix::order::Order;

impl Kernel {
    fn of(row: &Row) -> Self {
        let stored = row.required_bytes.zip(row.vector_bytes());
        Self {
            time: row.avg_spmv_ms.map(|ms| ms / 1e3),
            storage: stored.map(|(required, vectors)| required - vectors),
            repetitions: row.iterations,
            completed: row.is_ok(),
            error: row.reason.clone().filter(|_| !row.is_ok()),
            own: Some(OwnFields {
                run_id: row.run_id.clone(),
                status: row.status,
                precision: row.precision,
                device: row.device,
                threads: row.threads,
                transpose: row.transpose,
                cache: row.cache,
            }),
        }
    }
}

impl From<&MatrixReport> for Matrix {
    fn from(report: &MatrixReport) -> Self {
        let rows = report.groups.iter().flat_map(|group| &group.rows);
        let order = rows.clone().find_map(|row| row.order.filter(|&o| o != Order::Natural));
        let kernel = |row: &Row| Some((row.method_name.clone()?, Kernel::of(row)));
        Self {
            filename: report.facts.file.clone(),
            problem: Problem::from(&report.facts),
            reordered: order.map(|order| order.name().into()),
            spmv: Some(rows.filter_map(kernel).collect()),
            ended: report.ended.as_ref().map(Kernel::of),
            ..Self::default()
        }
    }
}

impl From<&MatrixFacts> for Problem {
    fn from(facts: &MatrixFacts) -> Self {
        let shape = facts.shape.as_ref();
        let lengths = shape.map(|shape| &shape.row_length);
        let distribution = lengths.map(|lengths| Distribution {
            max: Some(lengths.max),
            mean: lengths.mean,
            variance: lengths.variance,
            skewness: lengths.skewness,
        });
        Self {
            group: None,
            name: Some(matrix_name(&facts.file).into()),
            rows: shape.map(|shape| shape.rows),
            cols: shape.map(|shape| shape.cols),
            columns: shape.map(|shape| shape.cols),
            nonzeros: shape.map(|shape| shape.nnz),
            kind: facts.kind.clone(),
            row_distribution: distribution.unwrap_or_default(),
        }
    }
}
