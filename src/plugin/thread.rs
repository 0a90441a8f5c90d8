//! The state of a thread that a method of a plug-in must leave as it was.

use crossbeam_utils::CachePadded;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::SigSet;
use nix::unistd::Pid;

use crate::device::Failed;
use crate::team::Team;

/// The rounding mode and similar settings, the CPU affinity and the signal mask of a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thread {
    /// The control bits of the vector unit (MXCSR on x86-64, FPCR on AArch64).
    rounding: u64,
    affinity: Option<CpuSet>,
    signals: Option<SigSet>,
}

impl Thread {
    /// Returns the state of the calling thread.
    pub fn now() -> Self {
        Self {
            rounding: rounding::get(),
            affinity: sched_getaffinity(Pid::from_raw(0)).ok(),
            signals: SigSet::thread_get_mask().ok(),
        }
    }

    /// Checks that the state of the calling thread has not changed since it was read, and restores what has.
    ///
    /// # Errors
    /// Returns which part of the state has changed.
    pub fn check(&self) -> Result<(), Failed> {
        let changed = |what| Failed(format!("it has changed {what}, and not restored it"));
        self.restore().map_err(changed)
    }

    fn restore(&self) -> Result<(), &'static str> {
        let now = Self::now();
        if now == *self {
            return Ok(());
        }
        rounding::set(self.rounding);
        // What could be read can be set: the CPUs and the signals are allowed.
        let _ = self.affinity.map(|affinity| sched_setaffinity(Pid::from_raw(0), &affinity));
        let _ = self.signals.map(|signals| signals.thread_set_mask());
        Err(match now {
            _ if now.rounding != self.rounding => {
                "the rounding mode or the handling of denormal numbers"
            }
            _ if now.affinity != self.affinity => "the CPUs on which the thread may run",
            _ => "the signal mask",
        })
    }
}

/// The state of all threads of a team.
pub struct Threads<'a>(&'a Team, Vec<CachePadded<Thread>>);

impl<'a> Threads<'a> {
    /// Returns the state of all threads.
    pub fn now(team: &'a Team) -> Self {
        let mut threads = vec![CachePadded::new(Thread::now()); team.len()];
        team.run_with(&mut threads, |_, thread| *thread = Thread::now());
        Self(team, threads)
    }

    /// Checks that no state has changed since it was read, and restores what has.
    ///
    /// # Errors
    /// Returns which part of the state has changed.
    pub fn check(&self) -> Result<(), Failed> {
        let Self(team, threads) = self;
        let mut checked: Vec<CachePadded<Result<(), Failed>>> = vec![Ok(()).into(); threads.len()];
        team.run_with(&mut checked, |rank, result| *result = threads[rank].check());
        checked.into_iter().try_for_each(CachePadded::into_inner)
    }
}

#[cfg(target_arch = "x86_64")]
mod rounding {
    use std::arch::asm;

    /// The sticky flags of past exceptions, which every computation may set.
    const FLAGS: u32 = 0x3f;

    pub fn get() -> u64 {
        let mut bits = 0u32;
        // SAFETY: stores the control register into `bits`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut bits, options(nostack, preserves_flags)) };
        u64::from(bits & !FLAGS)
    }

    pub fn set(bits: u64) {
        let bits = bits as u32;
        // SAFETY: the bits were read from the register, so none is reserved.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const bits, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod rounding {
    use std::arch::asm;

    pub fn get() -> u64 {
        let bits: u64;
        // SAFETY: reads the control register.
        unsafe { asm!("mrs {}, fpcr", out(reg) bits, options(nomem, nostack, preserves_flags)) };
        bits
    }

    pub fn set(bits: u64) {
        // SAFETY: the bits were read from the register.
        unsafe { asm!("msr fpcr, {}", in(reg) bits, options(nomem, nostack, preserves_flags)) };
    }
}
