//! Measures a method on all ranks together, with the steps of [`bench::execute`](crate::bench::execute): setup, a
//! verified product, then rounds of warm-ups and samples with verification after each round. There are no changes of
//! x between samples. Each time is that of the slowest rank, so that all ranks take the same decisions.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::check::{judge, reference};
use super::columns::owned_cuts;
use super::load::Distributed;
use super::parts::Parts;
use super::product::{Product, Sent};
use super::ranks::Ranks;
use crate::bench::clock::Clock;
use crate::bench::execute::Stopped;
use crate::bench::inputs::vectors;
use crate::bench::outcome::{Measurement, Outcome};
use crate::bench::plan::Settings;
use crate::bench::statistics::{Sample, Summary};
use crate::matrix::Csr;
use crate::method::{Choice, Device};
use crate::verify::Reference;

/// Everything that a measurement needs from its caller.
pub struct Bench<'a> {
    /// The MPI ranks.
    pub ranks: &'a Ranks,
    /// The clock that all times are read from.
    pub clock: &'a dyn Clock,
    /// Set by a signal handler, on any rank, to stop early.
    pub interrupted: &'a AtomicBool,
    /// How the method is measured.
    pub settings: &'a Settings,
}

/// This rank's part of the inputs of products and of the reference.
struct Inputs<T> {
    alpha: T,
    beta: T,
    x: Vec<T>,
    y0: Vec<T>,
    reference: Reference,
}

/// The measurement of one matrix in one precision.
pub struct Trial<'a, T> {
    bench: &'a Bench<'a>,
    matrix: &'a Distributed,
    inputs: Inputs<T>,
    /// This rank's part of y, which the timed products write.
    y: Vec<T>,
}

/// A prepared product with its measurements so far.
struct Ready<'p, T> {
    product: Product<'p, T>,
    samples: Vec<Sample>,
    error_ratio: f64,
    /// The hashes of all verified y.
    hashes: BTreeSet<u64>,
}

/// Why a turn ended early.
enum End {
    Outcome(Outcome),
    Interrupted,
}

impl<'a, T: Sent> Trial<'a, T> {
    /// Creates the vectors, which depend only on the seed and not on the number of ranks, and the reference.
    pub fn new(bench: &'a Bench<'a>, matrix: &'a Distributed, share: &Csr<T>) -> Self {
        let (ranks, partition) = (bench.ranks, &matrix.partition);
        let (alpha, beta, x, y0) = vectors(bench.settings, partition.rows(), share.cols);
        let y0 = y0[partition.stored(ranks.rank())].to_vec();
        let reference = reference(ranks, partition, share, &x, (alpha, beta), &y0);
        let cuts = owned_cuts(partition, share.cols);
        let x = x[cuts[ranks.rank()]..cuts[ranks.rank() + 1]].to_vec();
        let y = y0.clone();
        Self { bench, matrix, inputs: Inputs { alpha, beta, x, y0, reference }, y }
    }

    /// Measures mpi-merge with the parameters of `choice`. All ranks must call it and get the same outcome.
    ///
    /// # Errors
    /// Returns [`Stopped::Interrupted`] if [`Bench::interrupted`] was set.
    pub fn measure(
        &mut self,
        choice: &Choice,
        share: &mut Csr<T>,
    ) -> std::result::Result<Outcome, Stopped> {
        match self.outcome(choice, share) {
            Ok(outcome) | Err(End::Outcome(outcome)) => Ok(outcome),
            Err(End::Interrupted) => Err(Stopped::Interrupted),
        }
    }

    fn outcome(&mut self, choice: &Choice, share: &mut Csr<T>) -> Result<Outcome, End> {
        let Bench { ranks, clock, settings, .. } = *self.bench;
        if settings.transpose {
            return Ok(Outcome::Skipped("it has no transposed product".into()));
        }
        let all = choice.given.contains(&("gather", "all"));
        ranks.barrier();
        let begin = clock.now();
        let product = Product::new(ranks, &self.matrix.partition, share, all, settings.isa);
        let setup = self.longest(clock.now() - begin) + self.matrix.cut;
        let product = product.map_err(|error| End::Outcome(Outcome::Failed(error.to_string())))?;
        let (samples, hashes) = (Vec::new(), BTreeSet::new());
        let mut ready = Ready { product, samples, error_ratio: 0.0, hashes };
        self.y.copy_from_slice(&self.inputs.y0);
        self.time(&mut ready, 1)?;
        self.verify(&mut ready)?;
        self.check_time(begin)?;
        for _ in 0..settings.rounds.max(1) {
            self.take_turn(&mut ready)?;
            self.check_time(begin)?;
        }
        Ok(Outcome::Ok(Box::new(self.measurement(ready, setup))))
    }

    fn measurement(&mut self, mut ready: Ready<T>, setup: Duration) -> Measurement {
        let Bench { ranks, settings, .. } = *self.bench;
        let parts = self.time_parts(&mut ready);
        Measurement {
            setup_ms: 1e3 * setup.as_secs_f64(),
            summary: Summary::of(&ready.samples).expect("a round has at least one sample"),
            extra_bytes: Some(ranks.sum(&[ready.product.bytes() as u64])[0]),
            matrix_bytes: None,
            error_ratio: ready.error_ratio,
            distinct_results: ready.hashes.len(),
            library_version: Some(ranks.library()),
            note: Some(self.note(&ready.product, &parts)),
            occupancy: None,
            profile: None,
            launches: None,
            stages: if settings.stages { parts.stages() } else { Vec::new() },
        }
    }

    /// Runs one round: warm-ups, samples and, outside the timed region, verification.
    fn take_turn(&mut self, ready: &mut Ready<T>) -> Result<(), End> {
        let settings = self.bench.settings;
        let round = settings.round(self.matrix.shape.nnz, Device::Cpu);
        self.y.copy_from_slice(&self.inputs.y0);
        let mut product = Duration::MAX;
        for _ in 0..settings.warmups.max(1) {
            product = product.min(self.time(ready, 1)?);
        }
        let batch = round.batch(product);
        let (turn, mut products, mut spent) = (self.bench.clock.now(), 0, Duration::ZERO);
        while round.continues(products, spent) {
            let time = self.time(ready, batch)?;
            ready.samples.push(Sample { products: batch, seconds: time.as_secs_f64() });
            products += batch;
            spent = self.longest(self.bench.clock.now() - turn);
        }
        if self.inputs.beta != T::zero() {
            // The products have accumulated into y, but the reference is for one product from y0.
            self.y.copy_from_slice(&self.inputs.y0);
            self.time(ready, 1)?;
        }
        self.verify(ready)
    }

    /// Runs a batch of products between two clock readings, after a barrier. Returns the time of the slowest rank.
    fn time(&mut self, ready: &mut Ready<T>, products: usize) -> Result<Duration, End> {
        let Bench { ranks, clock, interrupted, .. } = *self.bench;
        let Inputs { alpha, beta, ref x, .. } = self.inputs;
        ranks.barrier();
        let begin = clock.now();
        for _ in 0..products {
            ready.product.multiply(alpha, x, beta, &mut self.y);
        }
        let time = self.longest(clock.now() - begin);
        let interrupted = u8::from(interrupted.load(Ordering::Relaxed));
        let [interrupted] = ranks.max([interrupted.into()]);
        if interrupted > 0.0 { Err(End::Interrupted) } else { Ok(time) }
    }

    /// Returns a timeout if the time since `begin` exceeds the method's limit.
    fn check_time(&self, begin: Duration) -> Result<(), End> {
        let Bench { clock, settings, .. } = *self.bench;
        let spent = self.longest(clock.now() - begin);
        match spent > settings.timeout {
            true => Err(End::Outcome(Outcome::overdue(settings, spent))),
            false => Ok(()),
        }
    }

    /// Returns the largest `time` of all ranks.
    fn longest(&self, time: Duration) -> Duration {
        let [seconds] = self.bench.ranks.max([time.as_secs_f64()]);
        Duration::from_secs_f64(seconds)
    }

    fn verify(&self, ready: &mut Ready<T>) -> Result<(), End> {
        let ranks = self.bench.ranks;
        let hashes = ranks.gather(xxh3_64(bytemuck::cast_slice(&self.y)));
        ready.hashes.insert(xxh3_64(bytemuck::cast_slice(&hashes)));
        let first = self.matrix.partition.stored(ranks.rank()).start;
        let verdict = judge(ranks, &self.inputs.reference, &self.y, first);
        ready.error_ratio = ready.error_ratio.max(verdict.error_ratio);
        if verdict.passes() {
            return Ok(());
        }
        let (reason, error_ratio) = (verdict.describe(), verdict.error_ratio);
        Err(End::Outcome(Outcome::Wrong { reason, error_ratio }))
    }

    fn time_parts(&mut self, ready: &mut Ready<T>) -> Parts {
        let Bench { ranks, clock, .. } = *self.bench;
        let Inputs { alpha, beta, ref x, .. } = self.inputs;
        let (product, y) = (&mut ready.product, &mut self.y);
        Parts::time(ranks, || {
            let begin = clock.now();
            product.gather_x(x);
            let gathered = clock.now();
            let tail = product.compute(alpha, beta, y);
            let computed = clock.now();
            product.exchange_tails(tail, alpha, y);
            [gathered - begin, computed - gathered, clock.now() - computed]
        })
    }

    fn note(&self, product: &Product<T>, parts: &Parts) -> String {
        let ranks = self.bench.ranks;
        let range = |value: usize| {
            let [least, most] = ranks.max([-(value as f64), value as f64]);
            format!("{} to {most}", -least)
        };
        let nonzeros = range(self.matrix.partition.nonzeros(ranks.rank()).len());
        let rows = range(self.matrix.partition.stored(ranks.rank()).len());
        let received = range(product.received());
        let count = ranks.count();
        let ranks = if count == 1 { "rank" } else { "ranks" };
        format!(
            "{count} {ranks}: {parts}; by rank {nonzeros} nonzeros, {rows} rows, {received} values of x received"
        )
    }
}
