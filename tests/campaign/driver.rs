//! Tests of a CUDA driver that hangs or ends its process. It is the fake driver (`tests/cuda/driver.c`), which
//! misbehaves as the variable `FAKE_DRIVER` says. Without a C compiler, the tests are skipped with a message.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::gpu::built_driver;
use crate::{Dir, LITTLE_MEMORY, Ran, at_once, behind, children, end_of, eventually, signal, skip};

const ONE: &str = "--mtx matrices/m1.mtx --threads 1";
/// Methods of the CPU and of the GPU, none of which is asked for by its name.
const METHODS: &str = "--methods *csr5 --iterations 3 --rounds 1 --format csv";

fn place() -> Option<Dir> {
    let place = Dir::with_matrices(&[30, 20]);
    if built_driver(&place) { Some(place) } else { skip("no C compiler") }
}

fn command(place: &Dir, fault: &str, words: &str) -> Command {
    let mut program = place.program(words);
    program.env("LD_LIBRARY_PATH", place.path("driver")).env("FAKE_DRIVER", fault);
    program
}

fn run(place: &Dir, fault: &str, words: &str) -> Ran {
    let output = command(place, fault, words).output().unwrap();
    Ran { command: format!("{words} if {fault}"), ..Ran::of(output) }
}

/// The CPU method has a row whatever the driver does, and the remark says what it did.
#[test]
fn cpu_methods_are_measured_in_spite_of_the_driver() {
    let Some(place) = place() else { return };
    let faults = [
        ("loading hangs", "did not answer within 1 s"),
        ("cuInit hangs", "did not answer within 1 s"),
        ("cuDeviceGetCount hangs", "did not answer within 1 s"),
        ("loading aborts", "was ended by signal 6 (SIGABRT)"),
        ("cuInit aborts", "was ended by signal 6 (SIGABRT)"),
        ("cuInit crashes", "was ended by signal 11 (SIGSEGV)"),
        ("cuInit exits", "exited with status 0"),
    ];
    at_once(&faults, |(fault, reason)| {
        for isolation in ["", "--no-isolate"] {
            let words = format!("{ONE} {METHODS} --timeout 1 {isolation}");
            let ran = run(&place, fault, &words).exits(0);
            assert_eq!(ran.column("method_name"), ["csr5"], "{ran:?}");
            let start = "GPU methods are skipped: the CUDA driver (libcuda.so.1)";
            let remark = ran.stderr.lines().find(|line| line.starts_with(start));
            assert!(remark.is_some_and(|line| line.contains(reason)), "{reason}: {ran:?}");
        }
    });
}

/// Every command asks the driver in a child process, once. Methods that are asked for and cannot run are an error.
#[test]
fn every_command_survives_a_driver_that_ends_its_process() {
    let Some(place) = place() else { return };
    let matrix = format!("{ONE} --iterations 3 --rounds 1");
    let corpus = format!("corpus matrices --no-bandwidth --threads 1,2 {METHODS}");
    let (skipped, needed) = ("GPU methods are skipped: ", "GPU methods need an NVIDIA GPU");
    let cases = [
        (corpus.as_str(), 0, skipped),
        (&format!("{matrix} --methods gpu-csr-vector"), 2, needed),
        (&format!("{matrix} --device gpu --no-isolate"), 2, needed),
        ("tune shapes gen:dense,rows=3,cols=4 --threads 1", 2, needed),
        ("reproduce hola-fig10 --device gpu --dry-run", 0, "without the GPU: "),
        ("gpu-file", 2, "spmv-bench: the CUDA driver"),
    ];
    at_once(&cases, |(words, status, message)| {
        let ran = run(&place, "cuInit aborts", words).exits(*status);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        let counts = [message, "was ended by signal 6", "cuInit is called"].map(|part| text.matches(part).count());
        assert!(counts[0] > 0 && counts[1..] == [1, 1], "{ran:?}");
    });
}

/// An interrupt ends the wait for a driver that hangs, also if only the parent gets the signal.
#[test]
fn an_interrupt_is_not_delayed_by_the_driver() {
    let Some(place) = place() else { return };
    let words = format!("{ONE} {METHODS} --timeout 50");
    let process = command(&place, "cuInit hangs", &words).spawn().unwrap();
    assert!(eventually(|| !children(&process).is_empty()));
    // The signal handler has been installed before the first child was started.
    signal(&process, Signal::SIGINT);
    let ran = end_of(process).exits(1);
    let end = "spmv-bench: interrupted while a child process opened the GPU\n";
    assert!(ran.stderr.ends_with(end), "{ran:?}");
}

/// The GPU can be opened, but ends the process that measures its bandwidth.
#[test]
fn a_gpu_that_fails_before_the_first_method_is_left_out() {
    let Some(place) = place() else { return };
    let words = format!("corpus matrices --threads 1 {METHODS} --run-record record.json");
    let program = command(&place, "cuMemGetInfo aborts", &words);
    let ran = behind(&LITTLE_MEMORY, &program).exits(0);
    assert_eq!(ran.column("method_name"), ["csr5", "csr5"], "{ran:?}");
    let remark = "GPU methods are skipped: the child process that measures ended before it was ready: it was ended by \
                  signal 6 (SIGABRT) after the GPU had been opened";
    ran.says(remark);
}

/// A driver that is only slow, or that prints something, is used.
#[test]
fn an_odd_driver_that_works_is_used() {
    let Some(place) = place() else { return };
    at_once(&["cuInit waits", "cuInit prints"], |fault| {
        let ran = run(&place, fault, &format!("{ONE} {METHODS}"));
        // The kernel is compiled or not, but its method has a row.
        assert_eq!(ran.column("method_name"), ["csr5", "gpu-csr5"], "{ran:?}");
        assert_eq!(ran.stderr.matches("cuInit is called").count(), 2, "{ran:?}");
    });
}

#[test]
fn a_driver_that_is_no_library_is_named() {
    let place = Dir::with_matrices(&[20]);
    place.write("driver/libcuda.so.1", "404: not found");
    let ran = run(&place, "", &format!("{ONE} {METHODS}"));
    assert_eq!(ran.column("method_name"), ["csr5"], "{ran:?}");
    ran.says("GPU methods are skipped: the CUDA driver cannot be loaded: ").says("libcuda.so.1: ");
}
