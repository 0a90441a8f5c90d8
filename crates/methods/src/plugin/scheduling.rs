//! How the system schedules a thread.

use nix::libc::{SYS_sched_getattr, SYS_sched_setattr, syscall};
use nix::sys::prctl::{get_timerslack, set_timerslack};

/// The scheduling policy, nice value and priorities of the calling thread, and the slack of its timers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheduling {
    attributes: Attributes,
    slack: Option<i32>,
}

/// The `struct sched_attr` of Linux.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

impl Scheduling {
    pub fn now() -> Self {
        let mut attributes = Attributes::default();
        // SAFETY: the system writes at most so many bytes, which all values are valid for. On an error it writes none.
        unsafe { syscall(SYS_sched_getattr, 0, &raw mut attributes, size_of::<Attributes>(), 0) };
        Self { attributes, slack: get_timerslack().ok() }
    }

    /// Lets the calling thread be scheduled in this way, as far as the system permits it.
    pub fn restore(&self) {
        // SAFETY: the system only reads the structure, whose size it contains.
        unsafe { syscall(SYS_sched_setattr, 0, &raw const self.attributes, 0) };
        let _ = self.slack.map(|slack| set_timerslack(slack.unsigned_abs().into()));
    }
}
