//! Measures methods on one matrix. Every method yields a value, whatever becomes of it.
//!
//! Each method runs once on a small matrix, so that nothing that happens once in a process is timed. Then:
//! prepare (timed), one product, verify; then rounds in which all methods take turns (see [`turn`]). What was
//! too noisy takes all its rounds again. All methods are kept ready at once for that; with a single round, each
//! is dropped before the next is prepared. After an interrupt, methods that have samples keep them.

mod contract;
mod entry;
mod modelled;
mod trial;
mod turn;

use std::collections::BTreeSet;
use std::mem::take;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::alteration::Alteration;
use super::backend::Backend;
use super::inputs::Inputs;
use super::need::SMALL_OF_METHOD;
use super::outcome::{Outcome, Report};
use super::plan::Round;
use super::steadiness::Attempts;
use crate::device::facts::Clocks;
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::memory::{self, Available};
use crate::method::{Choice, Device, Request};
use crate::scalar::Scalar;
pub use contract::{Bench, News, Stopped, Turn};
use entry::{Ready, guarded};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
pub use trial::Trial;

/// How long products run on a device before the first round, so that its clocks have risen.
const WARM_UP: Duration = Duration::from_millis(200);

/// One matrix on one side.
struct Case<'a, 'i, T, S> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    round: Round,
    inputs: &'i mut Inputs<T>,
    /// What x may be changed to in this round, and back.
    alteration: Alteration<T>,
    random: Xoshiro256PlusPlus,
    backend: S,
    extent: Extent<'a>,
    /// Bytes that methods which are ready take at most.
    kept: u64,
    /// The clocks of the device at each time that they were read.
    clocks: Vec<Clocks>,
    /// What became of the methods, so far.
    outcomes: Vec<Option<Outcome>>,
}

/// A method that takes turns with others.
type Racer<'a, T, V> = Box<Ready<'a, T, V>>;

impl<'a, 'i, T: Scalar, S: Backend<'a, T>> Case<'a, 'i, T, S> {
    fn new(bench: &'a Bench<'a>, csr: &'a Csr<T>, inputs: &'i mut Inputs<T>, backend: S) -> Self {
        Self {
            bench,
            csr,
            round: bench.settings.round(csr.nnz(), S::DEVICE),
            inputs,
            alteration: Alteration::default(),
            random: Xoshiro256PlusPlus::seed_from_u64((bench.entropy)()),
            backend,
            extent: Extent::of(csr, bench.team.len(), bench.settings.transpose),
            kept: 0,
            clocks: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Measures them all, or until an interrupt.
    fn report(mut self, choices: &'a [Choice]) -> Result<Report, Stopped> {
        self.outcomes = vec![None; choices.len()];
        let raced = match self.race(choices) {
            Err(stopped @ Stopped::Lost { .. }) => return Err(stopped),
            raced => raced,
        };
        let there = |(place, outcome): (usize, Option<_>)| Some((place, outcome?));
        let (places, outcomes) = self.outcomes.into_iter().enumerate().filter_map(there).unzip();
        let interrupted = raced.err().map(|_| places);
        let (peak, clocks) = (self.backend.peak(), self.clocks);
        Ok(Report { peak, clocks, outcomes, interrupted, ..Report::default() })
    }

    /// Measures methods in as many parts as memory asks for.
    fn race(&mut self, choices: &'a [Choice]) -> Result<(), Stopped> {
        let mut warm_up = WARM_UP;
        let takes_turns = self.bench.settings.rounds > 1 && !self.backend.is_modelled();
        let together = if takes_turns { usize::MAX } else { 1 };
        let needs: Vec<_> = choices.iter().map(|choice| self.need(choice)).collect();
        // What the device does not tell shows when memory is asked for.
        let room = self
            .backend
            .room(&self.extent, 0)
            .unwrap_or(Available { bytes: u64::MAX, by: "unknown" });
        let parts = memory::parts(&needs, room.bytes, together);
        for (place, choice) in choices.iter().enumerate() {
            if !parts.iter().any(|part| part.contains(&place)) {
                self.settle(place, choice, Outcome::refused(needs[place], room));
            }
        }
        for (number, part) in (1..).zip(&parts) {
            self.kept = 0;
            let measured = self.measure(part, choices, take(&mut warm_up));
            if together > 1 && parts.len() > 1 {
                for &place in part {
                    let outcome = self.outcomes[place].take();
                    self.outcomes[place] = outcome.map(|it| it.noting_part(number, parts.len()));
                }
            }
            measured?;
        }
        Ok(())
    }

    /// Bytes that a method takes at most on its side; none if it has no such product.
    fn need(&self, choice: &Choice) -> u64 {
        let extent = Extent { given: &choice.given, ..self.extent };
        match choice.method.operations.include(self.bench.settings.transpose) {
            true => (choice.method.memory)(&extent) + SMALL_OF_METHOD,
            false => 0,
        }
    }

    /// Measures some of them in turns, all ready at once, after the device has worked for `warm_up`.
    fn measure(
        &mut self,
        places: &[usize],
        choices: &'a [Choice],
        warm_up: Duration,
    ) -> Result<(), Stopped> {
        let mut racers = Vec::new();
        let mut measured = places.iter().try_for_each(|&place| {
            racers.extend(self.admit(place, &choices[place])?);
            Ok(())
        });
        if measured.is_ok() {
            measured = self.take_turns(&mut racers, warm_up);
        }
        if measured == Err(Stopped::Interrupted) {
            racers.into_iter().for_each(|ready| self.cut_short(ready));
        }
        measured
    }

    /// Gets a method ready, or tells why it is not.
    fn admit(
        &mut self,
        place: usize,
        choice: &'a Choice,
    ) -> Result<Option<Racer<'a, T, S::Vector>>, Stopped> {
        self.check_interrupt()?;
        (self.bench.tell)(News::Next(choice, Turn::Prepare));
        match self.enter(place, choice) {
            Ok(ready) => Ok(Some(Box::new(ready))),
            Err(end) => self.end(place, choice, end).map(|()| None),
        }
    }

    /// Lets them take all rounds, and those that are too noisy all rounds again.
    fn take_turns(
        &mut self,
        racers: &mut Vec<Racer<'a, T, S::Vector>>,
        warm_up: Duration,
    ) -> Result<(), Stopped> {
        if self.backend.is_modelled() {
            racers.drain(..).for_each(|ready| self.finish(*ready));
            return Ok(());
        }
        let (rounds, mut taken) = (self.bench.settings.rounds.max(1), 0);
        self.load(racers, warm_up)?;
        while !racers.is_empty() {
            self.take_rounds(racers, taken + 1..=taken + rounds)?;
            self.load(racers, Duration::ZERO)?;
            let timeout = self.bench.settings.timeout;
            let is_done = |ready: &mut Racer<_, _>| !ready.again(timeout);
            racers.extract_if(.., is_done).for_each(|ready| self.finish(*ready));
            taken += rounds;
        }
        Ok(())
    }

    /// Keeps the device at work for at least `time`, with the first method that is ready, and reads its
    /// clocks meanwhile. The host needs none of it.
    fn load(
        &mut self,
        racers: &mut Vec<Racer<'a, T, S::Vector>>,
        time: Duration,
    ) -> Result<(), Stopped> {
        if S::DEVICE == Device::Cpu {
            return Ok(());
        }
        while let Some(ready) = racers.first_mut() {
            (self.bench.tell)(News::Next(ready.choice, Turn::Other));
            let factors = (self.inputs.alpha, self.inputs.beta);
            let end = match guarded(|| self.backend.load(&mut ready.prepared, factors, time)) {
                Ok(Ok(clocks)) => {
                    self.clocks.extend(clocks);
                    break;
                }
                Ok(Err(error)) => error.into(),
                Err(end) => end,
            };
            let ready = racers.remove(0);
            self.end(ready.place, ready.choice, end)?;
        }
        Ok(())
    }

    /// One measurement of each, in rounds of these numbers.
    fn take_rounds(
        &mut self,
        racers: &mut Vec<Racer<'a, T, S::Vector>>,
        numbers: RangeInclusive<usize>,
    ) -> Result<(), Stopped> {
        let of = *numbers.end();
        for number in numbers {
            // A ceiling that cannot be measured is one that stays unknown.
            let _ = self.backend.look_at_peak();
            let transpose = self.bench.settings.transpose;
            self.alteration = Alteration::new(self.csr, transpose, self.inputs, &mut self.random);
            let mut next = 0;
            while let Some(ready) = racers.get_mut(next) {
                self.check_interrupt()?;
                (self.bench.tell)(News::Next(ready.choice, Turn::Round { number, of }));
                match self.take_turn(ready) {
                    Ok(()) => next += 1,
                    Err(end) => {
                        let ready = racers.remove(next);
                        self.end(ready.place, ready.choice, end)?;
                    }
                }
            }
        }
        self.check_interrupt()
    }

    /// Ends a method, and the measurement if the device has ended with it.
    fn end(&mut self, place: usize, choice: &Choice, end: Outcome) -> Result<(), Stopped> {
        if let Outcome::Failed(reason) = &end
            && self.backend.is_lost()
        {
            return Err(Stopped::Lost { method: choice.name(), reason: reason.clone() });
        }
        self.settle(place, choice, end);
        Ok(())
    }

    /// Ends a method that has been measured.
    fn finish(&mut self, ready: Ready<'a, T, S::Vector>) {
        let (place, choice) = (ready.place, ready.choice);
        // Dropping a method may end the process as well.
        (self.bench.tell)(News::Next(choice, Turn::Other));
        let outcome = ready.outcome(self.bench.settings.stages);
        self.settle(place, choice, outcome);
    }

    /// Ends a method because of an interrupt, with the samples that it has; without any, it has no outcome. The
    /// method that was at hand is told by then, and stays the one that an end of the process is put down to.
    fn cut_short(&mut self, mut ready: Racer<'a, T, S::Vector>) {
        if ready.cut_short(self.bench.settings.rounds.max(1)) {
            let (place, choice) = (ready.place, ready.choice);
            let outcome = ready.outcome(self.bench.settings.stages);
            self.settle(place, choice, outcome);
        }
    }

    /// Notes what became of a method.
    fn settle(&mut self, place: usize, choice: &Choice, outcome: Outcome) {
        (self.bench.tell)(News::Final(choice, &outcome));
        self.outcomes[place] = Some(outcome);
    }

    /// Prepares a method and verifies its first product.
    fn enter(
        &mut self,
        place: usize,
        choice: &'a Choice,
    ) -> Result<Ready<'a, T, S::Vector>, Outcome> {
        let settings = self.bench.settings;
        if !choice.method.operations.include(settings.transpose) {
            let product = if settings.transpose { "transposed" } else { "plain" };
            return Err(Outcome::Skipped(format!("it has no {product} product")));
        }
        let request = Request {
            team: self.bench.team,
            isa: settings.isa,
            transpose: settings.transpose,
            alpha: settings.alpha,
            beta: settings.beta,
            expected_products: settings.products(self.extent.nnz as usize, S::DEVICE),
            profile: settings.profiles.of(T::PRECISION),
            given: &choice.given,
        };
        let need = self.need(choice);
        let room = self.backend.room(&self.extent, self.kept)?;
        if need > room.bytes {
            return Err(Outcome::refused(need, room));
        }
        self.kept += need;
        let rehearsed = guarded(|| match self.backend.is_modelled() {
            true => Ok(()),
            false => self.backend.rehearse(choice, &request),
        });
        // An error there shows again below, or has nothing to do with this matrix. Only a lost device ends the
        // method here, because later errors would not name the cause.
        if let Err(end) = rehearsed.and_then(|done| Ok(done?))
            && self.backend.is_lost()
        {
            return Err(end);
        }
        let start = self.bench.clock.now();
        let (prepared, setup) = guarded(|| self.backend.prepare(choice, &request))??;
        let setup_ms = 1e3 * setup.as_secs_f64();
        let matrix_bytes = choice.method.matrix_bytes(self.extent.csr(), &prepared);
        let mut ready = Ready {
            place,
            choice,
            prepared,
            setup_ms,
            error_ratio: 0.0,
            matrix_bytes,
            hashes: BTreeSet::new(),
            attempts: Attempts::default(),
            turns: 0,
            spent: Duration::ZERO,
            parts: None,
            note: None,
        };
        self.renew_y()?;
        match self.backend.is_modelled() {
            true => self.model(&mut ready)?,
            false => drop(self.time(&mut ready, 1)?),
        }
        self.verify(&mut ready)?;
        self.charge(&mut ready, start)?;
        Ok(ready)
    }

    /// Counts the time since `start` as the method's, which may have only so much.
    fn charge(&self, ready: &mut Ready<'a, T, S::Vector>, start: Duration) -> Result<(), Outcome> {
        let Bench { clock, settings, .. } = *self.bench;
        ready.spent += clock.now().saturating_sub(start);
        if ready.spent > settings.timeout {
            Err(Outcome::overdue(settings, ready.spent))
        } else {
            Ok(())
        }
    }

    fn time(
        &mut self,
        ready: &mut Ready<'a, T, S::Vector>,
        products: usize,
    ) -> Result<Duration, Outcome> {
        let factors = (self.inputs.alpha, self.inputs.beta);
        Ok(guarded(|| self.backend.time(&mut ready.prepared, factors, products))??)
    }

    fn interrupted(&self) -> bool {
        self.bench.interrupted.load(Ordering::Relaxed)
    }

    fn check_interrupt(&self) -> Result<(), Stopped> {
        if self.interrupted() { Err(Stopped::Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
