//! Measures methods on one matrix. Every method yields a row, even if it fails.
//!
//! Each method first runs once on a small matrix, so that one-time initialisation of the process is not timed. Then it
//! is prepared (timed as setup), multiplies once, and that product is verified. Then follow the rounds, in which all
//! methods take turns (see `turn`), and the duel of the best (see `duel`). Because of the turns all methods are
//! prepared at the same time; with a single round, each is dropped before the next is prepared. After an interrupt,
//! methods that have samples report them.

mod contract;
mod cpus;
mod duel;
mod enter;
mod foreign;
mod late;
mod modelled;
mod observe;
mod power;
mod probes;
mod standing;
mod turn;

use std::mem::take;
use std::ops::RangeInclusive;
use std::slice;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::alteration::Alteration;
use super::backend::Backend;
use super::event::{Event, Turn};
use super::fresh::Fresh;
use super::inputs::Inputs;
use super::outcome::Outcome;
use contract::guarded;
pub use contract::{Bench, Cell, Ready, Stopped};
use foreign::Foreign;
pub use power::shortest as shortest_interval;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::memory::{self, Available};
use spmv_matrix::scalar::Scalar;
use spmv_matrix::system::threads::Thread;
use spmv_methods::device::facts::Clocks;
use spmv_methods::method::{Choice, Device};
use spmv_methods::plugin::{Process, not_restored};
use spmv_results::matrix::Group;
use spmv_results::row::{Baseline, Remark, Status};
use spmv_results::settings::Round;
use standing::far_behind;

/// How long products run on a device before the first round, so that its clocks reach their level under load.
const WARM_UP: Duration = Duration::from_millis(200);

struct Case<'a, 'i, T, S> {
    bench: &'a Bench<'a>,
    round: Round,
    inputs: &'i mut Inputs<T>,
    alteration: Alteration<T>,
    /// The newest x, which some methods have seen.
    fresh: Option<Fresh<T>>,
    /// The number of the round among those of all processes, from 1; 0 in a duel.
    number: usize,
    random: Xoshiro256PlusPlus,
    backend: S,
    extent: Extent<'a>,
    /// An upper bound of the memory of all prepared methods, in bytes.
    kept: u64,
    clocks: Vec<Clocks>,
    /// The number of the part that is measured, and the number of parts, if memory is too small for all methods at
    /// once.
    part: Option<(usize, usize)>,
    /// Whether a method has changed the process, which must not measure any more.
    is_spoilt: bool,
    /// What threads have waited for a CPU since that was last asked, as far as it was read already.
    waited: Duration,
    /// The threads of plug-ins.
    foreign: Foreign,
    /// Whether the last product was the end of a chain of products.
    ends_chain: bool,
}

type Entry<'a, T, S> = Ready<'a, T, <S as Backend<'a, T>>::Vector>;

/// Measures methods on a backend, until [`Bench::interrupted`] is set. `extent` is that of the matrix. Reports the row
/// of each method, and sets in their `group` what was measured once for all.
pub fn measure<'a, T: Scalar, S: Backend<'a, T>>(
    bench: &'a Bench<'a>,
    extent: Extent<'a>,
    inputs: &mut Inputs<T>,
    backend: S,
    cells: &'a [Cell],
    group: &mut Group,
) -> Result<(), Stopped> {
    let mut case = Case {
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
        ends_chain: false,
    };
    let measured = case.measure_all(cells);
    group.peak = Some(case.backend.peak()).filter(|peak| peak.gbs() > 0.0);
    group.clocks = case.clocks;
    measured
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Measures the methods in as many parts as the available memory requires.
    fn measure_all(&mut self, cells: &'a [Cell]) -> Result<(), Stopped> {
        let mut warm_up = WARM_UP;
        let takes_turns = self.bench.settings.rounds > 1 && !self.backend.is_modelled();
        let together = if takes_turns { usize::MAX } else { 1 };
        let needs: Vec<_> = cells.iter().map(|cell| self.need(&cell.choice)).collect();
        // If the device does not report its free memory, a failing allocation will show that there is too little.
        let available = self
            .backend
            .available(&self.extent, 0)
            .unwrap_or(Available { bytes: u64::MAX, by: "unknown" });
        let parts = memory::parts(&needs, available.bytes, together);
        for (place, &need) in needs.iter().enumerate() {
            if !parts.iter().any(|part| part.contains(&place)) {
                self.bench.end(slice::from_ref(&cells[place]), &Outcome::refused(need, available));
            }
        }
        for (number, part) in (1..).zip(&parts) {
            self.kept = 0;
            self.part = (together > 1 && parts.len() > 1).then_some((number, parts.len()));
            let mut part: Vec<_> = part.iter().map(|&place| &cells[place]).collect();
            // A method may gain from what the one before it has left. In every other process another one precedes.
            if self
                .bench
                .settings
                .share
                .is_some_and(|[before, own]| !(before / own).is_multiple_of(2))
            {
                part.reverse();
            }
            self.measure(&part, take(&mut warm_up))?;
        }
        Ok(())
    }

    /// Measures methods in turns, all prepared at the same time, after products for `warm_up`.
    fn measure(&mut self, cells: &[&'a Cell<'a>], warm_up: Duration) -> Result<(), Stopped> {
        let mut entrants = Vec::new();
        let mut measured = cells.iter().try_for_each(|cell| {
            self.check_interrupt()?;
            self.bench.begin(cell, Turn::Prepare);
            match self.watching(&cell.choice, |case| case.enter(cell)) {
                Ok(ready) => entrants.push(ready),
                Err(end) => self.end(cell, end)?,
            }
            Ok(())
        });
        if measured.is_ok() {
            measured = self.take_turns(&mut entrants, warm_up);
        }
        if measured == Err(Stopped::Interrupted) {
            // Methods with samples report them, but not their next steps: if the process ends now, the method that was
            // reported last is the cause.
            for mut ready in entrants {
                let settings = self.bench.settings;
                if ready.cut_short(settings.own_rounds(S::DEVICE), settings.rounds.max(1)) {
                    self.settle(ready);
                }
            }
        }
        measured
    }

    /// Runs all rounds, and the duel.
    fn take_turns(
        &mut self,
        entrants: &mut Vec<Entry<'a, T, S>>,
        warm_up: Duration,
    ) -> Result<(), Stopped> {
        if self.backend.is_modelled() {
            return entrants.drain(..).try_for_each(|ready| self.finish(ready));
        }
        let [before, rounds] = self.bench.settings.own_rounds(S::DEVICE);
        self.load(entrants, warm_up)?;
        self.take_rounds(entrants, before + 1..=before + rounds)?;
        self.load(entrants, Duration::ZERO)?;
        self.duel(entrants)?;
        entrants.drain(..).try_for_each(|ready| self.finish(ready))
    }

    /// Runs products of the first method for at least `time`, and reads the device's clocks meanwhile. A method that
    /// fails is ended, and the next one is used. Does nothing on the host.
    fn load(&mut self, entrants: &mut Vec<Entry<'a, T, S>>, time: Duration) -> Result<(), Stopped> {
        if S::DEVICE == Device::Cpu {
            return Ok(());
        }
        while let Some(ready) = entrants.first_mut() {
            self.bench.begin(ready.cell, Turn::Other);
            let end = match guarded(|| self.backend.load(&mut ready.prepared, time)) {
                Ok(Ok(clocks)) => {
                    self.clocks.extend(clocks);
                    break;
                }
                Ok(Err(error)) => error.into(),
                Err(end) => end,
            };
            let cell = entrants.remove(0).cell;
            self.end(cell, end)?;
        }
        Ok(())
    }

    /// Runs the rounds with these numbers: in each, every method has one turn. If a duel follows, those that are far
    /// behind rest in every other round.
    fn take_rounds(
        &mut self,
        entrants: &mut Vec<Entry<'a, T, S>>,
        numbers: RangeInclusive<usize>,
    ) -> Result<(), Stopped> {
        let of = self.bench.settings.rounds.max(*numbers.end());
        let has_duel = self.duel_time().is_some();
        for (place, number) in numbers.enumerate() {
            self.number = number;
            let mut resting = Vec::new();
            if has_duel && !place.is_multiple_of(2) {
                resting = far_behind(entrants, self.bench.settings.planned);
            }
            // If the bandwidth cannot be measured, it stays unknown.
            let _ = self.backend.measure_peak();
            self.alteration = self.backend.alter(self.inputs, &mut self.random);
            let mut next = 0;
            while let Some(ready) = entrants.get_mut(next) {
                self.check_interrupt()?;
                if resting.contains(&ready.cell.key) {
                    ready.turns += 1;
                    next += 1;
                    continue;
                }
                let cell = ready.cell;
                self.await_idle(entrants)?;
                let Some(ready) = entrants.get_mut(next) else { break };
                let (before, begin) = (self.foreign.used(), self.now());
                self.bench.begin(cell, Turn::Round { number, of });
                match self.watching(&ready.cell.choice, |case| case.take_turn(ready)) {
                    Ok(()) => next += 1,
                    Err(end) => {
                        let cell = entrants.remove(next).cell;
                        self.end(cell, end)?;
                    }
                }
                self.end_busy_since(entrants, &cell.choice, &before, begin)?;
            }
        }
        self.check_interrupt()
    }

    /// Runs code of a method. If the method comes from the user or from a library of the CPU, checks that it leaves the
    /// process and the matrix as they were. A driver of a GPU may change it when it likes.
    fn watching<R>(
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
    fn end(&mut self, cell: &Cell, end: Outcome) -> Result<(), Stopped> {
        // This restores the threads if the method ended before its turn did. The first error is the cause.
        let _ = self.backend.check_threads(cell.choice.method.is_custom());
        if end.status == Status::Failed && (self.backend.is_lost() || self.is_spoilt) {
            return Err(Stopped::Lost { method: cell.choice.name(), reason: end.reason });
        }
        self.bench.end(slice::from_ref(cell), &end);
        Ok(())
    }

    fn finish(&mut self, ready: Entry<'a, T, S>) -> Result<(), Stopped> {
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
    fn settle(&mut self, ready: Entry<'a, T, S>) {
        if self.bench.settings.samples {
            let (cell, samples) = (ready.cell.key.clone(), ready.samples.all().copied().collect());
            (self.bench.emit)(Event::Samples { cell, process: 1, samples });
        }
        let row = self.bench.row.clone().with_key(&ready.cell.key);
        let (mut row, mut stages) = ready.in_row(row, self.backend.launch_ms());
        if !self.bench.settings.stages {
            stages.clear();
        }
        if let Some((number, parts)) = self.part {
            row.reason.push(Remark::Part { number, of: parts });
        }
        (self.bench.emit)(Event::Row(Box::new(row), stages));
    }

    fn time(&mut self, ready: &mut Entry<'a, T, S>, products: usize) -> Result<Duration, Outcome> {
        self.ends_chain = false;
        let time = guarded(|| self.backend.time(&mut ready.prepared, products))??;
        ready.busy += time;
        self.note(ready, products, time);
        Ok(time)
    }

    fn time_calls(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        products: usize,
        chained: bool,
    ) -> Result<Duration, Outcome> {
        self.ends_chain = chained;
        let time = guarded(|| self.backend.time_calls(&mut ready.prepared, products, chained))??;
        ready.busy += time;
        self.note(ready, products, time);
        Ok(time)
    }

    /// Returns the time, which is the same in all processes that measure together.
    fn now(&self) -> Duration {
        Duration::from_nanos(self.backend.agree(self.bench.clock.now().as_nanos() as u64))
    }

    /// Returns whether `flag` is set in any of the processes that measure together.
    fn anywhere(&self, flag: bool) -> bool {
        self.backend.agree(flag.into()) > 0
    }

    fn interrupted(&self) -> bool {
        self.anywhere(self.bench.interrupted.load(Ordering::Relaxed))
    }

    fn check_interrupt(&self) -> Result<(), Stopped> {
        if self.interrupted() { Err(Stopped::Interrupted) } else { Ok(()) }
    }
}

/// Whether a library computes the product.
fn is_of_library(choice: &Choice) -> bool {
    Baseline::named(choice.method.name).is_some_and(Baseline::is_library)
}

#[cfg(test)]
mod tests;
