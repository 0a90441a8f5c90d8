//! Tests of `--shard` and `merge`: shards of a corpus that are measured separately and merged.

use std::process::Command;

use crate::{Dir, EXACT, LITTLE_MEMORY, Ran, assert_same, behind, column, corpus};

fn shards() -> Dir {
    let place = Dir::with_matrices(&[90, 80, 70, 60, 50, 40, 30]);
    for shard in 1..=3 {
        place.run(&corpus(&format!("--shard {shard}/3 --output out-{shard}.csv"))).exits(0);
    }
    place
}

#[test]
fn merged_shards_are_the_whole_corpus() {
    let place = shards();
    let whole = place.run(&corpus("")).stdout;
    let merged = place.run("merge out-3.csv out-1.csv out-2.csv").exits(0);
    assert_eq!(merged.stderr, "");
    assert_same(&merged.stdout, &whole);
    assert_eq!(column(&whole, "file").len(), 14);
    // A merged file is a complete result file and can be resumed.
    place.run("merge out-1.csv out-2.csv out-3.csv --output all.csv").exits(0);
    assert_same(&place.read("all.csv"), &whole);
    let before = place.read("all.csv");
    place.run(&corpus("--resume --output all.csv")).exits(0);
    assert_eq!(place.read("all.csv"), before);
    place
        .run("merge out-1.csv out-2.csv out-3.csv --output all.csv")
        .exits(2)
        .says("all.csv already exists");
}

/// A matrix has moved from one shard to another, with a row in each of them and one in both, and in another order.
#[test]
fn a_matrix_may_be_in_two_files() {
    let place = shards();
    let whole = place.run(&corpus("")).stdout;
    let [from, mut to] = ["out-1.csv", "out-2.csv"].map(|name| place.read(name));
    let run_of = |text: &str| column(text, "run_id").remove(0);
    let moved = from.replace(&run_of(&from), &run_of(&to));
    let rows = moved.trim_end().rsplit('\n').take(2);
    to.extend(rows.map(|row| format!("{row}\n")));
    let mut lines: Vec<_> = from.lines().collect();
    lines.pop();
    place.write("out-1.csv", lines.join("\n") + "\n");
    place.write("out-2.csv", to);
    let merged = place.run("merge out-2.csv out-1.csv out-3.csv").exits(0);
    assert_eq!(merged.stderr, "");
    assert_same(&merged.stdout, &whole);
    // An output that is not a file has no run record.
    let piped = place.run("merge out-2.csv out-1.csv out-3.csv --output /dev/stdout").exits(0);
    assert_eq!(piped.stdout, merged.stdout);
}

#[test]
fn missing_shards_and_rows_are_reported() {
    let place = shards();
    let text = place.read("out-1.csv");
    let lines: Vec<_> = text.lines().collect();
    // A file that is cut off within the last cell still seems complete.
    place.write("out-1.csv", lines.join("\n"));
    let last = column(&text, "file").pop().unwrap();
    let merged = place.run("merge out-1.csv out-3.csv").exits(1);
    let expected = format!("missing: shard 2/3\nmissing: {last} in out-1.csv (shard 1): 1 rows (merge)\n");
    assert_eq!(merged.stderr, expected);
    assert!(!merged.column("file").is_empty(), "what is there is joined");
}

#[test]
fn shards_of_different_runs_are_refused() {
    let place = shards();
    for end in ["", ".run.json"] {
        place.write(&format!("copy.csv{end}"), place.read(&format!("out-1.csv{end}")));
    }
    place.run(&corpus("--shard 2/4 --output of-4.csv"));
    place.run(&corpus("--shard 2/3 --warmups 9 --output other.csv"));
    place.write("no-record.csv", place.read("out-1.csv"));
    place.remove("matrices/m1.mtx");
    place.run(&corpus("--shard 2/3 --output fewer.csv"));
    for (files, message) in [
        ("out-1.csv copy.csv", "out-1.csv and copy.csv are both shard 1 of 3"),
        ("out-1.csv of-4.csv", "out-1.csv is one of 3 shards, and of-4.csv is one of 4"),
        ("out-1.csv other.csv", "other.csv were measured with different settings: warmups: 5, 9"),
        ("out-1.csv fewer.csv", "shards of the same matrices: the names or sizes of the 7 and 6"),
        ("no-record.csv", "cannot read the run record no-record.csv.run.json"),
        ("absent.csv", "cannot read the run record absent.csv.run.json"),
    ] {
        let merged = place.run(&format!("merge {files}")).exits(2);
        assert_eq!(merged.says(message).stdout, "");
    }
}

/// The run record was edited, or is from another program. The number of shards must not decide how much memory is used.
#[test]
fn impossible_shards_are_refused() {
    let place = Dir::with_matrices(&[40]);
    place.run(&corpus("--shard 1/3 --output out.csv"));
    let facts = place.json("out.csv.run.json");
    for (number, of, message) in [
        (7, 3u64, "there is no shard 7 of 3"),
        (0, 3, "there is no shard 0 of 3"),
        (1, 0, "there is no shard 1 of 0"),
        (1, 99_999_999_999_999, "99999999999999 shards are too many; at most 100000 are allowed"),
    ] {
        let mut facts = facts.clone();
        facts["corpus"]["shard"] = serde_json::json!({ "number": number, "of": of });
        place.write("out.csv.run.json", facts.to_string());
        let merged = behind(&LITTLE_MEMORY, &place.program("merge out.csv")).exits(2);
        let expected = format!("out.csv.run.json: corpus.shard: {message}");
        assert_eq!(merged.says(&expected).stdout, "");
    }
}

#[test]
fn a_shard_may_be_empty() {
    let place = Dir::with_matrices(&[40]);
    for shard in 1..=2 {
        place.run(&corpus(&format!("--shard {shard}/2 --output out-{shard}.csv"))).exits(0);
    }
    let merged = place.run("merge out-1.csv out-2.csv").exits(0);
    assert_eq!(merged.column("method_name"), ["seq", "merge"]);
}

/// A file came after the run began, one of the shard has another size, and the row of a method is missing.
#[test]
fn a_shard_that_is_continued_keeps_its_matrices() {
    let place = shards();
    let text = place.read("out-1.csv");
    let own = column(&text, "file");
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    place.write("out-1.csv", format!("{kept}\n"));
    place.write("matrices/new.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n");
    place.write("matrices/m8.mtx", place.read("matrices/m1.mtx"));
    let words = corpus("--shard 1/3 --output out-1.csv --resume").replace("matrices", "./matrices");
    place.run(&words).exits(0).says("shard 1 of 3 began (7 then, 9 now): it keeps its matrices");
    assert_eq!(column(&place.read("out-1.csv"), "file"), own);
    assert_eq!(place.run("merge out-1.csv out-2.csv out-3.csv").exits(0).stderr, "");
}

/// Slurm's variables: the first number of the array, and how many tasks it has.
fn submitted(place: &Dir, task: usize, [first, tasks]: [usize; 2]) -> Ran {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/corpus.sbatch");
    let ran = Command::new(script)
        .args(["matrices", "results", "--quiet"])
        .args(format!("{EXACT} seq,merge").split(' '))
        .current_dir(place.path(""))
        .env("SPMV_BENCH", env!("CARGO_BIN_EXE_spmv-bench"))
        .env("SPMV_BENCH_CACHE", place.path("cache"))
        .env("SLURM_ARRAY_TASK_ID", task.to_string())
        .env("SLURM_ARRAY_TASK_MIN", first.to_string())
        .env("SLURM_ARRAY_TASK_COUNT", tasks.to_string())
        .output();
    Ran::of(ran.unwrap())
}

/// The second task is submitted again alone, once to continue and once because its file was lost.
#[test]
fn a_job_array_measures_all_shards() {
    let place = Dir::with_matrices(&[50, 40, 30]);
    for job in 5..=6 {
        submitted(&place, job, [5, 2]).exits(0);
    }
    submitted(&place, 6, [6, 1]).exits(0);
    place.remove("results/out-2.csv");
    submitted(&place, 6, [6, 1]).exits(0);
    submitted(&place, 7, [7, 1]).exits(2).says("task 7 is none of the 2 tasks from 5 on");
    let merged = place.run("merge results/out-1.csv results/out-2.csv").exits(0);
    assert_eq!(merged.stderr, "");
    assert_eq!(merged.column("file").len(), 6);
}
