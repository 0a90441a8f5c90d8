//! Tests on restricted machines: control groups and sandboxes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Dir, Ran, VENV, behind, compiled, corpus, skip};

/// A control group for a test, which needs root. The program may be started in it.
struct Group(PathBuf);

impl Group {
    /// Creates a group with the first of the settings that the kernel's version of control groups knows. Prints the
    /// reason if that is not possible here.
    fn new(controller: &str, settings: [&[(&str, &str)]; 2]) -> Option<Self> {
        let mounted = Path::new("/sys/fs/cgroup");
        let first = mounted.join(controller);
        let parent = if first.is_dir() { &first } else { mounted };
        let group = Self(parent.join(format!("spmv-bench-{controller}-{}", std::process::id())));
        let write =
            |files: &[(&str, &str)]| files.iter().try_for_each(|(name, value)| fs::write(group.0.join(name), value));
        let made = fs::create_dir(&group.0);
        match made.and_then(|()| write(settings[0]).or_else(|_| write(settings[1]))) {
            Ok(()) => Some(group),
            Err(error) => skip(&format!("no control group can be made here: {error}")),
        }
    }

    fn run(&self, place: &Dir, words: &str) -> Ran {
        let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display());
        behind(&["sh", "-c", &enter, "sh"], &place.program(words))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// In a control group with half a CPU, the default is one thread. The run succeeds, with a warning. The period is
/// shorter than the time for which a CPU runs one process, so that other work on the machine does not prevent the
/// throttling.
#[test]
fn a_control_group_with_half_a_cpu() {
    let first = [("cpu.cfs_period_us", "4000"), ("cpu.cfs_quota_us", "2000")];
    let Some(group) = Group::new("cpu", [&[("cpu.max", "2000 4000")], &first]) else { return };
    let place = Dir::with_matrices(&[300]);
    let words = "corpus matrices --device cpu --no-bandwidth --min-time 0.02 --max-time 0.02 --rounds 1 --methods \
                 seq,merge,csr5 --run-record record.json";
    let ran = group.run(&place, words).exits(0);
    assert_eq!(ran.column("threads"), ["1"; 3]);
    let warning = format!("warning: the control group {} was throttled in ", group.0.display());
    ran.says(&warning);
    let record = place.json("record.json");
    let [quota, end] = [&record["system"]["cpu_quota"], &record["sessions"][0]["end"]["throttling"]];
    assert_eq!(quota.as_f64(), Some(0.5), "{record}");
    assert_eq!(end["group"].as_str(), group.0.to_str(), "{record}");
}

/// With too few processes and threads, the message names the limit, in whichever process it is reached. How many the
/// program needs depends on how soon the system removes those that have ended.
#[test]
fn a_control_group_with_few_processes() {
    let place = Dir::with_matrices(&[300]);
    for (limit, suffices) in [(1, Some(false)), (2, Some(false)), (3, None), (4, None), (5, None), (16, Some(true))] {
        let most = limit.to_string();
        let max: &[(&str, &str)] = &[("pids.max", &most)];
        let Some(group) = Group::new("pids", [max, max]) else { return };
        let ran = group.run(&place, &corpus(""));
        let folder = group.0.display();
        let reason = format!(
            "the control group {folder} has {most} processes and threads, and pids.max allows {most}: raise pids.max"
        );
        assert!(ran.status == Some(0) || ran.stderr.contains(&reason), "{most}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{most}: {ran:?}");
        assert!(suffices.is_none_or(|it| it == (ran.status == Some(0))), "{most}: {ran:?}");
    }
}

/// Where threads may not be bound to CPUs, or their CPUs may not be read, they are measured without that. MKL, which
/// binds its own threads, is measured too if it is installed; its OpenMP library must read the CPUs.
#[test]
fn a_sandbox_that_forbids_binding_threads() {
    let place = Dir::with_matrices(&[300]);
    let cases = [
        ("sched_setaffinity", "EPERM", "seq,merge,mkl-ie"),
        ("sched_setaffinity", "EINVAL", "seq,merge"),
        ("sched_getaffinity", "EPERM", "seq,merge"),
    ];
    for (call, error, methods) in cases {
        let options = [format!("-DCALL=SYS_{call}"), format!("-DERROR={error}")];
        let Some(sandbox) = compiled("campaign/forbid.c", &options.each_ref().map(String::as_str)) else {
            return skip("no C compiler");
        };
        let record = format!("{call}-{error}.json");
        let words = format!(
            "--mtx matrices/m1.mtx --threads 2 --iterations 3 --rounds 1 --methods {methods} --no-bandwidth --format \
             csv --run-record {record}"
        );
        let mut program = place.program(&words);
        program.env(VENV.0, VENV.1);
        let ran = behind(&[&sandbox.display().to_string()], &program);
        if ran.status == Some(77) {
            return skip("system calls cannot be forbidden here");
        }
        let ran = ran.exits(0);
        let statuses = ran.column("status");
        assert_eq!(statuses[..2], ["ok"; 2], "{call}: {ran:?}");
        let reasons = ran.column("reason");
        let has_remark = |reason: &String| reason.contains("its threads were not bound to CPUs");
        assert!(reasons[..2].iter().all(has_remark), "{call}: {ran:?}");
        let of_mkl = statuses.get(2).is_none_or(|status| ["ok", "skipped"].contains(&&**status));
        assert!(of_mkl, "{call}: {ran:?}");
        let warnings = ran.stderr.matches("warning: threads cannot be bound to CPUs here");
        assert_eq!(warnings.count(), 1, "{call}: {ran:?}");
        assert!(place.read(&record).contains("\"pinned_to\": []"), "{call}");
    }
}
