//! Tests of plug-ins: a correct one appears like the program's own methods; each fault of the others yields one clear
//! row or message, and no row of another method changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use spmv_methods::plugin::abi::{self, Csr, Ctx, Info, Method, Parameter};

use crate::{Dir, Ran, at_once, column, compiled, rows};

pub fn plugin(place: &Dir, source: &str, flags: &[&str]) -> PathBuf {
    let flags = [&["-shared"], flags].concat();
    let built = compiled(&format!("plugins/{source}"), &flags).expect("a compiler");
    let library = place.path(&format!("lib{}.so", source.split('.').next().unwrap()));
    std::fs::copy(built, &library).unwrap();
    library
}

/// Creates a folder with matrices of these numbers of rows and the plug-in with faults.
pub fn faulty(rows: &[usize]) -> (Dir, PathBuf) {
    let place = Dir::with_matrices(rows);
    let library = plugin(&place, "faulty.c", &[]);
    (place, library)
}

/// Measures `seq`, a method of a plug-in and `merge` on a matrix. Returns the rows by method, and stderr.
fn measured(
    place: &Dir,
    library: &Path,
    method: &str,
    options: &str,
) -> (BTreeMap<String, BTreeMap<String, String>>, String) {
    let words = format!(
        "--mtx matrices/m1.mtx --plugin {} --methods seq,{method},merge --threads 2 --iterations 20 --rounds 2 \
         --no-bandwidth --format csv {options}",
        library.display()
    );
    let ran = place.run(&words);
    let rows = rows(&ran.stdout);
    assert_eq!(rows.len(), 3, "{ran:?}");
    (rows.into_iter().map(|row| (row["method_name"].clone(), row)).collect(), ran.stderr)
}

/// Returns status and reason of the row of a method with a fault. The rows of the others are correct.
fn outcome(place: &Dir, library: &Path, method: &str, options: &str) -> (String, String) {
    let (rows, _) = measured(place, library, method, options);
    for other in ["seq", "merge"] {
        assert_eq!(rows[other]["status"], "ok", "beside {method}: {:?}", rows[other]);
    }
    (rows[method]["status"].clone(), rows[method]["reason"].clone())
}

/// Methods that keep 5 MiB and do not report it, nor what a product reads of them. The stack of a thread would count,
/// too.
#[test]
fn memory_that_a_method_does_not_report_is_measured() {
    let place = Dir::with_matrices(&[300]);
    let library = plugin(&place, "keeps.c", &["-pthread"]);
    let ran = place.run(&format!(
        "--mtx matrices/m1.mtx --plugin {} --methods keeps-* --threads 1 --iterations 5 --rounds 2 --no-bandwidth \
         --format csv",
        library.display()
    ));
    let rows = rows(&ran.stdout);
    assert_eq!(rows.len(), 6, "{ran:?}");
    for row in rows {
        let extra = row["extra_bytes"].parse::<u64>().ok();
        let is_right = match &*row["method_name"] {
            "keeps-thread" => extra.is_none(),
            "keeps-nothing" => extra == Some(0) && !row["reason"].contains("grew"),
            _ => {
                let has_note = row["reason"].starts_with("its memory is what the process grew by");
                has_note && extra.is_some_and(|bytes| bytes.abs_diff(5 << 20) < 64 << 10)
            }
        };
        assert!(is_right && row["status"] == "ok" && row["required_bytes"].is_empty(), "{row:?}");
    }
}

#[test]
fn a_right_method_appears_like_the_programs_own() {
    let (place, library) = faulty(&[30]);
    for precision in ["f64", "f32"] {
        let options = format!("--precision {precision} --alpha 2 --beta -0.5");
        let (rows, stderr) = measured(&place, &library, "right:mood=good", &options);
        let row = &rows["right:mood=good"];
        assert_eq!(row["status"], "ok", "{row:?}");
        assert_eq!((&*row["threads"], &*row["library_version"]), ("2", "right 1.2"));
        assert_eq!(row["reason"].split(';').next(), Some("good"), "{row:?}");
        assert!(row["extra_bytes"].parse::<u64>().is_ok_and(|bytes| bytes > 0), "{row:?}");
        assert!(!stderr.contains("released"), "{stderr}");
    }
    place
        .run(&format!("methods right --plugin {}", library.display()))
        .prints("CPU, all threads, setup: inspection")
        .prints("source: a test (MIT)")
        .prints(":mood=good|bad a text for the note");
    place.run(&format!("--plugin {} --methods rigth", library.display())).says("did you mean right?");
}

/// A folder in the environment, and several runs in one result file.
#[test]
fn a_folder_of_plugins_can_be_measured_compared_and_resumed() {
    let (place, _) = faulty(&[30, 20]);
    let words = format!("corpus matrices {} right,seq --output a.csv", crate::EXACT);
    let folder = place.path("").display().to_string();
    let run = |words: &str| place.run_with(words, &[("SPMV_BENCH_PLUGINS", &folder)]);
    run(&words).exits(0);
    assert_eq!(column(&place.read("a.csv"), "method_name"), ["seq", "right", "seq", "right"]);
    let record = &place.json("a.csv.run.json")["libraries"][0];
    assert!(record["name"].as_str().unwrap().starts_with("libfaulty.so "), "{record}");
    assert_eq!(record["place"], "libfaulty.so");
    // Without the plug-in, its rows are still compared.
    let compared = place.run("compare a.csv a.csv --format csv");
    assert_eq!(compared.column("method_name"), ["seq", "right", "seq", "right"], "{compared:?}");
    let kept: String = place.read("a.csv").split_inclusive('\n').take(3).collect();
    place.write("a.csv", &kept);
    run(&format!("{words} --resume")).exits(0);
    assert_eq!(column(&place.read("a.csv"), "status"), ["ok"; 4]);
    // Another build of the plug-in continues no run.
    place.write("a.csv", kept);
    plugin(&place, "faulty.c", &["-DEXTRA", "-O0"]);
    run(&format!("{words} --resume")).says("the run began with libfaulty.so");
}

const SEGV: &str = "the child process was ended by signal 11 (SIGSEGV) while running";

/// Methods with their options, status and reason.
const FAULTS: &[(&str, &str, &str)] = &[
    ("refuses", "skipped", "it takes only matrices with one row"),
    ("fails", "failed", "its file is missing"),
    ("fails-later", "failed", "multiply returned -7"),
    ("fails-in-info", "failed", "info returned -1"),
    ("crashes-in-prepare", "failed", SEGV),
    ("crashes-in-multiply", "failed", SEGV),
    ("crashes-in-destroy", "failed", SEGV),
    ("exits", "failed", "the child process exited with status 0 while running"),
    ("writes-after-y", "failed", "it has changed the memory before or after y"),
    ("writes-before-y", "failed", "it has changed the memory before or after y"),
    ("writes-x", "failed", "it has changed x"),
    ("writes-matrix", "failed", "it has changed the matrix"),
    ("writes-matrix-in-destroy", "failed", "it has changed the matrix"),
    ("keeps-x", "wrong", ""),
    ("reads-y", "wrong", ""),
    ("blocks-signals", "failed", "it has changed the signal mask, and not restored it"),
    ("nests", "failed", "it called parallel within a body, or in a thread of its own"),
    ("releases-others", "failed", "it called release with an address that allocate did not"),
    ("hangs --timeout 2", "timeout", "within the 2 s of --timeout"),
    ("changes-folder", "failed", "it has changed the working directory, and not restored it"),
    ("leaves-folder", "failed", "it has changed the working directory, and not restored it"),
    ("opens-files", "failed", "it has changed the number of open files"),
    ("sets-alarm", "failed", "it has changed the timers of the process"),
    ("limits-memory", "failed", "it has changed the limits of the process"),
    ("limits-time", "failed", "it has changed the limits of the process"),
    ("ignores-signals", "failed", "it has changed the handling of signals"),
    ("masks-files", "failed", "it has changed the file mode mask"),
    ("renices", "failed", "it has changed the scheduling of a thread"),
    ("schedules", "failed", "it has changed the scheduling of a thread"),
    ("slackens", "failed", "it has changed the scheduling of a thread"),
    ("kills-siblings", "ok", ""),
    ("stops-siblings", "ok", ""),
    ("stops", "ok", "a signal stopped its process while it was measured"),
    ("says-done", "failed", "the child process reported its end while"),
    ("forks-for-ever", "failed", "the child process started too many processes while"),
    ("forks", "failed", "it has changed the set of running processes, and not restored it"),
    ("forks-twice", "failed", "it has changed the set of running processes"),
    ("forks-and-crashes", "failed", SEGV),
    ("interrupts-in-destroy", "failed", "the child process received a signal to end"),
];

#[test]
fn each_fault_of_a_method_is_one_row() {
    let (place, library) = faulty(&[30]);
    // On a machine with one CPU there is no other to be bound to.
    let has_others = std::thread::available_parallelism().unwrap().get() > 1;
    let of_cpus = "it has changed the CPUs on which the thread may run";
    let binds = has_others.then_some(("binds", "failed", of_cpus));
    // Not every kernel lists the timers of a process.
    let timer = Path::new("/proc/self/timers").exists();
    let timer = timer.then_some(("sets-timer", "failed", "it has changed the timers of the process"));
    let cases: Vec<_> = FAULTS.iter().copied().chain(binds).chain(timer).collect();
    at_once(&cases, |&(words, status, reason)| {
        let (method, options) = words.split_once(' ').unwrap_or((words, ""));
        let (found, text) = outcome(&place, &library, method, options);
        assert_eq!(found, status, "{method}: {text}");
        assert!(text.contains(reason), "{method}: {text}");
    });
    let library = plugin(&place, "throws.cpp", &[]);
    let (status, reason) = outcome(&place, &library, "throws", "");
    assert_eq!(status, "failed");
    assert!(reason.contains("an uncaught C++ exception"), "{reason}");
}

/// A process that a method has started ends with the run, which waits neither for it nor for the output that it holds
/// open.
#[test]
fn processes_that_a_method_starts_end_with_the_run() {
    let (place, library) = faulty(&[30]);
    for method in ["forks", "forks-twice", "forks-and-crashes"] {
        let begun = std::time::Instant::now();
        outcome(&place, &library, method, "");
        assert!(begun.elapsed().as_secs() < 30, "{method}: the process ends after a minute");
        let mut left = std::fs::read_dir("/proc").unwrap().flatten().filter(|process| {
            std::fs::read_to_string(process.path().join("maps"))
                .is_ok_and(|maps| maps.contains(library.to_str().unwrap()))
        });
        assert!(left.next().is_none(), "{method}: a process is left");
    }
}

#[test]
fn no_time_of_a_clock_that_was_replaced_becomes_a_result() {
    let place = Dir::with_matrices(&[30]);
    let library = compiled("campaign/slow_clock.c", &["-shared"]).expect("a compiler");
    let words = "--mtx matrices/m1.mtx --methods seq,merge --iterations 20 --no-bandwidth --format csv";
    let ran = place.run_with(words, &[("LD_PRELOAD", library.to_str().unwrap())]).exits(1);
    assert_eq!(ran.column("status"), ["failed"; 2], "{ran:?}");
    let reason = "the clock of the process is not that of the system: a library has replaced it";
    assert_eq!(ran.column("reason"), [reason; 2]);
}

/// It computes only the first product of each sample, which takes a hundred times as long as the others.
#[test]
fn a_method_that_computes_only_after_gaps_is_wrong() {
    let (place, library) = faulty(&[30]);
    let words = format!(
        "--mtx gen:uniform,rows=100000,nnz=1000000,random=1 --plugin {} --methods right,computes-after-gaps \
         --threads 1 --processes 1 --max-time 0.1 --no-bandwidth --format csv",
        library.display()
    );
    // While other programs take the CPU, there is a gap before every product, and the method computes in each.
    let is_calm = |ran: &Ran| !ran.column("reason")[1].starts_with("other programs disturbed");
    let ran = (0..6).map(|_| place.run(&words)).find(is_calm).expect("a run is not disturbed");
    assert_eq!(ran.column("status"), ["ok", "wrong"], "{ran:?}");
    let reason = &ran.column("reason")[1];
    assert!(reason.contains("the method does not compute in every call"), "{reason}");
}

#[test]
fn leaks_and_output_are_reported_on_stderr() {
    let (place, library) = faulty(&[30]);
    let (rows, stderr) = measured(&place, &library, "leaks", "");
    assert_eq!(rows["leaks"]["status"], "ok");
    assert!(stderr.contains("leaks: its function destroy has not released "), "{stderr}");
    let (rows, stderr) = measured(&place, &library, "prints", "");
    assert_eq!(rows["prints"]["status"], "ok");
    assert!(stderr.contains("product\n"), "{stderr}");
}

/// Every method of the plug-in ends the process if it finds that subnormal numbers are flushed to zero.
#[test]
#[cfg(target_arch = "x86_64")]
fn no_method_changes_the_floating_point_state_of_the_others() {
    let (place, library) = faulty(&[30]);
    let changed = "has changed flush-to-zero (FTZ), denormals-are-zero (DAZ)";
    for method in ["flushes", "flushes-in-prepare"] {
        let expected = ("failed".into(), format!("it {changed}, and not restored it"));
        assert_eq!(outcome(&place, &library, method, ""), expected, "{method}");
    }
    let (_, stderr) = measured(&place, &library, "flushes-in-destroy", "");
    let expected = format!("its function destroy: it {changed}, and not restored");
    assert!(stderr.contains(&expected), "{stderr}");
    let run = |words: &str| place.run_with(words, &[("FAULTY", "flushes")]);
    let words = "--mtx matrices/m1.mtx --methods seq,right --threads 2 --iterations 20 --rounds 2 --format csv";
    let ran = run(&format!("{words} --plugin {}", library.display()));
    assert_eq!(ran.column("status"), ["ok", "ok"], "{ran:?}");
    let expected = format!("opening the plug-in {changed}; this was undone");
    assert!(ran.column("reason")[1].contains(&expected), "{ran:?}");
    let checked = run(&format!("check-method {} right", library.display())).exits(1).stdout;
    let begin = format!("FAILED opening the plug-in {changed}: ");
    assert!(checked.starts_with(&begin) && checked.ends_with("\n1 check failed\n"), "{checked:?}");
    let preloaded = [("FAULTY", "flushes"), ("LD_PRELOAD", library.to_str().unwrap())];
    place
        .run_with("methods seq", &preloaded)
        .says(&format!("a library of LD_PRELOAD {changed}; this was undone"));
}

#[test]
fn a_plugin_that_cannot_be_used_is_refused_with_the_reason() {
    let place = Dir::with_matrices(&[30]);
    let refused = |words: &str, fault: &str| {
        let words = format!("--mtx matrices/m1.mtx --methods seq {words}");
        let ran = place.run_with(&words, &[("FAULTY", fault)]).exits(2);
        assert_eq!(ran.stdout, "", "{ran:?}");
        ran.stderr
    };
    let library = plugin(&place, "faulty.c", &["-DNO_SYMBOL"]);
    let stderr = refused(&format!("--plugin {}", library.display()), "");
    let reason = "libfaulty.so: it does not export spmv_method_v1: include spmv_method.h";
    assert!(stderr.contains(reason), "{stderr}");
    let library = plugin(&place, "faulty.c", &[]);
    let cases = [
        ("empty", "spmv_method_v1(0) returns NULL: it has no methods"),
        ("other abi", "it has version 2 of the interface, and this program has version 1"),
        ("small", "its structure spmv_method has 8 bytes instead of "),
        ("no prepare", "the method 'right': its function prepare is NULL"),
        ("no name", "a method has no name"),
        ("bad name", "the method 'A method': a name has 1 to 40 characters"),
        ("taken", "there is another method 'merge'"),
        ("no precision", "set SPMV_F64 or SPMV_F32"),
        ("unknown flag", "contain some that this version does not know"),
        ("endless", "does not return NULL after the last method"),
        ("crashes", "was ended by signal 11 (SIGSEGV) while the plug-in was opened"),
    ];
    at_once(&cases, |(fault, reason)| {
        let stderr = refused(&format!("--plugin {}", library.display()), fault);
        assert!(stderr.contains(reason) && stderr.contains("libfaulty.so"), "{fault}: {stderr}");
    });
    place.write("text.so", "text");
    for (words, reason) in [
        ("--plugin text.so", "text.so: it cannot be opened: "),
        ("--plugin none.so", "--plugin none.so: there is no such file"),
        ("--plugin matrices", "--plugin matrices: the folder has no file that ends in .so"),
    ] {
        assert!(refused(words, "").contains(reason), "{words}");
    }
    let words = format!("--plugin {} --no-isolate --iterations 20 --rounds 2", library.display());
    let ran = place.run(&format!("--mtx matrices/m1.mtx --methods seq,right --format csv {words}"));
    assert_eq!(ran.column("status"), ["ok", "skipped"], "{ran:?}");
    assert!(ran.column("reason")[1].contains("which --no-isolate does not use"), "{ran:?}");
}

/// The methods with which `scripts/certainty` finds out how certain a comparison is, and the script.
#[test]
fn equal_products_and_longer_ones_are_compared() {
    let place = Dir::with_matrices(&[300]);
    let library = plugin(&place, "copies.c", &[]);
    for method in ["shared", "own", "again", "slower-2", "slower-5"] {
        let (rows, stderr) = measured(&place, &library, method, "--alpha 2 --beta -0.5");
        let (row, extra) = (&rows[method], rows[method]["extra_bytes"].parse::<u64>().unwrap());
        assert_eq!((&*row["status"], extra > 10_000), ("ok", method != "shared"), "{row:?}");
        assert!(!stderr.contains("released"), "{stderr}");
    }
    let words = "--runs 2 --methods own,slower-5 gen:grid2d,n=20 gen:grid2d,n=9";
    let ran = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/certainty"))
        .args(["--program", env!("CARGO_BIN_EXE_spmv-bench"), "--noise", "0"])
        .args(words.split(' '))
        .args(["--", "--iterations", "20", "--device", "cpu"])
        .env("CARGO_TARGET_DIR", place.path("target"))
        .output();
    let ran = Ran::of(ran.expect("python3")).exits(0);
    ran.prints("ln(slower-5 / own), truth 4.88 %").prints("gen:grid2d,n=20 ");
    let of_runs = |line: &str| line.split_whitespace().nth(1) == Some("2");
    assert_eq!(ran.stdout.lines().filter(|line| of_runs(line)).count(), 2, "{ran:?}");
}

/// A method for a GPU is listed as one, and needs a real GPU: `tests/driver.rs` runs it with a fake driver.
#[test]
fn a_method_for_a_gpu_does_not_run_on_a_model() {
    let place = Dir::with_matrices(&[50]);
    let library = plugin(&place, "gpu.c", &[]).display().to_string();
    let words = format!("--mtx matrices/m1.mtx --format csv --no-bandwidth --plugin {library}");
    let ran = place.run(&format!("{words} --methods on-gpu --device model:h200"));
    assert_eq!(ran.column("device"), ["model:h200"], "{ran:?}");
    let reason = "it needs a GPU: a modelled one executes only PTX";
    let is_refused = ran.column("reason")[0] == reason;
    assert!(is_refused || ran.stdout.contains("NVRTC was not found"), "{ran:?}");
    let checked = place.run(&format!("check-method {library} on-gpu"));
    checked.prints("on-gpu: not checked, because it runs on a GPU");
}

#[test]
fn the_header_and_the_program_agree() {
    let strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"];
    let printer = compiled("plugins/layout.c", &strict).expect("a compiler");
    let printed = Command::new(printer).output().unwrap().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let printed: Vec<i64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    macro_rules! layout {
        ($($type:ident: $($field:ident)*;)*) => {
            [$(&[size_of::<$type>(), $(std::mem::offset_of!($type, $field)),*][..]),*].concat()
        };
    }
    let layout = layout!(
        Csr: precision rows row_offsets values;
        Ctx: cpus transpose beta expected_products stream allocate parallel explain;
        Info: extra_bytes csr_bytes note library;
        Parameter: values meaning;
        Method: name license flags parameters prepare multiply destroy;
    );
    let expected = layout.into_iter().map(|size| size as i64);
    let constants = [abi::ABI as i32, abi::OK, abi::UNSUITABLE, abi::ERROR].map(i64::from);
    let flags = [abi::F64, abi::F32, abi::TRANSPOSED, abi::SEQUENTIAL, abi::INSPECTION];
    let flags = flags.into_iter().chain([abi::CONVERSION, abi::ORDERING, abi::GPU]);
    let expected = expected.chain(constants).chain(flags.map(|flag| flag as i64));
    assert_eq!(printed, expected.collect::<Vec<_>>());
}
