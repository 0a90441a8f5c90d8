//! Measures the methods of a session on one matrix.

use super::Session;
use crate::bench::event::{Event, Step, Stopped};
use crate::bench::execute::{Bench, Cell};
use crate::bench::problem::{Problem, Reordered};
use crate::campaign::work::Part;
use crate::campaign::{libraries, plugins};
use spmv_matrix::Csr;
use spmv_methods::device::buffer::Value;
use spmv_methods::method::{Device, Failed, Unavailable};
use spmv_results::matrix::Group;
use spmv_results::row::{GroupKey, MatrixFacts, Remark, Row};
use spmv_results::settings::Settings;

impl Session<'_> {
    /// Measures cells that have the same order, precision and cache state, on the matrix in this order, or reports why
    /// there is none. Reports one group per device.
    pub(super) fn measure<T: Value>(
        &self,
        csr: &Csr<f64>,
        reordered: &Result<Option<Reordered>, Unavailable>,
        facts: &MatrixFacts,
        cells: &[Cell],
        part: &Part,
        emit: &dyn Fn(Event),
    ) -> Result<(), Stopped> {
        let cache = cells[0].key.cache.unwrap_or(self.plan.run.settings.cache);
        let settings = Settings { cache, ..self.plan.run.settings.clone() };
        let common = GroupKey { device: None, threads: None, ..GroupKey::from(&cells[0].key) };
        emit(Event::Step(Step::Begin(common)));
        let mut problem = match reordered {
            Ok(reordered) => Problem::<T>::new(csr, reordered.as_ref(), &settings),
            Err(reason) => Err(reason.clone()),
        };
        let reordered = reordered.as_ref().ok().and_then(Option::as_ref);
        let held = csr.bytes() + reordered.map_or(0, Reordered::bytes) + problem.as_ref().map_or(0, Problem::bytes);
        for cells in cells.chunk_by(|a, b| a.key.device == b.key.device) {
            let device = Some(cells[0].key.device);
            emit(Event::Step(Step::Begin(GroupKey { device, ..common })));
            let reordering = reordered.map(|reordered| reordered.cost);
            let group = Group::new(&cells[0].key, self.team.len(), facts);
            let group = Group { reordering, ..group };
            let bench = self.bench(&settings, part, held);
            self.report_group(group, facts, bench, emit, |bench, group| match &mut problem {
                Ok(problem) => self.on_device(problem, bench, cells, group),
                Err(reason) => {
                    bench.end(cells, &reason.clone().into());
                    Ok(())
                }
            })?;
        }
        Ok(())
    }

    /// Returns what all methods have in common, on a matrix that takes `held` bytes.
    pub(super) fn bench<'s>(&'s self, settings: &'s Settings, part: &Part, held: u64) -> Bench<'s> {
        Bench {
            interrupted: self.interrupted,
            share: part.share,
            has_duel: part.has_duel,
            explains: self.plan.explains,
            max_memory: settings.max_memory.map(|most| most.saturating_sub(held)),
            is_alone: self.is_worker,
            rapl: self.rapl.as_ref(),
            entropy: rand::random,
            ..Bench::new(&self.team, self.clock, settings)
        }
    }

    /// Lets `measure` report the rows of a group, and reports the group.
    pub(super) fn report_group(
        &self,
        mut group: Group,
        facts: &MatrixFacts,
        bench: Bench,
        emit: &dyn Fn(Event),
        measure: impl FnOnce(&Bench, &mut Group) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let row = Row::of_matrix(facts, &self.run_id);
        let bench = Bench {
            profile: self.profiles.get(&group.precision),
            row: Row { transpose: Some(bench.settings.transpose), ..row },
            emit: &|event| emit(self.noted(event)),
            ..bench
        };
        let measured = measure(&bench, &mut group);
        group.libraries = libraries::opened().into_iter().chain(plugins::opened()).collect();
        match measured {
            Ok(()) => emit(Event::Group(Box::new(group))),
            Err(Stopped::Interrupted) => emit(Event::Partial(Box::new(group))),
            Err(Stopped::Lost { .. }) => (),
        }
        measured
    }

    /// Adds to the row of a method on the host whether its threads could move.
    fn noted(&self, mut event: Event) -> Event {
        if let Event::Row(row, _) = &mut event
            && row.is_ok()
            && row.device == Some(Device::Cpu)
            && self.team.cpus().is_empty()
        {
            row.reason.push(Remark::ThreadsNotBound);
        }
        event
    }

    /// Measures the methods of a device. If it is lost, that is their failure, except in a child process.
    fn on_device<T: Value>(
        &self,
        problem: &mut Problem<T>,
        bench: &Bench,
        cells: &[Cell],
        group: &mut Group,
    ) -> Result<(), Stopped> {
        let gpu = || self.gpu.as_ref().expect("GPU methods are chosen only if there is a GPU");
        let measured = match group.device {
            Device::Cpu => problem.on_host(bench, cells, group),
            Device::Gpu | Device::Model(_) => problem.on_gpu(bench, gpu(), cells, group),
        };
        match measured {
            Err(Stopped::Lost { method, reason }) if !self.is_worker => {
                (group.peak, group.compile_ms, group.clocks) = (None, None, Vec::new());
                for cell in cells {
                    let reason = if cell.choice.name() == method {
                        reason.clone()
                    } else {
                        format!("the device was lost when {method} failed: {reason}")
                    };
                    bench.end(std::slice::from_ref(cell), &Failed(reason).into());
                }
                Ok(())
            }
            measured => measured,
        }
    }
}
