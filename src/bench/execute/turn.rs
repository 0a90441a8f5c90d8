//! One turn of a method in a round: warm-ups, samples, and the checks that make their times trustworthy.
//!
//! The time of a sample is that of [`Backend::time`]: a batch of products and nothing else. Changes of x and y,
//! verification, the products that refresh the caches after it, and cache eviction are outside the timed region.
//!
//! A library that can detect verification could compute only then. Therefore some samples, chosen at random, follow
//! a change of x and y at a few places, are timed like all others, and y is verified after them; so it is after the
//! last sample. With β ≠ 0 only the first product after a change has a reference: it is verified, it is not part of a
//! sample, and the sample follows. A random number of products in between exposes a method that is correct only in
//! every other product. Single products at random places, one of them with an x of which every element is new, must
//! take as long as each other, and not much longer than products in samples (see `probes`): otherwise products in
//! samples may have been skipped, or computed from what was remembered. Finally y is overwritten and must not change
//! while the method is idle, and a product in a sample must not be faster than the caches can deliver the bytes that it
//! needs.
//! What some products take longer than others is setup (see `late`), a method has no more CPUs than it states (see
//! `cpus`), and the threads of plug-ins are idle while others are measured (see `foreign`).

use std::time::Duration;

use rand::RngExt;

use super::case::{Case, Entry};
use crate::bench::backend::{Backend, SETTLE};
use crate::bench::calls::Calls;
use crate::bench::outcome::Outcome;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::spoil::{is_spoilt, spoil};
use spmv_methods::method::Device;
use spmv_results::metrics::gbs;
use spmv_results::row::Status;

/// The pause after verification, in which the threads of rayon fall asleep. They look for work a while longer, and give
/// up their CPU again and again. If a product used it meanwhile, they would wait for it, and delay the product.
const REST: Duration = Duration::from_micros(300);

const MAX_OVER_CACHE_BANDWIDTH: f64 = 2.0;
/// The part of the estimated number of different values that there surely are.
const SURELY_DISTINCT: f64 = 0.9;
/// How often that bandwidth is measured at most, before a product is rejected as too fast.
const SPEED_ATTEMPTS: usize = 10;

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Takes a turn and restores x. An interrupt shortens the turn, but all checks are made.
    pub(super) fn take_turn(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        let taken = self.turn(ready);
        ready.turns += usize::from(!self.interrupted());
        self.restore_x(taken)
    }

    /// Restores x after samples with a changed one.
    pub(super) fn restore_x(&mut self, taken: Result<(), Outcome>) -> Result<(), Outcome> {
        if !self.alteration.is_applied {
            return taken;
        }
        let changed = self.alteration.toggle(self.inputs);
        let restored = self.apply(Some(&changed));
        // The first error is the cause.
        taken.and(restored)
    }

    fn turn(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        let start = self.now();
        self.renew_y()?;
        self.backend.forget()?;
        self.let_threads_sleep(SETTLE);
        self.bench.clock.watch_threads();
        let mut product = Duration::MAX;
        for _ in 0..self.bench.settings.warmups.max(1) {
            let time = self.time_one(ready)?;
            if ready.turns > 0 {
                ready.late.note_opening(time);
            }
            product = product.min(time);
        }
        let batch = self.batch(ready, product)?;
        let (typical, probes) = self.take_samples(ready, batch, product)?;
        self.check_batches(ready, batch, typical)?;
        self.check_probes(ready, probes, batch, typical)?;
        self.check_rest(ready)?;
        self.compare_with_cold(ready, typical)?;
        self.backend.check_threads(ready.prepared.is_foreign)?;
        self.check_speed(ready, typical)?;
        self.check_cpus(ready)?;
        self.check_clock()?;
        if ready.parts.is_none() {
            ready.parts = Some(self.backend.parts(&mut ready.prepared)?);
        }
        self.charge(ready, start)
    }

    /// Returns the number of products per sample, where a single product took about `product`. On a device that time
    /// includes latency that products in a batch do not have. There the samples of the turns before tell the time
    /// per product, and in the first turn a batch that is not a sample.
    fn batch(&mut self, ready: &mut Entry<'a, T, S>, product: Duration) -> Result<usize, Outcome> {
        let batch = self.fitting(product);
        if S::DEVICE == Device::Cpu || batch == 1 {
            return Ok(batch);
        }
        let product = match ready.samples.typical() {
            Some(typical) => typical,
            None => self.time(ready, Calls::Batch(batch))? / batch as u32,
        };
        Ok(self.fitting(product))
    }

    /// Returns the number of products of a sample if one takes `product`.
    pub(super) fn fitting(&self, product: Duration) -> usize {
        self.round.batch(product, self.backend.most_products())
    }

    /// Pauses until the threads of other methods, or of verification, sleep. Only on the host do products share the
    /// cores with other threads.
    pub(super) fn let_threads_sleep(&self, pause: Duration) {
        if S::DEVICE == Device::Cpu {
            self.bench.clock.pause(pause);
        }
    }

    /// Runs one or two products, which bring the data that verification has displaced back into the caches. The
    /// number is random so that a method cannot predict which of its products are verified.
    pub(super) fn refresh(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        self.let_threads_sleep(REST);
        let products = self.random.random_range(1..=2);
        self.time(ready, Calls::Batch(products)).map(|_| ())
    }

    /// Checks that nothing writes to y after the products have returned.
    fn check_rest(&mut self, ready: &Entry<'a, T, S>) -> Result<(), Outcome> {
        let seed = self.random.random();
        self.backend.write_y(&mut |y| spoil(y, seed))?;
        self.bench.clock.pause(SETTLE);
        self.backend.wait()?;
        let changed = !is_spoilt(self.backend.y()?, seed);
        if !self.anywhere(changed) {
            return Ok(());
        }
        Err(ready.wrong("y changed after the last product had returned: the method continues to work"))
    }

    /// Measures products with cold caches if one before the first sample took long.
    fn compare_with_cold(&mut self, ready: &mut Entry<'a, T, S>, typical: Duration) -> Result<(), Outcome> {
        if ready.turns > 0 || !ready.late.is_doubtful(typical, S::DEVICE) {
            return Ok(());
        }
        // A method may do in one of them what belongs in the setup.
        let first = self.time(ready, Calls::Cold)?;
        let second = self.time(ready, Calls::Cold)?;
        ready.late.cold = Some(first.min(second).max(typical));
        Ok(())
    }

    /// Checks that a plug-in has not used more CPUs in its samples than it has threads.
    fn check_cpus(&self, ready: &Entry<'a, T, S>) -> Result<(), Outcome> {
        let excess = ready.cpus.excess(ready.cell.key.threads);
        let excess = excess.filter(|_| ready.prepared.is_foreign);
        excess.map_or(Ok(()), |reason| Err(ready.wrong(reason)))
    }

    /// Checks that a product is not faster than the caches can deliver the bytes that it must move.
    fn check_speed(&mut self, ready: &Entry<'a, T, S>, typical: Duration) -> Result<(), Outcome> {
        let bytes = self.least_bytes(ready);
        let gbs = gbs(bytes, 1e3 * typical.as_secs_f64());
        // A typical time of zero means that the clock has not advanced, which is not evidence.
        if gbs <= self.backend.peak().gbs() || typical.is_zero() {
            return Ok(());
        }
        let mut ceiling = 0.0;
        for _ in 0..SPEED_ATTEMPTS {
            // Without a measured bandwidth there is nothing to compare with.
            let Ok(in_cache) = self.backend.cache_gbs(bytes) else { return Ok(()) };
            ceiling = in_cache.max(ceiling);
            if gbs <= MAX_OVER_CACHE_BANDWIDTH * ceiling {
                return Ok(());
            }
        }
        Err(ready.wrong(format!(
            "a product would move its {bytes} bytes at {gbs:.0} GB/s, but the caches reach {ceiling:.0} GB/s: the \
             method does not compute in every call"
        )))
    }

    /// Checks that times are those of the system's clock. If they are not, no process with the same code can measure.
    fn check_clock(&mut self) -> Result<(), Outcome> {
        if self.bench.clock.is_true() {
            return Ok(());
        }
        self.is_spoilt = true;
        let reason = "the clock of the process is not that of the system: a library has replaced it";
        Err(Outcome::new(Status::Failed, reason.into()))
    }

    /// Returns the bytes that a product moves at least: if the storage is unknown, one byte for the place of each entry
    /// of the matrix, and each value that differs from all others.
    fn least_bytes(&self, ready: &Entry<'a, T, S>) -> u64 {
        let values = SURELY_DISTINCT * self.inputs.distinct_values;
        // What a method of others states proves nothing.
        let is_known = ready.prepared.extra_bytes.is_some() && !ready.prepared.is_foreign;
        let matrix = match ready.matrix_bytes.filter(|_| is_known) {
            Some(bytes) => bytes.min(self.extent.csr()),
            None => self.extent.nnz + values as u64 * self.extent.value,
        };
        matrix + self.extent.outputs() * self.extent.value
    }

    /// Passes x, whose elements `changed`, or all, are new, to the backend, and overwrites a few elements of y. If the
    /// product reads y (β ≠ 0), restores all of y0 instead. This must be quick, because idle threads fall asleep.
    pub(super) fn apply(&mut self, changed: Option<&[usize]>) -> Result<(), Outcome> {
        self.backend.set_x(&self.inputs.x, changed)?;
        self.overwrite_y()
    }

    /// Overwrites a few elements of y. If the product reads y (β ≠ 0), restores all of y0 instead.
    pub(super) fn overwrite_y(&mut self) -> Result<(), Outcome> {
        if self.inputs.beta != T::zero() {
            return self.renew_y();
        }
        let seed = self.random.random();
        Ok(self.backend.spoil_few(seed)?)
    }

    /// Sets y to y0 if the product reads it (β ≠ 0); otherwise overwrites all of y with random bits.
    pub(super) fn renew_y(&mut self) -> Result<(), Outcome> {
        let seed = self.random.random();
        let Self { inputs, backend, .. } = self;
        let edited = if inputs.beta == T::zero() {
            backend.write_y(&mut |y| spoil(y, seed))
        } else {
            backend.write_y(&mut |y| y.copy_from_slice(&inputs.y0))
        };
        Ok(edited?)
    }

    pub(super) fn verify(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        self.backend.check_memory(ready.prepared.is_foreign, &self.inputs.x)?;
        let (verdict, hash) = self.backend.judge(self.inputs.expected_after(self.last))?;
        // An altered x is random. It is left out here so that reported values are reproducible.
        let is_fresh = self.fresh.as_ref().is_some_and(|fresh| fresh.is_applied);
        if !self.alteration.is_applied && !is_fresh {
            ready.hashes[self.last.kind_of_result()].insert(hash);
            ready.error_ratio = ready.error_ratio.max(verdict.error_ratio);
            ready.likely_ratio = ready.likely_ratio.max(verdict.likely_ratio);
        }
        if verdict.passes() {
            return Ok(());
        }
        // A wrong matrix would make the methods after this one wrong, too.
        self.backend.check_memory(true, &self.inputs.x)?;
        Err(Outcome::wrong(verdict.describe(), verdict.error_ratio))
    }
}
