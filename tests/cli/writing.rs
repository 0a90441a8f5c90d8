//! Tests of output files: nothing is replaced without `--force`, and the format follows the extension.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use spmv_bench::cli::CommandStatus;
use tempfile::TempDir;

use super::env::{Ran, run};
use super::{SMALL, folder};

const EXACT: &str = "--threads 1 --methods seq,merge --iterations 8 --rounds 1 --no-bandwidth";

/// Runs a command after replacing `DIR` by the folder.
fn run_in(dir: &TempDir, words: &str) -> Ran {
    run(&words.replace("DIR", &dir.path().display().to_string()))
}

fn read(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).unwrap()
}

#[test]
fn no_command_replaces_a_file_without_force() {
    for (words, name) in [
        ("--mtx DIR/a.mtx -o DIR/there.csv", "there.csv"),
        ("--mtx DIR/a.mtx --run-record DIR/there.json", "there.json"),
        ("--mtx DIR/a.mtx -o DIR/new.csv", "new.csv.run.json"),
        ("corpus DIR/a.mtx -o DIR/there.txt", "there.txt"),
        ("corpus DIR/a.mtx -o DIR/there.md", "there.md"),
        ("corpus DIR/a.mtx -o DIR/new.csv", "new.csv.run.json"),
        ("tune csr-k DIR/a.mtx -o DIR/there.csv", "there.csv"),
        ("generate gen:wheel,spokes=5 -o DIR/there.mtx", "there.mtx"),
    ] {
        let dir = folder(&[("a.mtx", SMALL), (name, "mine\n")]);
        let exact = match words.split(' ').next() {
            Some("generate") => "",
            Some("tune") => "--threads 1 --methods csr2:srs=8 --iterations 1 --no-bandwidth",
            _ => EXACT,
        };
        let refused = run_in(&dir, &format!("{words} {exact}")).result.unwrap_err();
        let expected =
            format!("{name} already exists: name another file, or replace it with --force");
        assert!(refused.ends_with(&expected), "{words}: {refused}");
        assert_eq!(read(&dir, name), "mine\n", "{words}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "{words}");
        let ran = run_in(&dir, &format!("{words} {exact} --force"));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{words}: {ran:?}");
        assert!(!read(&dir, name).contains("mine"), "{words}");
    }
}

/// The result file of a corpus is continued or replaced, but never mixed with a table.
#[test]
fn results_are_not_replaced_by_a_table() {
    let dir = folder(&[("a.mtx", SMALL)]);
    assert_eq!(
        run_in(&dir, &format!("corpus DIR/a.mtx -o DIR/all.csv {EXACT}")).result,
        Ok(CommandStatus::Ok)
    );
    let before = [read(&dir, "all.csv"), read(&dir, "all.csv.run.json")];
    let refused =
        run_in(&dir, &format!("--mtx DIR/a.mtx -o DIR/all.csv {EXACT}")).result.unwrap_err();
    assert!(refused.contains("all.csv already exists"), "{refused}");
    let refused =
        run_in(&dir, &format!("corpus DIR/a.mtx -o DIR/all.csv {EXACT}")).result.unwrap_err();
    assert!(refused.contains("all.csv already has results: continue with --resume"), "{refused}");
    assert_eq!([read(&dir, "all.csv"), read(&dir, "all.csv.run.json")], before);
    let both = run_in(&dir, &format!("corpus DIR/a.mtx -o DIR/all.csv {EXACT} --resume --force"));
    assert!(both.result.is_err());
    let ran = run_in(&dir, &format!("corpus DIR/a.mtx -o DIR/all.csv {EXACT} --force --warmups 9"));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    assert_eq!(read(&dir, "all.csv").lines().count(), 3);
}

/// Not even with --force, because the input would be destroyed before the output is complete.
#[test]
fn an_input_file_is_not_overwritten() {
    let dir = folder(&[("a.mtx", SMALL)]);
    std::os::unix::fs::symlink("a.mtx", dir.path().join("link.mtx")).unwrap();
    for name in ["a.mtx", "link.mtx"] {
        let refused = run_in(&dir, &format!("generate DIR/a.mtx -o DIR/{name} --force")).result;
        assert!(
            refused.unwrap_err().ends_with("is an input file: use another output file"),
            "{name}"
        );
        assert_eq!(read(&dir, "a.mtx"), SMALL);
    }
}

#[test]
fn the_format_follows_the_extension() {
    let dir = folder(&[("a.mtx", SMALL)]);
    for (name, beginning) in [
        ("a.csv", "file,num_rows,"),
        ("a.json", "{\"file\":"),
        ("a.txt", &*format!("{}/a.mtx (loaded", dir.path().display())),
        ("a.md", &*format!("## {}/a.mtx\n", dir.path().display())),
    ] {
        for verb in ["--mtx", "corpus"] {
            let ran = run_in(&dir, &format!("{verb} DIR/a.mtx -o DIR/{verb}-{name} {EXACT}"));
            assert_eq!((&ran.result, &*ran.stdout), (&Ok(CommandStatus::Ok), ""), "{ran:?}");
            let text = read(&dir, &format!("{verb}-{name}"));
            assert!(text.starts_with(beginning), "{verb} {name}: {text}");
        }
    }
    let table = read(&dir, "corpus-a.md");
    assert!(table.contains("\n| method | result | setup ms | median ms | "), "{table}");
    assert!(table.contains("\n| seq    | PASS   |   1.0000 |   1.00000 | "), "{table}");
    let ran = run_in(&dir, &format!("--mtx DIR/a.mtx -o DIR/b.csv --format json {EXACT}"));
    let message = "b.csv has the extension of csv, but --format is json: change one of them";
    assert!(ran.result.unwrap_err().ends_with(message));
}

#[test]
fn a_generated_file_is_compressed_if_its_name_ends_in_gz() {
    let dir = folder(&[]);
    for name in ["a.mtx", "a.mtx.gz"] {
        let ran = run_in(&dir, &format!("generate gen:wheel,spokes=5 -o DIR/{name}"));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    }
    let mut text = String::new();
    let packed = fs::File::open(dir.path().join("a.mtx.gz")).unwrap();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    assert_eq!(text, read(&dir, "a.mtx"));
    assert_eq!(run_in(&dir, &format!("--mtx DIR/a.mtx.gz {EXACT}")).result, Ok(CommandStatus::Ok));
}
