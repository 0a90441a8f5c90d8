//! How long the threads of this process have waited for a CPU that something else used. The kernel counts it exactly:
//! a time that was measured meanwhile is longer by about as much.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::str;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

/// What the system tells of waiting threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The time that each thread was ready to run and did not: the second number of its `schedstat`.
    RunDelay,
    /// Only whether a thread lost its CPU before it gave it up.
    Switches,
}

impl Source {
    pub fn detect() -> Self {
        let text = fs::read_to_string("/proc/thread-self/schedstat");
        match text.ok().and_then(|text| run_delay(&text)) {
            Some(_) => Self::RunDelay,
            None => Self::Switches,
        }
    }
}

/// Reads what all threads of the process have waited, through files that stay open.
pub struct Waits {
    source: Source,
    threads: Vec<(File, Duration)>,
    switches: i64,
}

impl Default for Waits {
    fn default() -> Self {
        Self { source: Source::detect(), threads: Vec::new(), switches: 0 }
    }
}

impl Waits {
    /// Opens the files of the threads that the process has now.
    pub fn refresh(&mut self) {
        if self.source == Source::RunDelay {
            let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
            let files = tasks.filter_map(|task| File::open(task.path().join("schedstat")).ok());
            self.threads = files.map(|file| (file, Duration::ZERO)).collect();
        }
        self.since_last();
    }

    /// Returns the longest time that any of the threads has waited since the last call; `None` if none has. Where only
    /// switches are counted, a thread that has lost its CPU has waited for an unknown time, [`Duration::MAX`].
    pub fn since_last(&mut self) -> Option<Duration> {
        match self.source {
            Source::RunDelay => {
                let waited = self.threads.iter_mut().map(|(file, last)| {
                    let now = delay_of(file).unwrap_or(*last);
                    now.saturating_sub(std::mem::replace(last, now))
                });
                waited.max().filter(|waited| !waited.is_zero())
            }
            Source::Switches => {
                let usage = getrusage(UsageWho::RUSAGE_SELF);
                let now = usage.map_or(0, |usage| usage.involuntary_context_switches());
                let before = std::mem::replace(&mut self.switches, now);
                (now > before).then_some(Duration::MAX)
            }
        }
    }
}

/// Returns the delay of a thread; `None` if the thread has ended.
fn delay_of(file: &File) -> Option<Duration> {
    let mut text = [0; 96];
    let length = file.read_at(&mut text, 0).ok()?;
    run_delay(str::from_utf8(&text[..length]).ok()?)
}

fn run_delay(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{scope, yield_now};
    use std::time::Instant;

    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    use super::*;

    #[test]
    fn the_delay_is_the_second_number() {
        for (text, expected) in [("7 1500 3\n", Some(1500)), ("7\n", None), ("", None)] {
            assert_eq!(run_delay(text), expected.map(Duration::from_nanos), "{text:?}");
        }
    }

    /// Two threads that compute on one CPU must wait for each other, whatever the system tells of it.
    #[test]
    fn threads_that_share_a_cpu_are_seen_to_wait() {
        for source in [Source::detect(), Source::Switches] {
            let done = AtomicBool::new(false);
            let waited = scope(|scope| {
                scope.spawn(|| {
                    pin();
                    while !done.load(Ordering::Relaxed) {
                        spin_loop();
                    }
                });
                let waiter = scope.spawn(|| {
                    pin();
                    yield_now();
                    let mut waits = Waits { source, ..Waits::default() };
                    waits.refresh();
                    let begin = Instant::now();
                    while begin.elapsed() < Duration::from_millis(100) {
                        spin_loop();
                    }
                    let waited = waits.since_last();
                    done.store(true, Ordering::Relaxed);
                    waited
                });
                waiter.join().unwrap()
            });
            assert!(waited.is_some_and(|waited| waited > Duration::from_millis(1)), "{source:?} {waited:?}");
        }
    }

    /// Binds the calling thread to the first CPU on which it may run.
    fn pin() {
        let thread = Pid::from_raw(0);
        let allowed = sched_getaffinity(thread).unwrap();
        let mut one = CpuSet::new();
        let first = (0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu) == Ok(true)).unwrap();
        one.set(first).unwrap();
        sched_setaffinity(thread, &one).unwrap();
    }
}
