//! Samples: batches of products that are timed as a whole, while the waiting of threads is observed.

use std::time::Duration;

use rand::RngExt;

use super::case::{Case, Entry};
use super::power::Interval;
use super::probes::Probes;
use crate::bench::backend::Backend;
use crate::bench::calls::Calls;
use crate::bench::outcome::Outcome;
use crate::bench::samples::{Sample, choose, typical};
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;
use spmv_results::settings::Round;

/// The mean number of samples in a turn that follow a change.
const CHANGED_SAMPLES_PER_TURN: f64 = 2.0;

/// The products and the time of the samples of a turn, of undisturbed and of disturbed ones.
#[derive(Default)]
struct Taken([(usize, Duration); 2]);

impl Taken {
    fn add(&mut self, sample: &Sample, spent: Duration) {
        let (products, time) = &mut self.0[usize::from(sample.is_disturbed())];
        *products += sample.products;
        *time += spent;
    }

    /// Whether a turn needs another sample: it ends with enough undisturbed ones, or with as many disturbed ones.
    fn wants_more(&self, round: &Round) -> bool {
        self.0.iter().all(|&(products, time)| round.continues(products, time))
    }
}

/// What a turn has taken, and how it goes on.
struct Stream {
    /// The number of products in a sample.
    batch: usize,
    /// The probability that x changes before a sample.
    chance: f64,
    /// The probability that a probe follows a sample.
    chance_of_probe: f64,
    taken: Taken,
    probes: Probes,
}

impl Stream {
    fn wants_more(&self, round: &Round) -> bool {
        self.taken.wants_more(round) || self.chance_of_probe > 0.0 && self.probes.left() > 0
    }
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Takes the samples and the probes between them. Returns the median of the times per product of the samples, and
    /// the times of the probes. `product` is the approximate time of one. Samples in which other programs delayed a
    /// thread are taken again, as many as the turn has in all.
    pub(super) fn take_samples(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        batch: usize,
        product: Duration,
    ) -> Result<(Duration, Probes), Outcome> {
        let mut stream = self.stream(ready, batch, product);
        let left = self.bench.settings.timeout.saturating_sub(ready.spent);
        let mut interval = Interval::begin(&self.backend, self.now(), ready.busy);
        if interval.is_some() || S::DEVICE != Device::Cpu {
            // They follow after the samples. What uses power is only samples, and a GPU has one x.
            stream.chance_of_probe = 0.0;
        }
        let begin = self.now();
        let round = self.round;
        let before = ready.samples.turns.len();
        while stream.wants_more(&round) && self.now() - begin <= left && !self.interrupted() {
            self.take_next(ready, &mut stream)?;
            if let Some(interval) = &mut interval {
                interval.sample(&self.backend, self.now());
            }
        }
        if let Some(interval) = interval {
            ready.power.add(interval, &self.backend, self.now(), ready.busy);
        }
        if self.alteration.is_applied {
            // Each turn ends with a result for the usual x, so that results can be compared bit by bit.
            self.take_sample(ready, &mut stream, 1.0)?;
        } else if self.inputs.beta == T::zero() {
            self.verify(ready)?;
        }
        let is_fixed = self.bench.settings.iterations.is_some();
        let of_turn = &mut ready.samples.turns[before..];
        choose(of_turn, &round, is_fixed);
        Ok((typical(of_turn).unwrap_or_default(), stream.probes))
    }

    fn stream(&mut self, ready: &Entry<'a, T, S>, batch: usize, product: Duration) -> Stream {
        let samples = self.round.samples(batch, product);
        let mut probes = Probes::default();
        self.plan_probes(ready, &mut probes);
        Stream {
            batch,
            chance: self.chance_of_change(samples),
            chance_of_probe: (probes.left() as f64 / samples).min(1.0),
            taken: Taken::default(),
            probes,
        }
    }

    /// Takes the next sample, and perhaps a probe after it.
    fn take_next(&mut self, ready: &mut Entry<'a, T, S>, stream: &mut Stream) -> Result<(), Outcome> {
        let is_full = !stream.taken.wants_more(&self.round);
        let is_probed = is_full || self.random.random_bool(stream.chance_of_probe);
        let Some(is_new) = stream.probes.next_if(is_probed) else {
            return self.take_sample(ready, stream, stream.chance);
        };
        self.stage(is_new)?;
        self.take_sample(ready, stream, 0.0)?;
        self.probe(ready, &mut stream.probes, is_new)
    }

    fn take_sample(&mut self, ready: &mut Entry<'a, T, S>, stream: &mut Stream, chance: f64) -> Result<(), Outcome> {
        let (sample, spent) = self.observe(ready, stream.batch, chance)?;
        // A single long sample does not fill the turn.
        stream.taken.add(&sample, spent.min(ready.late.longest(sample.products)));
        ready.samples.turns.push(sample);
        Ok(())
    }

    /// Returns the probability that x changes before a sample, of which about so many follow.
    pub(super) fn chance_of_change(&self, samples: f64) -> f64 {
        // In a chain every product has another x.
        match self.inputs.chain {
            None => (CHANGED_SAMPLES_PER_TURN / samples).min(1.0),
            Some(_) => 0.0,
        }
    }

    /// Returns whether a sample may be a single product that is as long as each of several: not on a device, and not in
    /// chains.
    pub(super) fn has_single_samples(&self) -> bool {
        S::DEVICE == Device::Cpu && self.inputs.chain.is_none()
    }

    /// Takes a sample, with this probability after a change of x and y, and then verifies y. Returns it with the time
    /// that limits a turn: eviction is part of it, but changes, verification and refreshing products are not.
    pub(super) fn observe(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        batch: usize,
        chance: f64,
    ) -> Result<(Sample, Duration), Outcome> {
        let feeds_back = self.inputs.beta != T::zero();
        let is_changed = self.random.random_bool(chance);
        if is_changed {
            let changed = self.alteration.toggle(self.inputs);
            self.refresh(ready)?;
            self.apply(Some(&changed))?;
        }
        if is_changed && feeds_back {
            // Only the first product after a change has a reference.
            self.time_one(ready)?;
            self.verify(ready)?;
            self.refresh(ready)?;
        }
        let start = self.now();
        let sample = Sample { is_changed, ..self.sample(ready, batch)? };
        let spent = self.now() - start;
        if is_changed && !feeds_back {
            self.verify(ready)?;
            self.refresh(ready)?;
        }
        Ok((sample, spent))
    }

    /// Takes a sample. If its products form chains, others that all multiply the same x are timed before it; the first
    /// of those, which brings the usual x back into the caches, is not timed.
    pub(super) fn sample(&mut self, ready: &mut Entry<'a, T, S>, products: usize) -> Result<Sample, Outcome> {
        self.evict(ready)?;
        let mut calls = Calls::Batch(products);
        let mut independent = None;
        if self.inputs.chain.is_some() {
            self.time_one(ready)?;
            independent = Some(self.time(ready, Calls::Each(products))?);
            calls = Calls::Chained(products);
        }
        self.waited();
        // Where energy is measured, the time between samples must be short. Only plug-ins may have hidden threads.
        let is_counted = ready.prepared.is_foreign || self.bench.rapl.is_none();
        let before = is_counted.then(|| (self.bench.clock.used(), self.now()));
        let time = self.time(ready, calls)?;
        if let Some(before) = before {
            ready.cpus.add(before, (self.bench.clock.used(), self.now()));
        }
        Ok(Sample {
            round: self.number,
            products,
            seconds: time.as_secs_f64(),
            waited: self.waited(),
            host_launch: self.backend.host_launch(),
            independent,
            ..Sample::default()
        })
    }
}
