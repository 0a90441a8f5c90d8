//! Tests which steps run, and what is kept of them.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use spmv_results::papers::experiments;

use crate::support::{Dir, Ran, eventually, signal};

const REPRODUCED: &str = "reproduce x --y --device gpu --data matrices --quiet --max-nonzeros 1e12\n";

/// Returns a step as text, with its expected seconds, its limit and its shell command.
fn step(name: &str, [seconds, limit]: [u32; 2], run: &str) -> String {
    format!("[{name}]\nwhat = \"tests {name}\"\nseconds = {seconds}\nlimit = {limit}\nrun = '''{run}'''\n")
}

#[test]
fn the_steps_may_take_longer_than_expected_and_name_experiments_that_exist() {
    let known: Vec<_> = experiments().map(|known| known.id).collect();
    let steps: toml::Table = include_str!("../../scripts/gpu-campaign.toml").parse().unwrap();
    for step in steps.values() {
        assert!(step["seconds"].as_integer() < step["limit"].as_integer(), "{step:?}");
        let run = step["run"].as_str().unwrap().replace("\\\n", "");
        let (_, words) = run.split_once("reproduce ").unwrap_or_default();
        for id in words.split_whitespace().take_while(|word| !word.starts_with("--")) {
            assert!(known.iter().any(|known| known == id), "{id}");
        }
    }
}

#[test]
fn a_step_runs_once_unless_it_is_named_and_the_archive_has_everything() {
    let steps = step("one", [1, 9], "echo $DEVICE >>ran; reproduce x --y") + &step("two", [1, 9], "exit 3");
    let Some(place) = Dir::with_scripts(&steps) else { return };
    place.run("out").exits(1);
    assert_eq!(place.step("one"), ("ok".into(), REPRODUCED.into()));
    assert_eq!(place.step("two").0, "failed with status 3");
    place.run("out");
    place.run("out one");
    assert_eq!(place.read("target/gpu-campaign-state/ran"), "gpu\ngpu\n");
    place.run("out three").refused("there is no step three");
    // On another machine the archive is all that there is.
    fs::remove_dir_all(place.path("target")).unwrap();
    place.program("target/gpu-campaign-state/programs/spmv-bench", crate::PROGRAM);
    place.run("out");
    assert_eq!(place.read("target/gpu-campaign-state/ran"), "gpu\ngpu\n");
    assert_eq!(place.step("one").0, "ok");
}

#[test]
fn a_limit_and_an_interrupt_end_a_step_with_its_processes() {
    let hang = "echo row >>rows; trap '' TERM; sleep 300 & echo $! >pid; wait; sleep 300";
    let steps = step("hang", [1, 2], hang) + &step("next", [1, 9], "true");
    let Some(place) = Dir::with_scripts(&steps) else { return };
    let begun = Instant::now();
    place.run("out").exits(1);
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!((&*place.step("hang").0, &*place.step("next").0), ("cut off", "ok"));
    let state = "target/gpu-campaign-state";
    // A process that was killed exists until its new parent has noticed.
    let is_gone = || {
        let process = format!("/proc/{}", place.read(&format!("{state}/pid")).trim());
        eventually(|| !fs::exists(&process).unwrap())
    };
    assert!(is_gone());
    // It is repeated in the next call, which is interrupted.
    let hang = step("hang", [1, 60], "echo row >>rows; echo $$ >pid; sleep 60");
    place.write("scripts/gpu-campaign.toml", &hang);
    place.remove(&format!("{state}/pid"));
    let process = place.command("out").spawn().unwrap();
    let pid = place.path(&format!("{state}/pid"));
    assert!(eventually(|| fs::read(&pid).is_ok_and(|pid| !pid.is_empty())));
    signal(&process, Signal::SIGTERM);
    let ran = Ran::of(process.wait_with_output().unwrap());
    assert_eq!((ran.status, is_gone()), (Some(130), true), "{ran:?}");
    assert_eq!(place.read(&format!("{state}/rows")), "row\nrow\n");
}

#[test]
fn no_step_starts_that_could_end_too_late() {
    let steps = step("long", [100, 200], "true") + &step("short", [1, 9], "true");
    let Some(place) = Dir::with_scripts(&steps) else { return };
    place.run("--within 60 out").exits(3).prints("not enough time was left for: long");
    assert_eq!((place.step("long").0, place.step("short").0), (String::new(), "ok".into()));
    place.run("out").exits(0);
}

#[test]
fn a_missing_tool_is_reported() {
    let tool = step("tool", [1, 9], "true") + "needs = \"no-such-tool\"\n";
    let Some(place) = Dir::with_scripts(&tool) else { return };
    place.run("out").exits(0);
    assert_eq!(place.step("tool").0, "not run: no no-such-tool on this machine");
}

#[test]
fn without_a_gpu_or_a_program_nothing_runs() {
    let Some(place) = Dir::with_scripts(&step("one", [1, 9], "true")) else { return };
    place.write("no-gpu", "");
    assert_eq!(place.run("out").exits(2).stderr, "gpu-campaign: no GPU: no CUDA driver\n");
    fs::remove_dir_all(place.path("target")).unwrap();
    place.run("out").refused("--build, and copy the folder");
}

#[test]
fn an_archive_that_is_none_is_named() {
    let Some(place) = Dir::with_scripts("") else { return };
    place.write("text.tar.xz", "no archive");
    for (words, told) in [
        ("--import", "--import needs one ARCHIVE"),
        ("--import gone.tar.xz", "No such file or directory: 'gone.tar.xz'"),
        ("--import text.tar.xz", "file could not be opened successfully"),
        ("--rehearse", "where do the results go? Name a folder OUT"),
    ] {
        let ran = place.run(words).refused(told);
        assert!(ran.stderr.starts_with("gpu-campaign: "), "{ran:?}");
    }
}
