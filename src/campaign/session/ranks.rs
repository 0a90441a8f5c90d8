//! Measures in a session of several MPI ranks, of which each has a share of the matrix.

use anyhow::Error;

use super::Session;
use crate::bench::event::{Event, Step, Stopped};
use crate::bench::mpi::{Ranks, load, measure_on_ranks};
use crate::bench::problem::narrowed;
use crate::campaign::work::MatrixTask;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Unavailable;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::{GroupKey, Status};

impl Session<'_> {
    /// Like [`Session::carry_out`], with one group per precision. The events are the same on every rank, apart from the
    /// times of reading.
    pub(super) fn carry_out_together(
        &self,
        ranks: &Ranks,
        task: &MatrixTask,
        emit: &dyn Fn(Event),
    ) -> Result<(), Stopped> {
        let settings = &self.plan.run.settings;
        let loaded = load(ranks, &task.source, &self.plan.run, self.clock);
        let (report, matrix, share) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                let (name, reason) = (task.source.to_string(), format!("{error:#}"));
                let ended = MatrixReport::without_groups(name, &self.run_id, Status::Failed, reason);
                emit(Event::Matrix(Box::new(ended)));
                return Ok(());
            }
        };
        let facts = report.facts.clone();
        emit(Event::Matrix(Box::new(report)));
        for cells in self.cells_of(&task.part).chunk_by(|a, b| a.key.precision == b.key.precision) {
            emit(Event::Step(Step::Begin(GroupKey::from(&cells[0].key))));
            let group = Group::new(&cells[0].key, ranks.count(), &facts);
            let bench = self.bench(settings, &task.part, 0);
            self.report_group(group, &facts, bench, emit, |bench, group| {
                if group.precision == Precision::F64 {
                    return measure_on_ranks(bench, ranks, &matrix, &share, cells, group);
                }
                match ranks.agree(narrowed::<f32>(&share).map_err(Error::msg)) {
                    Ok(share) => measure_on_ranks(bench, ranks, &matrix, &share, cells, group),
                    Err(reason) => {
                        bench.end(cells, &Unavailable(reason.to_string()).into());
                        Ok(())
                    }
                }
            })?;
        }
        Ok(())
    }
}
