//! Tests the supervisor with children that follow a script. The children are this test program, started again with
//! `worker` as the filter of its tests.

mod decide;

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ciborium::Value;
use nix::unistd::dup2;
use serde_json::json;
use tempfile::NamedTempFile;

use super::child::{OUT_OF_MEMORY, ask};
use super::process::{Cells, Process, Role};
use super::supervisor::Supervisor;
use super::wire::{Hello, receive, send, send_at};
use crate::bench::event::{Event, Step, Stopped, Turn};
use crate::campaign::answers::Answers;
use crate::campaign::plan::Plan;
use crate::campaign::work::{MatrixTask, Part, Work};
use spmv_matrix::Csr;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_matrix::source::Source;
use spmv_matrix::stats::Shape;
use spmv_matrix::system::System;
use spmv_methods::method::Device;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::{GroupKey, MatrixFacts, Row, RowKey, Status};
use spmv_results::run::RunRecord;
use spmv_results::settings::{CacheState, Protocol, RunSettings, Settings};

/// The methods a and b are in groups of their own.
fn cell(method: &str) -> RowKey {
    RowKey {
        precision: if method == "b" { Precision::F32 } else { Precision::F64 },
        device: Device::Cpu,
        method: method.into(),
        threads: Some(1),
        cache: Some(CacheState::Hot),
        order: Some(Order::Natural),
    }
}

fn record(methods: &[&str]) -> RunRecord {
    let cells: Vec<_> = methods.iter().map(|method| cell(method)).collect();
    let record = json!({
        "run_id": "r", "date": "", "version": "", "revision": "", "command": [], "pinned_to": [0],
        "system": System::detect(), "settings": Settings::new(Protocol::MergeSpmv), "expand": true,
        "order": Order::Natural, "cells": cells, "libraries": [], "bandwidth": [], "sessions": [],
    });
    serde_json::from_value(record).unwrap()
}

fn step(method: &str, turn: Turn) -> Event {
    Event::Step(Step::Method(cell(method), turn))
}

fn row(method: &str) -> Event {
    let (status, avg_spmv_ms) = (Some(Status::Ok), Some(0.5));
    let row = Row { status, avg_spmv_ms, ..Row::default().with_key(&cell(method)) };
    Event::Row(Box::new(row), Vec::new())
}

fn end_of_group(method: &str) -> Event {
    Event::Group(Box::new(Group::new(&cell(method), 1, &MatrixFacts::default())))
}

fn group(method: &str) -> [Event; 3] {
    [step(method, Turn::Other), row(method), end_of_group(method)]
}

fn ended() -> Event {
    let report = MatrixReport::without_groups("a".into(), "r", Status::Skipped, "b".into());
    Event::Matrix(Box::new(report))
}

/// Creates the event that the matrix has been read.
fn read() -> Event {
    let csr = Csr::new(3, 4, vec![0, 4, 8, 12], [0, 1, 2, 3].repeat(3), vec![1.0; 12]);
    let mut report = MatrixReport::default();
    report.facts.shape = csr.as_ref().map(Shape::of);
    Event::Matrix(Box::new(report))
}

/// The child process. If it is run as an ordinary test, without the program name of children, it does nothing.
#[test]
fn a_worker_follows_its_script() {
    if std::env::args().next().as_deref() != Some("spmv-bench") {
        return;
    }
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().unwrap());
    let hello = receive::<Hello>(&socket).unwrap().message;
    let words = hello.plan.run.methods.unwrap();
    // The file contains one byte for each earlier child.
    let [script, before] = &words[..] else { panic!("{words:?}") };
    let nth = fs::read(before).unwrap().len();
    fs::write(before, vec![0; nth + 1]).unwrap();
    if script == "is never ready" {
        std::thread::sleep(Duration::MAX);
    }
    let is_less = script == "finds less the second time" && nth > 0;
    let methods = if is_less { &["a"][..] } else { &["a", "b"] };
    send(&socket, &Event::Ready(Ok(Box::new(record(methods))))).unwrap();
    let task = receive::<MatrixTask>(&socket).unwrap().message;
    if script == "ends at once" || script == "is ended while it waits" && nth == 0 {
        std::process::exit(3);
    }
    send(&socket, &Event::Step(Step::Load)).unwrap();
    match follow(script, nth, &task) {
        Some(events) => events.iter().for_each(|event| send(&socket, event).unwrap()),
        None => {
            [read(), step("a", Turn::Prepare)].iter().for_each(|it| send(&socket, it).unwrap());
            forge(script, socket);
        }
    }
    std::process::exit(3);
}

/// Returns what the child with this number sends after it has begun to read the matrix; `None` if it lets code of a
/// plug-in send it.
fn follow(script: &str, nth: usize, MatrixTask { sizes, part, .. }: &MatrixTask) -> Option<Vec<Event>> {
    Some(match (script, nth) {
        ("ends after the matrix", _) => vec![ended()],
        ("finds no memory", _) => std::process::exit(OUT_OF_MEMORY),
        ("ends after a group", 0) => group("a").to_vec(),
        ("begins again", 0) => [&group("a")[..], &[step("a", Turn::Prepare)]].concat(),
        ("ends after a group" | "begins again", _) => {
            assert_eq!(part.cells, [cell("b")]);
            group("b").to_vec()
        }
        ("is ended while it waits", _) => [group("a"), group("b")].concat(),
        ("reads it once more" | "reads it once", 0) => [&[read()], &group("a")[..]].concat(),
        ("reads it once more", 3) => [&[read()], &group("b")[..]].concat(),
        ("reads it once more" | "reads it once", _) => vec![],
        ("ends in a duel", 0) => {
            vec![read(), Event::Step(Step::Duel(vec![cell("a"), cell("b")]))]
        }
        ("ends in a duel", _) => {
            assert!(!part.has_duel);
            [group("a"), group("b")].concat()
        }
        ("is interrupted", 0) => {
            vec![read(), step("a", Turn::Prepare), Event::End(Err(Stopped::Interrupted))]
        }
        ("is interrupted", _) => {
            assert_eq!((*sizes, &part.cells[..]), (Some([3, 4, 12]), &[cell("b")][..]));
            group("b").to_vec()
        }
        ("finds less the second time", _) => vec![step("a", Turn::Prepare)],
        (_, 0) => return None,
        _ => group("b").to_vec(),
    })
}

/// Does what code of a plug-in, method a, could do in the name of the child.
fn forge(script: &str, socket: UnixStream) {
    match script {
        "sends two rows" => {
            [step("a", Turn::Other), row("a"), row("a")].iter().for_each(|event| send(&socket, event).unwrap())
        }
        "has another clock" => send_at(Duration::ZERO, &socket, &row("a")).unwrap(),
        "sends noise" => (&socket).write_all(&[255; 99]).unwrap(),
        "replaces its connection" => {
            let (other, _kept) = UnixStream::pair().unwrap();
            let mut own = socket.into();
            dup2(other, &mut own).unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
        _ => panic!("{script}"),
    }
}

/// Runs a task with children that follow the script. Returns the methods with results, others with the reason, why the
/// matrix was not measured, and the end.
fn run(script: &str) -> (Vec<String>, String) {
    let interrupted = AtomicBool::new(script == "is never ready");
    let program = "/proc/self/exe".into();
    let before = NamedTempFile::new().unwrap();
    let words = vec![script.into(), before.path().to_str().unwrap().into()];
    let settings = RunSettings::new(Settings::new(Protocol::MergeSpmv));
    let plan = Plan::new(RunSettings { methods: Some(words), ..settings });
    let hello = Hello::new(plan, "r".into(), Answers::default());
    let mut results = Vec::new();
    let process = Process { cells: Cells::All, share: None, role: Role::Main };
    let started = Supervisor::start(program, hello, &interrupted, process);
    let ran = started.and_then(|mut supervisor| {
        let source = Source::parse("gen:dense,rows=3,cols=4".as_ref())?;
        let work = Work::new(source, 0);
        let part = Part::all(supervisor.record.cells.clone());
        supervisor.run(&work, part, &[], false, &mut |event| match event {
            Event::Group(group) => results.extend(group.rows.iter().map(described)),
            Event::Matrix(report) => {
                results.extend(report.ended.and_then(|row| row.reason.text().map(String::from)));
            }
            _ => (),
        })
    });
    (results, ran.map_or_else(|error| error.to_string(), |finish| format!("{finish:?}")))
}

fn described(row: &Row) -> String {
    let reason = row.reason.text().map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{}{reason}", row.method_name.as_deref().unwrap_or_default())
}

#[test]
fn children_that_end_are_replaced_and_results_are_kept() {
    let end = |status| format!("the child process exited with status {status} while reading the matrix");
    let (reading, killed) = (format!("b: {}", end(3)), end(12) + ", as when memory runs out");
    let stopped = "a: the child process received a signal to end while running a";
    let early = "the child process exited with status 3 between methods";
    for (script, results, end) in [
        ("ends after the matrix", &["b"][..], "NotMeasured"),
        ("ends after a group", &["a", "b"], "Done"),
        // What a method does after its end costs the others nothing.
        ("begins again", &["a", "b"], "Done"),
        // A matrix that could be read once is not the cause of the failure.
        ("reads it once more", &["a", "b"], "Done"),
        ("reads it once", &["a", &reading], "Done"),
        ("finds no memory", &[&killed], "NotMeasured"),
        // Whoever ended a child that had nothing to do, it was no method of this matrix.
        ("is ended while it waits", &["a", "b"], "Done"),
        ("ends at once", &[early], "NotMeasured"),
        // Which of two methods ended the process is not known: they are measured again without a duel.
        ("ends in a duel", &["a", "b"], "Done"),
        // A signal to the child alone ends the method, whose group is complete when the other is measured.
        ("is interrupted", &[stopped, "b"], "Done"),
    ] {
        let (found, finish) = run(script);
        assert_eq!((found.iter().map(String::as_str).collect(), &*finish), (results.to_vec(), end));
    }
}

/// Method b is measured by another child.
#[test]
fn what_only_a_forgery_explains_is_the_failure_of_the_method_that_runs() {
    let invalid = "sent a message that is none of this program: it has 18446744073709551615 bytes";
    for (script, what) in [
        ("sends two rows", "sent a second row of a method"),
        ("has another clock", "tells a time that is "),
        ("sends noise", invalid),
        ("replaces its connection", "has replaced its connection"),
    ] {
        let (found, finish) = run(script);
        let [a, b] = &found[..] else { panic!("{script}: {found:?}") };
        assert!(a.starts_with(&format!("a: the child process {what}")), "{script}: {a}");
        assert!(a.ends_with(" while running a"), "{script}: {a}");
        assert_eq!((&**b, &*finish), ("b", "Done"), "{script}");
    }
}

#[test]
fn a_child_with_fewer_methods_than_the_first_is_refused() {
    let (results, end) = run("finds less the second time");
    let expected = "a new child process differs from the first one (first, new): settings in only one of them: \
                    [\"f32, CPU, 1 thread, hot cache\"], []; methods in only one of them: [\"b\"], []";
    assert_eq!((&*results[1], &*end), (expected, "NotMeasured"));
}

#[test]
fn a_child_that_is_never_ready_can_be_interrupted() {
    let expected = "interrupted before the child process that measures was ready";
    assert_eq!(run("is never ready"), (vec![], expected.into()));
}

/// The children are shells whose standard input is the socket.
#[test]
fn a_child_without_an_answer_is_an_error() {
    let limit = Duration::from_millis(300);
    let ask = |script| ask::<Value>("/bin/sh".as_ref(), &["-c", script], limit);
    let invalid = "the child process sent a message that is none of this program: ";
    let (huge, nested) = ("it has 1311768467463790320 bytes, more than 268435456", "RecursionLimitExceeded");
    let (huge, nested) = (format!("{invalid}{huge}"), format!("{invalid}{nested}"));
    for (script, end) in [
        ("exec sleep 100", "the child process did not answer within 0.3 s"),
        ("kill -SEGV $$", "the child process was ended by signal 11 (SIGSEGV)"),
        ("exit 0", "the child process exited with status 0"),
        // An incomplete message of one byte.
        (r"printf '\001\000' >&0; exit 3", "the child process exited with status 3"),
        (r"printf '\360\336\274\232\170\126\064\022%08d' 0 >&0; exec sleep 100", &huge),
        (r"printf '\054\001\000\000\000\000\000\000%08d' 0 >&0; printf '\201%.0s' $(seq 300) >&0", &nested),
    ] {
        assert_eq!(ask(script).unwrap_err().to_string(), end);
    }
    // "abc" in CBOR, followed by a process that does not end.
    let script = r"printf '\004\000\000\000\000\000\000\000%08d\143abc' 0 >&0; exec sleep 100";
    assert_eq!(ask(script).unwrap(), Value::from("abc"));
}
