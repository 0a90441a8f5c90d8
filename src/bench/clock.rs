//! The clock of measurements, and a fake clock for tests.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use spmv_matrix::system::waits::Waits;

/// A monotonic clock, which tests replace by one that they control.
pub trait Clock {
    /// Returns the time since some fixed moment.
    fn now(&self) -> Duration;
    fn pause(&self, time: Duration);
    /// Begins to observe what the threads that the process has now wait for a CPU.
    fn watch_threads(&self) {}
    /// Returns the longest time that one of these threads has waited since the last call; `None` if none has.
    fn waited(&self) -> Option<Duration> {
        None
    }
}

pub struct SystemClock {
    start: Instant,
    waits: RefCell<Waits>,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now(), waits: RefCell::default() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn watch_threads(&self) {
        self.waits.borrow_mut().refresh();
    }

    fn waited(&self) -> Option<Duration> {
        self.waits.borrow_mut().since_last()
    }
}

/// A clock for tests: each reading advances it by `step`, and `pause` advances it by any time.
#[derive(Default)]
pub struct FakeClock {
    step: Duration,
    now: Cell<Duration>,
    waited: Cell<Duration>,
}

impl FakeClock {
    pub fn new(step: Duration) -> Self {
        Self { step, ..Self::default() }
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

impl ThreadClock {
    /// Lets a thread wait for a CPU.
    pub fn delay(time: Duration) {
        OF_THREAD.with(|clock| {
            clock.waited.set(clock.waited.get() + time);
            clock.pause(time);
        });
    }
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

    fn waited(&self) -> Option<Duration> {
        OF_THREAD.with(|clock| Some(clock.waited.take()).filter(|waited| !waited.is_zero()))
    }
}
