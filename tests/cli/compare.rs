use expect_test::expect;

use super::env::{Dir, Ran};
use super::{EXACT, SMALL};

const TIMES: [[f64; 2]; 3] = [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]];

/// Creates a folder with the files a.csv and b.csv, which has these times.
fn both(times_b: [[f64; 2]; 3]) -> Dir {
    let dir = Dir::new(&[]);
    rows(&dir, "a.csv", TIMES);
    rows(&dir, "b.csv", times_b);
    dir
}

/// Writes a file of rows of the matrices a, b and c; `times` are those of seq and merge on each, in ms, ± 1 %.
fn rows(dir: &Dir, name: &str, times: [[f64; 2]; 3]) {
    let mut text = String::from(
        "file,method_name,avg_spmv_ms,precision,device,threads,status,ci95_low_ms,ci95_high_ms,samples,run_id\n",
    );
    for (file, times) in ["a", "b", "c"].iter().zip(times) {
        for (method, ms) in ["seq", "merge"].iter().zip(times) {
            let (low, high) = (0.99 * ms, 1.01 * ms);
            text += &format!("{file}.mtx,{method},{ms},f64,cpu,2,ok,{low},{high},31,{name}\n");
        }
    }
    dir.write(name, text);
}

fn edit(dir: &Dir, name: &str, from: &str, to: &str) {
    let text = dir.read(name);
    assert!(text.contains(from), "{from} in {text}");
    dir.write(name, text.replace(from, to));
}

fn compare(dir: &Dir, options: &str) -> Ran {
    dir.run(&format!("compare DIR/a.csv DIR/b.csv {options}"))
}

/// What a comparison says in which seq is unchanged and nothing else is slower.
const PASSED: &str = "passed; within its interval seq may be 1.01 times as long as in A\n";

#[test]
fn slower_methods_fail_with_fail_above() {
    // seq is unchanged; merge takes 1.1, 1.2 and 1.05 times as long, 1.115 on average.
    let dir = both([[1.0, 1.1], [2.0, 2.4], [4.0, 4.2]]);
    let ran = compare(&dir, "").exits(0);
    assert_eq!(ran.stderr, "");
    let changes: Vec<_> = ran.stdout.lines().filter(|line| line.contains(" merge on ")).collect();
    assert_eq!(changes.concat(), " 1.200 merge on b 1.100 merge on a 1.050 merge on c");
    ran.prints("over all 6 pairs B takes 1.056 times as long as A (1.050 to 1.062): 0 faster, 3 the same, 3 slower, ");
    let ran = compare(&dir, "--fail-above 5%").exits(1);
    expect![[r#"
        slower by more than 5 %: merge: 1.115 (1.106 to 1.124)
        not decided whether slower by more than 5 %: over all: 1.056 (1.050 to 1.062); if that stays so, 4 processes in each run decide
    "#]].assert_eq(&ran.stderr);
    let back = dir.run("compare DIR/b.csv DIR/a.csv --fail-above 5").exits(0);
    assert_eq!(back.stderr, PASSED);
    compare(&dir, "--fail-above 11%").exits(3);
    compare(&dir, "--fail-above 13%").exits(0);
    compare(&dir, "--fail-above 5 --methods seq").exits(0);
    compare(&dir, "--fail-above 5 --methods s*,merge").exits(1);
}

#[test]
fn the_csv_has_a_line_per_row_of_either_file() {
    let dir = &both([[0.5, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    edit(dir, "b.csv", "b.mtx,seq,2,f64,cpu,2,ok", "b.mtx,seq,,f64,cpu,2,wrong");
    edit(dir, "b.csv", "c.mtx,seq", "d/e.mtx,seq");
    edit(dir, "b.csv", "a.mtx,merge", "a.mtx,merge:x=1");
    let ran = compare(dir, "--format csv --methods *").exits(0);
    expect![[r#"
        matrix,method_name,precision,device,threads,transpose,file_a,file_b,status_a,status_b,median_ms_a,median_ms_b,ratio,judgement,reason_a,reason_b
        a,seq,f64,cpu,2,false,a.mtx,a.mtx,ok,ok,1.0,0.5,0.5,faster,,
        a,merge,f64,cpu,2,false,a.mtx,,ok,missing,1.0,,,,,
        b,seq,f64,cpu,2,false,b.mtx,b.mtx,ok,wrong,2.0,,,,,
        b,merge,f64,cpu,2,false,b.mtx,b.mtx,ok,ok,2.0,2.0,1.0,same,,
        c,seq,f64,cpu,2,false,c.mtx,,ok,missing,4.0,,,,,
        c,merge,f64,cpu,2,false,c.mtx,c.mtx,ok,ok,4.0,4.0,1.0,same,,
        a,merge:x=1,f64,cpu,2,false,,a.mtx,missing,ok,,1.0,,,,
        e,seq,f64,cpu,2,false,,d/e.mtx,missing,ok,,4.0,,,,
    "#]].assert_eq(&ran.stdout);
}

#[test]
fn a_row_that_is_no_longer_ok_fails_with_fail_above() {
    let dir = &both(TIMES);
    for status in ["wrong", "failed", "skipped"] {
        rows(dir, "b.csv", TIMES);
        edit(dir, "b.csv", "b.mtx,seq,2,f64,cpu,2,ok", &format!("b.mtx,seq,,f64,cpu,2,{status}"));
        let ran = compare(dir, "--fail-above 5%").exits(1);
        ran.prints(&format!("ok in A, not in B: 1 rows\n  seq on b: {status}\n"));
        assert_eq!(ran.stderr, "1 rows are ok in A but not in B\n");
        compare(dir, "--fail-pair-above 5%").exits(1);
        compare(dir, "").exits(0);
        dir.run("compare DIR/b.csv DIR/a.csv --fail-above 5%")
            .exits(0)
            .prints("ok in B, not in A: 1 rows\n");
    }
}

/// Whatever is not known must not look like a good result.
#[test]
fn what_a_limit_does_not_decide_fails_with_a_status_of_its_own() {
    let dir = both([[9.0, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    edit(&dir, "b.csv", ",8.91,9.09,31,", ",,,1,");
    let ran = compare(&dir, "--fail-above 5%").exits(3);
    ran.prints(" 1 unknown\n");
    let unknown = "rows of fewer than six samples have no interval: measure with --rounds 6 or more\n";
    let undecided = "not decided whether slower by more than 5 %";
    assert_eq!(ran.stderr, format!("{undecided}: seq: 2.080; {unknown}{undecided}: over all: 1.442; {unknown}"));
    compare(&dir, "--fail-above 5% --methods merge").exits(0);
    // Half the interval is 40 % of each time.
    rows(&dir, "b.csv", [[1.5, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    edit(&dir, "a.csv", ",0.99,1.01,31,", ",0.6,1.4,31,");
    let ran = compare(&dir, "--fail-pair-above 20 --methods seq").exits(3);
    expect![[r#"
        not decided whether slower by more than 20 %: seq on a: 1.500 (1.015 to 2.216); if that stays so, 6 processes in each run decide
    "#]].assert_eq(&ran.stderr);
}

/// Three runs of each side in turns, of which the second turn was twice as slow. merge became 10 % slower.
#[test]
fn the_drift_of_runs_in_turns_cancels() {
    let dir = Dir::new(&[]);
    for (run, slow) in [1.0, 2.0, 1.1].iter().enumerate() {
        rows(&dir, &format!("a{run}.csv"), TIMES.map(|times| times.map(|ms| slow * ms)));
        let slower = |[seq, merge]: [f64; 2]| [slow * seq, (1.1 + 0.001 * run as f64) * slow * merge];
        rows(&dir, &format!("b{run}.csv"), TIMES.map(slower));
    }
    let turns = "--fail-above 5% DIR/a0.csv DIR/a1.csv DIR/a2.csv -- DIR/b0.csv DIR/b1.csv DIR/b2.csv";
    let unequal = "--fail-above 5% DIR/a0.csv DIR/a1.csv DIR/a2.csv -- DIR/b0.csv DIR/b1.csv";
    let relative = format!("--relative-to seq {unequal}");
    let mut said = String::new();
    for (options, status) in [(turns, 1), (unequal, 3), (&relative[..], 1)] {
        said += &dir.run(&format!("compare {options}")).exits(status).stderr;
    }
    expect![[r#"
        slower by more than 5 %: merge: 1.101 (1.099 to 1.103)
        not decided whether slower by more than 5 %: over all: 1.049 (1.048 to 1.050); if that stays so, 5 runs of each side decide
        not decided whether slower by more than 5 %: seq: 1.087 (0.081 to 14.624); if that stays so, 266 runs of each side decide
        not decided whether slower by more than 5 %: merge: 1.197 (0.089 to 16.146); if that stays so, 22 runs of each side decide
        not decided whether slower by more than 5 %: over all: 1.141 (0.181 to 7.174); if that stays so, 26 runs of each side decide
        times are relative to seq in the same run
        slower by more than 5 %: merge: 1.100 (1.097 to 1.104)
        slower by more than 5 %: over all: 1.100 (1.097 to 1.104)
    "#]].assert_eq(&said);
}

#[test]
fn the_run_records_are_compared() {
    let dir = &Dir::new(&[("a.mtx", SMALL)]);
    // With the fake clock, every product takes a millisecond, so the intervals have no width.
    dir.run(&format!("--mtx DIR/a.mtx {EXACT} --output DIR/a.csv")).exits(0);
    let with = |from: &str, to: &str| {
        for end in ["", ".run.json"] {
            dir.write(&format!("b.csv{end}"), dir.read(&format!("a.csv{end}")));
        }
        edit(dir, if from.starts_with('"') { "b.csv.run.json" } else { "b.csv" }, from, to);
        compare(dir, "--fail-above 0%")
    };
    for (from, to, refused) in [
        (
            "\"alpha\": 1.0",
            "\"alpha\": 2.0",
            "alpha is 1.0 in the run of DIR/a.csv and 2.0 in that of DIR/b.csv; run one of them again \
             with --alpha as in the other",
        ),
        ("\"beta\": 0.0", "\"beta\": 0.5", "beta is 0.0 in"),
        ("\"expand\": true", "\"expand\": false", "run one of them again with --no-expand as in"),
        (",hot,", ",cold,", "DIR/a.csv contains rows of cache hot, DIR/b.csv of cache cold"),
        (",cpu,1,false,", ",cpu,1,true,", "not transposed in A, transposed in B (--transpose)"),
    ] {
        with(from, to).exits(2).says(refused);
    }
    let ran = with("\"cpu\": \"a CPU\"", "\"cpu\": \"another\"").exits(0);
    let cpu = "cpu is \"a CPU\" in the run of DIR/a.csv and \"another\" in that of DIR/b.csv";
    let passed = PASSED.replace("seq", "over all").replace("1.01", "1.00");
    assert_eq!(ran.stderr, format!("warning: {cpu}\n{passed}"));
    let ran = with("\"run_id\": \"test\"", "\"run_id\": \"other\"");
    let other = "DIR/b.csv.run.json belongs to another run than the rows of DIR/b.csv, and is ignored";
    assert_eq!(ran.stderr, format!("warning: {other}\n{passed}"));
    with("\"run_id\": \"test\"", "").exits(2).says("fix it, or move it away");
    dir.remove("b.csv.run.json");
    assert_eq!(compare(dir, "").stderr, "");
}

#[test]
fn files_that_cannot_be_compared_are_refused_with_the_reason() {
    let dir = Dir::new(&[("notes.csv", "a,b\n1,2\n")]);
    rows(&dir, "a.csv", TIMES);
    let same = "compare DIR/a.csv DIR/a.csv";
    dir.refuses(&[
        ("compare DIR/a.csv DIR/absent.csv", "cannot read "),
        ("compare DIR/a.csv DIR/notes.csv", "notes.csv:1: no column file"),
        (&format!("{same} --methods nosuch"), "--methods: nosuch matches no row; the rows are of merge, seq"),
        (&format!("{same} --relative-to sek"), "--relative-to: sek matches no row; did you mean seq"),
        (&format!("{same} --methods ["), "invalid value '[' for '--methods <A,B>'"),
        (&format!("{same} --fail-above 0.05"), "could mean 0.05% or 5%; write the percent sign"),
        (&format!("{same} --fail-above five"), "it must be a percentage such as 5%"),
        (&format!("{same} --fail-above -5%"), "unexpected argument"),
        (&format!("{same} --fail-above=-5%"), "it must be a percentage"),
        (&format!("{same} --fail-above inf"), "it must be a percentage"),
        ("compare DIR/a.csv", "which files are A, and which B? Two files are A.csv B.csv"),
    ]);
    rows(&dir, "b.csv", [[4.0; 2]; 3]);
    for (files, status) in [("a.csv a.csv", 0), ("a.csv notes.csv", 2), ("a.csv b.csv --fail-above 5%", 1)] {
        dir.program(&format!("compare {files}")).exits(status);
    }
}
