//! Tests under bad conditions: files that change or cannot be read, few resources. The program must print a clear
//! message, lose no results and return the correct exit status.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::plugins::faulty;
use crate::{Dir, LITTLE_MEMORY, assert_same, behind, column, corpus, end_of, eventually, skip};

/// A file that is removed before its turn causes a failed row, which stays; a new file is measured when the run is
/// resumed.
#[test]
fn a_folder_that_changes_during_the_run() {
    let (place, library) = faulty(&[40, 20]);
    let words = corpus(&format!("--plugin {} --methods waits --output out.csv", library.display()));
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
    let ran = place.run(&corpus("")).exits(1);
    let statuses = ["failed", "failed", "failed", "ok", "ok"];
    assert_eq!(ran.column("status"), statuses, "{ran:?}");
    let expected = ["No such file", "Too many levels of symbolic links", ""];
    for (reason, message) in ran.column("reason").iter().zip(expected) {
        assert!(reason.contains(message), "{reason}");
    }
    let names = ["broken", "self", "unreadable"].map(|name| format!("matrices/{name}.mtx"));
    assert_eq!(ran.column("file")[..3], names);
    let reported = ran.stderr.lines().filter(|line| line.starts_with("not searched: "));
    assert!(reported.eq(ran.stderr.lines().filter(|line| line.contains("folder.mtx/loop"))), "{ran:?}");
}

/// Every name is distinguished from all others, and its rows are found again.
#[test]
fn names_with_spaces_line_breaks_quotes_and_invalid_utf8_work() {
    let place = Dir::with_matrices(&[20]);
    let text = fs::read(place.path("matrices/m1.mtx")).unwrap();
    // The last but one has a backslash.
    let names: [&[u8]; 7] = [b"a b", b"a\nb", b"a\"b,c", b"a\xff", b"a\xfe", b"a\\xfe", "ä".as_bytes()];
    for name in names {
        let name = [name, b".mtx"].concat();
        fs::write(place.path("matrices").join(OsStr::from_bytes(&name)), &text).unwrap();
    }
    place.run(&corpus("--output out.csv")).exits(0);
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
    place.run(&corpus("--output out.csv --resume")).exits(0);
    assert_same(&place.read("out.csv"), &whole);
}

#[test]
fn a_single_core() {
    let place = Dir::with_matrices(&[300]);
    let bound = Command::new("taskset").args(["-c", "0", "true"]).status();
    if !bound.is_ok_and(|status| status.success()) {
        return skip("no taskset");
    }
    // The machine profile of oski-style takes seconds.
    let words = "corpus matrices --device cpu --no-bandwidth --iterations 20 --rounds 2 --methods [!o]*";
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
