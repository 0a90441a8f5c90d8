//! Tests of stand-ins and other sources of matrices.

use std::fs;
use std::path::Path;

use spmv_bench::cli::CommandStatus;

use crate::env::run;
use crate::{EXACT, SMALL, folder};

const MATRICES: &str = r#"
[[matrix]]
id = "S/grid"
rows = 9
cols = 9
nnz = 24
kind = "k"
stand-in = "gen:grid2d,n=3"

[[matrix]]
id = "S/wheel"
rows = 4
cols = 4
nnz = 6
kind = "k"
stand-in = "gen:wheel,spokes=3"

[[matrix]]
id = "S/none"
rows = 4
cols = 4
nnz = 6
kind = "k"

[[matrix]]
id = "S/ring"
rows = 4
cols = 4
nnz = 6
kind = "k"
stand-in = "gen:ring"

[set.two]
source = "this test"
members = ["S/wheel", "S/grid"]

[set.lacking]
source = "this test"
members = ["S/wheel", "S/none"]

[set.nothing]
source = "this test"
filter = "rows > 1e15"
"#;

#[test]
fn stand_ins_are_named_one_by_one_or_by_set() {
    let dir = folder(&[("my.toml", MATRICES)]);
    let datasets = format!("--datasets {}/my.toml", dir.path().display());
    let csv = format!("{datasets} {EXACT} --format csv");
    let one = run(&format!("--mtx stand-in:S/grid {csv}"));
    assert_eq!(one.result, Ok(CommandStatus::Ok), "{one:?}");
    assert!(one.stdout.contains("\nstand-in:S/grid,9,9,24,"), "{one:?}");
    let both = run(&format!("corpus stand-in:two {csv}"));
    assert_eq!(both.result, Ok(CommandStatus::Ok), "{both:?}");
    let names = both.stdout.lines().filter_map(|line| line.split(',').next());
    let mut names: Vec<_> = names.collect();
    names.dedup();
    assert_eq!(names, ["file", "stand-in:S/wheel", "stand-in:S/grid"]);
}

#[test]
fn matrices_without_a_stand_in_are_reported() {
    let dir = folder(&[("my.toml", MATRICES)]);
    let datasets = format!("--datasets {}/my.toml {EXACT}", dir.path().display());
    for (words, expected) in [
        ("--mtx stand-in:S/none", "S/none has no stand-in: "),
        ("corpus stand-in:lacking", "S/none has no stand-in: "),
        ("--mtx stand-in:S/ring", "the stand-in of S/ring"),
        (
            "--mtx stand-in:S/other",
            "stand-in:S/other: there is no set with matrices of this name, and no such",
        ),
        (
            "corpus stand-in:nothing",
            "stand-in:nothing: there is no set with matrices of this name, and no such",
        ),
        ("--mtx stand-in:two", "stand-in:two selects 2 matrices; `spmv-bench corpus stand-in:two`"),
    ] {
        let message = run(&format!("{words} {datasets}")).result.unwrap_err();
        assert!(message.starts_with(expected), "{words}: {message}");
    }
}

#[test]
fn files_folders_and_generators_may_be_mixed() {
    let dir = folder(&[("a.mtx", SMALL)]);
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    std::fs::write(dir.path().join("sub/b.mtx"), SMALL).unwrap();
    let words = "gen:grid2d,n=3 DIR/a.mtx DIR/sub".replace("DIR", dir.path().to_str().unwrap());
    let ran = run(&format!("corpus {words} {EXACT} --format json"));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    let reports = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let files =
        reports.map(|report: serde_json::Value| report["file"].as_str().unwrap().to_owned());
    let files: Vec<_> = files.map(|file| file.rsplit('/').next().unwrap().to_owned()).collect();
    assert_eq!(files, ["gen:grid2d,n=3", "a.mtx", "b.mtx"]);
}

/// Creates the collection's folders of two groups with a matrix of the same name, of which one has more rows.
fn collection(dir: &Path) {
    for (group, text) in [("G1", SMALL.to_owned()), ("G2", SMALL.replace("\n3 4 4\n", "\n5 4 4\n"))]
    {
        let folder = dir.join("MM").join(group).join("tiny");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("tiny.mtx"), &text).unwrap();
        fs::write(folder.join("tiny_b.mtx"), &text).unwrap();
    }
}

/// Matrices of different groups may have the same name. Copies of their folder are compared by the paths below it.
#[test]
fn equal_names_in_different_groups_are_different_matrices() {
    let dir = folder(&[]);
    let path = |name: &str| dir.path().join(name).display().to_string();
    for copy in ["a", "copies/b"] {
        collection(&dir.path().join(copy));
    }
    for (name, words) in [
        ("a.csv", format!("corpus {0} {0}/.", path("a/MM"))),
        ("b.csv", format!("corpus {}", path("copies/b/MM"))),
        ("one.csv", path("copies/b/MM/G2/tiny/tiny.mtx")),
        ("share-1.csv", format!("corpus {} --shard 1/2", path("a/MM"))),
        ("share-2.csv", format!("corpus {} --shard 2/2", path("a/MM"))),
    ] {
        let ran = run(&format!("{words} {EXACT} --no-bandwidth --format csv -o {}", path(name)));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
        let left_out = ran.stderr.matches("left out: ").count();
        assert_eq!(left_out, usize::from(words.starts_with("corpus")), "{ran:?}");
    }
    for words in ["a.csv", "b.csv", "a.csv b.csv one.csv", "share-1.csv share-2.csv"] {
        let files: Vec<_> = words.split(' ').map(path).collect();
        let page = path("report.html");
        let ran = run(&format!("report {} -o {page} --force", files.join(" ")));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains(": 2 matrices, 3 methods."), "{words}");
        assert!(["G1/tiny", "G2/tiny"].iter().all(|name| page.contains(name)), "{words}");
    }
    for (b, pairs) in [("b.csv", &["G1/tiny", "G2/tiny"][..]), ("one.csv", &["G2/tiny"])] {
        let ran = run(&format!("compare {} {} --format csv", path("a.csv"), path(b)));
        let paired =
            ran.stdout.lines().filter(|line| line.contains(",seq,") && line.contains(",ok,ok,"));
        let mut paired: Vec<_> = paired.filter_map(|line| line.split(',').next()).collect();
        paired.sort_unstable();
        assert_eq!(paired, pairs, "{ran:?}");
    }
    let named = path("a/MM/G1/tiny/tiny_b.mtx");
    let ran = run(&format!("corpus {} {named} {EXACT} --format csv", path("a/MM")));
    assert!(ran.stdout.contains(&format!("\n{named},")), "{ran:?}");
    let left_out = format!("left out: 1 companion of a matrix ({})\n", named.replace("G1", "G2"));
    assert!(ran.stderr.contains(&left_out), "{ran:?}");
}

/// In a folder with `ufl_mtx`, a downloaded matrix can be named as in the collection. For other matrices, the message
/// shows how to download them.
#[test]
fn a_matrix_of_the_collection_is_named_by_group_and_name() {
    let dir = folder(&[]);
    std::fs::create_dir(dir.path().join("ufl_mtx")).unwrap();
    std::fs::write(dir.path().join("ufl_mtx/west0479.mtx"), SMALL).unwrap();
    let run = |words: &str| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_spmv-bench"));
        program.current_dir(&dir).args(words.split(' ')).args(EXACT.split(' '));
        let output = program.args(["--format", "csv", "--no-cache", "--quiet"]).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    for words in ["HB/west0479", "--mtx HB/west0479", "corpus HB/west0479"] {
        let (status, rows, _) = run(words);
        assert!(
            status == Some(0) && rows.contains("\nufl_mtx/west0479.mtx,3,4,4,"),
            "{words}: {rows}"
        );
    }
    for (words, mend) in [
        ("Williams/cant", "nor is it in ufl_mtx; `spmv-bench fetch Williams/cant` downloads it"),
        ("corpus Williams/cnat", "there is no such file or folder; did you mean Williams/cant"),
        (
            "X/unheard-of",
            "if it is a matrix of the SuiteSparse Matrix Collection, `spmv-bench fetch",
        ),
        ("csrk-64", "`spmv-bench fetch csrk-64` downloads the matrices of this set"),
    ] {
        let (status, _, message) = run(words);
        assert!(status == Some(2) && message.contains(mend), "{words}: {message}");
    }
}
