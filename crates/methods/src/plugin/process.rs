//! The state of the process that a method of a plug-in must leave as it was, because all methods share it.

use std::collections::BTreeMap;
use std::fs;
use std::mem::zeroed;

use nix::libc::{self, ITIMER_PROF, ITIMER_REAL, ITIMER_VIRTUAL};

use super::thread::SCHEDULING;
use spmv_matrix::system::processes::{children, stat};
use spmv_matrix::system::threads::Thread;

/// The number of open files by which a process may grow: libraries open some when they are first used.
const FILES: usize = 64;

/// The state of this process at a moment. What cannot be read is empty.
pub struct Process {
    /// The parts that must be equal afterwards, each with its name.
    parts: [(&'static str, String); 6],
    files: usize,
    /// The nice value, the priority and the scheduling policy of each thread.
    threads: BTreeMap<Thread, [String; 3]>,
}

impl Process {
    pub fn now() -> Self {
        let text = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let status = text("status");
        let lines = |names: &[&str]| -> String {
            let is_named = |line: &&str| names.iter().any(|name| line.starts_with(name));
            status.lines().filter(is_named).collect()
        };
        let folder = fs::read_link("/proc/self/cwd").unwrap_or_default();
        Self {
            parts: [
                ("the working directory", folder.display().to_string()),
                ("the limits of the process", text("limits")),
                ("the handling of signals", lines(&["SigIgn", "SigCgt"])),
                ("the file mode mask", lines(&["Umask"])),
                ("the set of running processes", format!("{:?}", running())),
                ("the timers of the process", format!("{:?}{}", timers(), text("timers"))),
            ],
            // It cannot be read where the process can open no further file.
            files: fs::read_dir("/proc/self/fd").map_or(usize::MAX, Iterator::count),
            threads: Thread::all().into_iter().filter_map(scheduling).collect(),
        }
    }

    /// Returns the first part that has changed since, or `None`.
    pub fn changed(&self) -> Option<&'static str> {
        let now = Self::now();
        if now.files > self.files.saturating_add(FILES) {
            return Some("the number of open files");
        }
        let mut threads = self.threads.iter();
        if threads.any(|(thread, was)| now.threads.get(thread).is_some_and(|is| is != was)) {
            return Some(SCHEDULING);
        }
        let differs = self.parts.iter().zip(&now.parts).find(|(before, now)| before != now);
        differs.map(|((name, _), _)| *name)
    }
}

/// Returns the children of this process that have not ended.
fn running() -> Vec<u32> {
    let has_ended = |child: &u32| stat(*child as i32).is_none_or(|fields| fields.starts_with(&["Z".into()]));
    children(std::process::id()).into_iter().filter(|child| !has_ended(child)).collect()
}

/// Returns a thread with what `proc_pid_stat(5)` calls nice, rt_priority and policy.
fn scheduling(thread: Thread) -> Option<(Thread, [String; 3])> {
    let fields = stat(thread.number())?;
    Some((thread, [16, 37, 38].map(|place| fields.get(place).cloned().unwrap_or_default())))
}

/// Returns whether each interval timer runs.
fn timers() -> [bool; 3] {
    [ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF].map(|which| {
        // SAFETY: all bytes may be zero, and the call only writes to the variable.
        let left = unsafe {
            let mut timer: libc::itimerval = zeroed();
            libc::getitimer(which, &mut timer);
            timer.it_value
        };
        (left.tv_sec, left.tv_usec) != (0, 0)
    })
}
