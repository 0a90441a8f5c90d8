//! The start of a region goes down a tree. The leader starts up to eight workers, and each worker that has children
//! starts up to eight more before it runs the body. So at most eight threads wait on a cache line, and a start that
//! reaches 256 threads takes three steps. With up to eight workers the leader starts all of them, in one cache line.
//!
//! The children of a thread have successive ranks, so on most machines they share a cache.

use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::thread::{self, Thread};

use crossbeam_utils::CachePadded;

/// The largest number of threads that one thread starts.
const FAN_OUT: usize = 8;

/// The function that every thread calls with its rank.
pub type Body<'a> = &'a (dyn Fn(usize) + Sync);

/// The data that a thread writes and its children read.
struct Line {
    /// The number of children that are asleep or about to sleep, in a cache line of its own: it seldom changes.
    sleepers: CachePadded<AtomicUsize>,
    /// The number of regions started so far. Incrementing it starts a region.
    region: AtomicUsize,
    /// The body of the region, on the leader's stack; `None` ends the children.
    body: UnsafeCell<Option<Body<'static>>>,
}

pub struct Start {
    threads: usize,
    /// The lines of the threads that have children, which are the first ranks; always at least the leader's.
    lines: Vec<Line>,
    /// The handles of the workers, from rank 1 on. The leader sets them before it starts the first region.
    pub workers: OnceLock<Vec<Thread>>,
    /// The number of times that a waiting worker reads the region counter before it sleeps, and that the leader checks
    /// whether all have finished before it lets other threads run.
    pub spins: usize,
}

// SAFETY: only the thread that owns a line writes its `body`, before it increments `region`. Its children read `body`
// after they have seen the increment and before they report that they have finished. The owner writes `body` again only
// in the next region, which the leader starts when all threads have finished (see `start`). Starting and finishing are
// release and acquire operations, so each read of `body` happens before the next write.
unsafe impl Sync for Start {}

impl Start {
    pub fn new(threads: usize, spins: usize) -> Self {
        let line =
            |_| Line { sleepers: AtomicUsize::new(0).into(), region: AtomicUsize::new(0), body: UnsafeCell::new(None) };
        let owners = (threads - 1).div_ceil(FAN_OUT).max(1);
        Self { threads, lines: (0..owners).map(line).collect(), workers: OnceLock::new(), spins }
    }

    /// Returns the ranks that a thread starts.
    fn children(&self, rank: usize) -> Range<usize> {
        let first = FAN_OUT * rank + 1;
        first.min(self.threads)..(first + FAN_OUT).min(self.threads)
    }

    /// Starts the next region on the children of the leader, and returns the number of regions started so far. There
    /// is no fence here because it would cost a third of an empty region. A child that falls asleep at this moment
    /// may be missed; [`wake`](Self::wake) finds it.
    ///
    /// # Safety
    /// All threads have finished the previous region, and the leader has acquired that. The body lives until all
    /// threads have finished this one.
    pub unsafe fn start(&self, body: Option<Body<'static>>) -> usize {
        // SAFETY: the caller guarantees what `write` requires.
        let region = unsafe { self.write(0, body) };
        self.wake_seen(0);
        region
    }

    /// Writes the line of a thread that has children, and returns the number of regions that this thread has started.
    ///
    /// # Safety
    /// Only the thread `rank` calls this: the leader as in `start`, and a worker once after it has seen each start.
    unsafe fn write(&self, rank: usize, body: Option<Body<'static>>) -> usize {
        let line = &self.lines[rank];
        // SAFETY: the children have finished the previous region; see the implementation of `Sync`.
        unsafe { *line.body.get() = body };
        let region = line.region.load(Ordering::Relaxed) + 1;
        line.region.store(region, Ordering::Release);
        region
    }

    /// Wakes the children of `rank` that sleep. After the fence, either a child that is about to sleep sees the new
    /// region, or this thread sees the child in `sleepers`, because both sides first write and then read, in a single
    /// order of all such operations.
    pub fn wake(&self, rank: usize) {
        fence(Ordering::SeqCst);
        self.wake_seen(rank);
    }

    fn wake_seen(&self, rank: usize) {
        if self.lines[rank].sleepers.load(Ordering::Relaxed) > 0 {
            let workers = self.workers.get().expect("set before the first region");
            let children = self.children(rank);
            // If the system refused a thread, there are fewer workers.
            workers.iter().take(children.end - 1).skip(children.start - 1).for_each(Thread::unpark);
        }
    }

    /// Waits on the worker `rank` until a region after `region` starts, starts it on the children of this worker, and
    /// returns its body. A worker calls this with 0, 1, 2, … and reports in between that it has finished.
    pub fn next(&self, rank: usize, region: usize) -> Option<Body<'static>> {
        let line = &self.lines[(rank - 1) / FAN_OUT];
        line.await_start_after(region, self.spins);
        // SAFETY: see the implementation of `Sync`.
        let body = unsafe { *line.body.get() };
        if rank < self.lines.len() {
            // SAFETY: this is the worker `rank`, and it has just seen the start.
            unsafe { self.write(rank, body) };
            self.wake(rank);
        }
        body
    }
}

impl Line {
    /// Waits until `region` differs from the given value: spins first, then sleeps.
    fn await_start_after(&self, region: usize, spins: usize) {
        for _ in 0..spins {
            if self.region.load(Ordering::Acquire) != region {
                return;
            }
            std::hint::spin_loop();
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while self.region.load(Ordering::SeqCst) == region {
            thread::park();
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the threads that wait on each line and the steps from the leader to each thread.
    #[test]
    fn every_worker_has_one_parent_and_few_threads_wait_on_a_line() {
        assert!(align_of::<Line>() >= 64, "no two lines share a cache line");
        for (threads, most_steps) in [(2, 1), (9, 1), (10, 2), (73, 2), (74, 3), (256, 3)] {
            let start = Start::new(threads, 0);
            let mut steps = vec![0];
            for rank in 0..start.lines.len() {
                let children = start.children(rank);
                assert_eq!(children.start, steps.len(), "the children of {rank}");
                assert!((1..=FAN_OUT).contains(&children.len()));
                assert!(children.clone().all(|child| (child - 1) / FAN_OUT == rank));
                steps.resize(children.end, steps[rank] + 1);
            }
            assert_eq!((steps.len(), steps.last()), (threads, Some(&most_steps)));
        }
    }
}
