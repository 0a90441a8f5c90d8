//! Tests with several numbers of threads, cache states and orders in one run.

use std::collections::BTreeSet;
use std::fs;

use crate::{Place, assert_same, rows};

const WORDS: &str =
    "--no-bandwidth --iterations 3 --rounds 1 --device cpu --methods seq,csr-rows,merge --quiet";
const LISTS: &str = "--threads 1,2 --cache hot,cold --order natural,rcm";

#[test]
fn each_combination_has_its_rows_once() {
    let place = Place::with_matrices(&[90, 60]);
    let ran = place.run(&format!("corpus matrices {WORDS} {LISTS} --output all.csv"));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let all = rows(&place.read("all.csv"));
    let setting = |row: &std::collections::BTreeMap<String, String>| {
        assert_eq!(row["status"], "ok", "{row:?}");
        ["file", "method_name", "threads", "cache", "order"].map(|column| row[column].clone())
    };
    let distinct: BTreeSet<_> = all.iter().map(setting).collect();
    // For each matrix: two methods with two numbers of threads and one with one, each with two cache states and two
    // orders.
    assert_eq!((all.len(), distinct.len()), (2 * 5 * 4, 2 * 5 * 4), "{distinct:?}");
    let of = |method: &str, threads: &str| {
        let own = distinct.iter().filter(|setting| setting[1] == method && setting[2] == threads);
        own.count()
    };
    assert_eq!((of("seq", "1"), of("merge", "1"), of("merge", "2")), (8, 8, 8));
    for row in &all {
        assert_eq!(row["order_ms"].is_empty(), row["order"] == "natural", "{row:?}");
    }
}

/// A run that was stopped anywhere is completed, and nothing is measured twice.
#[test]
fn a_run_with_several_settings_is_resumed() {
    let place = Place::with_matrices(&[90, 60]);
    let lists = "--threads 1,2 --precision f64,f32 --order natural,rcm";
    let words = format!("corpus matrices {WORDS} {lists} --output all.csv");
    assert_eq!(place.run(&words).status, Some(0));
    let whole = place.read("all.csv");
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    for kept in [1, 2, 5, 9, 20, 27, 40] {
        fs::write(place.path("all.csv"), lines[..=kept].concat()).unwrap();
        let ran = place.run(&format!("{words} --resume"));
        assert_eq!(ran.status, Some(0), "{kept}: {ran:?}");
        assert_same(&place.read("all.csv"), &whole);
    }
    let ran = place.run(&format!("{words} --resume --cache hot,cold"));
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("settings in only one of them: [], [\"f32, CPU, 1 thread, cold"),
        "{ran:?}"
    );
}

/// Each number of threads has its own process: a crash in one does not affect the rows of the other.
#[test]
fn the_summary_and_the_report_separate_the_settings() {
    let place = Place::with_matrices(&[90]);
    let words = WORDS.replace(" --quiet", "");
    let ran = place
        .run(&format!("corpus matrices {words} --threads 1,2 --cache hot,cold --output all.csv"));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(place.run("report all.csv -o report").status, Some(0));
    let report = place.read("report/report.md");
    for threads in ["1 thread", "2 threads"] {
        for cache in ["hot", "cold"] {
            let setting = format!("f64, CPU, {threads}, {cache} cache");
            assert!(ran.stderr.contains(&setting), "{}", ran.stderr);
            assert!(report.contains(&setting), "{report}");
        }
    }
    let ran = place.run(&format!("matrices/m1.mtx {words} --threads 1,2 --no-isolate"));
    assert!(
        ran.stderr.contains("several numbers are measured in separate child processes"),
        "{ran:?}"
    );
}
