//! Measures methods on one matrix. Every method yields a value, whatever becomes of it.
//!
//! Prepare (timed), one product, verify; then rounds in which all methods take turns: warm-ups,
//! timed samples, and verification of what the last timed product left. All methods are kept ready at
//! once for that; with a single round, each is dropped before the next is prepared.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::clock::Clock;
use super::inputs::Inputs;
use super::outcome::{Measurement, Outcome, Report};
use super::plan::{Round, Settings};
use super::side::{Host, OnGpu, SETTLE, Side};
use super::statistics::{Sample, Summary};
use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Gpu, Stage};
use crate::matrix::Csr;
use crate::matrix::order::Permutation;
use crate::method::{Choice, Failed, Prepared, Request, Unavailable, Unprepared};
use crate::scalar::Scalar;
use crate::team::Team;
use crate::verify::Verdict;

/// Products that the times of stages are the mean of.
const STAGE_PRODUCTS: usize = 20;

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
}

/// The run was interrupted; what was measured of this matrix is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

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
    /// [`Interrupted`] when the flag was raised.
    pub fn on_host(&self, choices: &[Choice]) -> Result<Report, Interrupted> {
        Case::new(self, Host::new(self.bench, self.csr, &self.inputs.x)).report(choices)
    }
}

impl<T: Value> Trial<'_, T> {
    /// Measures methods of the GPU. What goes wrong before any method is reached, such as too little
    /// memory for the matrix, is a failure of each.
    ///
    /// # Errors
    /// See [`Trial::on_host`].
    pub fn on_gpu(&self, gpu: &Gpu, choices: &[Choice]) -> Result<Report, Interrupted> {
        let compiled = gpu.compile_time();
        let failed = |Failed(reason)| {
            let outcomes = vec![Outcome::Failed(reason); choices.len()];
            Report { outcomes, ..Report::default() }
        };
        let csr = match DeviceCsr::upload(gpu, self.csr) {
            Ok(csr) => csr,
            Err(error) => return Ok(failed(error)),
        };
        let side = match OnGpu::new(self.bench, &csr, &self.inputs.x) {
            Ok(side) => side,
            Err(error) => return Ok(failed(error)),
        };
        let before = gpu.clocks();
        let report = Case::new(self, side).report(choices)?;
        let clocks = before.zip(gpu.clocks()).map(<[_; 2]>::from);
        let compile_ms = Some(1e3 * (gpu.compile_time() - compiled).as_secs_f64());
        Ok(Report { compile_ms, clocks, ..report })
    }
}

/// One matrix on one side.
struct Case<'a, T, S> {
    bench: &'a Bench<'a>,
    nnz: usize,
    round: Round,
    inputs: &'a Inputs<T>,
    side: S,
}

/// A method in the race, or what ended it.
enum Entry<'a, T, V: ?Sized> {
    Ready(Ready<'a, T, V>),
    Ended(Outcome),
}

struct Ready<'a, T, V: ?Sized> {
    prepared: Prepared<'a, T, V>,
    setup_ms: f64,
    error_ratio: f64,
    /// Of every y that was verified.
    hashes: BTreeSet<u64>,
    samples: Vec<Sample>,
    /// `None` until they are taken.
    stages: Option<Vec<Stage>>,
}

impl<'a, T: Scalar, S: Side<'a, T>> Case<'a, T, S> {
    fn new(trial: &'a Trial<'a, T>, side: S) -> Self {
        let Trial { bench, csr, inputs } = trial;
        let nnz = csr.nnz();
        Self { bench, nnz, round: bench.settings.round(nnz, S::DEVICE), inputs, side }
    }

    fn report(mut self, choices: &'a [Choice]) -> Result<Report, Interrupted> {
        let outcomes = if self.bench.settings.rounds > 1 {
            self.measure(choices)?
        } else {
            let one_by_one = choices.chunks(1).map(|choice| Ok(self.measure(choice)?.remove(0)));
            one_by_one.collect::<Result<_, _>>()?
        };
        Ok(Report { peak: self.side.peak(), outcomes, ..Report::default() })
    }

    fn measure(&mut self, choices: &'a [Choice]) -> Result<Vec<Outcome>, Interrupted> {
        let mut entries = Vec::new();
        for choice in choices {
            self.check_interrupt()?;
            entries.push(self.enter(choice).map_or_else(Entry::Ended, Entry::Ready));
        }
        for _ in 0..self.bench.settings.rounds.max(1) {
            // A ceiling that cannot be measured is one that stays unknown.
            let _ = self.side.look_at_peak();
            for entry in &mut entries {
                self.check_interrupt()?;
                if let Entry::Ready(ready) = entry
                    && let Err(end) = self.take_turn(ready)
                {
                    *entry = Entry::Ended(end);
                }
            }
        }
        self.check_interrupt()?;
        let stages = self.bench.settings.stages;
        Ok(entries.into_iter().map(|entry| entry.outcome(stages)).collect())
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
            expected_products: settings.products(self.nnz, S::DEVICE),
            profile: settings.profiles.of(T::PRECISION),
            given: &choice.given,
        };
        let (prepared, setup) = guarded(|| self.side.prepare(choice, &request))??;
        let setup_ms = 1e3 * setup.as_secs_f64();
        let mut ready = Ready {
            prepared,
            setup_ms,
            error_ratio: 0.0,
            hashes: BTreeSet::new(),
            samples: Vec::new(),
            stages: None,
        };
        self.side.set_y(&self.inputs.y0)?;
        self.time(&mut ready, 1)?;
        self.verify(&mut ready)?;
        Ok(ready)
    }

    /// One round of a method: warm-ups, samples, verification.
    fn take_turn(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let Bench { clock, settings, .. } = *self.bench;
        clock.pause(SETTLE);
        self.side.set_y(&self.inputs.y0)?;
        let mut product = Duration::MAX;
        for _ in 0..settings.warmups.max(1) {
            product = product.min(self.time(ready, 1)?);
        }
        let batch = self.round.batch(product);
        // Eviction is outside a sample's time but not outside the turn's.
        let turn = clock.now();
        let (mut products, mut end) = (0, turn);
        while self.round.goes_on(products, end - turn) && !self.interrupted() {
            self.side.chill(&ready.prepared)?;
            let seconds = self.time(ready, batch)?.as_secs_f64();
            end = clock.now();
            ready.samples.push(Sample { products: batch, seconds });
            products += batch;
        }
        if self.inputs.beta != T::zero() {
            // y has been fed back into itself: only a fresh y0 has a reference.
            self.side.set_y(&self.inputs.y0)?;
            self.time(ready, 1)?;
        }
        self.verify(ready)?;
        if ready.stages.is_none() {
            // One product is enough to tell which kernel is the longest.
            let products = if settings.stages { STAGE_PRODUCTS } else { 1 };
            let factors = (self.inputs.alpha, self.inputs.beta);
            ready.stages = Some(self.side.stages(&mut ready.prepared, factors, products)?);
        }
        Ok(())
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

    fn check_interrupt(&self) -> Result<(), Interrupted> {
        if self.interrupted() { Err(Interrupted) } else { Ok(()) }
    }
}

impl<T, V: ?Sized> Entry<'_, T, V> {
    /// With the product's parts if `show_stages`.
    fn outcome(self, show_stages: bool) -> Outcome {
        let ready = match self {
            Self::Ended(outcome) => return outcome,
            Self::Ready(ready) => ready,
        };
        let stages = ready.stages.unwrap_or_default();
        Outcome::Ok(Box::new(Measurement {
            setup_ms: ready.setup_ms,
            summary: Summary::of(&ready.samples).expect("a round takes one sample at least"),
            extra_bytes: ready.prepared.extra_bytes,
            error_ratio: ready.error_ratio,
            distinct_results: ready.hashes.len(),
            library_version: ready.prepared.library_version,
            note: ready.prepared.note,
            occupancy: occupancy(&stages),
            stages: if show_stages { stages } else { Vec::new() },
        }))
    }
}

/// That of the kernel that takes most of the time.
fn occupancy(stages: &[Stage]) -> Option<f64> {
    let kernels = stages.iter().filter(|stage| stage.occupancy.is_some());
    kernels.max_by(|a, b| a.ms.total_cmp(&b.ms))?.occupancy
}

impl From<Failed> for Outcome {
    fn from(Failed(reason): Failed) -> Self {
        Self::Failed(reason)
    }
}

impl From<Unprepared> for Outcome {
    fn from(unprepared: Unprepared) -> Self {
        match unprepared {
            Unprepared::Unavailable(Unavailable(reason)) => Self::Skipped(reason),
            Unprepared::Failed(failed) => failed.into(),
        }
    }
}

/// A panic in a method is that method's failure, not the run's.
fn guarded<R>(call: impl FnOnce() -> R) -> Result<R, Outcome> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|payload| Outcome::Failed(format!("panicked: {}", panic_text(&*payload))))
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests;
