//! The parts of products, with one row per part.

use serde::{Deserialize, Serialize};

use super::row::Row;
use super::{Group, MatrixReport};
use spmv_matrix::scalar::Precision;
use spmv_methods::device::Stage;

/// One part of a method's product: a kernel or a library call. Columns that [`Row`] also has have the same meaning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageRow {
    pub file: String,
    pub method_name: String,
    pub precision: Option<Precision>,
    pub num_nonzeros: Option<usize>,
    pub row_length_mean: Option<f64>,
    /// The kernel or library call.
    pub stage: String,
    /// The time per product in milliseconds.
    pub ms: f64,
    /// See [`Stage::occupancy`].
    pub occupancy: Option<f64>,
    pub run_id: String,
}

impl StageRow {
    /// Returns the stages of all methods on a matrix, in the order in which a product runs them; none unless they were
    /// requested.
    pub fn all(report: &MatrixReport) -> Vec<Self> {
        let of_group = |group: &Group| {
            let stages = group.rows.iter().zip(&group.stages);
            let rows = stages.flat_map(|(row, stages)| stages.iter().map(|s| Self::new(row, s)));
            rows.collect::<Vec<_>>()
        };
        report.groups.iter().flat_map(of_group).collect()
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

    #[test]
    fn each_stage_of_each_method_is_a_row() {
        let stage = |name: &str, ms| Stage {
            name: name.into(),
            ms,
            occupancy: Some(0.5),
            ..Stage::default()
        };
        let row = |name: &str| Row {
            file: "a.mtx".into(),
            method_name: Some(name.into()),
            num_nonzeros: Some(7),
            ..Row::default()
        };
        let group = Group {
            stages: vec![vec![stage("k", 1.0)], vec![], vec![stage("s", 2.0), stage("k", 3.0)]],
            ..Group::of(vec![row("one"), row("two"), row("three")])
        };
        let report = MatrixReport { groups: vec![group], ..MatrixReport::default() };
        let rows = StageRow::all(&report);
        let found: Vec<_> = rows.iter().map(|r| (&r.method_name[..], &r.stage[..], r.ms)).collect();
        assert_eq!(found, [("one", "k", 1.0), ("three", "s", 2.0), ("three", "k", 3.0)]);
        assert_eq!((&rows[0].file[..], rows[0].num_nonzeros), ("a.mtx", Some(7)));
        assert_eq!(rows[0].occupancy, Some(0.5));
    }
}
