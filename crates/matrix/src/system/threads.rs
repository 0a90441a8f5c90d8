//! The CPU time that the threads of this process use.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use nix::unistd::gettid;

/// Returns the CPU time that all threads of this process have used.
pub fn used() -> Duration {
    time(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// A thread of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread(i32);

impl Thread {
    /// Returns the threads that the process has now.
    pub fn all() -> BTreeSet<Self> {
        let names = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        names.filter_map(number).map(Self).collect()
    }

    /// Returns the calling thread.
    pub fn current() -> Self {
        Self(gettid().as_raw())
    }

    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns the CPU time that the thread has used; zero if it has ended.
    pub fn used(self) -> Duration {
        // Linux derives the clock of a thread from its number in this way.
        time(ClockId::from_raw((!self.0 << 3) | 6))
    }
}

fn time(clock: ClockId) -> Duration {
    clock_gettime(clock).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_thread_that_computes_uses_time_and_one_that_waits_uses_none() {
        let compute = || {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(30) {}
        };
        let before = Thread::all();
        let of_process = used();
        let (ask, wait) = channel::<()>();
        let waiting = thread::spawn(move || wait.recv());
        let (tell, told) = channel();
        let computing = thread::spawn(move || {
            compute();
            tell.send(()).unwrap();
            waiting.join().unwrap()
        });
        told.recv().unwrap();
        // Other tests have threads, too.
        let new: Vec<_> = Thread::all().difference(&before).map(|thread| thread.used()).collect();
        let least = Duration::from_millis(1);
        assert!(new.iter().any(|time| *time > least), "{new:?}");
        assert!(new.iter().any(|time| *time < least), "{new:?}");
        assert!(used() > of_process + least);
        drop(ask);
        assert!(computing.join().unwrap().is_err());
        assert_eq!(Thread(i32::MAX >> 4).used(), Duration::ZERO);
    }
}
