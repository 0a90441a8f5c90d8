//! Measures methods on one matrix. Every method yields an [`Outcome`], even if it fails.
//!
//! Each method first runs once on a small matrix, so that one-time initialisation of the process is not timed. Then it
//! is prepared (timed as setup), multiplies once, and that product is verified. Then follow the rounds, in which all
//! methods take turns (see `turn`). Methods whose times are too noisy repeat all their rounds. Because of the turns
//! all methods are prepared at the same time; with a single round, each is dropped before the next is prepared. After
//! an interrupt, methods that have samples report them.

mod contract;
mod enter;
mod modelled;
mod power;
mod singles;
mod turn;

use std::mem::take;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::alteration::Alteration;
use super::backend::Backend;
use super::fresh::Fresh;
use super::inputs::Inputs;
use super::outcome::{Measurement, Outcome, Results};
use contract::guarded;
pub use contract::{Bench, News, Ready, Stopped, Turn};
pub use power::shortest as shortest_interval;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::memory::{self, Available};
use spmv_matrix::scalar::Scalar;
use spmv_methods::device::facts::Clocks;
use spmv_methods::method::{Choice, Device};
use spmv_methods::plugin::{Process, not_restored};
use spmv_results::row::Remark;
use spmv_results::row::baseline::Baseline;
use spmv_results::settings::Round;

/// How long products run on a device before the first round, so that its clocks reach their level under load.
const WARM_UP: Duration = Duration::from_millis(200);

struct Case<'a, 'i, T, S> {
    bench: &'a Bench<'a>,
    round: Round,
    inputs: &'i mut Inputs<T>,
    alteration: Alteration<T>,
    /// The newest x, which some methods have seen.
    fresh: Option<Fresh<T>>,
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
    /// Whether the last product was the end of a chain of products.
    ends_chain: bool,
    /// The outcomes so far; `None` for methods that have none yet.
    outcomes: Vec<Option<Outcome>>,
}

type Entry<'a, T, S> = Ready<'a, T, <S as Backend<'a, T>>::Vector>;

/// Measures methods on a backend, until [`Bench::interrupted`] is set. `extent` is that of the matrix.
pub fn measure<'a, T: Scalar, S: Backend<'a, T>>(
    bench: &'a Bench<'a>,
    extent: Extent<'a>,
    inputs: &mut Inputs<T>,
    backend: S,
    choices: &'a [Choice],
) -> Result<Results, Stopped> {
    let mut case = Case {
        bench,
        round: bench.settings.round(extent.nnz as usize, S::DEVICE),
        inputs,
        alteration: Alteration::default(),
        fresh: None,
        random: Xoshiro256PlusPlus::seed_from_u64(backend.agree((bench.entropy)())),
        backend,
        extent,
        kept: 0,
        clocks: Vec::new(),
        part: None,
        is_spoilt: false,
        ends_chain: false,
        outcomes: vec![None; choices.len()],
    };
    let interrupted = match case.measure_all(choices) {
        Err(lost @ Stopped::Lost { .. }) => return Err(lost),
        measured => measured.is_err(),
    };
    let outcomes = case.outcomes.into_iter().flatten().collect();
    let (peak, clocks) = (case.backend.peak(), case.clocks);
    Ok(Results { peak, compile_ms: None, clocks, outcomes, interrupted })
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Measures the methods in as many parts as the available memory requires.
    fn measure_all(&mut self, choices: &'a [Choice]) -> Result<(), Stopped> {
        let mut warm_up = WARM_UP;
        let takes_turns = self.bench.settings.rounds > 1 && !self.backend.is_modelled();
        let together = if takes_turns { usize::MAX } else { 1 };
        let needs: Vec<_> = choices.iter().map(|choice| self.need(choice)).collect();
        // If the device does not report its free memory, a failing allocation will show that there is too little.
        let available = self
            .backend
            .available(&self.extent, 0)
            .unwrap_or(Available { bytes: u64::MAX, by: "unknown" });
        let parts = memory::parts(&needs, available.bytes, together);
        for (place, &need) in needs.iter().enumerate() {
            if !parts.iter().any(|part| part.contains(&place)) {
                self.settle(place, Outcome::refused(need, available));
            }
        }
        for (number, part) in (1..).zip(&parts) {
            self.kept = 0;
            self.part = (together > 1 && parts.len() > 1).then_some((number, parts.len()));
            self.measure(part, choices, take(&mut warm_up))?;
        }
        Ok(())
    }

    /// Measures the methods at `places` in turns, all prepared at the same time, after products for `warm_up`.
    fn measure(
        &mut self,
        places: &[usize],
        choices: &'a [Choice],
        warm_up: Duration,
    ) -> Result<(), Stopped> {
        let mut entrants = Vec::new();
        let mut measured = places.iter().try_for_each(|&place| {
            self.check_interrupt()?;
            (self.bench.report)(News::Next(place, Turn::Prepare));
            match self.watching(&choices[place], |case| case.enter(place, &choices[place])) {
                Ok(ready) => entrants.push(ready),
                Err(end) => self.end(place, &choices[place], end)?,
            }
            Ok(())
        });
        if measured.is_ok() {
            measured = self.take_turns(&mut entrants, warm_up);
        }
        if measured == Err(Stopped::Interrupted) {
            // Methods with samples report them. No [`News::Next`] is reported: if the process ends now, the method that
            // was reported last is the cause.
            for mut ready in entrants {
                let settings = self.bench.settings;
                if ready.cut_short(settings.own_rounds(S::DEVICE), settings.rounds.max(1)) {
                    self.settle_measured(ready);
                }
            }
        }
        measured
    }

    /// Runs all rounds, and repeats them for methods that are too noisy.
    fn take_turns(
        &mut self,
        entrants: &mut Vec<Entry<'a, T, S>>,
        warm_up: Duration,
    ) -> Result<(), Stopped> {
        if self.backend.is_modelled() {
            return entrants.drain(..).try_for_each(|ready| self.finish(ready));
        }
        let [before, rounds] = self.bench.settings.own_rounds(S::DEVICE);
        let mut again = false;
        self.load(entrants, warm_up)?;
        while !entrants.is_empty() {
            self.take_rounds(entrants, before + 1..=before + rounds, again)?;
            self.load(entrants, Duration::ZERO)?;
            let timeout = self.bench.settings.timeout;
            let is_done = |ready: &mut Ready<_, _>| !ready.again(timeout);
            entrants.extract_if(.., is_done).try_for_each(|ready| self.finish(ready))?;
            again = true;
        }
        Ok(())
    }

    /// Runs products of the first method for at least `time`, and reads the device's clocks meanwhile. A method that
    /// fails is ended, and the next one is used. Does nothing on the host.
    fn load(&mut self, entrants: &mut Vec<Entry<'a, T, S>>, time: Duration) -> Result<(), Stopped> {
        if S::DEVICE == Device::Cpu {
            return Ok(());
        }
        while let Some(ready) = entrants.first_mut() {
            (self.bench.report)(News::Next(ready.place, Turn::Other));
            let end = match guarded(|| self.backend.load(&mut ready.prepared, time)) {
                Ok(Ok(clocks)) => {
                    self.clocks.extend(clocks);
                    break;
                }
                Ok(Err(error)) => error.into(),
                Err(end) => end,
            };
            let ready = entrants.remove(0);
            self.end(ready.place, ready.choice, end)?;
        }
        Ok(())
    }

    /// Runs the rounds with these numbers: in each, every method has one turn.
    fn take_rounds(
        &mut self,
        entrants: &mut Vec<Entry<'a, T, S>>,
        numbers: RangeInclusive<usize>,
        again: bool,
    ) -> Result<(), Stopped> {
        let of = self.bench.settings.rounds.max(1);
        for number in numbers {
            // If the bandwidth cannot be measured, it stays unknown.
            let _ = self.backend.measure_peak();
            self.alteration = self.backend.alter(self.inputs, &mut self.random);
            let mut next = 0;
            while let Some(ready) = entrants.get_mut(next) {
                self.check_interrupt()?;
                (self.bench.report)(News::Next(ready.place, Turn::Round { number, of, again }));
                match self.watching(ready.choice, |case| case.take_turn(ready)) {
                    Ok(()) => next += 1,
                    Err(end) => {
                        let ready = entrants.remove(next);
                        self.end(ready.place, ready.choice, end)?;
                    }
                }
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
        let method = choice.method;
        let is_library = Baseline::named(method.name).is_some_and(Baseline::is_library);
        if !(method.is_custom() || S::DEVICE == Device::Cpu && is_library) {
            return run(self);
        }
        let before = self.bench.is_alone.then(Process::now);
        let result = run(self);
        if let Some(changed) = before.and_then(|before| before.changed()) {
            self.is_spoilt = true;
            return Err(not_restored(changed).into());
        }
        self.backend.check_memory(true, &self.inputs.x)?;
        result
    }

    /// Records a method that has ended early. Returns an error if the device or the process was lost with it.
    fn end(&mut self, place: usize, choice: &Choice, end: Outcome) -> Result<(), Stopped> {
        // This restores the threads if the method ended before its turn did. The first error is the cause.
        let _ = self.backend.check_threads(choice.method.is_custom());
        if let Outcome::Failed(reason) = &end
            && (self.backend.is_lost() || self.is_spoilt)
        {
            return Err(Stopped::Lost { method: choice.name(), reason: reason.clone() });
        }
        self.settle(place, end);
        Ok(())
    }

    fn finish(&mut self, ready: Entry<'a, T, S>) -> Result<(), Stopped> {
        // Reported first, because dropping a method may crash the process.
        (self.bench.report)(News::Next(ready.place, Turn::Other));
        let (place, choice) = (ready.place, ready.choice);
        let finished = self.watching(choice, |case| {
            case.settle_measured(ready);
            Ok(())
        });
        finished.or_else(|end| self.end(place, choice, end))
    }

    fn settle_measured(&mut self, ready: Entry<'a, T, S>) {
        let place = ready.place;
        let (show_stages, launch_ms) = (self.bench.settings.stages, self.backend.launch_ms());
        self.settle(place, Outcome::Ok(Box::new(Measurement::of(ready, show_stages, launch_ms))));
    }

    fn settle(&mut self, place: usize, mut outcome: Outcome) {
        if let (Some((number, parts)), Outcome::Ok(measurement)) = (self.part, &mut outcome) {
            measurement.remarks.push(Remark::Part { number, of: parts });
        }
        (self.bench.report)(News::Final(place, &outcome));
        self.outcomes[place] = Some(outcome);
    }

    fn time(&mut self, ready: &mut Entry<'a, T, S>, products: usize) -> Result<Duration, Outcome> {
        self.ends_chain = false;
        let time = guarded(|| self.backend.time(&mut ready.prepared, products))??;
        ready.busy += time;
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

#[cfg(test)]
mod tests;
