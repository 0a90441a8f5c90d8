//! Tests under bad conditions: full disks, unreadable files, few resources. The program must print a clear message,
//! lose no results and return the right exit status.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::plugins::plugin;
use crate::{
    Dir, EXACT, LITTLE_MEMORY, assert_same, behind, column, end_of, eventually, rows, skip,
};

fn words(more: &str) -> String {
    format!("corpus matrices {EXACT} seq,merge {more}")
}

/// Runs a system command. Returns whether it is installed and succeeded.
fn system(words: &str) -> bool {
    let mut words = words.split_whitespace();
    let command = Command::new(words.next().unwrap()).args(words).output();
    command.is_ok_and(|output| output.status.success())
}

#[test]
fn an_output_folder_that_is_not_writable_is_an_error() {
    let place = Dir::with_matrices(&[20]);
    // Root may write to every folder except those of the kernel.
    for output in ["/sys/kernel/out.csv", "absent/out.csv", "matrices"] {
        let ran = place.run(&words(&format!("--output {output}"))).exits(2);
        ran.says(output);
        assert_eq!((&*ran.stdout, ran.stderr.lines().count()), ("", 1), "{ran:?}");
    }
}

/// A file system of 64 KiB that is almost full.
struct Tiny(PathBuf);

impl Tiny {
    fn at(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let mount = format!("mount -t tmpfs -o size=64k none {}", path.display());
        system(&mount).then_some(Self(path))
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        system(&format!("umount {}", self.0.display()));
    }
}

#[test]
fn a_disk_that_becomes_full_and_has_room_again() {
    let place = Dir::with_matrices(&[90, 80, 70, 60, 50, 40, 30, 20]);
    let Some(_tiny) = Tiny::at(place.path("tiny")) else {
        return skip("no file system can be mounted here");
    };
    let words = |more| format!("corpus matrices {EXACT} seq,csr-rows,merge,csr5,ell,sell {more}");
    let whole = place.run(&words("")).stdout;
    place.write("tiny/filler", vec![0; 48 << 10]);
    let ran = place.run(&words("--output tiny/out.csv")).exits(2);
    let message = "spmv-bench: cannot write tiny/out.csv: No space left on device (os error 28); \
                   the rows in it are complete: free disk space, then resume\n";
    assert_eq!(ran.stderr, message);
    let there = place.read("tiny/out.csv");
    assert!((6..48).contains(&rows(&there).len()), "{there}");
    place.remove("tiny/filler");
    place.run(&words("--output tiny/out.csv --resume")).exits(0);
    let resumed = place.read("tiny/out.csv");
    assert!(resumed.starts_with(&there));
    assert_same(&resumed, &whole);
}

/// A file that is removed before its turn causes a failed row; a new file is measured when the run is resumed.
#[test]
fn a_folder_that_changes_during_the_run() {
    let place = Dir::with_matrices(&[40, 20]);
    let library = plugin(&place, "faulty.c", &[]);
    let words = words(&format!("--plugin {} --methods waits --output out.csv", library.display()));
    let process = place.program(&words).spawn().unwrap();
    assert!(eventually(|| place.path("waiting").exists()));
    fs::rename(place.path("matrices/m1.mtx"), place.path("matrices/new.mtx")).unwrap();
    place.write("go", "");
    end_of(process).exits(1);
    let text = place.read("out.csv");
    assert_eq!(column(&text, "status"), ["ok", "ok", "ok", "failed"]);
    let reason = &column(&text, "reason")[3];
    assert!(reason.contains("matrices/m1.mtx") && reason.contains("No such file"), "{reason}");
    place.run(&format!("{words} --resume")).exits(0);
    let files = column(&place.read("out.csv"), "file");
    assert_eq!(files[4..], ["matrices/new.mtx"; 3]);
}

#[test]
fn unreadable_files_dangling_links_and_loops_are_reported() {
    let place = Dir::with_matrices(&[20]);
    let matrices = place.path("matrices");
    // Reading this file is an error even for root.
    symlink("/proc/self/mem", matrices.join("unreadable.mtx")).unwrap();
    symlink("nowhere", matrices.join("broken.mtx")).unwrap();
    symlink("self.mtx", matrices.join("self.mtx")).unwrap();
    fs::create_dir(matrices.join("folder.mtx")).unwrap();
    symlink("..", matrices.join("folder.mtx/loop")).unwrap();
    let ran = place.run(&words("")).exits(1);
    let statuses = ["failed", "failed", "failed", "ok", "ok"];
    assert_eq!(ran.column("status"), statuses, "{ran:?}");
    let expected = ["No such file", "Too many levels of symbolic links", ""];
    for (reason, message) in ran.column("reason").iter().zip(expected) {
        assert!(reason.contains(message), "{reason}");
    }
    let names = ["broken", "self", "unreadable"].map(|name| format!("matrices/{name}.mtx"));
    assert_eq!(ran.column("file")[..3], names);
    let reported = ran.stderr.lines().filter(|line| line.starts_with("not searched: "));
    assert!(
        reported.eq(ran.stderr.lines().filter(|line| line.contains("folder.mtx/loop"))),
        "{ran:?}"
    );
}

/// Every name is distinguished from all others, and its rows are found again.
#[test]
fn names_with_spaces_line_breaks_quotes_and_invalid_utf8_work() {
    let place = Dir::with_matrices(&[20]);
    let text = fs::read(place.path("matrices/m1.mtx")).unwrap();
    // The last but one has a backslash.
    let names: [&[u8]; 7] =
        [b"a b", b"a\nb", b"a\"b,c", b"a\xff", b"a\xfe", b"a\\xfe", "ä".as_bytes()];
    for name in names {
        let name = [name, b".mtx"].concat();
        fs::write(place.path("matrices").join(OsStr::from_bytes(&name)), &text).unwrap();
    }
    place.run(&words("--output out.csv")).exits(0);
    let whole = place.read("out.csv");
    let mut files = column(&whole, "file");
    files.dedup();
    files.sort();
    let expected = ["a b", "a\nb", "a\"b,c", "a\\xfe", "a\\xff", "a\\\\xfe", "m1", "ä"];
    let mut expected = expected.map(|name| format!("matrices/{name}.mtx"));
    expected.sort();
    assert_eq!(files, expected);
    // The run is resumed after the last row has been cut off.
    place.write("out.csv", &whole[..whole.len() - 40]);
    place.run(&words("--output out.csv --resume")).exits(0);
    assert_same(&place.read("out.csv"), &whole);
}

/// Files with a time in the future are used like files with a time in the past.
#[test]
fn a_clock_that_steps_backwards_does_no_harm() {
    let place = Dir::with_matrices(&[400, 20]);
    let whole = place.run(&words("")).stdout;
    place.run(&words("--output out.csv"));
    let text = place.read("out.csv");
    let first: Vec<_> = text.lines().take(2).collect();
    place.write("out.csv", first.join("\n") + "\n");
    let tomorrow = SystemTime::now() + Duration::from_secs(86_400);
    let files = [place.path("matrices"), place.path("cache"), place.path("cache/matrices")];
    let files = files.iter().flat_map(|folder| folder.read_dir().into_iter().flatten());
    for file in files.map(|entry| entry.unwrap().path()).chain([place.path("out.csv")]) {
        fs::File::open(file).unwrap().set_modified(tomorrow).unwrap();
    }
    let record = place.read("out.csv.run.json").replace("\"date\": \"2", "\"date\": \"9");
    place.write("out.csv.run.json", record);
    place.run(&words("--output out.csv --resume")).exits(0);
    assert_same(&place.read("out.csv"), &whole);
}

#[test]
fn a_single_core() {
    let place = Dir::with_matrices(&[300]);
    if !system("taskset -c 0 true") {
        return skip("no taskset");
    }
    // The machine profile of oski-style takes seconds.
    let words =
        "corpus matrices --device cpu --no-bandwidth --iterations 20 --rounds 2 --methods [!o]*";
    let ran = behind(&["taskset", "-c", "0"], &place.program(words));
    // The methods of libraries may be skipped.
    let is_fine = |status: &String| status == "ok" || status == "skipped";
    assert!(ran.column("status").iter().all(is_fine), "{ran:?}");
    let threads = ran.column("threads");
    assert!(threads.len() > 15 && threads.iter().all(|threads| threads == "1"), "{threads:?}");
}

/// With a limit of the address space, matrices that do not fit are reported with their sizes, and the others are
/// measured.
#[test]
fn a_limit_of_address_space() {
    let place = Dir::with_matrices(&[300]);
    // The machine's bandwidth is measured with smaller working sets if there is less memory.
    let words = "corpus matrices gen:grid2d,n=3000,points=9 --device cpu --iterations 20 --rounds 2 \
                 --methods seq,merge --output out.csv";
    behind(&LITTLE_MEMORY, &place.program(words)).exits(0);
    let text = place.read("out.csv");
    assert_eq!(column(&text, "status"), ["ok", "ok", "skipped"], "{text}");
    let reason = &column(&text, "reason")[2];
    assert!(reason.starts_with("needs ") && reason.contains("ulimit -v"), "{reason}");
}
