use serde::{Deserialize, Serialize};

use crate::matrix::MatrixReport;
use crate::row::Row;
use spmv_matrix::device::Stage;
use spmv_matrix::scalar::Precision;

/// One part of a method's product: a kernel or a library call. Columns that [`Row`] also has have the same meaning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageRow {
    pub file: String,
    pub method_name: String,
    pub precision: Option<Precision>,
    pub num_nonzeros: Option<usize>,
    pub row_length_mean: Option<f64>,
    pub stage: String,
    pub ms: f64,
    /// See [`Stage::occupancy`].
    pub occupancy: Option<f64>,
    pub run_id: String,
}

impl StageRow {
    /// Returns the stages of all methods on a matrix in the order in which a product runs them, if requested.
    pub fn all(report: &MatrixReport) -> Vec<Self> {
        let rows = report.groups.iter().flat_map(|group| group.rows.iter().zip(&group.stages));
        rows.flat_map(|(row, stages)| stages.iter().map(|stage| Self::new(row, stage))).collect()
    }

    fn new(row: &Row, stage: &Stage) -> Self {
        Self {
            file: row.file.clone(),
            method_name: row.method_name.clone().unwrap_or_default(),
            precision: row.precision,
            num_nonzeros: row.num_nonzeros,
            row_length_mean: row.row_length_mean,
            stage: stage.name.clone(),
            ms: stage.ms,
            occupancy: stage.occupancy,
            run_id: row.run_id.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Group;

    #[test]
    fn each_stage_of_each_method_is_a_row() {
        let occupancy = Some(0.5);
        let stage = |name: &str, ms| Stage { name: name.into(), ms, occupancy, ..Stage::default() };
        let row = |name: &str| Row { num_nonzeros: Some(7), ..crate::report::row("a.mtx", name, 1.0) };
        let group = Group {
            stages: vec![vec![stage("k", 1.0)], vec![], vec![stage("s", 2.0), stage("k", 3.0)]],
            ..Group::of(["one", "two", "three"].map(row).to_vec())
        };
        let report = MatrixReport { groups: vec![group], ..MatrixReport::default() };
        let rows = StageRow::all(&report);
        let found: Vec<_> = rows.iter().map(|r| (&r.method_name[..], &r.stage[..], r.ms)).collect();
        assert_eq!(found, [("one", "k", 1.0), ("three", "s", 2.0), ("three", "k", 3.0)]);
        let StageRow { file, num_nonzeros, occupancy, .. } = &rows[0];
        assert_eq!((&file[..], *num_nonzeros, *occupancy), ("a.mtx", Some(7), Some(0.5)));
    }
}
