//! The power that a device needs while samples are taken: the energy of whole intervals, from their first to their last
//! sample, so that no counter is read in a timed region.

use std::time::Duration;

use crate::bench::backend::Machine;
use spmv_methods::device::facts::Energy;
use spmv_methods::method::Device;
use spmv_results::row::Remark;

/// The number of updates of its counter that an interval must contain.
const MIN_UPDATES: u32 = 20;
/// The share of an interval that products must take: the rest is verification, new values of x and evicted caches.
const MIN_BUSY_SHARE: f64 = 0.8;
/// The time between two samples of the power.
const PAUSE: Duration = Duration::from_millis(50);
/// The difference between the counter and the mean of the samples, as a share of the former, above which there is a
/// remark.
const MAX_DIFFERENCE: f64 = 0.2;

/// Returns the time between two updates of the counter, at most.
const fn update(device: Device) -> Duration {
    match device {
        Device::Cpu => Duration::from_millis(1),
        Device::Gpu | Device::Model(_) => Duration::from_millis(100),
    }
}

/// Returns the time of the shortest interval whose energy is used.
pub const fn shortest(device: Device) -> Duration {
    update(device).saturating_mul(MIN_UPDATES)
}

/// The intervals of all turns of a method together.
#[derive(Default)]
pub struct Power {
    joules: f64,
    seconds: f64,
    sampled: Vec<f64>,
}

/// The beginning of an interval, and what was read since.
pub struct Interval {
    begin: Duration,
    joules: f64,
    /// The time of all products of the method before.
    busy: Duration,
    sampled: Vec<f64>,
    /// When the power is sampled next; `None` if the device has no sensor.
    next: Option<Duration>,
}

impl Power {
    /// Adds an interval that ends `now`, if its energy is that of products and can be right.
    pub fn add<M: Machine>(&mut self, interval: Interval, machine: &M, now: Duration, busy: Duration) {
        let Some(energy) = machine.energy() else { return };
        let busy = busy - interval.busy;
        let took = (now - interval.begin).max(busy);
        let joules = energy.joules - interval.joules;
        let is_long = took >= shortest(M::DEVICE);
        let is_busy = busy.as_secs_f64() >= MIN_BUSY_SHARE * took.as_secs_f64();
        if is_long && is_busy && machine.can_use(joules, took) {
            self.joules += joules;
            self.seconds += took.as_secs_f64();
            self.sampled.extend(interval.sampled);
        }
    }

    /// Returns the mean power in watts; `None` if there is no interval that is long enough, or if the counter stands
    /// still.
    pub fn watts(&self) -> Option<f64> {
        (self.joules > 0.0).then(|| self.joules / self.seconds)
    }

    /// Returns a remark if the samples of the power say something else.
    pub fn remark(&self) -> Option<Remark> {
        let counted = self.watts()?;
        let sampled = self.sampled.iter().sum::<f64>() / self.sampled.len() as f64;
        let differs = (sampled / counted - 1.0).abs() > MAX_DIFFERENCE;
        differs.then_some(Remark::UncertainEnergy { counted, sampled })
    }
}

impl Interval {
    /// Begins an interval; `None` if the device has no counter of energy. `busy` is the time of all products so far.
    pub fn begin(machine: &impl Machine, now: Duration, busy: Duration) -> Option<Self> {
        let Energy { joules, watts } = machine.energy()?;
        let next = watts.map(|_| now + PAUSE);
        Some(Self { begin: now, joules, busy, sampled: Vec::new(), next })
    }

    /// Samples the power between two samples of the time, if the last time is long ago.
    pub fn sample(&mut self, machine: &impl Machine, now: Duration) {
        if self.next.is_some_and(|next| now >= next) {
            self.sampled.extend(machine.energy().and_then(|energy| energy.watts));
            self.next = Some(now + PAUSE);
        }
    }
}

#[cfg(test)]
#[test]
fn samples_that_say_something_else_are_a_remark() {
    let power = |sampled| Power { joules: 200.0, seconds: 2.0, sampled };
    assert_eq!([power(vec![]), power(vec![90.0, 130.0])].map(|it| it.remark()), [None, None]);
    let expected = Remark::UncertainEnergy { counted: 100.0, sampled: 65.0 };
    assert_eq!(power(vec![50.0, 80.0]).remark(), Some(expected));
    assert_eq!(Power::default().watts(), None);
}
