//! One turn of a method in a round: warm-ups, samples, and the checks that make their times trustworthy.
//!
//! The time of a sample is that of [`Backend::time`]: a batch of products and nothing else. Changes of x and y,
//! verification, the products that refresh the caches after it, and cache eviction are outside the timed region.
//!
//! A library that can detect verification could compute only then. Therefore some samples, chosen at random, follow
//! a change of x and y at a few places, are timed like all others, and y is verified after them; so it is after the
//! last sample. With β ≠ 0 only the first product after a change has a reference: it is verified, it is not part of a
//! sample, and the sample follows. A random number of products in between exposes a method that is right only in every
//! other product. At the end of the turn, single products after such changes are timed, and the first and the last are
//! verified, for every β. They must not take much longer than products in samples: if they do, products in samples may have been
//! skipped. Finally y is overwritten and must not change while the method is idle, and a product in a sample must not
//! be faster than the caches can deliver the bytes that it needs.

use std::ops::RangeInclusive;
use std::time::Duration;

use rand::RngExt;

use super::contract::guarded;
use super::{Case, Entry};
use crate::bench::backend::{Backend, SETTLE};
use crate::bench::metrics::gbs;
use crate::bench::outcome::Outcome;
use crate::bench::statistics::{Sample, Summary};
use spmv_matrix::scalar::Scalar;
use spmv_matrix::spoil::{is_spoilt, spoil};
use spmv_methods::method::Device;

/// The mean number of samples in a turn that follow a change.
const CHANGES: f64 = 2.0;

/// Half the number of single products after changes at the end of a turn; their median time is used.
const PAIRS: RangeInclusive<usize> = 1..=3;
/// How often these products are timed at most, if they are too slow.
const ATTEMPTS: usize = 8;
/// A turn of fewer products than this has as few single products as possible.
const FEW: usize = 10;

/// How many times as long as a product in a sample a single product after a change may take, plus [`waiting`].
const SLOWER: u32 = 4;
/// Returns the extra time of a single product, whose data are in another core's cache, or whose device was idle.
const fn waiting(device: Device) -> Duration {
    match device {
        Device::Cpu => Duration::from_micros(50),
        Device::Gpu | Device::Model(_) => Duration::from_micros(200),
    }
}

/// How many times the measured bandwidth of the caches a product may reach.
const FASTER: f64 = 2.0;
/// How often that bandwidth is measured at most, before a product is rejected as too fast.
const SPEED_ATTEMPTS: usize = 10;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Takes a turn and restores x. An interrupt shortens the turn, but all checks are made.
    pub(super) fn take_turn(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        let taken = self.turn(ready);
        ready.turns += usize::from(!self.interrupted());
        if !self.alteration.is_applied {
            return taken;
        }
        let changed = self.alteration.toggle(self.inputs);
        let restored = self.apply(&changed);
        // The first error is the cause.
        taken.and(restored)
    }

    fn turn(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        let start = self.now();
        // Only on the host do products share the cores with other threads.
        if S::DEVICE == Device::Cpu {
            self.bench.clock.pause(SETTLE);
        }
        self.renew_y()?;
        self.backend.forget()?;
        let mut product = Duration::MAX;
        for _ in 0..self.bench.settings.warmups.max(1) {
            product = product.min(self.time(ready, 1)?);
        }
        let batch = self.batch(ready, product)?;
        let typical = self.take_samples(ready, batch, product)?;
        self.take_singles(ready, typical)?;
        self.check_rest(ready)?;
        self.backend.check_threads(ready.prepared.is_foreign)?;
        self.check_speed(ready, typical)?;
        if ready.parts.is_none() {
            ready.parts = Some(self.backend.parts(&mut ready.prepared)?);
        }
        self.charge(ready, start)
    }

    /// Returns the number of products per sample, where a single product took about `product`. On a device that time
    /// includes latency that products in a batch do not have. There the samples of the turns before tell the time
    /// per product, and in the first turn a batch that is not a sample.
    fn batch(&mut self, ready: &mut Entry<'a, T, S>, product: Duration) -> Result<usize, Outcome> {
        let batch = self.round.batch(product).min(self.backend.most_products());
        if S::DEVICE == Device::Cpu || batch == 1 {
            return Ok(batch);
        }
        let product = match ready.attempts.typical() {
            Some(typical) => typical,
            None => self.time(ready, batch)? / batch as u32,
        };
        Ok(self.round.batch(product).min(self.backend.most_products()))
    }

    /// Takes the samples and returns the median of their times per product. `product` is the approximate time of one.
    fn take_samples(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        batch: usize,
        product: Duration,
    ) -> Result<Duration, Outcome> {
        let feeds_back = self.inputs.beta != T::zero();
        let chance = (CHANGES / self.round.samples(batch, product)).min(1.0);
        let left = self.bench.settings.timeout.saturating_sub(ready.spent);
        let begin = self.now();
        // Eviction is not part of a sample's time, but of the time that `min_time` and `max_time` limit. Changes of x,
        // verification and refreshing products are part of neither.
        let (mut products, mut spent, mut samples) = (0, Duration::ZERO, Vec::new());
        while self.round.continues(products, spent)
            && self.now() - begin <= left
            && !self.interrupted()
        {
            let changes = self.random.random_bool(chance);
            if changes {
                let changed = self.alteration.toggle(self.inputs);
                self.refresh(ready)?;
                self.apply(&changed)?;
            }
            if changes && feeds_back {
                // Only the first product after a change has a reference.
                self.time(ready, 1)?;
                self.verify(ready)?;
                self.refresh(ready)?;
            }
            let start = self.now();
            self.backend.evict_caches(&ready.prepared)?;
            let time = self.time(ready, batch)?;
            spent += self.now() - start;
            let host_launch = self.backend.host_launch();
            samples.push(Sample { products: batch, seconds: time.as_secs_f64(), host_launch });
            products += batch;
            if changes && !feeds_back {
                self.verify(ready)?;
                if self.round.continues(products, spent) {
                    self.refresh(ready)?;
                }
            }
        }
        if !feeds_back {
            self.verify(ready)?;
        }
        let typical = Summary::of(&samples).map_or(0.0, |summary| summary.median_ms);
        samples.into_iter().for_each(|sample| ready.attempts.add(sample));
        Ok(Duration::from_secs_f64(typical / 1e3))
    }

    /// Times products that run alone, each after a change of x, and verifies the first and the last one. After the last
    /// change x has its original values again. These products must not take much longer than products in samples or, because
    /// other programs on the cores or on the GPU may delay them, than single products without a change before them (host)
    /// or than empty kernels (GPU: a single product without a change may also wait for work in other streams).
    fn take_singles(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        typical: Duration,
    ) -> Result<(), Outcome> {
        // What the host enqueues slowly, a single product waits for.
        let mut usual = typical.max(self.backend.host_launch().unwrap_or_default());
        let mut least = Duration::MAX;
        for _ in 0..ATTEMPTS {
            let (before, after) = self.time_singles(ready)?;
            (usual, least) = (usual.max(before), least.min(after));
            if least <= usual.saturating_mul(SLOWER).saturating_add(waiting(S::DEVICE)) {
                return Ok(());
            }
        }
        let us = |time: Duration| 1e6 * time.as_secs_f64();
        let reason = format!(
            "a product after a change of x takes {:.1} us, and one without {:.1} us: the method does not compute \
             in every call, or continues to work after it has returned",
            us(least),
            us(usual)
        );
        Err(Outcome::Wrong { reason, error_ratio: ready.error_ratio })
    }

    /// Changes x until it is the original again. Returns the median times of what runs before and after a change.
    fn time_singles(
        &mut self,
        ready: &mut Entry<'a, T, S>,
    ) -> Result<(Duration, Duration), Outcome> {
        // In a turn with few products, most samples follow a change already.
        let (few, applied) = (self.round.products < FEW, self.alteration.is_applied);
        let pairs = if few { usize::from(!applied) } else { self.random.random_range(PAIRS) };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for _ in 0..2 * pairs + usize::from(applied) {
            let changed = self.alteration.toggle(self.inputs);
            if !few {
                self.refresh(ready)?;
            }
            before.push(match S::DEVICE {
                Device::Cpu => self.single(ready)?,
                _ => self.backend.time_empty()?,
            });
            self.apply(&changed)?;
            after.push(self.single(ready)?);
            // Perhaps no sample followed a change, and the last of these products has the original x again.
            if after.len() == 1 {
                self.verify(ready)?;
            }
        }
        self.verify(ready)?;
        Ok((median(before), median(after)))
    }

    /// Returns the time of a product that runs alone.
    fn single(&mut self, ready: &mut Entry<'a, T, S>) -> Result<Duration, Outcome> {
        Ok(guarded(|| self.backend.time_alone(&mut ready.prepared))??)
    }

    /// Runs one or two products, which bring the data that verification has displaced back into the caches. The
    /// number is random so that a method cannot predict which of its products are verified.
    fn refresh(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        let products = self.random.random_range(1..=2);
        self.time(ready, products).map(|_| ())
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
        let reason =
            "y changed after the last product had returned: the method continues to work".into();
        Err(Outcome::Wrong { reason, error_ratio: ready.error_ratio })
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
            if gbs <= FASTER * ceiling {
                return Ok(());
            }
        }
        let reason = format!(
            "a product would move its {bytes} bytes at {gbs:.0} GB/s, but the caches reach {ceiling:.0} GB/s: the \
             method does not compute in every call"
        );
        Err(Outcome::Wrong { reason, error_ratio: ready.error_ratio })
    }

    /// Returns the bytes that a product moves at least: if the storage is unknown, one byte per entry of the matrix.
    fn least_bytes(&self, ready: &Entry<'a, T, S>) -> u64 {
        let matrix = match ready.prepared.extra_bytes.and(ready.matrix_bytes) {
            Some(bytes) => bytes.min(self.extent.csr()),
            None => self.extent.nnz,
        };
        matrix + self.extent.outputs() * self.extent.value
    }

    /// Passes x, whose elements `changed` are new, to the backend, and overwrites a few elements of y. If the product
    /// reads y (β ≠ 0), restores all of y0 instead. This must be quick, because idle threads fall asleep.
    fn apply(&mut self, changed: &[usize]) -> Result<(), Outcome> {
        self.backend.set_x(&self.inputs.x, changed)?;
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
        let edited = match inputs.beta == T::zero() {
            true => backend.write_y(&mut |y| spoil(y, seed)),
            false => backend.write_y(&mut |y| y.copy_from_slice(&inputs.y0)),
        };
        Ok(edited?)
    }

    pub(super) fn verify(&mut self, ready: &mut Entry<'a, T, S>) -> Result<(), Outcome> {
        self.backend.check_memory(ready.prepared.is_foreign, &self.inputs.x)?;
        let (verdict, hash) = self.backend.judge(&self.inputs.reference)?;
        // An altered x is random. It is left out here so that reported values are reproducible.
        if !self.alteration.is_applied {
            ready.hashes.insert(hash);
            ready.error_ratio = ready.error_ratio.max(verdict.error_ratio);
        }
        if verdict.passes() {
            return Ok(());
        }
        // A wrong matrix would make the methods after this one wrong, too.
        self.backend.check_memory(true, &self.inputs.x)?;
        Err(Outcome::Wrong { reason: verdict.describe(), error_ratio: verdict.error_ratio })
    }
}
