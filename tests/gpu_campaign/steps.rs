//! Tests which steps run, and what is kept of them.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use spmv_results::papers::experiments;

use crate::support::{Dir, Ran, eventually, signal};

/// Returns a step as text, with its expected seconds, its limit and its shell command.
fn step(name: &str, [seconds, limit]: [u32; 2], run: &str) -> String {
    format!(
        "[[step]]\nname = \"{name}\"\nwhat = \"tests {name}\"\nseconds = {seconds}\nlimit = {limit}\nrun = \
         '''{run}'''\n"
    )
}

fn of_project() -> Vec<toml::Table> {
    let text = include_str!("../../scripts/gpu_campaign/steps.toml");
    let file: toml::Table = text.parse().unwrap();
    file["step"].as_array().unwrap().iter().map(|step| step.as_table().unwrap().clone()).collect()
}

#[test]
fn the_steps_may_take_longer_than_expected_and_name_experiments_that_exist() {
    let known: Vec<_> = experiments().map(|known| known.id).collect();
    for step in of_project() {
        assert!(step["seconds"].as_integer() < step["limit"].as_integer(), "{step:?}");
        for id in step.get("experiments").and_then(|ids| ids.as_array()).into_iter().flatten() {
            assert!(known.iter().any(|known| Some(&**known) == id.as_str()), "{id}");
        }
    }
}

#[test]
fn a_step_runs_once_unless_it_is_named_and_the_archive_has_everything() {
    let steps =
        step("one", [1, 9], "echo $DEVICE >>ran; echo $VARIANTS") + &step("two", [1, 9], "exit 3");
    let Some(place) = Dir::with_scripts(&steps) else { return };
    place.run("out").exits(1);
    assert_eq!(place.step("one"), ("ok".into(), "gpu-a,gpu-a:block=*,gpu-b\n".into()));
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
    let hang = "echo row >>rows; trap '' TERM; sleep 60 & echo $! >pid; wait; sleep 60";
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
    place.write("scripts/gpu_campaign/steps.toml", &hang);
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
fn missing_tools_and_bad_rows_are_reported() {
    let tool = step("tool", [1, 9], "true") + "under = \"no-such-tool --all\"\n";
    let Some(place) = Dir::with_scripts(&tool) else { return };
    let rows = [
        ("gpu-a,f64,ok,", false),
        ("gpu-a,f64,wrong,row 3", true),
        ("gpu-a,f64,skipped,would store 9.00 entries", false),
        ("gpu-a,f64,skipped,it has no transposed product", false),
        ("gpu-a,f64,skipped,NVRTC was not found", true),
        ("cusparse-csr,f64,skipped,cuSPARSE was not found", false),
        ("cusparse-csr,f64,timeout,too long", true),
        (",,failed,no such file", true),
    ];
    // The row of each number is that of the matrix with this number.
    let run = |numbers: &[usize]| {
        let lines = numbers.iter().map(|&number| format!("m{number}.mtx,{}\n", rows[number].0));
        let text =
            format!("file,method_name,precision,status,reason\n{}", lines.collect::<String>());
        place.write("target/gpu-campaign-state/results/e/here/rows.csv", &text);
        place.run("out")
    };
    let (bad, good): (Vec<_>, Vec<_>) = (0..rows.len()).partition(|&number| rows[number].1);
    let [all, good] = [[bad, good.clone()].concat(), good].map(|numbers| run(&numbers));
    assert_eq!((all.status, good.status), (Some(1), Some(0)), "{all:?} {good:?}");
    for (number, (row, is_bad)) in rows.into_iter().enumerate() {
        let is_told = all.stdout.contains(&format!("e, m{number}.mtx"));
        assert_eq!(is_told, is_bad, "{row}: {all:?}");
    }
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

/// The battery tests the methods whose sources differ from those that the newest record has found correct.
#[test]
fn the_battery_tests_what_has_changed() {
    let Some(place) = Dir::with_scripts(&step("battery", [1, 9], "echo $CHANGED")) else { return };
    let built = r#"{"methods": {"gpu-a": "1", "gpu-b": "2", "gpu-c": "3"}}"#;
    place.write("target/gpu-campaign/bundle.json", built);
    let right = r#"{"gpu-a": "1", "gpu-b": "1"}"#;
    place.write("results/gpu-campaign/2026-01-01-gpu/methods.json", right);
    place.run("out").exits(0);
    assert_eq!(place.step("battery").1, "gpu-b gpu-c\n");
    // The record of this campaign is the newest one.
    place.program("bin/cargo", "echo \"$*\" >asked");
    let ran = place.run("--import out/gpu-campaign.tar.xz").exits(0);
    assert_eq!(place.read("asked"), "run --release --quiet -- reproduce --documents\n");
    ran.prints("| battery | tests battery | ok |");
    fs::remove_dir_all(place.path("target/gpu-campaign-state/logs")).unwrap();
    place.run("other battery");
    let outcome = "nothing to do: no method has changed since the last record";
    assert_eq!(place.step("battery").0, outcome);
}

#[test]
fn an_archive_that_is_none_is_named() {
    let Some(place) = Dir::with_scripts("") else { return };
    place.write("text.tar.xz", "no archive");
    for (words, told) in [
        ("--import", "--import needs one ARCHIVE"),
        ("--import gone.tar.xz", "No such file or directory: 'gone.tar.xz'"),
        ("--import text.tar.xz", "text.tar.xz is not an archive of a campaign"),
        ("--rehearse", "where do the results go? Name a folder OUT"),
    ] {
        let ran = place.run(words).refused(told);
        assert!(ran.stderr.starts_with("gpu-campaign: "), "{ran:?}");
    }
}
