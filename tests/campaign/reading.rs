//! Tests of the program with files that need too much memory, pipes without data, and files that change.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use glob::{GlobResult, glob};
use nix::libc::O_NONBLOCK;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::support::gzip;
use crate::{Dir, LITTLE_MEMORY, behind, end_of, eventually, signal};

const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n";
const MEASURE: &str = "--methods seq --threads 1 --no-cache --no-bandwidth --quiet --max-time 0.01 --rounds 1";

#[test]
fn small_files_with_large_contents_need_little_memory() {
    let place = Dir::with_matrices(&[]);
    let more = |line, stated| format!(":{line}: there are more entries than the {stated} given in the size line");
    let long = |line| format!(":{line}: the line has more than 65536 bytes");
    let array = BANNER.replace("coordinate", "array");
    for (name, head, unit, message) in [
        ("banner", String::new(), "x", long(1)),
        ("comment", format!("{BANNER}%"), "x", long(2)),
        ("entry", format!("{BANNER}9 9 9\n1 1 "), "1", long(3)),
        ("comments", BANNER.to_owned(), "%xxxxxx\n", ": no size line within the first".into()),
        ("array", format!("{array}2 2\n"), "1\n", more(7, 4)),
        ("entries", format!("{BANNER}2 2 1\n"), "1 1 1\n", more(4, 1)),
    ] {
        // A compressed file with `head` and a gigabyte of repeated bytes.
        let piece = gzip(&unit.as_bytes().repeat((1 << 22) / unit.len()));
        let file = format!("{name}.mtx.gz");
        place.write(&file, [gzip(head.as_bytes()), piece.repeat(256)].concat());
        // One command reads so many comments, which takes a second each time.
        let skipped = usize::from(name == "comments");
        let commands = [format!("--mtx {file} {MEASURE}"), format!("generate {file} -o out.mtx")];
        for words in &commands[skipped..] {
            behind(&LITTLE_MEMORY, &place.program(words)).exits(2).says(&message);
        }
    }
}

#[test]
fn sizes_are_checked_before_memory_is_allocated() {
    let place = Dir::with_matrices(&[]);
    for spec in [
        "uniform,rows=2147483647,nnz=10",
        "power-law,rows=2147483647,longest=3,exponent=1",
        "empty-rows,rows=2147483647,nnz=10,empty=0.5",
    ] {
        for words in [format!("--mtx gen:{spec} {MEASURE}"), format!("generate gen:{spec} -o out.mtx")] {
            behind(&LITTLE_MEMORY, &place.program(&words)).exits(2).says("needs 24.0 GiB of memory to");
        }
    }
}

/// A result file is read completely, whatever its size, so that memory can run out.
#[test]
fn lack_of_memory_causes_a_message_and_status_2() {
    let place = Dir::with_matrices(&[]);
    File::create(place.path("rows.csv")).unwrap().set_len(4 << 30).unwrap();
    let ran = behind(&LITTLE_MEMORY, &place.program("compare rows.csv rows.csv")).exits(2);
    assert_eq!(ran.stderr, "spmv-bench: there is no memory for 4294967296 bytes more\n");
}

/// Waits until a process, which may be a worker, has opened a file.
fn wait_for_opening(file: &Path) {
    let file = file.canonicalize().unwrap();
    let is_it = |open: GlobResult| open.is_ok_and(|open| fs::read_link(open).is_ok_and(|to| to == file));
    assert!(eventually(|| glob("/proc/[0-9]*/fd/*").unwrap().any(is_it)));
}

#[test]
fn reading_a_pipe_without_data_can_be_interrupted() {
    for (words, said) in [
        (format!("--mtx pipe.mtx {MEASURE}"), "the results of pipe.mtx are incomplete"),
        (format!("corpus pipe.mtx {MEASURE}"), ""),
        ("generate pipe.mtx -o out.mtx".into(), "interrupted while a file was read"),
    ] {
        for end in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            let place = Dir::with_matrices(&[]);
            let pipe = place.path("pipe.mtx");
            mkfifo(&pipe, Mode::S_IRWXU).unwrap();
            let child = place.program(&words).spawn().unwrap();
            wait_for_opening(&pipe);
            signal(&child, end);
            end_of(child).exits(1).says(said);
        }
    }
}

#[test]
fn a_long_comment_can_be_interrupted() {
    let place = Dir::with_matrices(&[]);
    let member = gzip("% a comment\n".repeat(1 << 18).as_bytes());
    let head = gzip(format!("{BANNER}2 2 1\n").as_bytes());
    place.write("a.mtx.gz", [head, member.repeat(1 << 12)].concat());
    let child = place.program(&format!("--mtx a.mtx.gz {MEASURE}")).spawn().unwrap();
    wait_for_opening(&place.path("a.mtx.gz"));
    // Within the comment, of which nothing can be seen.
    std::thread::sleep(Duration::from_millis(50));
    signal(&child, Signal::SIGINT);
    end_of(child).exits(1);
}

/// Only a process that opens a pipe for reading lets another one open it for writing without waiting.
#[test]
fn commands_that_only_read_rows_end_at_the_first_signal() {
    for (words, pipe) in [
        ("compare rows.csv rows.csv", "rows.csv"),
        ("merge rows.csv", "rows.csv.run.json"),
        ("report rows.csv", "rows.csv"),
    ] {
        let place = Dir::with_matrices(&[]);
        let pipe = place.path(pipe);
        mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        let child = place.program(words).spawn().unwrap();
        let mut writer = OpenOptions::new();
        writer.write(true).custom_flags(O_NONBLOCK);
        let mut opened = None;
        assert!(eventually(|| {
            opened = writer.open(&pipe).ok();
            opened.is_some()
        }));
        signal(&child, Signal::SIGINT);
        assert_eq!(end_of(child).status, None, "{words}");
    }
}

/// Generating a matrix continues after the first signal; the second one ends it, unless it is a part of the same
/// request.
#[test]
fn a_second_signal_ends_the_process() {
    let place = Dir::with_matrices(&[]);
    let mut child = place.program("generate gen:grid3d,n=600 --output /dev/null").spawn().unwrap();
    let state = format!("/proc/{}/status", child.id());
    assert!(eventually(|| catches(&fs::read_to_string(&state).unwrap(), Signal::SIGTERM)));
    signal(&child, Signal::SIGINT);
    // Signals that follow sooner are a part of the same request.
    std::thread::sleep(Duration::from_millis(250));
    assert!(child.try_wait().unwrap().is_none());
    assert!(eventually(|| {
        signal(&child, Signal::SIGTERM);
        child.try_wait().unwrap().is_some()
    }));
    end_of(child).exits(130);
}

/// Returns whether the process with this status has a handler of a signal.
fn catches(status: &str, signal: Signal) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap() >> (signal as u32 - 1) & 1 == 1
}

/// The pipe is standard input, another descriptor, as in a shell's `<(command)`, or a named pipe.
#[test]
fn a_matrix_can_be_read_from_a_pipe() {
    let place = Dir::with_matrices(&[]);
    place.write("a.mtx", format!("{BANNER}3 3 2\n1 1 1\n3 2 4\n"));
    mkfifo(&place.path("pipe.mtx"), Mode::S_IRWXU).unwrap();
    for command in ["--mtx SOURCE MEASURE", "corpus SOURCE MEASURE", "generate SOURCE -o /dev/null"] {
        for (before, source, after) in [
            ("cat a.mtx |", "/dev/stdin", ""),
            ("cat a.mtx |", "/dev/fd/0", ""),
            ("cat a.mtx |", "/dev/fd/7", "7<&0 < /dev/null"),
            ("cat a.mtx > pipe.mtx &", "pipe.mtx", ""),
        ] {
            let shell = format!("{before} \"$@\" {after}");
            // With several rounds, which processes divide unless the matrix can be read only once.
            let several = MEASURE.replace("--rounds 1", "--rounds 6");
            let words = command.replace("SOURCE", source).replace("MEASURE", &several);
            behind(&["sh", "-c", &shell, "sh"], &place.program(&words)).exits(0);
        }
    }
}

/// A file that is truncated while it is read never ends the process with a signal.
#[test]
fn a_truncated_file_is_an_error_and_no_signal() {
    let place = Dir::with_matrices(&[]);
    let path = place.path("a.mtx");
    let entries = 400_000;
    let text = format!("{BANNER}{entries} 1 {entries}\n")
        + &(1..=entries).map(|row| format!("{row} 1 1\n")).collect::<String>();
    for pause in [0, 20, 60, 120, 250] {
        fs::write(&path, &text).unwrap();
        let run = place.program(&format!("--mtx a.mtx {MEASURE}")).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
        let ran = end_of(run);
        assert!(matches!(ran.status, Some(0..=2)), "after {pause} ms: {ran:?}");
    }
}
