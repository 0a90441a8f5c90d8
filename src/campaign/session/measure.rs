//! Measures the methods of a session on one matrix.

use super::{Cell, Matrix, Session};
use crate::bench::execute::{Bench, News, Stopped};
use crate::bench::outcome::{Outcome, Results};
use crate::bench::problem::{Problem, Reordered};
use crate::campaign::task::{Event, Step};
use crate::campaign::{libraries, plugins};
use spmv_matrix::scalar::Precision;
use spmv_methods::device::buffer::Value;
use spmv_methods::method::{Choice, Device, Unavailable};
use spmv_results::matrix::Group;
use spmv_results::row::key::RowKey;
use spmv_results::row::setting::Setting;
use spmv_results::row::{MatrixFacts, Remark, Row, Status};
use spmv_results::settings::Settings;

impl Session<'_> {
    /// Measures cells that have the same order, precision and cache state. Reports one group per device.
    pub(super) fn measure<T: Value>(
        &self,
        matrix: &Matrix,
        cells: &[&Cell],
        emit: &dyn Fn(Event),
    ) -> Result<(), Stopped> {
        let RowKey { precision, cache, .. } = cells[0].key;
        let cache = cache.unwrap_or(self.plan.run.settings.cache);
        let mut settings = Settings { cache, ..self.plan.run.settings.clone() };
        let common = Setting { device: None, threads: None, ..Setting::from(&cells[0].key) };
        emit(Event::Step(Step::Begin(common)));
        let mut problem = match &matrix.reordered {
            Ok(reordered) => Problem::<T>::new(matrix.csr, reordered.as_ref(), &settings),
            Err(reason) => Err(reason.clone()),
        };
        let reordered = matrix.reordered.as_ref().ok().and_then(Option::as_ref);
        let held = matrix.csr.bytes()
            + reordered.map_or(0, Reordered::bytes)
            + problem.as_ref().map_or(0, Problem::bytes);
        settings.max_memory = settings.max_memory.map(|most| most.saturating_sub(held));
        for cells in cells.chunk_by(|a, b| a.key.device == b.key.device) {
            let device = cells[0].key.device;
            emit(Event::Step(Step::Begin(Setting { device: Some(device), ..common })));
            let report = |news: News| match news {
                News::Next(place, turn) => {
                    emit(Event::Step(Step::Method(cells[place].key.clone(), turn)));
                }
                News::Final(place, outcome) => {
                    let row = self.row(&cells[place].key, matrix.facts, outcome);
                    emit(Event::Row(Box::new(row), outcome.stages()));
                }
            };
            let bench = self.bench(precision, &settings, &report);
            let results = self.on_device(device, problem.as_mut(), &bench, cells)?;
            let interrupted = results.interrupted;
            let reordering = reordered.map(|reordered| reordered.cost);
            let group = self.group(&cells[0].key, matrix.facts, results);
            let group = Box::new(Group { reordering, ..group });
            if interrupted {
                emit(Event::Partial(group));
                return Err(Stopped::Interrupted);
            }
            emit(Event::Group(group));
        }
        Ok(())
    }

    /// Returns the row of a cell, without what follows from other rows.
    pub fn row(&self, cell: &RowKey, facts: &MatrixFacts, outcome: &Outcome) -> Row {
        let transpose = Some(self.plan.run.settings.transpose);
        let row = Row { transpose, ..Row::of_matrix(facts, &self.run_id).with_key(cell) };
        let mut row = outcome.in_row(row);
        let is_timed_on_host = row.status == Some(Status::Ok) && cell.device == Device::Cpu;
        if is_timed_on_host && self.team.cpus().is_empty() {
            row.reason.push(Remark::ThreadsNotBound);
        }
        row
    }

    pub fn group(&self, cell: &RowKey, facts: &MatrixFacts, results: Results) -> Group {
        Group {
            peak: Some(results.peak).filter(|peak| peak.gbs() > 0.0),
            compile_ms: results.compile_ms,
            clocks: results.clocks,
            libraries: libraries::opened().into_iter().chain(plugins::opened()).collect(),
            ..Group::new(cell, self.team.len(), facts)
        }
    }

    /// Returns what a measurement in a precision with these settings needs.
    pub fn bench<'b>(
        &'b self,
        precision: Precision,
        settings: &'b Settings,
        report: &'b dyn Fn(News),
    ) -> Bench<'b> {
        let Self { interrupted, profiles, .. } = self;
        let bench = Bench::new(&self.team, self.clock, settings);
        let profile = profiles.get(&precision);
        let (is_alone, entropy) = (self.is_worker, rand::random);
        let rapl = self.rapl.as_ref();
        Bench { interrupted, is_alone, profile, rapl, report, entropy, ..bench }
    }

    fn on_device<T: Value>(
        &self,
        device: Device,
        problem: Result<&mut Problem<T>, &mut Unavailable>,
        bench: &Bench,
        cells: &[&Cell],
    ) -> Result<Results, Stopped> {
        let choices: Vec<Choice> = cells.iter().map(|cell| cell.choice.clone()).collect();
        let problem = match problem {
            Ok(problem) => problem,
            Err(Unavailable(reason)) => {
                return Ok(Results::of_all(bench, &choices, &Outcome::Skipped(reason.clone())));
            }
        };
        let gpu = || self.gpu.as_ref().expect("GPU methods are chosen only if there is a GPU");
        let measured = match device {
            Device::Cpu => problem.on_host(bench, &choices),
            Device::Gpu | Device::Model(_) => problem.on_gpu(bench, gpu(), &choices),
        };
        match measured {
            Err(Stopped::Lost { method, reason }) if !self.is_worker => {
                for (place, choice) in choices.iter().enumerate() {
                    let reason = match choice.name() == method {
                        true => reason.clone(),
                        false => format!("the device was lost when {method} failed: {reason}"),
                    };
                    (bench.report)(News::Final(place, &Outcome::Failed(reason)));
                }
                Ok(Results::default())
            }
            measured => measured,
        }
    }
}
