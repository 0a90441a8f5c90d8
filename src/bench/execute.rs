//! Measures methods on one matrix. Every method yields a value, whatever becomes of it.
//!
//! Each method runs once on a small matrix, so that nothing that happens once in a process is timed. Then:
//! prepare (timed), one product, verify; then rounds in which all methods take turns: warm-ups,
//! timed samples, and verification of what the last timed product left. What was too noisy takes all its
//! rounds again. All methods are kept ready at once for that; with a single round, each is dropped
//! before the next is prepared.

mod entry;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::clock::Clock;
use super::inputs::Inputs;
use super::need::SMALL_OF_METHOD;
use super::outcome::{Outcome, Report};
use super::plan::{Round, Settings};
use super::side::{Host, OnGpu, SETTLE, Side, free};
use super::statistics::Sample;
use super::steadiness::Attempts;
use crate::device::buffer::Value;
use crate::device::facts::Clocks;
use crate::device::{DeviceCsr, Gpu};
use crate::matrix::Csr;
use crate::matrix::order::Permutation;
use crate::memory::extent::Extent;
use crate::memory::{self, Available};
use crate::method::{Choice, Device, Failed, Request, Unavailable, Unprepared};
use crate::scalar::Scalar;
use crate::team::Team;
use crate::verify::Verdict;
use entry::{Entry, Ready, guarded};

/// Products that the times of stages are the mean of.
const STAGE_PRODUCTS: usize = 20;

/// How long products run on a device before the first round, so that its clocks have risen.
const WARM_UP: Duration = Duration::from_millis(200);

/// What a device can be lost at before any method is.
const UPLOAD: &str = "bringing the matrix there";

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

/// One matrix, multiplied by the same x wherever its methods run.
pub struct Trial<'a, T> {
    bench: &'a Bench<'a>,
    csr: &'a Csr<T>,
    inputs: Inputs<T>,
}

impl<'a, T: Scalar> Trial<'a, T> {
    /// Makes the vectors and the reference.
    pub fn new(bench: &'a Bench<'a>, csr: &'a Csr<T>) -> Self {
        Self { bench, csr, inputs: Inputs::new(bench.settings, csr) }
    }

    /// For `csr`, which is `natural` brought into another order. Vectors and reference are `natural`'s,
    /// permuted: a matrix that was permuted wrongly yields wrong results.
    pub fn reordered(
        bench: &'a Bench<'a>,
        natural: &Csr<T>,
        csr: &'a Csr<T>,
        permutation: &Permutation,
    ) -> Self {
        Self { bench, csr, inputs: Inputs::new(bench.settings, natural).permuted(permutation) }
    }

    /// Measures methods of the CPU.
    ///
    /// # Errors
    /// [`Stopped::Interrupted`] when the flag was raised.
    pub fn on_host(&self, choices: &[Choice]) -> Result<Report, Stopped> {
        Case::new(self, Host::new(self.bench, self.csr, &self.inputs.x)).report(choices)
    }
}

impl<T: Value> Trial<'_, T> {
    /// Measures methods of the GPU. All are skipped where the matrix does not fit, and without a compiler for
    /// the device. Any other error before the first method is a failure of each method, if the device is
    /// still there.
    ///
    /// # Errors
    /// When the flag was raised, or the device was lost.
    pub fn on_gpu(&self, gpu: &Gpu, choices: &[Choice]) -> Result<Report, Stopped> {
        let compiled = gpu.compile_time();
        let failed = |Failed(reason)| {
            if gpu.synchronize().is_err() {
                return Err(Stopped::Lost { method: UPLOAD.into(), reason });
            }
            let outcomes = vec![Outcome::Failed(reason); choices.len()];
            Ok(Report { outcomes, ..Report::default() })
        };
        let skipped = |reason| {
            let outcomes = vec![Outcome::Skipped(reason); choices.len()];
            Report { outcomes, ..Report::default() }
        };
        match self.refused_by(gpu) {
            Ok(None) => {}
            Ok(Some(reason)) => return Ok(skipped(reason)),
            Err(error) => return failed(error),
        }
        let csr = match DeviceCsr::upload(gpu, self.csr) {
            Ok(csr) => csr,
            Err(error) => return failed(error),
        };
        let opened = OnGpu::new(self.bench, &csr, &self.inputs.x);
        let opened = opened.and_then(|side| Ok((side.launch_time()?, side)));
        let (launch_time, side) = match opened {
            Ok(opened) => opened,
            Err(Unprepared::Unavailable(Unavailable(reason))) => return Ok(skipped(reason)),
            Err(Unprepared::Failed(error)) => return failed(error),
        };
        let report = Case::new(self, side).report(choices)?;
        let ms = |time: Duration| Some(1e3 * time.as_secs_f64());
        let compile_ms = ms(gpu.compile_time() - compiled);
        Ok(Report { compile_ms, launch_ms: ms(launch_time), ..report })
    }
}

impl<T: Value> Trial<'_, T> {
    /// Why the matrix and the vectors do not fit on the GPU.
    fn refused_by(&self, gpu: &Gpu) -> Result<Option<String>, Failed> {
        let Bench { team, settings, .. } = *self.bench;
        let extent = Extent::of(self.csr, team.len(), settings.transpose);
        let need = extent.run_on_device(settings, gpu.facts().l2_bytes);
        Ok(memory::refusal("for the matrix and its vectors", need, free(gpu)?))
    }
}

/// One matrix on one side.
struct Case<'a, T, S> {
    bench: &'a Bench<'a>,
    round: Round,
    inputs: &'a Inputs<T>,
    side: S,
    extent: Extent<'a>,
    /// Bytes that methods which are ready take at most.
    kept: u64,
    /// The clocks of the device at each time that they were read.
    clocks: Vec<Clocks>,
}

impl<'a, T: Scalar, S: Side<'a, T>> Case<'a, T, S> {
    fn new(trial: &'a Trial<'a, T>, side: S) -> Self {
        let Trial { bench, csr, inputs } = trial;
        let round = bench.settings.round(csr.nnz(), S::DEVICE);
        let extent = Extent::of(csr, bench.team.len(), bench.settings.transpose);
        Self { bench, round, inputs, side, extent, kept: 0, clocks: Vec::new() }
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
        let mut racing: Vec<_> = entries.iter_mut().zip(choices).collect();
        self.load(&mut racing, warm_up)?;
        while !racing.is_empty() {
            self.take_rounds(&mut racing)?;
            self.load(&mut racing, Duration::ZERO)?;
            racing.retain_mut(|(entry, _)| entry.again(self.bench.settings.timeout));
        }
        let stages = self.bench.settings.stages;
        Ok(entries.into_iter().map(|entry| entry.outcome(stages)).collect())
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
        let mut ready = Ready {
            prepared,
            setup_ms,
            error_ratio: 0.0,
            hashes: BTreeSet::new(),
            attempts: Attempts::default(),
            spent: Duration::ZERO,
            parts: None,
        };
        self.side.set_y(&self.inputs.y0)?;
        self.time(&mut ready, 1)?;
        self.verify(&mut ready)?;
        self.charge(&mut ready, start)?;
        Ok(ready)
    }

    /// One round of a method: warm-ups, samples, verification.
    fn take_turn(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let Bench { clock, settings, .. } = *self.bench;
        let start = clock.now();
        clock.pause(SETTLE);
        self.side.set_y(&self.inputs.y0)?;
        let mut product = Duration::MAX;
        for _ in 0..settings.warmups.max(1) {
            product = product.min(self.time(ready, 1)?);
        }
        let batch = self.batch(ready, product)?;
        // Eviction is outside a sample's time but not outside the turn's.
        let turn = clock.now();
        let (mut products, mut end) = (0, turn);
        let left = settings.timeout.saturating_sub(ready.spent);
        while self.round.goes_on(products, end - turn) && end - turn <= left && !self.interrupted()
        {
            self.side.chill(&ready.prepared)?;
            let seconds = self.time(ready, batch)?.as_secs_f64();
            end = clock.now();
            ready.attempts.add(Sample { products: batch, seconds });
            products += batch;
        }
        if self.inputs.beta != T::zero() {
            // y has been fed back into itself: only a fresh y0 has a reference.
            self.side.set_y(&self.inputs.y0)?;
            self.time(ready, 1)?;
        }
        self.verify(ready)?;
        if ready.parts.is_none() {
            // One product is enough to tell which kernel is the longest.
            let products = if settings.stages { STAGE_PRODUCTS } else { 1 };
            let factors = (self.inputs.alpha, self.inputs.beta);
            ready.parts = Some(self.side.parts(&mut ready.prepared, factors, products)?);
        }
        self.charge(ready, start)
    }

    /// Products of a sample when a single one took about `product`. On a device that time contains what a
    /// product in a batch does not have, so a batch that is not counted tells how long they are.
    fn batch(
        &mut self,
        ready: &mut Ready<'a, T, S::Vector>,
        product: Duration,
    ) -> Result<usize, Outcome> {
        let batch = self.round.batch(product);
        if S::DEVICE == Device::Cpu || batch == 1 {
            return Ok(batch);
        }
        let trial = self.time(ready, batch)?;
        Ok(self.round.batch(trial / batch as u32))
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

    fn verify(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let y = self.side.y()?;
        ready.hashes.insert(xxh3_64(bytemuck::cast_slice(y)));
        let verdict: Verdict = self.inputs.reference.judge(y);
        ready.error_ratio = ready.error_ratio.max(verdict.error_ratio);
        if verdict.passes() {
            return Ok(());
        }
        Err(Outcome::Wrong { reason: verdict.describe(), error_ratio: verdict.error_ratio })
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
