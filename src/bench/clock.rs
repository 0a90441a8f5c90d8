//! The clock of measurements, and a fake clock for tests.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A monotonic clock, which tests replace by one that they control.
pub trait Clock {
    /// Returns the time since some fixed moment.
    fn now(&self) -> Duration;
    fn pause(&self, time: Duration);
}

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

/// A clock for tests: each reading advances it by `step`, and `pause` advances it by any time.
#[derive(Default)]
pub struct FakeClock {
    step: Duration,
    now: Cell<Duration>,
}

impl FakeClock {
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

thread_local! {
    static OF_THREAD: FakeClock = FakeClock::default();
}

/// The fake clock of the current thread, for methods of tests: a `Prepare` is a function pointer and has no clock.
pub struct ThreadClock;

impl Clock for ThreadClock {
    fn now(&self) -> Duration {
        OF_THREAD.with(FakeClock::now)
    }

    fn pause(&self, time: Duration) {
        OF_THREAD.with(|clock| clock.pause(time));
    }
}
