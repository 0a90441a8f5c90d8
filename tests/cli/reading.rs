//! Tests of the program with files that need too much memory, pipes without data, and files that change.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use glob::{GlobResult, glob};
use nix::libc::O_NONBLOCK;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n";
const MEASURE: &str =
    "--methods seq --threads 1 --no-cache --no-bandwidth --quiet --max-time 0.01 --rounds 1";
/// An address space in KiB that is large enough for the program, but not for a text of a gigabyte.
const LITTLE: u64 = 1_000_000;

/// Returns a command that runs the program in `folder` with these arguments and at most this address space in KiB.
fn program(folder: &Path, words: &str, address_space: Option<u64>) -> Command {
    let limit = address_space.map_or("unlimited".into(), |kib| kib.to_string());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {limit}; exec \"$0\" {words}")]);
    shell.arg(env!("CARGO_BIN_EXE_spmv-bench")).current_dir(folder);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

fn output(folder: &Path, words: &str, address_space: Option<u64>) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = program(folder, words, address_space).output().unwrap();
    assert_eq!(status.signal(), None, "{words}");
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Writes a compressed file with `head` and a gigabyte of repeated bytes.
fn bomb(path: &Path, head: &str, unit: &[u8]) {
    let piece = gzip(&unit.repeat((1 << 22) / unit.len()));
    fs::write(path, [gzip(head.as_bytes()), piece.repeat(256)].concat()).unwrap();
}

#[test]
fn small_files_with_large_contents_need_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (name, head, unit, message) in [
        ("banner", String::new(), "x", ":1: the line has more than 65536 bytes"),
        ("comment", format!("{BANNER}%"), "x", ":2: the line has more than 65536 bytes"),
        ("entry", format!("{BANNER}9 9 9\n1 1 "), "1", ":3: the line has more than 65536 bytes"),
        ("comments", BANNER.to_owned(), "%xxxxxx\n", ": no size line within the first"),
        (
            "array",
            BANNER.replace("coordinate", "array") + "2 2\n",
            "1\n",
            ":7: there are more entries than the 4 given in the size line",
        ),
        (
            "entries",
            format!("{BANNER}2 2 1\n"),
            "1 1 1\n",
            ":4: there are more entries than the 1 given in the size line",
        ),
    ] {
        let file = format!("{name}.mtx.gz");
        bomb(&folder.path().join(&file), &head, unit.as_bytes());
        // One command reads so many comments, which takes a second each time.
        let skipped = usize::from(name == "comments");
        let commands = [format!("--mtx {file} {MEASURE}"), format!("generate {file} -o out.mtx")];
        for words in &commands[skipped..] {
            let (status, stderr) = output(folder.path(), words, Some(LITTLE));
            assert_eq!(status, Some(2), "{words}: {stderr}");
            assert!(stderr.contains(message), "{words}: {stderr}");
        }
    }
}

#[test]
fn sizes_are_checked_before_memory_is_allocated() {
    let folder = tempfile::tempdir().unwrap();
    for spec in [
        "uniform,rows=2147483647,nnz=10",
        "power-law,rows=2147483647,longest=3,exponent=1",
        "empty-rows,rows=2147483647,nnz=10,empty=0.5",
    ] {
        for words in
            [format!("--mtx gen:{spec} {MEASURE}"), format!("generate gen:{spec} -o out.mtx")]
        {
            let (status, stderr) = output(folder.path(), &words, Some(LITTLE));
            assert_eq!(status, Some(2), "{words}: {stderr}");
            assert!(stderr.contains("needs 24.0 GiB of memory to"), "{words}: {stderr}");
        }
    }
}

#[test]
fn impossible_shards_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("corpus gen:wheel,spokes=9 --shard 1/2 --output rows.csv {MEASURE}");
    assert_eq!(output(folder.path(), &words, None).0, Some(0));
    let facts = folder.path().join("rows.csv.run.json");
    let text = fs::read_to_string(&facts).unwrap();
    let shard: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shard["corpus"]["shard"]["of"], 2, "{text}");
    for (number, of, message) in [
        (
            1,
            99_999_999_999_999_u64,
            "99999999999999 shards are too many; at most 100000 are allowed",
        ),
        (7, 3, "there is no shard 7 of 3"),
    ] {
        let mut record = shard.clone();
        record["corpus"]["shard"] = serde_json::json!({ "number": number, "of": of });
        fs::write(&facts, record.to_string()).unwrap();
        let (status, stderr) = output(folder.path(), "merge rows.csv", Some(LITTLE));
        assert!(status == Some(2) && stderr.contains(message), "{status:?}: {stderr}");
    }
}

/// A result file is read completely, whatever its size, so that memory can run out.
#[test]
fn lack_of_memory_causes_a_message_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let rows = File::create(folder.path().join("rows.csv")).unwrap();
    rows.set_len(4 << 30).unwrap();
    let (status, stderr) = output(folder.path(), "compare rows.csv rows.csv", Some(LITTLE));
    let sentence = "spmv-bench: there is no memory for 4294967296 bytes more\n";
    assert_eq!((status, &*stderr), (Some(2), sentence));
}

/// Starts a program that reads a named pipe.
fn reading_a_pipe(pipe: &Path, words: &str) -> Child {
    mkfifo(pipe, Mode::S_IRWXU).unwrap();
    program(pipe.parent().unwrap(), words, None).spawn().unwrap()
}

/// Waits until a condition holds. Fails if it does not within a minute.
fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it takes too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a process, which may be a worker, has opened a file.
fn wait_for_opening(file: &Path) {
    let file = file.canonicalize().unwrap();
    let is_it =
        |open: GlobResult| open.is_ok_and(|open| fs::read_link(open).is_ok_and(|to| to == file));
    wait_until(|| glob("/proc/[0-9]*/fd/*").unwrap().any(is_it));
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// Returns the exit status and stderr.
fn end_of(mut child: Child) -> (Option<i32>, String) {
    wait_until(|| child.try_wait().unwrap().is_some());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn reading_a_pipe_without_data_can_be_interrupted() {
    for (words, said) in [
        (format!("--mtx pipe.mtx {MEASURE}"), "the results of pipe.mtx are incomplete"),
        (format!("corpus pipe.mtx {MEASURE}"), ""),
        ("generate pipe.mtx -o out.mtx".into(), "interrupted while a file was read"),
    ] {
        for end in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            let folder = tempfile::tempdir().unwrap();
            let pipe = folder.path().join("pipe.mtx");
            let child = reading_a_pipe(&pipe, &words);
            wait_for_opening(&pipe);
            signal(&child, end);
            let (status, stderr) = end_of(child);
            assert_eq!(status, Some(1), "{words}: {stderr}");
            assert!(stderr.contains(said), "{words}: {stderr}");
        }
    }
}

#[test]
fn a_long_comment_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let member = gzip("% a comment\n".repeat(1 << 18).as_bytes());
    let head = gzip(format!("{BANNER}2 2 1\n").as_bytes());
    fs::write(folder.path().join("a.mtx.gz"), [head, member.repeat(1 << 12)].concat()).unwrap();
    let words = format!("--mtx a.mtx.gz {MEASURE}");
    let child = program(folder.path(), &words, None).spawn().unwrap();
    wait_for_opening(&folder.path().join("a.mtx.gz"));
    std::thread::sleep(Duration::from_millis(50));
    signal(&child, Signal::SIGINT);
    let (status, stderr) = end_of(child);
    assert_eq!(status, Some(1), "{stderr}");
}

/// Only a process that opens a pipe for reading lets another one open it for writing without waiting.
#[test]
fn commands_that_only_read_rows_end_at_the_first_signal() {
    for (words, pipe) in [
        ("compare rows.csv rows.csv", "rows.csv"),
        ("merge rows.csv", "rows.csv.run.json"),
        ("report rows.csv", "rows.csv"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join(pipe);
        let child = reading_a_pipe(&pipe, words);
        let mut writer = OpenOptions::new();
        writer.write(true).custom_flags(O_NONBLOCK);
        let mut opened = None;
        wait_until(|| {
            opened = writer.open(&pipe).ok();
            opened.is_some()
        });
        // Not SIGINT, which a shell may have set to be ignored for background processes, such as these tests.
        signal(&child, Signal::SIGTERM);
        assert_eq!(end_of(child).0, None, "{words}");
    }
}

/// Generating a matrix continues after the first signal; the second one ends it, unless it is a part of the same
/// request.
#[test]
fn a_second_signal_ends_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let words = "generate gen:grid3d,n=600 --output /dev/null";
    let mut child = program(folder.path(), words, None).spawn().unwrap();
    let state = format!("/proc/{}/status", child.id());
    wait_until(|| catches(&fs::read_to_string(&state).unwrap(), Signal::SIGTERM));
    signal(&child, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(250));
    assert!(child.try_wait().unwrap().is_none());
    wait_until(|| {
        signal(&child, Signal::SIGTERM);
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(end_of(child).0, Some(130));
}

/// Returns whether the process with this status has a handler of a signal.
fn catches(status: &str, signal: Signal) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap() >> (signal as u32 - 1) & 1 == 1
}

/// The pipe is standard input, another descriptor, as in a shell's `<(command)`, or a named pipe.
#[test]
fn a_matrix_can_be_read_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.mtx"), format!("{BANNER}3 3 2\n1 1 1\n3 2 4\n")).unwrap();
    mkfifo(&folder.path().join("pipe.mtx"), Mode::S_IRWXU).unwrap();
    for command in ["--mtx SOURCE MEASURE", "corpus SOURCE MEASURE", "generate SOURCE -o /dev/null"]
    {
        for (before, source, after) in [
            ("cat a.mtx |", "/dev/stdin", ""),
            ("cat a.mtx |", "/dev/fd/0", ""),
            ("cat a.mtx |", "/dev/fd/7", "7<&0 < /dev/null"),
            ("cat a.mtx > pipe.mtx &", "pipe.mtx", ""),
        ] {
            let words = command.replace("SOURCE", source).replace("MEASURE", MEASURE);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{before} \"$0\" {words} {after}")]);
            shell.arg(env!("CARGO_BIN_EXE_spmv-bench")).current_dir(folder.path());
            let ran = shell.output().unwrap();
            assert!(ran.status.success(), "{words}: {}", String::from_utf8_lossy(&ran.stderr));
        }
    }
}

/// A file that is truncated while it is read never ends the process with a signal.
#[test]
fn a_truncated_file_is_an_error_and_no_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let entries = 400_000;
    let text = format!("{BANNER}{entries} 1 {entries}\n")
        + &(1..=entries).map(|row| format!("{row} 1 1\n")).collect::<String>();
    for pause in [0, 20, 60, 120, 250] {
        fs::write(&path, &text).unwrap();
        let run = program(folder.path(), &format!("--mtx a.mtx {MEASURE}"), None).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
        let (status, stderr) = end_of(run);
        assert!(matches!(status, Some(0..=2)), "after {pause} ms: {status:?} {stderr}");
    }
}
