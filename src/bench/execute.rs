//! Measures methods on one matrix. Every method yields a value, whatever becomes of it.
//!
//! Each method runs once on a small matrix, so that nothing that happens once in a process is timed. Then:
//! prepare (timed), one product, verify; then rounds in which all methods take turns (see [`turn`]). What was
//! too noisy takes all its rounds again. All methods are kept ready at once for that; with a single round, each
//! is dropped before the next is prepared.

mod entry;
mod trial;
mod turn;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::alteration::Alteration;
use super::clock::Clock;
use super::inputs::Inputs;
use super::need::SMALL_OF_METHOD;
use super::outcome::{Outcome, Report};
use super::plan::{Round, Settings};
use super::side::Side;
use super::steadiness::Attempts;
use crate::device::facts::Clocks;
use crate::matrix::Csr;
use crate::memory::extent::Extent;
use crate::memory::{self, Available};
use crate::method::{Choice, Device, Request};
use crate::scalar::Scalar;
use crate::team::Team;
use entry::{Entry, Ready, guarded};
pub use trial::Trial;

/// How long products run on a device before the first round, so that its clocks have risen.
const WARM_UP: Duration = Duration::from_millis(200);

/// What a measurement needs from outside.
pub struct Bench<'a> {
    /// The threads.
    pub team: &'a Team,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Set from outside to stop early.
    pub interrupted: &'a AtomicBool,
    /// How to measure.
    pub settings: &'a Settings,
    /// Told of each method before its preparation and before each of its turns: whoever watches from
    /// outside can name it if this process ends there.
    pub at_hand: &'a dyn Fn(&Choice),
    /// Numbers that no method can foresee: they decide when and how x and y are changed between samples.
    pub entropy: fn() -> u64,
}

/// Why the measurement of a matrix ended early; it is incomplete.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped {
    /// From outside.
    #[error("interrupted")]
    Interrupted,
    /// By an error of the device after which it does nothing more for this process.
    #[error("{method}: {reason}")]
    Lost {
        /// The method, with its parameters, or what came before all of them.
        method: String,
        /// Its error.
        reason: String,
    },
}

/// One matrix on one side.
struct Case<'a, 'i, T, S> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    round: Round,
    inputs: &'i mut Inputs<T>,
    /// What x may be changed to in this round, and back.
    alteration: Alteration<T>,
    random: Xoshiro256PlusPlus,
    side: S,
    extent: Extent<'a>,
    /// Bytes that methods which are ready take at most.
    kept: u64,
    /// The clocks of the device at each time that they were read.
    clocks: Vec<Clocks>,
}

impl<'a, 'i, T: Scalar, S: Side<'a, T>> Case<'a, 'i, T, S> {
    fn new(bench: &'a Bench<'a>, csr: &'a Csr<T>, inputs: &'i mut Inputs<T>, side: S) -> Self {
        Self {
            bench,
            csr,
            round: bench.settings.round(csr.nnz(), S::DEVICE),
            inputs,
            alteration: Alteration::default(),
            random: Xoshiro256PlusPlus::seed_from_u64((bench.entropy)()),
            side,
            extent: Extent::of(csr, bench.team.len(), bench.settings.transpose),
            kept: 0,
            clocks: Vec::new(),
        }
    }

    fn report(mut self, choices: &'a [Choice]) -> Result<Report, Stopped> {
        let mut warm_up = WARM_UP;
        let together = if self.bench.settings.rounds > 1 { usize::MAX } else { 1 };
        let needs: Vec<_> = choices.iter().map(|choice| self.need(choice)).collect();
        // What the device does not tell shows when memory is asked for.
        let room =
            self.side.room(&self.extent, 0).unwrap_or(Available { bytes: u64::MAX, by: "unknown" });
        let mut outcomes: Vec<_> = needs.iter().map(|&need| Outcome::refused(need, room)).collect();
        let parts = memory::parts(&needs, room.bytes, together);
        for (number, part) in (1..).zip(&parts) {
            self.kept = 0;
            let part_choices = part.iter().map(|&index| &choices[index]).collect();
            let measured = self.measure(part_choices, std::mem::take(&mut warm_up))?;
            for (&index, outcome) in part.iter().zip(measured) {
                outcomes[index] = match together > 1 && parts.len() > 1 {
                    true => outcome.noting_part(number, parts.len()),
                    false => outcome,
                };
            }
        }
        let (peak, clocks) = (self.side.peak(), self.clocks);
        Ok(Report { peak, clocks, outcomes, ..Report::default() })
    }

    /// Bytes that a method takes at most on its side; none if it has no such product.
    fn need(&self, choice: &Choice) -> u64 {
        let extent = Extent { given: &choice.given, ..self.extent };
        match choice.method.operations.include(self.bench.settings.transpose) {
            true => (choice.method.memory)(&extent) + SMALL_OF_METHOD,
            false => 0,
        }
    }

    /// Measures them in turns, all ready at once, after the device has worked for `warm_up`.
    fn measure(
        &mut self,
        choices: Vec<&'a Choice>,
        warm_up: Duration,
    ) -> Result<Vec<Outcome>, Stopped> {
        let mut entries = Vec::new();
        for &choice in &choices {
            self.check_interrupt()?;
            (self.bench.at_hand)(choice);
            let entered = self.enter(choice);
            self.check_device(choice, entered.as_ref().err())?;
            let ready = |ready| Entry::Ready(Box::new(ready));
            entries.push(entered.map_or_else(Entry::Ended, ready));
        }
        let mut racing: Vec<_> = entries.iter_mut().zip(choices.iter().copied()).collect();
        self.load(&mut racing, warm_up)?;
        while !racing.is_empty() {
            self.take_rounds(&mut racing)?;
            self.load(&mut racing, Duration::ZERO)?;
            racing.retain_mut(|(entry, _)| entry.again(self.bench.settings.timeout));
        }
        let stages = self.bench.settings.stages;
        let outcome = |(entry, choice): (Entry<_, _>, _)| {
            // Dropping a method may end the process as well.
            (self.bench.at_hand)(choice);
            entry.outcome(stages)
        };
        Ok(entries.into_iter().zip(choices).map(outcome).collect())
    }

    /// Keeps the device at work for at least `time`, with the first method that is ready, and reads its
    /// clocks meanwhile. The host needs none of it.
    fn load(
        &mut self,
        racing: &mut [(&mut Entry<'a, T, S::Vector>, &Choice)],
        time: Duration,
    ) -> Result<(), Stopped> {
        if S::DEVICE == Device::Cpu {
            return Ok(());
        }
        for (entry, choice) in racing {
            let Entry::Ready(ready) = entry else { continue };
            (self.bench.at_hand)(choice);
            let factors = (self.inputs.alpha, self.inputs.beta);
            match guarded(|| self.side.load(&mut ready.prepared, factors, time)) {
                Ok(Ok(clocks)) => {
                    self.clocks.extend(clocks);
                    break;
                }
                Ok(Err(error)) => self.end(entry, choice, error.into())?,
                Err(end) => self.end(entry, choice, end)?,
            }
        }
        Ok(())
    }

    /// Ends a method, and the measurement if the device has ended with it.
    fn end(
        &self,
        entry: &mut Entry<'a, T, S::Vector>,
        choice: &Choice,
        end: Outcome,
    ) -> Result<(), Stopped> {
        self.check_device(choice, Some(&end))?;
        *entry = Entry::Ended(end);
        Ok(())
    }

    /// One measurement of each.
    fn take_rounds(
        &mut self,
        racing: &mut [(&mut Entry<'a, T, S::Vector>, &Choice)],
    ) -> Result<(), Stopped> {
        for _ in 0..self.bench.settings.rounds.max(1) {
            // A ceiling that cannot be measured is one that stays unknown.
            let _ = self.side.look_at_peak();
            let transpose = self.bench.settings.transpose;
            self.alteration = Alteration::new(self.csr, transpose, self.inputs, &mut self.random);
            for (entry, choice) in &mut *racing {
                self.check_interrupt()?;
                let Entry::Ready(ready) = entry else { continue };
                (self.bench.at_hand)(choice);
                if let Err(end) = self.take_turn(ready) {
                    self.end(entry, choice, end)?;
                }
            }
        }
        self.check_interrupt()
    }

    /// Prepares a method and verifies its first product.
    fn enter(&mut self, choice: &'a Choice) -> Result<Ready<'a, T, S::Vector>, Outcome> {
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
        let room = self.side.room(&self.extent, self.kept)?;
        if need > room.bytes {
            return Err(Outcome::refused(need, room));
        }
        self.kept += need;
        let rehearsed = guarded(|| self.side.rehearse(choice, &request));
        // An error there shows again below, or has nothing to do with this matrix. Only a lost device ends the
        // method here, because later errors would not name the cause.
        if let Err(end) = rehearsed.and_then(|done| Ok(done?))
            && self.side.is_lost()
        {
            return Err(end);
        }
        let start = self.bench.clock.now();
        let (prepared, setup) = guarded(|| self.side.prepare(choice, &request))??;
        let setup_ms = 1e3 * setup.as_secs_f64();
        let matrix_bytes = choice.method.matrix_bytes(self.extent.csr(), &prepared);
        let mut ready = Ready {
            prepared,
            setup_ms,
            error_ratio: 0.0,
            matrix_bytes,
            hashes: BTreeSet::new(),
            attempts: Attempts::default(),
            spent: Duration::ZERO,
            parts: None,
        };
        self.renew_y()?;
        self.time(&mut ready, 1)?;
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
        Ok(guarded(|| self.side.time(&mut ready.prepared, factors, products))??)
    }

    fn interrupted(&self) -> bool {
        self.bench.interrupted.load(Ordering::Relaxed)
    }

    fn check_interrupt(&self) -> Result<(), Stopped> {
        if self.interrupted() { Err(Stopped::Interrupted) } else { Ok(()) }
    }

    /// Whether what ended a method has ended the device's work for this process as well.
    fn check_device(&self, choice: &Choice, end: Option<&Outcome>) -> Result<(), Stopped> {
        match end {
            Some(Outcome::Failed(reason)) if self.side.is_lost() => {
                Err(Stopped::Lost { method: choice.name(), reason: reason.clone() })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
