//! What was measured of some methods becomes a group of rows.

use super::Session;
use crate::bench::metrics::compulsory_bytes;
use crate::bench::outcome::{Outcome, Report};
use crate::cli::libraries;
use crate::method::{Choice, Device};
use crate::methods::{Baseline, Kind, cpu, gpu};
use crate::record::row::{Circumstances, Row};
use crate::record::run::Timed;
use crate::record::{Group, MatrixReport};
use crate::scalar::Precision;

impl Session<'_> {
    /// A group with its rows, of what was measured of `choices` on one device.
    pub(in crate::cli) fn group(
        &self,
        precision: Precision,
        device: Device,
        choices: &[Choice],
        matrix: &MatrixReport,
        report: Report,
        done: &[Timed],
    ) -> Group {
        let facts = &matrix.facts;
        let results = || choices.iter().zip(&report.outcomes);
        let measured = results().filter_map(|(choice, outcome)| match outcome {
            Outcome::Ok(measured) => Some((choice.name(), measured.summary.median_ms)),
            _ => None,
        });
        let before = done
            .iter()
            .filter(|timed| (timed.cell.precision, timed.cell.device) == (precision, device))
            .filter_map(|timed| Some((timed.cell.method.clone(), timed.median_ms?)));
        let is_plain = |name: &str| Baseline::named(name).is_some_and(|b| b.kind == Kind::Csr);
        let baseline = measured.chain(before).find(|(name, _)| is_plain(name));
        let circumstances = Circumstances {
            precision,
            threads: self.team.len(),
            cache: self.settings.cache,
            transpose: self.settings.transpose,
            order: self.order,
            order_ms: matrix.reordering.map(|cost| cost.order_ms),
            peak_gbs: report.peak.gbs(),
            launch_ms: report.launch_ms,
            baseline_ms: baseline.map(|(_, ms)| ms),
            run_id: &self.run_id,
        };
        let row = |(choice, outcome): (&Choice, &Outcome)| {
            Row::new(facts, choice, outcome, &circumstances)
        };
        let stages = |outcome: &Outcome| match outcome {
            Outcome::Ok(measured) => measured.stages.clone(),
            _ => Vec::new(),
        };
        let shape = facts.shape.as_ref().expect("a measured matrix was read");
        let mut group = Group {
            precision,
            device,
            threads: self.team.len(),
            cache: self.settings.cache,
            footprint: compulsory_bytes(shape.rows, shape.cols, shape.nnz, precision),
            peak: Some(report.peak).filter(|peak| peak.gbs() > 0.0),
            compile_ms: report.compile_ms,
            clocks: report.clocks.clone(),
            libraries: libraries::opened().into_iter().collect(),
            rows: results().map(row).collect(),
            stages: report.outcomes.iter().map(stages).collect(),
        };
        let choosers = [cpu::auto::METHOD.name, gpu::auto::METHOD.name];
        choosers.into_iter().for_each(|chooser| group.set_off(chooser, done));
        group
    }
}
