use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use clap::Parser;

use super::places::slug;
use super::plan::Batch;
use super::*;
use crate::campaign::choice;
use crate::cli::{Cli, Command};
use spmv_results::papers::definition::Experiment;
use spmv_results::settings::RunSettings;

/// Returns the arguments of `reproduce` with these words.
fn args(words: &str) -> ReproduceArgs {
    let words = ["spmv-bench", "reproduce"].into_iter().chain(words.split_whitespace());
    let Some(Command::Reproduce(args)) = Cli::parse_from(words).command else { panic!() };
    args
}

fn library(args: &ReproduceArgs) -> Library<'_> {
    Library::open(args, &mut Vec::new()).unwrap()
}

/// A file of another group is not taken for a matrix of the same name.
#[test]
fn a_matrix_of_the_collection_is_found_by_its_group() {
    for (files, id, expected) in [
        (&["x.mtx", "B-x.mtx"][..], "B/x", Some("B-x.mtx")),
        (&["x.mtx", "old/x.mtx"], "A/x", Some("x.mtx")),
        (&["A/x/x.mtx", "B/x.mtx.gz"], "B/x", Some("B/x.mtx.gz")),
        (&["A/x/x.mtx", "B/x.mtx"], "C/x", None),
        (&["y.mtx"], "C/x", None),
    ] {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let args = args(&format!("--data {}", dir.path().display()));
        let found = library(&args).wanted(&[format!("collection:{id}")]).unwrap().found;
        let found: Vec<_> = found.iter().map(|found| found.source.to_string()).collect();
        let expected = expected.map(|file| dir.path().join(file).display().to_string());
        assert_eq!(found, Vec::from_iter(expected), "{files:?} {id}");
    }
}

#[test]
fn every_definition_is_listed() {
    let listed: BTreeSet<String> = experiments().map(|experiment| experiment.id).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments").read_dir().unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let defined = names.filter_map(|name| name.strip_suffix(".toml").map(String::from)).collect();
    assert_eq!(listed, defined, "EXPERIMENTS in crates/results/src/papers/mod.rs, and the folder experiments");
}

/// Parses the command that a plan shows for a batch.
fn parsed(batch: &Batch) -> RunSettings {
    let words = batch.command().into_iter().chain(["a.mtx".into()]);
    let Ok(Cli { command: Some(Command::Corpus(args)), .. }) = Cli::try_parse_from(words) else {
        panic!("{:?}", batch.command())
    };
    args.measure.run_settings()
}

/// With surrogates every matrix is available; every command that is shown selects the same run; all methods in claims
/// and views are measured.
#[test]
fn definitions_refer_to_existing_matrices_and_methods() {
    let args = args("--data nowhere --surrogates");
    let library = library(&args);
    let here = Here { args: &args, library: &library, gpu: Ok("a GPU".into()), cores: 64 };
    for experiment in experiments() {
        let Experiment { id, claims, views, blocks, .. } = &experiment;
        let plan = Plan::of(&experiment, &here).unwrap();
        // Matrices that are not in the datasets file have no surrogate.
        let is_of_collection = |name: &String| {
            let word = format!("collection:{name}");
            blocks.iter().any(|block| block.matrices.contains(&word))
        };
        let is_complete = plan.missing.iter().all(is_of_collection) && plan.has_cells();
        assert!(is_complete, "{id}: {:?}", plan.missing);
        for batch in &plan.batches {
            assert_eq!(parsed(batch), batch.run, "{id}");
        }
        let methods: Vec<String> = blocks
            .iter()
            .flat_map(|block| choice::select(&block.methods).unwrap())
            .map(|choice| choice.name())
            .collect();
        let of_claims = claims.iter().flat_map(|claim| claim.measured.operands());
        let of_views = views.iter().flat_map(|view| view.selections());
        for select in of_claims.cloned().chain(of_views) {
            let measured = methods.iter().any(|method| select.names(method));
            assert!(measured, "{id}: '{select}' is not measured");
        }
    }
}

#[test]
fn a_block_overrides_the_rounds_of_the_command_line() {
    let args = args("--data nowhere --surrogates --device cpu --quick");
    let here = Here { args: &args, library: &library(&args), gpu: Ok("a GPU".into()), cores: 1 };
    let max_time = Duration::from_millis(50);
    let run = |id| Plan::of(&experiment(id).unwrap(), &here).unwrap().batches.remove(0).run;
    let [stated, usual] = ["determinism", "roofline"].map(run);
    assert_eq!((stated.settings.rounds, stated.settings.max_time), (40, max_time));
    assert_eq!((usual.settings.rounds, usual.settings.max_time), (2, max_time));
}

#[test]
fn folder_names_contain_day_and_machine() {
    assert_eq!(slug("AMD EPYC 7742 64-Core  2 cores"), "amd-epyc-7742-64-core-2-cores");
}

#[test]
fn an_interrupted_run_continues_in_its_folder_on_another_day() {
    let results = tempfile::tempdir().unwrap();
    let places = Places {
        output: None,
        single: true,
        results: results.path().to_owned(),
        day: "2026-03-02".into(),
        machine: "a-cpu".into(),
        device: DeviceChoice::Models(Vec::new()),
        origin: serde_json::Value::Null,
    };
    let of_day = |day: &str| results.path().join("x").join(format!("{day}-a-cpu"));
    let begun = |folder: &str| {
        let folder = results.path().join("x").join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("rows.csv"), "").unwrap();
        folder
    };
    let definition = "title = 't'\nsource = 's'\nmeasure = []\n";
    let x = Experiment::parse("x", "x.toml", definition).unwrap();
    assert_eq!(places.of_experiment(&x), of_day("2026-03-02"));
    begun("2026-02-01-another-cpu");
    assert_eq!(places.of_experiment(&x), of_day("2026-03-02"), "another machine's");
    let older = begun("2026-02-27-a-cpu");
    let newer = begun("2026-02-28-a-cpu");
    assert_eq!(places.of_experiment(&x), newer);
    std::fs::write(newer.join("report.html"), "").unwrap();
    assert_eq!(places.of_experiment(&x), of_day("2026-03-02"), "finished");
    assert!(older.is_dir(), "given up when the newer one was begun");
    let modelled = format!("gpus = ['v100', 'a100']\n{definition}");
    let modelled = places.of_experiment(&Experiment::parse("x", "x.toml", &modelled).unwrap());
    assert!(modelled.ends_with("x/2026-03-02-model-v100-a100-a-cpu"), "{}", modelled.display());
}
