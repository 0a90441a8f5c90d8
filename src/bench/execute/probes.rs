//! Probes: products that run alone at random places between samples, one of them with an x of which every element is
//! new.
//!
//! A probe multiplies an x at another address, where it was put before the sample that precedes. So a method sees
//! nothing before the product begins: no pause, no write. In most probes that x is the usual one. A method to which its
//! elements do not matter takes as long with a new one. A GPU has one x, which is written before a probe, and probes
//! follow after all samples.

use std::time::Duration;

use rand::RngExt;

use super::case::{Case, Entry};
use super::duel::warm_ups;
use super::late::waiting;
use crate::bench::backend::Backend;
use crate::bench::calls::Calls;
use crate::bench::inputs::Fresh;
use crate::bench::outcome::Outcome;
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;

/// The number of probes with the usual x for one with a new x.
const OLD: usize = 3;
/// How often the probes of a turn are made at most, if they are too slow.
const ATTEMPTS: usize = 12;
/// How many times as long as one with the usual x a product with a new x may take on the host.
const SLOWER_IF_NEW: f64 = 1.1;

/// How often samples of one product are taken at most, if they are too slow.
const ATTEMPTS_AS_SAMPLES: usize = 50;
/// The rate at which a product reads an x that another core has just written, at least, in bytes per second. Where the
/// cores share no cache it was 3 GB/s; between sockets it is slower.
const SLOWEST_X: f64 = 0.25e9;

/// How many times as long as a product in a sample one that runs alone may take, plus [`waiting`]. On a GPU it is
/// compared with products before which the device was not idle.
const fn slower(device: Device) -> f64 {
    match device {
        Device::Cpu => 2.0,
        Device::Gpu | Device::Model(_) => 4.0,
    }
}

/// Returns the longest time of a product alone, if one in a sample takes `usual`.
fn slowest(usual: Duration, device: Device) -> Duration {
    usual.mul_f64(slower(device)) + waiting(device)
}

/// The times of the probes of a turn.
#[derive(Default)]
pub struct Probes {
    /// Those with the usual x; on a GPU those of empty kernels, which other programs delay as much.
    old: Vec<Duration>,
    /// The shortest with a new x.
    new: Option<Duration>,
    /// Whether each of those that the turn still has to make has a new x.
    planned: Vec<bool>,
}

impl Probes {
    fn plan(&mut self, place: usize) {
        self.planned.extend((0..=OLD).map(|number| number == place));
    }

    /// Takes the next one that is planned, if it `is_wanted`. Returns whether it has a new x.
    pub fn next_if(&mut self, is_wanted: bool) -> Option<bool> {
        if is_wanted { self.planned.pop() } else { None }
    }

    pub fn left(&self) -> usize {
        self.planned.len()
    }

    /// Returns the time that nine of ten with the usual x do not exceed: a long one, but not a rare disturbance.
    fn long_one(&self) -> Duration {
        let mut times = self.old.clone();
        times.sort_unstable();
        times.get(times.len() * 9 / 10).copied().unwrap_or_default()
    }

    fn add(&mut self, is_new: bool, time: Duration) {
        if is_new {
            self.new = Some(self.new.map_or(time, |least| least.min(time)));
        } else {
            self.old.push(time);
        }
    }
}

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Plans the probes of a turn.
    pub(super) fn plan_probes(&mut self, ready: &Entry<'a, T, S>, probes: &mut Probes) {
        self.provide_fresh(ready);
        probes.plan(self.random.random_range(0..=OLD));
    }

    /// Stores the usual x, or a new one, for a probe after the next sample.
    pub(super) fn stage(&mut self, is_new: bool) -> Result<(), Outcome> {
        self.exchange_fresh(is_new);
        let staged = self.backend.stage_x(&self.inputs.x);
        self.exchange_fresh(is_new);
        Ok(staged?)
    }

    /// Makes a probe with the x that was staged, the usual one or a new one, and restores the usual one.
    pub(super) fn probe(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        probes: &mut Probes,
        is_new: bool,
    ) -> Result<(), Outcome> {
        if !is_new && S::DEVICE != Device::Cpu {
            probes.add(false, self.backend.time(&mut ready.prepared, Calls::Empty)?);
            return Ok(());
        }
        self.exchange_fresh(is_new);
        let probed = self.probe_staged(ready, is_new);
        self.exchange_fresh(is_new);
        let restored = self.backend.exchange_x(&self.inputs.x);
        // The first error is the cause.
        probes.add(is_new, probed?);
        restored?;
        if is_new { self.refresh(ready) } else { Ok(()) }
    }

    /// Returns the time of a product with the staged x, and verifies it if that is new.
    fn probe_staged(&mut self, ready: &mut Entry<'a, T, S>, is_new: bool) -> Result<Duration, Outcome> {
        self.backend.exchange_x(&self.inputs.x)?;
        self.overwrite_y()?;
        let time = self.time_probe(ready)?;
        if is_new {
            ready.seen = self.fresh.as_ref().map_or(0, |fresh| fresh.number);
            self.verify(ready)?;
        }
        Ok(time)
    }

    /// Returns the time of a product that runs alone.
    fn time_probe(&mut self, ready: &mut Entry<'a, T, S>) -> Result<Duration, Outcome> {
        if self.has_single_samples() {
            return Ok(Duration::from_secs_f64(self.sample(ready, 1)?.seconds));
        }
        self.time(ready, Calls::Alone)
    }

    /// Checks that a sample of one product takes about as long as each product of the samples of several. If it takes
    /// longer, the method may compute only the first one of those. Nothing is known where a thread waits for a CPU in
    /// each of them, as on a busy machine.
    pub(super) fn check_batches(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        batch: usize,
        typical: Duration,
    ) -> Result<(), Outcome> {
        if batch == 1 || !self.has_single_samples() {
            return Ok(());
        }
        let mut least = Duration::MAX;
        for _ in 0..ATTEMPTS_AS_SAMPLES {
            let sample = self.sample(ready, 1)?;
            if !sample.is_disturbed() {
                least = least.min(Duration::from_secs_f64(sample.seconds));
            }
            if least <= slowest(typical, S::DEVICE) {
                return Ok(());
            }
        }
        if least == Duration::MAX {
            return Ok(());
        }
        let [alone, row] = [least, typical].map(microseconds);
        Err(ready.wrong(format!(
            "a product alone takes {alone:.1} us, and one of {batch} in a row {row:.1} us: the method does not compute \
             in every call"
        )))
    }

    /// Checks that products with a new x do not take longer than others, and probes hardly longer than products in
    /// samples of `batch`, of which one takes `typical`. While they do, probes are repeated.
    pub(super) fn check_probes(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        mut probes: Probes,
        batch: usize,
        typical: Duration,
    ) -> Result<(), Outcome> {
        for attempt in 1..ATTEMPTS {
            if attempt > 1 {
                self.plan_probes(ready, &mut probes);
                // What provides a new x takes the caches.
                let warm_ups = if S::DEVICE == Device::Cpu { warm_ups(&typical) } else { 0 };
                for _ in 0..warm_ups {
                    self.time_one(ready)?;
                }
            }
            while let Some(is_new) = probes.next_if(true) {
                self.stage(is_new)?;
                if S::DEVICE == Device::Cpu {
                    self.sample(ready, batch)?;
                } else if is_new {
                    self.refresh(ready)?;
                }
                self.probe(ready, &mut probes, is_new)?;
            }
            if self.compared(&probes, typical).is_none() {
                return Ok(());
            }
        }
        match self.compared(&probes, typical) {
            Some(reason) => Err(ready.wrong(reason)),
            None => Ok(()),
        }
    }

    /// Returns what is wrong with the times of probes.
    fn compared(&self, probes: &Probes, typical: Duration) -> Option<String> {
        let new = probes.new?;
        let of_host = S::DEVICE == Device::Cpu;
        // What the host enqueues slowly, a single product waits for.
        let usual = typical.max(self.backend.host_launch().unwrap_or_default());
        let usual = if of_host { usual } else { usual.max(probes.long_one()) };
        let bytes = if of_host { size_of_val(&self.inputs.x[..]) } else { 0 };
        let reading = Duration::from_secs_f64(bytes as f64 / SLOWEST_X);
        let (other, what) = if of_host && new > probes.long_one().mul_f64(SLOWER_IF_NEW) {
            (probes.long_one(), "with an old x")
        } else if new > slowest(usual, S::DEVICE) + reading {
            (usual, "of several in a row")
        } else {
            return None;
        };
        let (new, other) = (microseconds(new), microseconds(other));
        Some(format!(
            "a product with a new x takes {new:.1} us, and one {what} {other:.1} us: the method does not compute in \
             every call, or continues to work after it has returned"
        ))
    }

    /// Makes sure that there is an x which the method has not seen. The methods that take turns see the same ones.
    fn provide_fresh(&mut self, ready: &Entry<'a, T, S>) {
        let newest = self.fresh.as_ref().map_or(0, |fresh| fresh.number);
        if newest <= ready.seen {
            // The memory of the old one is free before the new one is created.
            self.fresh = None;
            let (x, reference) = self.backend.renew(self.inputs, &mut self.random);
            self.fresh = Some(Fresh::new(x, reference, newest + 1));
        }
    }

    /// Exchanges the usual x and the new one, if the probe has a new one. The next call restores them.
    fn exchange_fresh(&mut self, is_new: bool) {
        if let Some(fresh) = self.fresh.as_mut().filter(|_| is_new) {
            fresh.exchange(self.inputs);
        }
    }
}
