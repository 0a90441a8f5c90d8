//! One round of a method: warm-ups, samples, and what makes their times trustworthy.
//!
//! A library that knows when it is verified could compute only then. So some samples, which no method can foresee,
//! follow a change of x and y at a few places, are timed like all others, and are verified afterwards. A random
//! number of products between them finds a product that is right only every other time. At the end of the turn
//! single products follow such a change as well. They may not take much longer than those in samples, which could
//! have been left out. At last y must stay what it is while the method has nothing to do.

use std::ops::RangeInclusive;
use std::time::Duration;

use rand::RngExt;
use xxhash_rust::xxh3::xxh3_64;

use super::entry::{Ready, guarded};
use super::{Bench, Case};
use crate::bench::alteration::{is_spoilt, spoil, spoil_few};
use crate::bench::backend::{Backend, SETTLE};
use crate::bench::metrics::gbs;
use crate::bench::outcome::Outcome;
use crate::bench::statistics::{Sample, Summary};
use crate::method::Device;
use crate::scalar::Scalar;

/// Products that the times of stages are the mean of.
const STAGE_PRODUCTS: usize = 20;

/// How many samples of a turn follow a change, on average.
const CHANGES: f64 = 2.0;

/// Half of the single products after changes at the end of a turn, of which the middle one counts, and how often they
/// are tried if they are slow.
const PAIRS: RangeInclusive<usize> = 1..=3;
const ATTEMPTS: usize = 8;
/// A turn of fewer products has as few single ones as possible.
const FEW: usize = 10;

/// A single product after a change takes at most so many times as long as one of a sample, and some time more for
/// what it has to wait for: a few elements that are in another core's cache, or that the device is idle.
const SLOWER: u32 = 4;
const fn waiting(device: Device) -> Duration {
    match device {
        Device::Cpu => Duration::from_micros(50),
        Device::Gpu | Device::Model(_) => Duration::from_micros(200),
    }
}

/// How much faster than the caches' measured bandwidth a product may be, and how often that is measured at most.
const FASTER: f64 = 2.0;
const SPEED_LOOKS: usize = 10;

/// The median, and nothing without times.
fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Takes the turn, and leaves x as it was. An interrupt shortens it, but all checks are made.
    pub(super) fn take_turn(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let taken = self.turn(ready);
        ready.turns += usize::from(!self.interrupted());
        if self.alteration.is_applied {
            let changed = self.alteration.toggle(self.inputs);
            self.apply(&changed)?;
        }
        taken
    }

    fn turn(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let Bench { clock, settings, .. } = *self.bench;
        let start = clock.now();
        clock.pause(SETTLE);
        self.renew_y()?;
        let mut product = Duration::MAX;
        for _ in 0..settings.warmups.max(1) {
            product = product.min(self.time(ready, 1)?);
        }
        let batch = self.batch(ready, product)?;
        let typical = self.take_samples(ready, batch, product)?;
        self.take_singles(ready, typical)?;
        self.check_rest(ready)?;
        self.check_speed(ready, typical)?;
        if ready.parts.is_none() {
            // One product is enough to tell which kernel is the longest.
            let products = if settings.stages { STAGE_PRODUCTS } else { 1 };
            let factors = (self.inputs.alpha, self.inputs.beta);
            ready.parts = Some(self.backend.parts(&mut ready.prepared, factors, products)?);
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

    /// Takes the samples; the time of a product in the middle one of them. `product` is about the time of one.
    fn take_samples(
        &mut self,
        ready: &mut Ready<'a, T, S::Vector>,
        batch: usize,
        product: Duration,
    ) -> Result<Duration, Outcome> {
        let (clock, feeds_back) = (self.bench.clock, self.inputs.beta != T::zero());
        let chance = (CHANGES / self.round.samples(batch, product)).min(1.0);
        let left = self.bench.settings.timeout.saturating_sub(ready.spent);
        let begin = clock.now();
        // Eviction is outside a sample's time but not outside the turn's. Verification is outside both.
        let (mut products, mut spent, mut samples) = (0, Duration::ZERO, Vec::new());
        while self.round.goes_on(products, spent)
            && clock.now() - begin <= left
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
            let start = clock.now();
            self.backend.evict_caches(&ready.prepared)?;
            let time = self.time(ready, batch)?;
            spent += clock.now() - start;
            samples.push(Sample { products: batch, seconds: time.as_secs_f64() });
            products += batch;
            if changes && !feeds_back {
                self.verify(ready)?;
                if self.round.goes_on(products, spent) {
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

    /// Times products that run alone after a change, until x is as it was, and verifies the last. They may not take
    /// much longer than those of samples, or on the CPU than single ones before which nothing changes: these wait
    /// as long where other programs hold the cores.
    fn take_singles(
        &mut self,
        ready: &mut Ready<'a, T, S::Vector>,
        typical: Duration,
    ) -> Result<(), Outcome> {
        let (mut least, mut usual) = (Duration::MAX, typical);
        for _ in 0..ATTEMPTS {
            // Where a turn has few products, most of its samples follow a change already.
            let (few, applied) = (self.round.products < FEW, self.alteration.is_applied);
            let pairs = if few { usize::from(!applied) } else { self.random.random_range(PAIRS) };
            let count = 2 * pairs + usize::from(applied);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let changed = self.alteration.toggle(self.inputs);
                if !few {
                    self.refresh(ready)?;
                }
                if S::DEVICE == Device::Cpu {
                    before.push(self.single(ready)?);
                }
                self.apply(&changed)?;
                after.push(self.single(ready)?);
            }
            self.verify(ready)?;
            least = least.min(middle(after));
            usual = usual.max(middle(before));
            if least <= usual.saturating_mul(SLOWER).saturating_add(waiting(S::DEVICE)) {
                return Ok(());
            }
        }
        let us = |time: Duration| 1e6 * time.as_secs_f64();
        let reason = format!(
            "a product after a change of x takes {:.1} us, and one without {:.1} us: it does not compute \
             each time, or goes on after its end",
            us(least),
            us(usual)
        );
        Err(Outcome::Wrong { reason, error_ratio: ready.error_ratio })
    }

    /// The time of a product that runs alone.
    fn single(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<Duration, Outcome> {
        let factors = (self.inputs.alpha, self.inputs.beta);
        Ok(guarded(|| self.backend.time_alone(&mut ready.prepared, factors))??)
    }

    /// Brings back into the caches what verification has displaced, by one product or two: if it were always one, a
    /// method could know which of its products are verified.
    fn refresh(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let products = self.random.random_range(1..=2);
        self.time(ready, products).map(|_| ())
    }

    /// Looks whether anything writes to y after the products have ended.
    fn check_rest(&mut self, ready: &Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let seed = self.random.random();
        self.backend.edit_y(&mut |y| spoil(y, seed))?;
        self.bench.clock.pause(SETTLE);
        self.backend.wait()?;
        if is_spoilt(self.backend.y()?, seed) {
            return Ok(());
        }
        let reason =
            "y changed after the last product had returned: work goes on after its end".into();
        Err(Outcome::Wrong { reason, error_ratio: ready.error_ratio })
    }

    /// Holds the time of a product against that which the caches need for the bytes that it must move.
    fn check_speed(
        &mut self,
        ready: &Ready<'a, T, S::Vector>,
        typical: Duration,
    ) -> Result<(), Outcome> {
        let bytes = self.least_bytes(ready);
        let gbs = gbs(bytes, 1e3 * typical.as_secs_f64());
        // A clock that has not moved tells nothing.
        if gbs <= self.backend.peak().gbs() || typical.is_zero() {
            return Ok(());
        }
        let mut ceiling = 0.0;
        for _ in 0..SPEED_LOOKS {
            // A ceiling that cannot be measured is one that stays unknown.
            let Ok(in_cache) = self.backend.cache_gbs(bytes) else { return Ok(()) };
            ceiling = in_cache.max(ceiling);
            if gbs <= FASTER * ceiling {
                return Ok(());
            }
        }
        let reason = format!(
            "a product would move its {bytes} bytes at {gbs:.0} GB/s, but the caches reach {ceiling:.0}: it \
             does not compute each time"
        );
        Err(Outcome::Wrong { reason, error_ratio: ready.error_ratio })
    }

    /// Bytes that a product moves at the least: a library that does not tell what it keeps has to look at each entry.
    fn least_bytes(&self, ready: &Ready<'a, T, S::Vector>) -> u64 {
        let matrix = match ready.prepared.extra_bytes.and(ready.matrix_bytes) {
            Some(bytes) => bytes.min(self.extent.csr()),
            None => self.extent.nnz,
        };
        matrix + self.extent.outputs() * self.extent.value
    }

    /// Gives the method the x of which some elements have `changed`, and overwrites a few elements of y, or all where
    /// the product reads them. Little time may pass here: idle threads fall asleep.
    fn apply(&mut self, changed: &[usize]) -> Result<(), Outcome> {
        self.backend.set_x(&self.inputs.x, changed)?;
        if self.inputs.beta != T::zero() {
            return self.renew_y();
        }
        let Self { backend, random, .. } = self;
        Ok(backend.edit_y(&mut |y| spoil_few(y, random))?)
    }

    /// Makes y what the reference is for, or overwrites all of it where a product does not read it.
    pub(super) fn renew_y(&mut self) -> Result<(), Outcome> {
        let seed = self.random.random();
        let Self { inputs, backend, .. } = self;
        let edited = match inputs.beta == T::zero() {
            true => backend.edit_y(&mut |y| spoil(y, seed)),
            false => backend.edit_y(&mut |y| y.copy_from_slice(&inputs.y0)),
        };
        Ok(edited?)
    }

    /// Verifies what y holds.
    pub(super) fn verify(&mut self, ready: &mut Ready<'a, T, S::Vector>) -> Result<(), Outcome> {
        let y = self.backend.y()?;
        let verdict = self.inputs.reference.judge(y);
        // What is reported does not depend on chance.
        if !self.alteration.is_applied {
            ready.hashes.insert(xxh3_64(bytemuck::cast_slice(y)));
            ready.error_ratio = ready.error_ratio.max(verdict.error_ratio);
        }
        if verdict.passes() {
            return Ok(());
        }
        Err(Outcome::Wrong { reason: verdict.describe(), error_ratio: verdict.error_ratio })
    }
}
