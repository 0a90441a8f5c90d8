//! Tests the supervisor with children that follow a script. The children are this test program, started again with
//! `worker` as the filter of its tests.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::json;
use tempfile::NamedTempFile;

use super::child::{OUT_OF_MEMORY, ask};
use super::supervisor::{Share, Supervisor};
use super::wire::{Hello, receive, send};
use crate::bench::event::{Event, Step, Turn};
use crate::bench::execute::Stopped;
use crate::campaign::collect::MatrixTask;
use crate::campaign::gpus::Answers;
use crate::campaign::{Plan, Work};
use spmv_matrix::Csr;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_matrix::source::Source;
use spmv_matrix::stats::Shape;
use spmv_matrix::system::System;
use spmv_methods::method::Device;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::{MatrixFacts, Row, RowKey, Status};
use spmv_results::run::RunRecord;
use spmv_results::settings::{CacheState, Protocol, RunSettings, Settings};

fn cell(method: &str) -> RowKey {
    RowKey {
        precision: Precision::F64,
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

fn group(method: &str) -> [Event; 2] {
    let (status, avg_spmv_ms) = (Some(Status::Ok), Some(0.5));
    let row = Row { status, avg_spmv_ms, ..Row::default().with_key(&cell(method)) };
    let group = Group::new(&cell(method), 1, &MatrixFacts::default());
    [Event::Row(Box::new(row), Vec::new()), Event::Group(Box::new(group))]
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
    let hello: Hello = receive(&socket).unwrap();
    let (words, duel) = (hello.plan.run.methods.unwrap(), hello.plan.run.settings.duel);
    // The file contains one byte for each earlier child.
    let [script, before] = &words[..] else { panic!("{words:?}") };
    let nth = fs::read(before).unwrap().len();
    fs::write(before, vec![0; nth + 1]).unwrap();
    let ready =
        |methods: &[&str]| send(&socket, &Event::Ready(Ok(Box::new(record(methods))))).unwrap();
    let emit = |event: Event| send(&socket, &event).unwrap();
    match (&**script, nth) {
        ("is never ready", _) => std::thread::sleep(Duration::MAX),
        ("finds less the second time", 1..) => ready(&["a"]),
        _ => ready(&["a", "b"]),
    }
    let task: MatrixTask = receive(&socket).unwrap();
    emit(Event::Step(Step::Load));
    match (&**script, nth) {
        ("ends after the matrix", _) => emit(ended()),
        ("finds no memory", _) => std::process::exit(OUT_OF_MEMORY),
        ("ends after a group", 0) => group("a").into_iter().for_each(emit),
        ("ends after a group", _) => {
            assert_eq!(task.cells, [cell("b")]);
            group("b").into_iter().for_each(emit);
        }
        ("ends after each group", _) => group("a").into_iter().for_each(emit),
        ("reads it once more" | "reads it once", 0) => {
            emit(read());
            group("a").into_iter().for_each(emit);
        }
        ("reads it once more", 3) => {
            emit(read());
            group("b").into_iter().for_each(emit);
        }
        ("reads it once more" | "reads it once", _) => (),
        ("ends in a duel", 0) => {
            emit(read());
            emit(Event::Step(Step::Duel(vec![cell("a"), cell("b")])));
        }
        ("ends in a duel", _) => {
            assert!(!duel);
            ["a", "b"].into_iter().flat_map(group).for_each(emit);
        }
        ("is interrupted", 0) => {
            emit(read());
            emit(Event::Step(Step::Method(cell("a"), Turn::Prepare)));
            emit(Event::End(Err(Stopped::Interrupted)));
        }
        ("is interrupted", _) => {
            assert_eq!((task.sizes, &task.cells[..]), (Some([3, 4, 12]), &[cell("b")][..]));
            group("b").into_iter().for_each(emit);
        }
        _ => emit(Event::Step(Step::Method(cell("a"), Turn::Prepare))),
    }
    std::process::exit(3);
}

/// Runs a task with children that follow the script. Returns the results that the supervisor reports, and its end.
fn run(script: &str) -> (Vec<String>, String) {
    let (interrupted, program) =
        (AtomicBool::new(script == "is never ready"), "/proc/self/exe".into());
    let before = NamedTempFile::new().unwrap();
    let words = vec![script.into(), before.path().to_str().unwrap().into()];
    let settings = RunSettings::new(Settings::new(Protocol::MergeSpmv));
    let plan = Plan::new(RunSettings { methods: Some(words), ..settings });
    let hello = Hello::new(plan, "r".into(), Answers::default());
    let mut results = Vec::new();
    let ran = Supervisor::start(program, hello, &interrupted).and_then(|mut supervisor| {
        let source = Source::parse("gen:dense,rows=3,cols=4".as_ref())?;
        let work = Work::new(&source, 0);
        supervisor.run(&work, Share::default(), &mut |event| match event {
            Event::Group(group) => {
                results.extend(group.rows.into_iter().filter_map(|r| r.method_name))
            }
            Event::Matrix(report) => {
                results.extend(report.ended.and_then(|row| row.reason.text().map(String::from)));
            }
            _ => (),
        })
    });
    (results, ran.map_or_else(|error| error.to_string(), |finish| format!("{finish:?}")))
}

#[test]
fn children_that_end_are_replaced_and_results_are_kept() {
    let end =
        |status| format!("the child process exited with status {status} while reading the matrix");
    let (reading, killed) = (&*end(3), &*(end(12) + ", as when memory runs out"));
    for (script, results, end) in [
        ("ends after the matrix", &["b"][..], "NotMeasured"),
        ("ends after a group", &["a", "b"], "Done"),
        // A matrix that could be read once is not the cause of the failure.
        ("reads it once more", &["a", "b"], "Done"),
        ("reads it once", &["a", reading], "NotMeasured"),
        ("finds no memory", &[killed], "NotMeasured"),
        // Which of two methods ended the process is not known: they are measured again without a duel.
        ("ends in a duel", &["a", "b"], "Done"),
        // A signal to the child alone ends the method, whose group is complete when the other is measured.
        ("is interrupted", &["a", "b"], "Done"),
    ] {
        let (found, finish) = run(script);
        assert_eq!((found.iter().map(String::as_str).collect(), &*finish), (results.to_vec(), end));
    }
}

/// The number of attempts is limited.
#[test]
fn children_that_end_between_methods_are_replaced_a_few_times() {
    let (results, end) = run("ends after each group");
    let (last, groups) = results.split_last().unwrap();
    assert!(groups.iter().all(|method| method == "a") && groups.len() < 9, "{results:?}");
    let reason = "the child process exited with status 3 between methods";
    assert_eq!((&**last, &*end), (reason, "NotMeasured"));
}

#[test]
fn a_child_with_fewer_methods_than_the_first_is_refused() {
    let (results, end) = run("finds less the second time");
    let expected = "a new child process differs from the first one (first, new): methods in only one \
                    of them: [\"b\"], []";
    assert_eq!((results, &*end), (vec![], expected));
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
    let ask = |script| ask::<String>("/bin/sh".as_ref(), &["-c", script], limit);
    for (script, end) in [
        ("exec sleep 100", "the child process did not answer within 0.3 s"),
        ("kill -SEGV $$", "the child process was ended by signal 11 (SIGSEGV)"),
        ("exit 0", "the child process exited with status 0"),
        // An incomplete message of one byte.
        (r"printf '\001\000' >&0; exit 3", "the child process exited with status 3"),
    ] {
        assert_eq!(ask(script).unwrap_err().to_string(), end);
    }
    // "abc" in CBOR, followed by a process that does not end.
    let script = r"printf '\004\000\000\000\000\000\000\000\143abc' >&0; exec sleep 100";
    assert_eq!(ask(script).unwrap(), "abc");
}
