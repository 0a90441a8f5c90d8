//! Measures the methods of a session on one matrix.

use std::cell::RefCell;

use super::group::with_ended;
use super::{NONE_LEFT, Session};
use crate::bench::execute::{Bench, News, Stopped, Trial};
use crate::bench::outcome::{Outcome, Report};
use crate::bench::plan::Settings;
use crate::campaign::ordered::{InPrecision, Ordered};
use crate::campaign::task::{Event, MatrixTask, Step, Way};
use crate::record::row::Row;
use crate::record::{Group, MatrixReport};
use spmv_matrix::scalar::Precision;
use spmv_methods::device::buffer::Value;
use spmv_methods::method::{Choice, Device, Unavailable};

impl Session<'_> {
    /// Measures all open methods with one order, precision and cache state. Creates one group per device.
    pub(super) fn measure<T: Value>(
        &self,
        way: Way,
        ordered: &Result<Ordered, Unavailable>,
        report: &MatrixReport,
        task: &MatrixTask,
        emit: &mut dyn FnMut(Event),
    ) -> Result<(), Stopped> {
        let gpu_device = self.gpu_device();
        let cell = |choice: &Choice| way.cell(choice, gpu_device, self.team.len());
        let reordering = ordered.as_ref().ok().and_then(|ordered| ordered.cost);
        let circumstances = self.circumstances(way, reordering);
        let open = self.choices.iter().filter(|choice| !task.is_done(&cell(choice)));
        let open: Vec<_> = open.cloned().collect();
        if open.is_empty() {
            return Ok(());
        }
        let emit = RefCell::new(emit);
        let step = |step| emit.borrow_mut()(Event::Step(step));
        let news = |news: News| match news {
            News::Next(choice, turn) => step(Step::Method(cell(choice), turn)),
            News::Final(choice, outcome) => {
                let row = Row::new(&report.facts, choice, outcome, &circumstances);
                emit.borrow_mut()(Event::Final(Box::new(row)));
            }
        };
        let is_able = |choice: &&Choice| task.is_to_run(&cell(choice));
        let matrix = if open.iter().any(|choice| is_able(&choice)) {
            step(Step::Begin(way, None));
            ordered.as_ref().map_err(Clone::clone).and_then(Ordered::to_precision::<T>)
        } else {
            Err(Unavailable(NONE_LEFT.into()))
        };
        let held = ordered.as_ref().map_or(0, Ordered::bytes)
            + matrix.as_ref().map_or(0, InPrecision::bytes);
        let max_memory = self.plan.run.settings.max_memory.map(|most| most.saturating_sub(held));
        let settings = Settings { max_memory, cache: way.cache, ..self.plan.run.settings.clone() };
        let bench = self.bench(way.precision, &settings, &news);
        let mut trial =
            matrix.as_ref().map_err(Clone::clone).and_then(|matrix| matrix.trial(&bench));
        for device in [Device::Cpu, gpu_device] {
            let of_device =
                open.iter().filter(|choice| choice.method.runs_on(gpu_device) == device);
            let choices: Vec<_> = of_device.cloned().collect();
            if choices.is_empty() {
                continue;
            }
            let able: Vec<_> = choices.iter().filter(is_able).cloned().collect();
            if !able.is_empty() {
                step(Step::Begin(way, Some(device)));
            }
            let measured = match &mut trial {
                Err(reason) => Report::of_all(able.len(), Outcome::Skipped(reason.0.clone())),
                Ok(trial) => self.on_device(device, trial, &able)?,
            };
            let is_interrupted = measured.interrupted.is_some();
            let end_of = |choice: &Choice| task.end_of(&cell(choice)).cloned().map(Outcome::from);
            let (choices, measured) = with_ended(choices, measured, end_of);
            let group =
                self.group(circumstances, device, &choices, &report.facts, measured, &task.done);
            let group = Box::new(Group { reordering, ..group });
            if is_interrupted {
                emit.borrow_mut()(Event::Partial(group));
                return Err(Stopped::Interrupted);
            }
            emit.borrow_mut()(Event::Group(group));
        }
        Ok(())
    }

    /// Returns what a measurement in a precision with these settings needs.
    pub(crate) fn bench<'b>(
        &'b self,
        precision: Precision,
        settings: &'b Settings,
        report: &'b dyn Fn(News),
    ) -> Bench<'b> {
        let Self { team, clock, interrupted, .. } = self;
        let profile = self.profiles.get(&precision);
        Bench { team, clock: *clock, interrupted, settings, profile, report, entropy: rand::random }
    }

    fn on_device<T: Value>(
        &self,
        device: Device,
        trial: &mut Trial<T>,
        choices: &[Choice],
    ) -> Result<Report, Stopped> {
        if choices.is_empty() {
            return Ok(Report::default());
        }
        let gpu = || self.gpu.as_ref().expect("GPU methods are chosen only if there is a GPU");
        let measured = match device {
            Device::Cpu => trial.on_host(choices),
            Device::Gpu | Device::Model(_) => trial.on_gpu(gpu(), choices),
        };
        match measured {
            Err(Stopped::Lost { method, reason }) if !self.is_worker => {
                Ok(lost(choices, &method, &reason))
            }
            measured => measured,
        }
    }
}

/// Returns the outcomes of methods after the device was lost while one of them was running.
fn lost(choices: &[Choice], method: &str, reason: &str) -> Report {
    let outcome = |choice: &Choice| match choice.name() == method {
        true => Outcome::Failed(reason.to_owned()),
        false => Outcome::Failed(format!("the device was lost when {method} failed: {reason}")),
    };
    Report { outcomes: choices.iter().map(outcome).collect(), ..Report::default() }
}
