//! Measures in a session of several MPI ranks, of which each has a share of the matrix.

use anyhow::Error;

use super::Session;
use crate::bench::event::{Event, Step};
use crate::bench::execute::Stopped;
use crate::bench::mpi::{Distributed, Ranks, load, measure_on_ranks};
use crate::bench::outcome::Outcome;
use crate::bench::problem::narrowed;
use crate::campaign::task::MatrixTask;
use spmv_matrix::scalar::Precision;
use spmv_matrix::source::Source;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::setting::Setting;
use spmv_results::row::{MatrixFacts, Status};

impl Session<'_> {
    /// Like [`Session::carry_out`], with one group per precision. The events are the same on every rank, apart from the
    /// times of reading.
    pub(super) fn carry_out_together(
        &self,
        ranks: &Ranks,
        task: &MatrixTask,
        emit: &dyn Fn(Event),
    ) -> Result<(), Stopped> {
        let (source, settings) = (&task.source, &self.plan.run.settings);
        let (matrix, share) = match load(ranks, source, &self.plan.run, self.clock) {
            Ok(loaded) => loaded,
            Err(error) => {
                let (name, reason) = (source.to_string(), format!("{error:#}"));
                let ended =
                    MatrixReport::without_groups(name, &self.run_id, Status::Failed, reason);
                emit(Event::Matrix(Box::new(ended)));
                return Ok(());
            }
        };
        let report = described(source, &matrix);
        emit(Event::Matrix(Box::new(report.clone())));
        for cells in self.cells_of(&task.cells).chunk_by(|a, b| a.key.precision == b.key.precision)
        {
            emit(Event::Step(Step::Begin(Setting::from(&cells[0].key))));
            let group = Group::new(&cells[0].key, ranks.count(), &report.facts);
            self.report_group(group, &report.facts, settings, emit, |bench, group| {
                if group.precision == Precision::F64 {
                    return measure_on_ranks(bench, ranks, &matrix, &share, cells, group);
                }
                match ranks.agree(narrowed::<f32>(&share).map_err(Error::msg)) {
                    Ok(share) => measure_on_ranks(bench, ranks, &matrix, &share, cells, group),
                    Err(reason) => {
                        bench.end(cells, &Outcome::Skipped(reason.to_string()));
                        Ok(())
                    }
                }
            })?;
        }
        Ok(())
    }
}

fn described(source: &Source, matrix: &Distributed) -> MatrixReport {
    let read = matrix.read.as_secs_f64();
    MatrixReport {
        facts: MatrixFacts {
            file: source.to_string(),
            shape: Some(matrix.shape.clone()),
            kind: source.generator_kind().or_else(|| matrix.kind.clone()),
            ..MatrixFacts::default()
        },
        load_ms: Some(1e3 * read),
        load_mbs: matrix.bytes.map(|bytes| bytes as f64 / read / 1e6),
        duplicates: matrix.duplicates,
        ..MatrixReport::default()
    }
}
