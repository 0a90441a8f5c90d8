//! Time, and the fake that tests put in its place.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A monotonic clock.
pub trait Clock {
    /// Time since some fixed moment.
    fn now(&self) -> Duration;
    /// Lets time pass.
    fn pause(&self, time: Duration);
}

/// The machine's monotonic clock.
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// A clock for tests: each look at it takes `step`, and a test's product may add its own time.
#[derive(Default)]
pub struct FakeClock {
    step: Duration,
    now: Cell<Duration>,
}

impl FakeClock {
    /// Starts at zero.
    pub fn new(step: Duration) -> Self {
        Self { step, now: Cell::default() }
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        self.pause(self.step);
        self.now.get()
    }

    fn pause(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }
}
