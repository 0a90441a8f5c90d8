//! A case: the methods that are measured on one matrix, and what all steps of the measurement do with them.

use std::slice;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::caught::guarded;
use super::foreign::Foreign;
use super::ready::Ready;
use crate::bench::alteration::Alteration;
use crate::bench::backend::{Backend, Timer};
use crate::bench::calls::Calls;
use crate::bench::contract::{Bench, Cell, is_of_library};
use crate::bench::event::{Event, Stopped, Turn};
use crate::bench::inputs::{Fresh, Inputs};
use crate::bench::outcome::Outcome;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::system::threads::Thread;
use spmv_methods::device::facts::Clocks;
use spmv_methods::method::{Choice, Device};
use spmv_methods::plugin::{Process, not_restored};
use spmv_results::row::{Remark, Status};
use spmv_results::settings::Round;

/// Methods while they are measured on one matrix, on one backend.
pub struct Case<'a, 'i, T, S> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) round: Round,
    pub(super) inputs: &'i mut Inputs<T>,
    pub(super) alteration: Alteration<T>,
    /// The newest x, which some methods have seen.
    pub(super) fresh: Option<Fresh<T>>,
    /// The number of the round among those of all processes, from 1; 0 in a duel.
    pub(super) number: usize,
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) backend: S,
    pub(super) extent: Extent<'a>,
    /// An upper bound of the memory of all prepared methods, in bytes.
    pub(super) kept: u64,
    pub(super) clocks: Vec<Clocks>,
    /// The number of the part that is measured, and the number of parts, if memory is too small for all methods at
    /// once.
    pub(super) part: Option<(usize, usize)>,
    /// Whether a method has changed the process, which must not measure any more.
    pub(super) is_spoilt: bool,
    /// What threads have waited for a CPU since that was last asked, as far as it was read already.
    pub(super) waited: Duration,
    /// The threads of plug-ins.
    pub(super) foreign: Foreign,
    /// The calls that were timed last.
    pub(super) last: Calls,
}

/// A method in a case.
pub type Entry<'a, T, S> = Ready<'a, T, <S as Timer<'a, T>>::Vector>;

impl<'a, 'i, T: Scalar, S: Backend<'a, T>> Case<'a, 'i, T, S> {
    pub(super) fn new(bench: &'a Bench<'a>, extent: Extent<'a>, inputs: &'i mut Inputs<T>, backend: S) -> Self {
        Self {
            bench,
            round: bench.settings.round(extent.nnz as usize, S::DEVICE),
            inputs,
            alteration: Alteration::default(),
            fresh: None,
            number: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(backend.agree((bench.entropy)())),
            backend,
            extent,
            kept: 0,
            clocks: Vec::new(),
            part: None,
            is_spoilt: false,
            waited: Duration::ZERO,
            foreign: Foreign::default(),
            last: Calls::Batch(1),
        }
    }

    pub(super) fn is_modelled(&self) -> bool {
        self.backend.warming_products().is_some()
    }

    /// Lets a method compute products in this way. Returns their time.
    pub(super) fn time(&mut self, ready: &mut Entry<'a, T, S>, calls: Calls) -> Result<Duration, Outcome> {
        self.last = calls;
        let time = guarded(|| self.backend.time(&mut ready.prepared, calls))??;
        ready.busy += time;
        if ready.late.note(calls.products(), time, ready.samples.turns.is_empty()) {
            self.waited = self.waited();
            ready.late.keep(calls.products(), time.saturating_sub(self.waited));
        }
        Ok(time)
    }

    /// Lets a method compute one product that is not observed. Returns its time.
    pub(super) fn time_one(&mut self, ready: &mut Entry<'a, T, S>) -> Result<Duration, Outcome> {
        self.time(ready, Calls::Batch(1))
    }

    /// Runs code of a method. If the method comes from the user or from a library of the CPU, checks that it leaves the
    /// process and the matrix as they were. A driver of a GPU may change it when it likes.
    pub(super) fn watching<R>(
        &mut self,
        choice: &Choice,
        run: impl FnOnce(&mut Self) -> Result<R, Outcome>,
    ) -> Result<R, Outcome> {
        let is_custom = choice.method.is_custom();
        if !(is_custom || S::DEVICE == Device::Cpu && is_of_library(choice)) {
            return run(self);
        }
        let before = self.bench.is_alone.then(Process::now);
        let threads = is_custom.then(Thread::all);
        let result = run(self);
        if let Some(threads) = threads {
            self.foreign.note(choice, &threads);
        }
        if let Some(changed) = before.and_then(|before| before.changed()) {
            self.is_spoilt = true;
            return Err(not_restored(changed).into());
        }
        self.backend.check_memory(true, &self.inputs.x)?;
        result
    }

    /// Reports a method that has ended early. Returns an error if the device or the process was lost with it.
    pub(super) fn end(&mut self, cell: &Cell, end: Outcome) -> Result<(), Stopped> {
        // This restores the threads if the method ended before its turn did. The first error is the cause.
        let _ = self.backend.check_threads(cell.choice.method.is_custom());
        if end.status == Status::Failed && (self.backend.is_lost() || self.is_spoilt) {
            return Err(Stopped::Lost { method: cell.choice.name(), reason: end.reason });
        }
        self.bench.end(slice::from_ref(cell), &end);
        Ok(())
    }

    pub(super) fn finish(&mut self, ready: Entry<'a, T, S>) -> Result<(), Stopped> {
        let cell = ready.cell;
        // Reported first, because dropping a method may crash the process.
        self.bench.begin(cell, Turn::Other);
        let finished = self.watching(&cell.choice, |case| {
            case.settle(ready);
            Ok(())
        });
        finished.or_else(|end| self.end(cell, end))
    }

    /// Reports the row of a method that was verified and timed.
    pub(super) fn settle(&mut self, ready: Entry<'a, T, S>) {
        if self.bench.settings.samples {
            let cell = ready.cell.key.clone();
            let samples = ready.samples.all().copied().collect();
            (self.bench.emit)(Event::Samples { cell, process: 1, samples });
        }
        let row = self.bench.row.clone().with_key(&ready.cell.key);
        let (mut row, mut stages) = ready.in_row(row);
        if !self.bench.settings.stages {
            stages.clear();
        }
        if let Some((number, parts)) = self.part {
            row.reason.push(Remark::Part { number, of: parts });
        }
        (self.bench.emit)(Event::Row(Box::new(row), stages));
    }

    /// Returns the longest time that a thread of a process that measures has waited for a CPU since the last call. On a
    /// device the times are the device's own.
    pub(super) fn waited(&mut self) -> Duration {
        if S::DEVICE != Device::Cpu {
            return Duration::ZERO;
        }
        let waited = self.bench.clock.waited().unwrap_or_default();
        let waited = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        let waited = Duration::from_nanos(self.backend.agree(waited));
        std::mem::take(&mut self.waited).saturating_add(waited)
    }

    /// Returns the time, which is the same in all processes that measure together.
    pub(super) fn now(&self) -> Duration {
        Duration::from_nanos(self.backend.agree(self.bench.clock.now().as_nanos() as u64))
    }

    /// Returns whether `flag` is set in any of the processes that measure together.
    pub(super) fn anywhere(&self, flag: bool) -> bool {
        self.backend.agree(flag.into()) > 0
    }

    pub(super) fn interrupted(&self) -> bool {
        self.anywhere(self.bench.interrupted.load(Ordering::Relaxed))
    }

    pub(super) fn check_interrupt(&self) -> Result<(), Stopped> {
        if self.interrupted() { Err(Stopped::Interrupted) } else { Ok(()) }
    }
}
