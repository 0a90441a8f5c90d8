//! Methods of a plug-in whose results are right, but whose times, setup or effect on others are not what a row would
//! say. Most of them rely on the clock: what they do cannot be seen on a fake one.

use std::fs;
use std::process::Command;

use crate::alone;
use crate::support::{Dir, Ran, compile};

/// A matrix on which a product takes some tenths of a millisecond, and one with a short x.
const MATRIX: &str = "gen:uniform,rows=100000,nnz=1000000,random=1";
const SHORT_X: &str = "gen:uniform,rows=2000,nnz=3000000,random=1";
const SHORT: &str = "--processes 1 --rounds 2 --max-time 0.1";

/// Measures a fake on two threads, after a method of this program. Others would take the CPUs that a fake uses.
fn ran(fake: &str, options: &str) -> Ran {
    let _alone = alone();
    let dir = Dir::new(&[]);
    let library = dir.path("libfakes.so");
    assert!(compile("liars/fakes.c", &["-O3", "-shared", "-pthread"], &library), "a compiler");
    let matrix = if fake == "remembers-without-gaps" { SHORT_X } else { MATRIX };
    let words = format!("--mtx {matrix} --methods csr-rows,{fake} --threads 2 --no-bandwidth --format csv {options}");
    let ran = Command::new(env!("CARGO_BIN_EXE_spmv-bench"))
        .args(words.split(' '))
        .arg("--plugin")
        .arg(library)
        .output();
    Ran::of(ran.unwrap())
}

#[test]
fn what_is_not_computed_or_not_by_one_thread_is_wrong() {
    for (fake, options, status, reason) in [
        ("honest", SHORT, "ok", ""),
        ("honest-alone", SHORT, "ok", ""),
        ("honest", "--cache cold --processes 1 --rounds 2 --max-time 0.1", "ok", ""),
        ("remembers", SHORT, "wrong", "one with an old x"),
        ("remembers-without-gaps", SHORT, "wrong", "one of several in a row"),
        ("helps", SHORT, "wrong", "but its number of threads is 1"),
        ("helps-and-spins", SHORT, "failed", "its threads use a CPU while they should be idle"),
        (
            "reads-in-pauses",
            "--cache cold --processes 1 --rounds 2 --max-time 0.1",
            "failed",
            "its threads use a CPU while they should be idle",
        ),
    ] {
        let ran = ran(fake, options);
        assert_eq!(ran.column("status"), ["ok", status], "{fake}: {ran:?}");
        assert!(ran.column("reason")[1].contains(reason), "{fake}: {ran:?}");
    }
}

/// The conversion takes more than 30 ms, and the setup without it far less than one.
#[test]
fn a_conversion_is_setup_in_whatever_call_it_happens() {
    for fake in ["call-2", "call-7", "call-40"].map(|call| format!("converts-in-{call}")) {
        let ran = ran(&fake, SHORT);
        assert_eq!(ran.column("status"), ["ok", "ok"], "{fake}: {ran:?}");
        let setup: f64 = ran.column("setup_ms")[1].parse().unwrap();
        assert!(setup > 10.0, "{fake}: {ran:?}");
        assert!(ran.column("reason")[1].contains("setup includes"), "{fake}: {ran:?}");
    }
    let ran = ran("converts-after-pauses", SHORT);
    assert!(ran.column("reason")[1].contains("a few products took longer than all others"), "{ran:?}");
}

/// Two processes measure. In its home, the second one does not find what the first one has kept.
#[test]
fn what_a_process_keeps_in_files_does_not_shorten_the_setup() {
    let kept = "/var/tmp/spmv-fake-1000000";
    let _ = fs::remove_file(kept);
    for (fake, differ) in [("keeps-in-home", false), ("keeps-elsewhere", true)] {
        let ran = ran(fake, "--processes 2 --rounds 4 --max-time 0.1");
        let setup: f64 = ran.column("setup_ms")[1].parse().unwrap();
        let reason = &ran.column("reason")[1];
        assert!(setup > 10.0, "{fake}: {ran:?}");
        assert!(reason.contains("its setup has read or written 1.1 MB of files"), "{reason}");
        assert_eq!(reason.contains("its setup took"), differ, "{reason}");
    }
    fs::remove_file(kept).unwrap();
}
