//! The clock of measurements, and a fake clock for tests.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use spmv_matrix::system::clock::is_of_kernel;
use spmv_matrix::system::threads::{self, Thread};
use spmv_matrix::system::waits::Waits;

/// A monotonic clock, which tests replace by one that they control.
pub trait Clock {
    /// Returns the time since some fixed moment.
    fn now(&self) -> Duration;
    fn pause(&self, time: Duration);
    /// Begins to observe what the threads that the process has now wait for a CPU.
    fn watch_threads(&self) {}
    /// Returns the CPU time that the process has used, and that of these threads, both without the pool that verifies
    /// results; `None` if it is not known. A thread that has ended is only in the first one, which lags behind for
    /// threads that run.
    fn used(&self) -> Option<[Duration; 2]> {
        None
    }
    /// Returns whether it tells the time of the system: a library can replace the functions that read it.
    fn is_true(&self) -> bool {
        true
    }
    /// Returns the longest time that one of these threads has waited since the last call; `None` if none has.
    fn waited(&self) -> Option<Duration> {
        None
    }
}

pub struct SystemClock {
    start: Instant,
    waits: RefCell<Waits>,
    threads: RefCell<BTreeSet<Thread>>,
    /// The threads of rayon's pool, which no method uses in its products.
    pool: OnceCell<BTreeSet<Thread>>,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now(), waits: RefCell::default(), threads: RefCell::default(), pool: OnceCell::new() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn used(&self) -> Option<[Duration; 2]> {
        let sum = |threads: &BTreeSet<Thread>| threads.iter().map(|thread| thread.used()).sum();
        let of_pool = self.pool.get().map_or(Duration::ZERO, sum);
        Some([threads::used().saturating_sub(of_pool), sum(&self.threads.borrow())])
    }

    fn is_true(&self) -> bool {
        is_of_kernel()
    }

    fn watch_threads(&self) {
        let current = || rayon::broadcast(|_| Thread::current()).into_iter().collect();
        *self.threads.borrow_mut() = &Thread::all() - self.pool.get_or_init(current);
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
