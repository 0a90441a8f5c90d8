//! Tests of the command `compare`.

use std::fs;
use std::path::Path;

use expect_test::expect;
use spmv_bench::cli::CommandStatus;

use super::env::{Ran, program, run};
use super::{EXACT, SMALL, check, folder};

/// Measures a matrix with the fake clock: every product takes a millisecond, so the intervals have no width.
fn measure(dir: &Path, name: &str, options: &str) {
    let out = dir.join(name);
    let words = format!("--mtx {}/a.mtx {EXACT} {options}", dir.display());
    let ran = run(&format!("{words} --format csv --output {}", out.display()));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
}

/// Writes a file of rows of the matrices a, b and c; `times` are those of seq and merge on each, in ms, ± 1 %.
fn rows(dir: &Path, name: &str, times: [[f64; 2]; 3]) {
    let mut text = String::from(
        "file,method_name,avg_spmv_ms,precision,device,threads,status,ci95_low_ms,ci95_high_ms,samples,run_id\n",
    );
    for (file, times) in ["a", "b", "c"].iter().zip(times) {
        for (method, ms) in ["seq", "merge"].iter().zip(times) {
            let (low, high) = (0.99 * ms, 1.01 * ms);
            text += &format!("{file}.mtx,{method},{ms},f64,cpu,2,ok,{low},{high},31,{name}\n");
        }
    }
    fs::write(dir.join(name), text).unwrap();
}

fn edit(dir: &Path, name: &str, from: &str, to: &str) {
    let text = fs::read_to_string(dir.join(name)).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(dir.join(name), text.replace(from, to)).unwrap();
}

fn compare(dir: &Path, names: &str, options: &str) -> Ran {
    let files: Vec<_> = names.split(' ').map(|name| dir.join(name).display().to_string()).collect();
    run(&format!("compare {} {options}", files.join(" ")))
}

#[test]
fn a_file_is_the_same_as_itself() {
    let dir = folder(&[("a.mtx", SMALL)]);
    let dir = dir.path();
    measure(dir, "r.csv", "--precision f32,f64");
    let ran = compare(dir, "r.csv r.csv", "--fail-above 0%");
    assert_eq!((ran.result, ran.stderr), (Ok(CommandStatus::Ok), String::new()));
    check(
        &ran.stdout,
        dir,
        expect![[r#"
            A: DIR/r.csv
            B: DIR/r.csv

            B/A: B's median time per product over A's; above 1 B is slower
            ────────────────────────────────────────────────────────────────────────────────────────────
             method         pairs   faster   same   slower     B/A   95 % interval    lowest    highest
            ════════════════════════════════════════════════════════════════════════════════════════════
             seq f64            1        0      1        0   1.000   1.000 to 1.000   1.000 a   1.000 a
             csr-rows f64       1        0      1        0   1.000   1.000 to 1.000   1.000 a   1.000 a
             merge f64          1        0      1        0   1.000   1.000 to 1.000   1.000 a   1.000 a
             seq f32            1        0      1        0   1.000   1.000 to 1.000   1.000 a   1.000 a
             csr-rows f32       1        0      1        0   1.000   1.000 to 1.000   1.000 a   1.000 a
             merge f32          1        0      1        0   1.000   1.000 to 1.000   1.000 a   1.000 a
            ────────────────────────────────────────────────────────────────────────────────────────────

            over all 6 pairs B takes 1.000 times as long as A (1.000 to 1.000): 0 faster, 6 the same, 0 slower, 0 unknown
        "#]],
    );
}

#[test]
fn slower_methods_fail_with_fail_above() {
    let dir = folder(&[]);
    let dir = dir.path();
    rows(dir, "a.csv", [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    // seq is unchanged; merge takes 1.1, 1.2 and 1.05 times as long, 1.115 on average.
    rows(dir, "b.csv", [[1.0, 1.1], [2.0, 2.4], [4.0, 4.2]]);
    let ran = compare(dir, "a.csv b.csv", "");
    assert_eq!((&ran.result, &ran.stderr[..]), (&Ok(CommandStatus::Ok), ""));
    check(
        &ran.stdout,
        dir,
        expect![[r#"
            A: DIR/a.csv
            B: DIR/b.csv

            B/A: B's median time per product over A's; above 1 B is slower
            ──────────────────────────────────────────────────────────────────────────────────────
             method   pairs   faster   same   slower     B/A   95 % interval    lowest    highest
            ══════════════════════════════════════════════════════════════════════════════════════
             seq          3        0      3        0   1.000   0.992 to 1.008   1.000 a   1.000 c
             merge        3        0      0        3   1.115   1.106 to 1.124   1.050 c   1.200 b
            ──────────────────────────────────────────────────────────────────────────────────────

            the largest changes
            ───────────────────────────────────────────
             slower in B, by B/A   faster in B, by B/A
            ═══════════════════════════════════════════
             1.200 merge on b
             1.100 merge on a
             1.050 merge on c
            ───────────────────────────────────────────

            over all 6 pairs B takes 1.056 times as long as A (1.050 to 1.062): 0 faster, 3 the same, 3 slower, 0 unknown
        "#]],
    );
    let ran = compare(dir, "a.csv b.csv", "--fail-above 5%");
    assert_eq!(ran.result, Ok(CommandStatus::Bad));
    expect![[r#"
        slower by more than 5 %: merge: 1.115 (1.106 to 1.124)
    "#]]
    .assert_eq(&ran.stderr);
    let back = compare(dir, "b.csv a.csv", "--fail-above 5");
    assert_eq!((back.result, back.stderr), (Ok(CommandStatus::Ok), String::new()));
    for (options, verdict) in [
        ("--fail-above 11%", CommandStatus::Ok),
        ("--fail-above 5 --methods seq", CommandStatus::Ok),
        ("--fail-above 5 --methods s*,merge", CommandStatus::Bad),
    ] {
        assert_eq!(compare(dir, "a.csv b.csv", options).result, Ok(verdict), "{options}");
    }
}

#[test]
fn the_csv_has_a_line_per_row_of_either_file() {
    let dir = folder(&[]);
    let dir = dir.path();
    rows(dir, "a.csv", [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    rows(dir, "b.csv", [[0.5, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    edit(dir, "b.csv", "b.mtx,seq,2,f64,cpu,2,ok", "b.mtx,seq,,f64,cpu,2,wrong");
    edit(dir, "b.csv", "c.mtx,seq", "d/e.mtx,seq");
    edit(dir, "b.csv", "a.mtx,merge", "a.mtx,merge:x=1");
    let ran = compare(dir, "a.csv b.csv", "--format csv --methods *");
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
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
    let dir = folder(&[]);
    let dir = dir.path();
    let times = [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]];
    rows(dir, "a.csv", times);
    for status in ["wrong", "failed", "skipped"] {
        rows(dir, "b.csv", times);
        edit(dir, "b.csv", "b.mtx,seq,2,f64,cpu,2,ok", &format!("b.mtx,seq,,f64,cpu,2,{status}"));
        let ran = compare(dir, "a.csv b.csv", "--fail-above 5%");
        assert_eq!(ran.result, Ok(CommandStatus::Bad));
        let expected = format!("ok in A, not in B: 1 rows\n  seq on b: {status}\n");
        assert!(ran.stdout.contains(&expected), "{}", ran.stdout);
        assert_eq!(ran.stderr, "1 rows are ok in A but not in B\n");
        assert_eq!(
            compare(dir, "a.csv b.csv", "").result,
            Ok(CommandStatus::Ok),
            "without --fail-above"
        );
        let back = compare(dir, "b.csv a.csv", "--fail-above 5%");
        assert_eq!(back.result, Ok(CommandStatus::Ok));
        assert!(back.stdout.contains("ok in B, not in A: 1 rows\n"), "{}", back.stdout);
    }
}

/// A warning names the means that cannot be judged, so that exit status 0 is not mistaken for a good result.
#[test]
fn single_samples_are_not_judged() {
    let dir = folder(&[]);
    let dir = dir.path();
    rows(dir, "a.csv", [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    rows(dir, "b.csv", [[9.0, 1.0], [2.0, 2.0], [4.0, 4.0]]);
    edit(dir, "b.csv", ",8.91,9.09,31,", ",,,1,");
    let ran = compare(dir, "a.csv b.csv", "--fail-above 5%");
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    assert!(ran.stdout.contains(" 1 unknown\n"), "{}", ran.stdout);
    let warning = "warning: not judged: seq, over all (rows of fewer than six samples have no \
                   interval; measure with --rounds 6 or more)\n";
    assert_eq!(ran.stderr, warning);
}

#[test]
fn the_run_records_are_compared() {
    let dir = folder(&[("a.mtx", SMALL)]);
    let dir = dir.path();
    measure(dir, "a.csv", "");
    let with = |from: &str, to: &str| {
        for end in ["", ".run.json"] {
            fs::copy(dir.join(format!("a.csv{end}")), dir.join(format!("b.csv{end}"))).unwrap();
        }
        edit(dir, if from.starts_with('"') { "b.csv.run.json" } else { "b.csv" }, from, to);
        compare(dir, "a.csv b.csv", "--fail-above 0%")
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
        let error = with(from, to).result.unwrap_err().replace(dir.to_str().unwrap(), "DIR");
        assert!(error.contains(refused), "{to}: {error}");
    }
    let ran = with("\"cpu\": \"a CPU\"", "\"cpu\": \"another\"");
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    check(
        &ran.stderr,
        dir,
        expect![[r#"
            warning: cpu is "a CPU" in the run of DIR/a.csv and "another" in that of DIR/b.csv
        "#]],
    );
    let ran = with("\"run_id\": \"test\"", "\"run_id\": \"other\"");
    check(
        &ran.stderr,
        dir,
        expect![[r#"
            warning: DIR/b.csv.run.json belongs to another run than the rows of DIR/b.csv, and is ignored
        "#]],
    );
    assert!(
        with("\"run_id\": \"test\"", "").result.unwrap_err().contains("fix it, or move it away")
    );
    fs::remove_file(dir.join("b.csv.run.json")).unwrap();
    assert_eq!(compare(dir, "a.csv b.csv", "").stderr, "");
}

#[test]
fn files_that_cannot_be_compared_are_refused_with_the_reason() {
    let dir = folder(&[("notes.csv", "a,b\n1,2\n")]);
    let dir = dir.path();
    rows(dir, "a.csv", [[1.0; 2]; 3]);
    for (names, options, expected) in [
        ("a.csv absent.csv", "", "cannot read "),
        ("a.csv notes.csv", "", "notes.csv:1: no column file"),
        (
            "a.csv a.csv",
            "--methods nosuch",
            "--methods nosuch: neither file has a matching row; the files have rows of merge, seq",
        ),
        ("a.csv a.csv", "--methods [", "invalid value '[' for '--methods <A,B>'"),
        ("a.csv a.csv", "--fail-above 0.05", "it could mean 0.05% or 5%; write the percent sign"),
        ("a.csv a.csv", "--fail-above five", "it must be a percentage such as 5%"),
        ("a.csv a.csv", "--fail-above -5%", "unexpected argument"),
        ("a.csv a.csv", "--fail-above=-5%", "it must be a percentage"),
        ("a.csv a.csv", "--fail-above inf", "it must be a percentage"),
        ("a.csv", "", "required arguments were not provided"),
    ] {
        let message = compare(dir, names, options).result.unwrap_err();
        assert!(message.contains(expected), "{names} {options}: {message}");
    }
    let path = dir.display();
    let status = |words: &str| program(&format!("compare {path}/a.csv {words}")).status.code();
    assert_eq!(status(&format!("{path}/a.csv")), Some(0));
    assert_eq!(status(&format!("{path}/notes.csv")), Some(2));
    rows(dir, "b.csv", [[2.0; 2]; 3]);
    assert_eq!(status(&format!("{path}/b.csv --fail-above 5%")), Some(1));
}
