//! Tests with several numbers of threads, cache states and orders in one run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::support::all;
use crate::{Dir, assert_same, at_once, rows};

const WORDS: &str = "--no-bandwidth --iterations 3 --rounds 1 --device cpu --methods seq,merge --quiet";

/// Also in the summary and in the report. Cold caches are slow: a product follows the eviction of a large cache.
#[test]
fn each_combination_has_its_rows_once() {
    let place = Dir::with_matrices(&[90]);
    let orders = if all() { "natural,rcm" } else { "rcm" };
    let lists = format!("--threads 1,2 --cache hot,cold --order {orders}");
    let words = "--iterations 1 --warmups 1 --rounds 1 --no-bandwidth --device cpu --methods seq,merge";
    let ran = place.run(&format!("corpus matrices {words} {lists} --output all.csv")).exits(0);
    let all = rows(&place.read("all.csv"));
    let setting = |row: &BTreeMap<String, String>| {
        assert_eq!(row["status"], "ok", "{row:?}");
        ["file", "method_name", "threads", "cache", "order"].map(|column| row[column].clone())
    };
    let distinct: BTreeSet<_> = all.iter().map(setting).collect();
    // A method with two numbers of threads and one with one, each with two cache states and one or two orders.
    let of_each = 2 * orders.split(',').count();
    assert_eq!((all.len(), distinct.len()), (3 * of_each, 3 * of_each), "{distinct:?}");
    for [method, threads] in [["seq", "1"], ["merge", "1"], ["merge", "2"]] {
        let own = distinct.iter().filter(|setting| setting[1..3] == [method, threads]);
        assert_eq!(own.count(), of_each, "{method} {threads}");
    }
    for row in &all {
        assert_eq!(row["order_ms"].is_empty(), row["order"] == "natural", "{row:?}");
    }
    place.run("report all.csv -o report").exits(0);
    let report = place.read("report/report.md");
    for threads in ["1 thread", "2 threads"] {
        for cache in ["hot", "cold"] {
            let setting = format!("f64, CPU, {threads}, {cache} cache");
            ran.says(&setting);
            assert!(report.contains(&setting), "{report}");
        }
    }
}

/// A run that was stopped anywhere is completed, and nothing is measured twice.
#[test]
fn a_run_with_several_settings_is_resumed() {
    let place = Dir::with_matrices(&[90, 60]);
    let lists = "--threads 1,2 --precision f64,f32 --order natural,rcm";
    let words = format!("corpus matrices {WORDS} {lists} --output all.csv");
    place.run(&words).exits(0);
    let whole = place.read("all.csv");
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    let record = place.read("all.csv.run.json");
    at_once(&[1, 2, 5, 13, 24], |&kept| {
        let name = format!("{kept}.csv");
        fs::write(place.path(&name), lines[..=kept].concat()).unwrap();
        place.write(&format!("{name}.run.json"), &record);
        place.run(&format!("{} --resume", words.replace("all.csv", &name))).exits(0);
        assert_same(&place.read(&name), &whole);
    });
    place
        .run(&format!("{words} --resume --cache hot,cold"))
        .exits(2)
        .says("settings in only one of them: [], [\"f32, CPU, 1 thread, cold");
    place
        .run(&format!("{words} --force --no-isolate"))
        .says("several numbers are measured in separate child processes");
}

/// What is in force is found out in the process that measures, which may be the one that the command started.
#[test]
fn arrays_are_in_the_pages_of_the_setting() {
    let place = Dir::with_matrices(&[20]);
    let pages = |words: &str, tunables: &str| {
        let words = format!("--mtx matrices/m1.mtx --iterations 1 --methods seq --no-bandwidth {words}");
        let words = format!("{words} --run-record run.json --force");
        let ran = place.run_with(&words, &[("GLIBC_TUNABLES", tunables)]).exits(0);
        let record: Value = serde_json::from_str(&place.read("run.json")).unwrap();
        let is_warned = ran.stderr.contains("warning: arrays are in small pages");
        (record["system"]["huge_arrays"].as_bool().unwrap(), is_warned)
    };
    let modes = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let mode = modes.split(['[', ']']).nth(1).unwrap_or("never");
    let own = "glibc.malloc.hugetlb=0";
    for isolation in ["", "--no-isolate"] {
        let with = |option: &str, tunables| pages(&format!("{isolation} {option}"), tunables);
        assert_eq!(with("", ""), (mode != "never", mode == "never"), "{isolation}");
        assert_eq!(with("--pages small", ""), (false, false), "{isolation}");
        assert_eq!(with("--pages system", own), (mode == "always", false), "{isolation}");
        assert_eq!(with("", own), (mode == "always", mode != "always"), "{isolation}");
    }
}
