//! Parses the definition of an experiment. It is rejected with the name of its file, or its plan, its claims and its
//! views of recorded rows can be shown.

#![no_main]

use std::ffi::OsString;
use std::fs;
use std::io::sink;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use libfuzzer_sys::{Corpus, fuzz_target};
use spmv_bench::bench::clock::FakeClock;
use spmv_bench::cli::{self, Env};
use spmv_fuzz::BENCH;
use spmv_matrix::system::System;
use spmv_matrix::system::noise::Readings;
use spmv_methods::method::Unavailable;
use spmv_results::files::read::{self, RecordedRow};
use spmv_results::papers::definition::Experiment;
use spmv_results::papers::experiment_page;
use spmv_results::papers::judge::Verdicts;

/// Experiments of which the repository has rows, of whatever day.
const RECORDED: [&str; 4] = ["csrk-tune", "sc16-fig5", "sc16-table1", "five-gpu-table1"];
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../results");
const ROWS: usize = 8;

static LINES: LazyLock<Vec<RecordedRow>> = LazyLock::new(|| {
    let first = |experiment: &str| {
        let records = fs::read_dir(Path::new(RESULTS).join(experiment)).expect("records");
        let mut files = records.flatten().map(|record| record.path().join("rows.csv"));
        let text = files.find_map(|file| fs::read_to_string(file).ok()).expect("rows");
        let first: Vec<_> = text.lines().take(1 + ROWS).collect();
        let path = BENCH.put("rows.csv", first.join("\n").as_bytes());
        read::read(&path).expect("recorded rows")
    };
    RECORDED.into_iter().flat_map(first).collect()
});
static SYSTEM: LazyLock<System> = LazyLock::new(System::detect);

fuzz_target!(|text: &str| -> Corpus {
    let experiment = match Experiment::parse("a", "a.toml", text) {
        Ok(experiment) => experiment,
        Err(error) => {
            assert!(error.to_string().starts_with("a.toml: "));
            return Corpus::Keep;
        }
    };
    plan(text);
    let verdicts = Verdicts::of(&experiment, &LINES, false);
    let runs = serde_json::json!({ "run_id": LINES[0].row.run_id });
    let page = experiment_page::of(&experiment, &LINES, &[], &verdicts, [&runs].into_iter(), &[]);
    let _ = (page.to_html(), page.to_markdown());
    Corpus::Keep
});

/// Runs `reproduce --dry-run` on the definition.
fn plan(text: &str) {
    let file = BENCH.put("a.toml", text.as_bytes());
    let mut env = Env {
        words: Vec::new(),
        stdout: &mut sink(),
        stderr: &mut sink(),
        terminal: false,
        width: None,
        clock: &FakeClock::new(Duration::from_millis(1)),
        date: "2026-01-02T03:04:05Z".into(),
        run_id: "run".into(),
        interrupted: &AtomicBool::new(false),
        system: SYSTEM.clone(),
        readings: Readings::default,
        usage: || None,
        powercap: "no/such/folder".into(),
        program: None,
        open_gpu: &|_| Err(Unavailable("no GPU here".into())),
        gpus: Default::default(),
        profiles: None,
        matrices: None,
        together: Default::default(),
    };
    let words = ["spmv-bench", "reproduce", "--dry-run", "--data", "no/such/folder"];
    let words = words.map(OsString::from).into_iter().chain([file.into_os_string()]);
    let _ = cli::run(words, &mut env);
}
