//! Products that run alone at the end of a turn, one of them with an x of which every element is new.

use std::time::Duration;

use super::contract::guarded;
use super::turn::waiting;
use super::{Case, Entry};
use crate::bench::backend::Backend;
use crate::bench::fresh::Fresh;
use crate::bench::outcome::Outcome;
use spmv_matrix::scalar::Scalar;
use spmv_methods::method::Device;

/// The number of single products with an old x before one with a new x at the end of a turn.
const PRODUCTS_WITH_OLD_X: usize = 3;
/// How often these products are timed at most, if they are too slow.
const ATTEMPTS: usize = 12;
/// How often samples of one product are taken at most, if they are too slow.
const ATTEMPTS_AS_SAMPLES: usize = 50;
/// How many times as long as a product in a sample a single product with a new x may take, plus [`waiting`]. On a GPU
/// it is compared with products before which the device was not idle.
const fn slower(device: Device) -> u32 {
    match device {
        Device::Cpu => 2,
        Device::Gpu | Device::Model(_) => 4,
    }
}

/// Returns the time that nine of ten do not exceed: of times that vary, one of the long ones, but not a rare
/// disturbance.
fn long_one(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() * 9 / 10).copied().unwrap_or_default()
}

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

impl<'a, T: Scalar, S: Backend<'a, T>> Case<'a, '_, T, S> {
    /// Checks that a sample of one product takes about as long as each product of the samples of several. If it takes
    /// longer, the method may compute only the first one of those. What a thread waited for a CPU does not count.
    pub(super) fn check_batches(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        batch: usize,
        typical: Duration,
    ) -> Result<(), Outcome> {
        if S::DEVICE != Device::Cpu || batch == 1 || self.inputs.chain.is_some() {
            return Ok(());
        }
        let most = typical.saturating_mul(slower(S::DEVICE)).saturating_add(waiting(S::DEVICE));
        let mut least = Duration::MAX;
        for _ in 0..ATTEMPTS_AS_SAMPLES {
            let sample = self.sample(ready, 1)?;
            least =
                least.min(Duration::from_secs_f64(sample.seconds).saturating_sub(sample.waited));
            if least <= most {
                return Ok(());
            }
        }
        let reason = format!(
            "a product alone takes {:.1} us, and one of {batch} in a row {:.1} us: the method does not compute in \
             every call",
            microseconds(least),
            microseconds(typical)
        );
        Err(Outcome::wrong(reason, ready.error_ratio))
    }

    /// Times products that run alone: some with an x that the method has seen, then one with a new x, which is
    /// verified. It must not take much longer than products in samples or, because other programs on the cores or on
    /// the GPU may delay it, than those before it (host) or than empty kernels (GPU: a product may also wait for work
    /// in other streams).
    pub(super) fn take_singles(
        &mut self,
        ready: &mut Entry<'a, T, S>,
        typical: Duration,
    ) -> Result<(), Outcome> {
        // What the host enqueues slowly, a single product waits for.
        let usual = typical.max(self.backend.host_launch().unwrap_or_default());
        let (mut old, mut least) = (Vec::new(), Duration::MAX);
        for _ in 0..ATTEMPTS {
            self.provide_fresh(ready);
            self.refresh(ready)?;
            for _ in 0..PRODUCTS_WITH_OLD_X {
                old.push(match S::DEVICE {
                    Device::Cpu => self.old_single(ready)?,
                    _ => self.backend.time_empty()?,
                });
            }
            least = least.min(self.fresh_single(ready)?);
            let usual = usual.max(long_one(old.clone()));
            if least <= usual.saturating_mul(slower(S::DEVICE)).saturating_add(waiting(S::DEVICE)) {
                return Ok(());
            }
        }
        let reason = format!(
            "a product with a new x takes {:.1} us, and one with an old x {:.1} us: the method does not compute \
             in every call, or continues to work after it has returned",
            microseconds(least),
            microseconds(usual.max(long_one(old)))
        );
        Err(Outcome::wrong(reason, ready.error_ratio))
    }

    /// Returns the time of a product with the same x, written anew: so it is in the same caches as a new one, and the
    /// method sees no change.
    fn old_single(&mut self, ready: &mut Entry<'a, T, S>) -> Result<Duration, Outcome> {
        self.backend.set_x(&self.inputs.x, None)?;
        self.single(ready)
    }

    /// Makes sure that there is an x which the method has not seen. The methods that take turns see the same ones.
    fn provide_fresh(&mut self, ready: &mut Entry<'a, T, S>) {
        let newest = self.fresh.as_ref().map_or(0, |fresh| fresh.number);
        if newest <= ready.seen {
            // The memory of the old one is free before the new one is created.
            self.fresh = None;
            let (x, reference) = self.backend.renew(self.inputs, &mut self.random);
            self.fresh = Some(Fresh::new(x, reference, newest + 1));
        }
    }

    /// Returns the time of a product with the new x, which is verified, and restores the old x.
    fn fresh_single(&mut self, ready: &mut Entry<'a, T, S>) -> Result<Duration, Outcome> {
        let mut fresh = self.fresh.take().expect("it was provided");
        ready.seen = fresh.number;
        fresh.exchange(self.inputs);
        self.fresh = Some(fresh);
        let timed = self.apply(None).and_then(|()| self.single(ready));
        let timed = timed.and_then(|time| self.verify(ready).map(|()| time));
        if let Some(fresh) = &mut self.fresh {
            fresh.exchange(self.inputs);
        }
        let restored = self.apply(None);
        // The first error is the cause.
        timed.and_then(|time| restored.map(|()| time))
    }

    /// Returns the time of a product that runs alone.
    fn single(&mut self, ready: &mut Entry<'a, T, S>) -> Result<Duration, Outcome> {
        self.ends_chain = false;
        Ok(guarded(|| self.backend.time_alone(&mut ready.prepared))??)
    }
}
