//! The state of a thread that a method of a plug-in must leave as it was.

use crossbeam_utils::CachePadded;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::SigSet;
use nix::unistd::Pid;

use super::scheduling::Scheduling;
use crate::device::Failed;
use crate::library::float_state;
use crate::team::Team;

/// What `nice`, a scheduling policy and the slack of timers are of.
pub const SCHEDULING: &str = "the scheduling of a thread";

/// The CPU affinity, the signal mask and the scheduling of a thread. Its floating-point state is always that of
/// [`float_state`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thread {
    affinity: Option<CpuSet>,
    signals: Option<SigSet>,
    scheduling: Scheduling,
}

impl Thread {
    pub fn now() -> Self {
        Self {
            affinity: sched_getaffinity(Pid::from_raw(0)).ok(),
            signals: SigSet::thread_get_mask().ok(),
            scheduling: Scheduling::now(),
        }
    }

    /// Restores what has changed in the state of the calling thread since it was read. Returns the name of that part.
    pub fn restore(&self) -> Option<String> {
        let now = Self::now();
        let changed = float_state::restore();
        if now == *self {
            return changed;
        }
        // What could be read can be set: the CPUs and the signals are allowed. A lower priority may remain, which
        // `Process` finds.
        let _ = self.affinity.map(|affinity| sched_setaffinity(Pid::from_raw(0), &affinity));
        let _ = self.signals.map(|signals| signals.thread_set_mask());
        self.scheduling.restore();
        let part = if now.affinity != self.affinity {
            "the CPUs on which the thread may run"
        } else if now.signals != self.signals {
            "the signal mask"
        } else {
            SCHEDULING
        };
        changed.or(Some(part.into()))
    }

    /// Does what [`restore`](Self::restore) does. The error names the part that has changed.
    pub fn check(&self) -> Result<(), Failed> {
        self.restore().map_or(Ok(()), |changed| Err(not_restored(&changed)))
    }
}

/// Returns the failure of a method that has changed a part of the state of a thread.
pub fn not_restored(changed: &str) -> Failed {
    Failed(format!("it has changed {changed}, and not restored it"))
}

/// The state of all threads of a team.
pub struct Threads<'a>(&'a Team, Vec<CachePadded<Thread>>);

impl<'a> Threads<'a> {
    pub fn now(team: &'a Team) -> Self {
        let mut threads = vec![CachePadded::new(Thread::now()); team.len()];
        team.run_with(&mut threads, |_, thread| *thread = Thread::now());
        Self(team, threads)
    }

    /// Does what [`Thread::check`] does, for all threads.
    pub fn check(&self) -> Result<(), Failed> {
        let Self(team, threads) = self;
        let mut checked: Vec<CachePadded<Result<(), Failed>>> = vec![Ok(()).into(); threads.len()];
        team.run_with(&mut checked, |rank, result| *result = threads[rank].check());
        checked.into_iter().try_for_each(CachePadded::into_inner)
    }
}
