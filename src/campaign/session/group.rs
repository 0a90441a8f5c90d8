//! Converts the measurements of several methods into a group of rows.

use super::Session;
use crate::bench::metrics::compulsory_bytes;
use crate::bench::outcome::{Outcome, Report};
use crate::campaign::task::Way;
use crate::campaign::{libraries, plugins};
use crate::record::row::{Circumstances, MatrixFacts, Row};
use crate::record::run::Timed;
use crate::record::{Group, Reordering};
use spmv_methods::method::{Choice, Device};
use spmv_methods::{Baseline, Kind, cpu, gpu};

impl Session<'_> {
    /// Creates a group from the measurements of `choices` on one device.
    pub(crate) fn group(
        &self,
        circumstances: Circumstances,
        device: Device,
        choices: &[Choice],
        facts: &MatrixFacts,
        report: Report,
        done: &[Timed],
    ) -> Group {
        let Circumstances { precision, cache, order, threads, .. } = circumstances;
        let way = Way { order, precision, cache };
        let results = || choices.iter().zip(&report.outcomes);
        let measured = results().filter_map(|(choice, outcome)| match outcome {
            Outcome::Ok(measured) => Some((choice.name(), measured.summary.median_ms)),
            _ => None,
        });
        let before = done
            .iter()
            .filter(|Timed { cell, .. }| cell.device == device && way.has(cell))
            .filter(|Timed { cell, .. }| self.cells().any(|own| own == *cell))
            .filter_map(|timed| Some((timed.cell.method.clone(), timed.median_ms?)));
        let before: Vec<_> = before.collect();
        let is_plain = |name: &str| Baseline::named(name).is_some_and(|b| b.kind == Kind::Csr);
        let baseline = measured.chain(before.iter().cloned()).find(|(name, _)| is_plain(name));
        let with_baseline = |baseline_ms| Circumstances {
            peak_gbs: report.peak.gbs(),
            launch_ms: report.launch_ms,
            baseline_ms,
            ..circumstances
        };
        let row = |(choice, outcome): (&Choice, &Outcome)| {
            let baseline = baseline.as_ref().filter(|_| !is_plain(&choice.name()));
            Row::new(facts, choice, outcome, &with_baseline(baseline.map(|(_, ms)| *ms)))
        };
        let stages = |outcome: &Outcome| match outcome {
            Outcome::Ok(measured) => measured.stages.clone(),
            _ => Vec::new(),
        };
        let shape = facts.shape.as_ref().expect("a measured matrix was read");
        let mut group = Group {
            precision,
            device,
            threads,
            cache,
            order,
            reordering: None,
            footprint: compulsory_bytes(shape.rows, shape.cols, shape.nnz, precision),
            peak: Some(report.peak).filter(|peak| peak.gbs() > 0.0),
            compile_ms: report.compile_ms,
            clocks: report.clocks.clone(),
            libraries: libraries::opened().into_iter().chain(plugins::opened()).collect(),
            rows: results().map(row).collect(),
            stages: report.outcomes.iter().map(stages).collect(),
        };
        let choosers = [cpu::auto::NAME, gpu::auto::NAME];
        choosers.into_iter().for_each(|chooser| group.note_gap_to_fastest(chooser, &before));
        group
    }

    /// Returns the circumstances of a group as far as they are known before it is complete.
    pub(crate) fn circumstances(
        &self,
        way: Way,
        reordering: Option<Reordering>,
    ) -> Circumstances<'_> {
        Circumstances {
            precision: way.precision,
            threads: self.team.len(),
            cache: way.cache,
            transpose: self.plan.run.settings.transpose,
            order: way.order,
            order_ms: reordering.map(|cost| cost.order_ms),
            peak_gbs: 0.0,
            gpu: self.gpu_device(),
            launch_ms: None,
            baseline_ms: None,
            run_id: &self.run_id,
        }
    }
}

/// Combines the measured outcomes with those of methods that had ended before the measurement. If the measurement
/// was interrupted, returns only the methods that have an outcome.
pub(super) fn with_ended<'m>(
    choices: Vec<Choice<'m>>,
    measured: Report,
    end_of: impl Fn(&Choice) -> Option<Outcome>,
) -> (Vec<Choice<'m>>, Report) {
    let (mut places, mut outcomes) = (0.., measured.outcomes.into_iter());
    let has_outcome = |place: usize| match &measured.interrupted {
        Some(places) => places.contains(&place),
        None => true,
    };
    let outcome = |choice: Choice<'m>| match end_of(&choice) {
        Some(ended) => Some((choice, ended)),
        None if has_outcome(places.next()?) => Some((choice, outcomes.next()?)),
        None => None,
    };
    let (choices, outcomes) = choices.into_iter().filter_map(outcome).unzip();
    (choices, Report { outcomes, interrupted: None, ..measured })
}
