//! `--shard` and `merge`: shares of a corpus, measured apart and joined.

use std::fs;

use crate::{EXACT, Place, assert_same, column};

fn words(more: &str) -> String {
    format!("corpus matrices {EXACT} seq,merge {more}")
}

/// Three shares of seven matrices.
fn shares() -> Place {
    let place = Place::with_matrices(&[90, 80, 70, 60, 50, 40, 30]);
    for share in 1..=3 {
        let ran = place.run(&words(&format!("--shard {share}/3 --output out-{share}.csv")));
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
    place
}

#[test]
fn joined_shares_are_the_whole() {
    let place = shares();
    let whole = place.run(&words("")).stdout;
    let merged = place.run("merge out-3.csv out-1.csv out-2.csv");
    assert_eq!((merged.status, &*merged.stderr), (Some(0), ""));
    assert_same(&merged.stdout, &whole);
    assert_eq!(column(&whole, "file").len(), 14);
    // To a file, which is one of a run of its own and can be gone on with.
    let merged = place.run("merge out-1.csv out-2.csv out-3.csv --output all.csv");
    assert_eq!(merged.status, Some(0), "{merged:?}");
    assert_same(&place.read("all.csv"), &whole);
    let before = place.read("all.csv");
    let resumed = place.run(&words("--resume --output all.csv"));
    assert_eq!((resumed.status, place.read("all.csv")), (Some(0), before), "{resumed:?}");
    let merged = place.run("merge out-1.csv out-2.csv out-3.csv --output all.csv");
    assert_eq!(merged.status, Some(2));
    assert!(merged.stderr.contains("all.csv already exists"), "{merged:?}");
}

/// A matrix that has changed from one share to another, with a row in each and one in both.
#[test]
fn a_matrix_may_be_in_two_files() {
    let place = shares();
    let whole = place.run(&words("")).stdout;
    let [from, mut to] = ["out-1.csv", "out-2.csv"].map(|name| place.read(name));
    let run_of = |text: &str| column(text, "run_id").remove(0);
    let moved = from.replace(&run_of(&from), &run_of(&to));
    let rows = moved.trim_end().rsplit('\n').take(2);
    to.extend(rows.map(|row| format!("{row}\n")));
    let mut lines: Vec<_> = from.lines().collect();
    lines.pop();
    fs::write(place.path("out-1.csv"), lines.join("\n") + "\n").unwrap();
    fs::write(place.path("out-2.csv"), to).unwrap();
    let merged = place.run("merge out-1.csv out-2.csv out-3.csv");
    assert_eq!((merged.status, &*merged.stderr), (Some(0), ""));
    assert_same(&merged.stdout, &whole);
    // To what takes no facts of the run beside it.
    let piped = place.run("merge out-1.csv out-2.csv out-3.csv --output /dev/stdout");
    assert_eq!((piped.status, piped.stdout), (Some(0), merged.stdout), "{}", piped.stderr);
}

#[test]
fn what_is_missing_is_named() {
    let place = shares();
    let text = place.read("out-1.csv");
    let lines: Vec<_> = text.lines().collect();
    // Cut off in the midst of the last cell, it looks whole.
    fs::write(place.path("out-1.csv"), lines.join("\n")).unwrap();
    let last = column(&text, "file").pop().unwrap();
    let merged = place.run("merge out-1.csv out-3.csv");
    assert_eq!(merged.status, Some(1));
    let expected =
        format!("missing: share 2/3\nmissing: {last} in out-1.csv (share 1): 1 rows (merge)\n");
    assert_eq!(merged.stderr, expected);
    assert!(!column(&merged.stdout, "file").is_empty(), "what is there is joined");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let place = shares();
    fs::copy(place.path("out-1.csv"), place.path("copy.csv")).unwrap();
    fs::copy(place.path("out-1.csv.run.json"), place.path("copy.csv.run.json")).unwrap();
    place.run(&words("--shard 2/4 --output of-4.csv"));
    place.run(&words("--shard 2/3 --warmups 9 --output other.csv"));
    fs::write(place.path("no-record.csv"), place.read("out-1.csv")).unwrap();
    fs::remove_file(place.path("matrices/m1.mtx")).unwrap();
    place.run(&words("--shard 2/3 --output fewer.csv"));
    for (files, message) in [
        ("out-1.csv copy.csv", "out-1.csv and copy.csv are both share 1 of 3"),
        ("out-1.csv of-4.csv", "out-1.csv is one of 3 shares, and of-4.csv one of 4"),
        (
            "out-1.csv other.csv",
            "out-1.csv and other.csv were measured with different settings: warmups: 5, 9",
        ),
        (
            "out-1.csv fewer.csv",
            "out-1.csv and fewer.csv are not shares of the same matrices: names or sizes of the 7 and 6",
        ),
        ("no-record.csv", "cannot read no-record.csv.run.json, the facts of the run"),
        ("absent.csv", "cannot read absent.csv.run.json"),
    ] {
        let merged = place.run(&format!("merge {files}"));
        assert_eq!((merged.status, &*merged.stdout), (Some(2), ""), "{files}: {merged:?}");
        assert!(merged.stderr.contains(message), "{files}: {merged:?}");
    }
}

/// Facts of a run that were edited, or are of another program.
#[test]
fn shares_that_cannot_be_are_refused() {
    let place = Place::with_matrices(&[40]);
    place.run(&words("--shard 1/3 --output out.csv"));
    let facts: serde_json::Value = serde_json::from_str(&place.read("out.csv.run.json")).unwrap();
    for (number, of, message) in [
        (7, 3u64, "there is no share 7 of 3"),
        (0, 3, "there is no share 0 of 3"),
        (1, 0, "there is no share 1 of 0"),
        (1, 99_999_999_999_999, "99999999999999 shares are too many; there can be 100000 at most"),
    ] {
        let mut facts = facts.clone();
        facts["corpus"]["shard"] = serde_json::json!({ "number": number, "of": of });
        fs::write(place.path("out.csv.run.json"), facts.to_string()).unwrap();
        let merged = place.run("merge out.csv");
        assert_eq!((merged.status, &*merged.stdout), (Some(2), ""), "{merged:?}");
        let expected = format!("out.csv.run.json: corpus.shard: {message}");
        assert!(merged.stderr.contains(&expected), "{merged:?}");
    }
}

/// More shares than matrices: some have nothing to do.
#[test]
fn a_share_may_be_empty() {
    let place = Place::with_matrices(&[40]);
    for share in 1..=2 {
        let ran = place.run(&words(&format!("--shard {share}/2 --output out-{share}.csv")));
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
    let merged = place.run("merge out-1.csv out-2.csv");
    assert_eq!(merged.status, Some(0), "{merged:?}");
    assert_eq!(column(&merged.stdout, "method_name"), ["seq", "merge"]);
}

/// The script for Slurm, as Slurm would run it.
#[test]
fn a_job_array_measures_all_shares() {
    let place = Place::with_matrices(&[50, 40, 30]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/corpus.sbatch");
    for job in 5..=6 {
        let status = std::process::Command::new(script)
            .args(["matrices", "results", "--quiet"])
            .args(format!("{EXACT} seq,merge").split(' '))
            .current_dir(place.path(""))
            .env("SPMV_BENCH", env!("CARGO_BIN_EXE_spmv-bench"))
            .env("SPMV_BENCH_CACHE", place.path("cache"))
            .env("SLURM_ARRAY_TASK_ID", job.to_string())
            .env("SLURM_ARRAY_TASK_MIN", "5")
            .env("SLURM_ARRAY_TASK_COUNT", "2")
            .status();
        assert_eq!(status.unwrap().code(), Some(0));
    }
    let merged = place.run("merge results/out-1.csv results/out-2.csv");
    assert_eq!((merged.status, &*merged.stderr), (Some(0), ""));
    assert_eq!(column(&merged.stdout, "file").len(), 6);
}
