use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

use nix::libc::{EAGAIN, RLIM_INFINITY};
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, geteuid};
use rayon::ThreadPoolBuilder;

use super::files::{field, read};
use super::groups::{Group, of_process};

/// Starts the threads of the parallel parts of setups, one for each CPU if `threads` is 0. A process has only one such
/// pool: a second call changes nothing.
pub fn start_pool(threads: usize) -> io::Result<()> {
    let Err(error) = ThreadPoolBuilder::new().num_threads(threads).build_global() else {
        return Ok(());
    };
    // Without a cause, the error is that there is a pool already.
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()?.raw_os_error());
    cause.map_or(Ok(()), |code| Err(explained(io::Error::from_raw_os_error(code))))
}

/// Replaces the error of a thread or process that was not started by one that names the limits because of which the
/// system refuses it. Other errors remain as they are.
pub fn explained(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(EAGAIN) {
        return error;
    }
    let finite = |resource| {
        let (limit, _) = getrlimit(resource).ok()?;
        (limit != RLIM_INFINITY).then_some(limit)
    };
    // The limit of processes does not bind root.
    let processes = finite(Resource::RLIMIT_NPROC).filter(|_| !geteuid().is_root());
    let limits = [processes, finite(Resource::RLIMIT_AS)];
    io::Error::new(error.kind(), reason(&of_process("pids"), limits))
}

/// Returns the reason why no further thread or process can be started: a control group that is full, or the limits that
/// may be the cause. `limits` are those of processes and of the bytes of address space, if there are any.
fn reason(groups: &[Group], [processes, space]: [Option<u64>; 2]) -> String {
    let full = groups.iter().find_map(|(_, folder)| {
        let number = |name| read(folder.join(name))?.parse::<u64>().ok();
        let most = number("pids.max")?;
        let now = number("pids.current")?;
        (now >= most).then(|| {
            let folder = folder.display();
            format!(
                "the control group {folder} has {now} processes and threads, and pids.max allows {most}: raise \
                 pids.max of this group"
            )
        })
    });
    full.unwrap_or_else(|| {
        let processes =
            processes.map(|most| format!("all processes of this user may have {most} threads together (`ulimit -u`)"));
        let space =
            space.map(|bytes| format!("the stack of a thread needs a part of the {} KiB of `ulimit -v`", bytes >> 10));
        let limits = [processes, space].into_iter().flatten().collect::<Vec<_>>().join(", or ");
        if limits.is_empty() {
            let raise = "raise kernel.threads-max and kernel.pid_max";
            return format!("the system has too many processes and threads: end some, or {raise}");
        }
        format!("{limits}: raise this limit, or end other processes")
    })
}

/// Returns the number of other threads of this process that may run only on the CPU of the calling thread, if that is
/// bound to one.
pub fn threads_on_own_cpu() -> usize {
    let allowed = |status: &Path| field(status, "Cpus_allowed_list");
    let own = allowed(Path::new("/proc/thread-self/status"));
    let Some(own) = own.filter(|cpus| cpus.parse::<usize>().is_ok()) else { return 0 };
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let alike = threads.filter(|it| allowed(&it.path().join("status")).as_ref() == Some(&own));
    alike.count().saturating_sub(1)
}

/// Returns the children of a process. Where the kernel does not list them, there are none.
pub fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let numbers = |list: String| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>();
    lists.flat_map(numbers).collect()
}

/// Returns the fields of `/proc/NUMBER/stat` of a process or thread, from its state on; `None` if there is no such one.
pub fn stat(number: i32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // Its name, in parentheses, may contain anything.
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split_whitespace().map(String::from).collect())
}

/// Kills processes and all that they have started. They are stopped first, so that none starts another meanwhile.
pub fn kill_trees(roots: Vec<u32>) {
    let send = |process: u32, signal| kill(Pid::from_raw(process as i32), signal);
    let mut stopped = BTreeSet::new();
    let mut new = roots;
    while !new.is_empty() {
        for process in new.drain(..) {
            // An error is ignored: the process may have ended.
            let _ = send(process, Signal::SIGSTOP);
            stopped.insert(process);
        }
        let of_all = stopped.iter().flat_map(|&process| children(process));
        new = of_all.filter(|child| !stopped.contains(child)).collect();
    }
    for process in stopped {
        let _ = send(process, Signal::SIGKILL);
    }
}

/// Kills the children of this process that are not among `own`, with all that they have started.
pub fn kill_orphans(own: &BTreeSet<u32>) {
    let mut orphans = children(std::process::id());
    orphans.retain(|child| !own.contains(child));
    kill_trees(orphans.clone());
    for orphan in orphans {
        let _ = waitpid(Pid::from_raw(orphan as i32), Some(WaitPidFlag::WNOHANG));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::groups::{listed, tests::write};

    #[test]
    fn the_limit_that_refuses_a_thread_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let files = "pids/a/b/pids.max max; pids/a/b/pids.current 900; pids/a/pids.max 5; pids/a/pids.current 5; \
            c/pids.max 7; c/pids.current 6";
        write(dir.path(), files);
        let full = "/pids/a has 5 processes and threads, and pids.max allows 5: raise";
        let (user, stack) = ("may have 3 threads together (`ulimit -u`)", "900 KiB of `ulimit -v`");
        let both = format!("{user}, or the stack of a thread needs a part of the {stack}: raise");
        for (groups, limits, expected) in [
            ("4:pids:/a/b\n0::/\n", [Some(3), None], full),
            ("0::/c\n", [Some(3), None], user),
            ("0::/c\n", [None, Some(900 << 10)], stack),
            ("", [Some(3), Some(900 << 10)], &both),
            ("0::/c\n", [None, None], "raise kernel.threads-max"),
        ] {
            let reason = reason(&listed(dir.path(), groups, "pids"), limits);
            assert!(reason.contains(expected), "{groups:?}: {reason}");
            assert_eq!(reason.matches("pids.max").count() > 0, expected == full, "{reason}");
        }
    }

    #[test]
    fn other_errors_are_not_changed() {
        let error = explained(io::Error::from_raw_os_error(nix::libc::EINVAL));
        assert_eq!(error.raw_os_error(), Some(nix::libc::EINVAL));
        let refused = explained(io::Error::from_raw_os_error(EAGAIN)).to_string();
        assert!(refused.contains("raise"), "{refused}");
    }
}
