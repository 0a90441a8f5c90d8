//! A fork-join team of pinned threads, whose parallel regions cost a fraction of a microsecond.
//!
//! SpMV on a small matrix takes about a microsecond, so entering a parallel region must cost less. Waiting workers
//! therefore spin, and a region moves one cache line to them and one back. A worker that has waited about 100 µs
//! sleeps, so that between two methods the cores are free for the threads of a vendor's library. With more than nine
//! threads, a region starts and ends by a tree (`start.rs`, `tree.rs`).

#![warn(missing_docs)]

mod start;
pub mod sweeps;
#[cfg(test)]
mod tests;
mod tree;

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};

use crossbeam_utils::CachePadded;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::system;
use spmv_matrix::system::processes::explained;
use start::{Body, Start};
use tree::Tree;

/// The number of times that a waiting worker reads the region counter before it sleeps. One read takes about 20 ns.
const SPINS: usize = 5_000;

struct Shared {
    start: Start,
    finished: Tree,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// A leader, which is the thread that created the team, and `len() - 1` workers.
pub struct Team {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    cpus: Vec<usize>,
    /// The NUMA node of each thread; `None` if all are on one node or not pinned.
    nodes: Option<Vec<usize>>,
    /// The leader's CPU affinity before it was pinned.
    unpinned: Option<CpuSet>,
    /// Makes the type neither `Send` nor `Sync`, because only the leader may start a region.
    _leader: PhantomData<Cell<*const ()>>,
}

/// The CPUs on which the first leader could run before it was pinned.
static UNPINNED: OnceLock<CpuSet> = OnceLock::new();

/// Lets the calling thread run on all CPUs of the process. A new thread inherits the single CPU of a leader that starts
/// it, so it would take turns with the leader instead of running at the same time.
pub fn unpin() {
    if let Some(cpus) = UNPINNED.get() {
        // A failure leaves the thread where it is, which costs time only.
        let _ = sched_setaffinity(Pid::from_raw(0), cpus);
    }
}

/// Returns whether the system allows threads to be bound to CPUs. A sandbox may forbid it.
pub fn may_pin() -> bool {
    let thread = Pid::from_raw(0);
    sched_getaffinity(thread).and_then(|cpus| sched_setaffinity(thread, &cpus)).is_ok()
}

impl Team {
    /// Creates a team with one thread on each of `cpus`. The calling thread becomes the leader, on the first CPU. If
    /// the system does not do this, as in a sandbox, the threads are not pinned, and [`cpus`](Self::cpus) is empty.
    pub fn pinned(cpus: &[usize]) -> io::Result<Self> {
        let before = sched_getaffinity(Pid::from_raw(0));
        let Ok(unpinned) = before.and_then(|before| pin(cpus[0]).map(|()| before)) else {
            return Self::start(cpus.len(), &[], SPINS);
        };
        UNPINNED.get_or_init(|| unpinned);
        let mut team = Self::start(cpus.len(), cpus, SPINS)?;
        team.unpinned = Some(unpinned);
        team.nodes = system::nodes_of(cpus);
        Ok(team)
    }

    /// Creates a team of `threads` threads that are not pinned, possibly more than there are cores. They
    /// sleep instead of spinning. For tests.
    pub fn floating(threads: usize) -> Self {
        Self::start(threads, &[], 0).expect("the system starts the threads")
    }

    fn start(threads: usize, cpus: &[usize], spins: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            start: Start::new(threads, spins),
            finished: Tree::new(threads - 1),
            panic: Mutex::new(None),
        });
        let workers = (1..threads).map(|rank| {
            let (shared, cpu) = (Arc::clone(&shared), cpus.get(rank).copied());
            thread::Builder::new().spawn(move || {
                // The leader was pinned in the same set of CPUs, so this does not fail. If it did, an
                // unpinned worker would still compute correctly.
                let _ = cpu.map(pin);
                shared.work(rank);
            })
        });
        let mut refused = None;
        let started = workers.map_while(|worker| worker.map_err(|error| refused = Some(error)).ok());
        let workers: Vec<_> = started.collect();
        let handles = || workers.iter().map(|worker| worker.thread().clone()).collect();
        shared.start.workers.get_or_init(handles);
        let (cpus, _leader) = (cpus.to_vec(), PhantomData);
        // If a thread was refused, dropping this value ends the others.
        let team = Self { shared, workers, cpus, nodes: None, unpinned: None, _leader };
        refused.map_or(Ok(team), |error| Err(explained(error)))
    }

    /// Declares that the threads are on these NUMA nodes. For tests.
    pub fn on_nodes(mut self, nodes: Vec<usize>) -> Self {
        assert_eq!(nodes.len(), self.len(), "a node for each thread");
        self.nodes = Some(nodes);
        self
    }

    /// Returns the number of threads, including the leader.
    #[allow(clippy::len_without_is_empty)] // a team always has a leader
    pub fn len(&self) -> usize {
        self.workers.len() + 1
    }

    /// Returns the CPU of each thread; empty if the threads are not pinned.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Returns the NUMA node of each thread; `None` if all are on one node or not pinned.
    pub fn nodes(&self) -> Option<&[usize]> {
        self.nodes.as_deref()
    }

    /// Runs `body(rank)` on every thread until all are done. A panic of any thread is resumed on the calling thread.
    pub fn run(&self, body: impl Fn(usize) + Sync) {
        let body: Body = &body;
        if self.workers.is_empty() {
            return body(0);
        }
        // SAFETY: `join` has returned from the previous region, and it returns from this one only after all workers
        // have finished with the body.
        let region = unsafe { self.shared.start.start(Some(mem::transmute::<Body<'_>, Body<'static>>(body))) };
        let own = catch_unwind(AssertUnwindSafe(|| body(0)));
        self.join(region);
        let foreign = self.shared.panic.lock().expect("the lock is not held while a body runs").take();
        if let Some(payload) = own.err().or(foreign) {
            resume_unwind(payload);
        }
    }

    /// Runs `body(rank, slot)` on every thread, each with exclusive access to its own element of `slots`. Slots do not
    /// share cache lines, because threads would slow each other down when they write to the same line.
    pub fn run_with<S: Send>(&self, slots: &mut [CachePadded<S>], body: impl Fn(usize, &mut S) + Sync) {
        assert_eq!(slots.len(), self.len(), "one slot per thread");
        let slots = DisjointMut::new(slots);
        // SAFETY: ranks differ, so no two threads use the same slot.
        self.run(move |rank| body(rank, &mut unsafe { slots.range(rank..rank + 1) }[0]));
    }

    /// Waits until all workers have finished `region`.
    fn join(&self, region: usize) {
        let finished = || self.shared.finished.all_arrived(region);
        if finished() {
            return;
        }
        self.shared.start.wake(0);
        for spins in 1.. {
            match finished() {
                true => return,
                false if spins < self.shared.start.spins => std::hint::spin_loop(),
                false => thread::yield_now(),
            }
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        // SAFETY: `join` has returned from the last region.
        unsafe { self.shared.start.start(None) };
        self.shared.start.wake(0);
        for worker in self.workers.drain(..) {
            // A worker catches the panics of the body, so it always ends normally.
            let _ = worker.join();
        }
        if let Some(unpinned) = &self.unpinned {
            let _ = sched_setaffinity(Pid::from_raw(0), unpinned);
        }
    }
}

impl Shared {
    fn work(&self, rank: usize) {
        for region in 0.. {
            let Some(body) = self.start.next(rank, region) else { return };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(rank))) {
                *self.panic.lock().expect("the lock is not held while a body runs") = Some(payload);
            }
            self.finished.arrive(rank - 1);
        }
    }
}

/// Lets the leader run on all CPUs of its team, until it is dropped.
pub struct Released(Option<usize>);

impl Team {
    /// Releases the calling thread, the leader: threads that it starts meanwhile, such as those of OpenMP, inherit all
    /// CPUs of the team instead of that of the leader.
    pub fn release(&self) -> Released {
        let mut all = CpuSet::new();
        let is_set = self.cpus().iter().all(|&cpu| all.set(cpu).is_ok());
        let is_released = is_set && self.cpus().len() > 1;
        let released = is_released && sched_setaffinity(Pid::from_raw(0), &all).is_ok();
        Released(released.then(|| self.cpus()[0]))
    }
}

impl Drop for Released {
    fn drop(&mut self) {
        // It was possible before.
        let _ = self.0.map_or(Ok(()), pin);
    }
}

/// Returns the part of `0..len` that belongs to thread `rank`. All parts have about the same length.
pub fn part(len: usize, rank: usize, threads: usize) -> Range<usize> {
    let cut = |rank: usize| (len as u64 * rank as u64 / threads as u64) as usize;
    cut(rank)..cut(rank + 1)
}

fn pin(cpu: usize) -> nix::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}
