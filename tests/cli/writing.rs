//! Tests of output files: nothing is replaced without `--force`, and the format follows the extension.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;

use super::SMALL;
use super::env::Dir;

const EXACT: &str = "--threads 1 --methods seq,merge --iterations 8 --rounds 1 --no-bandwidth";

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
        let dir = Dir::new(&[("a.mtx", SMALL), (name, "mine\n")]);
        let exact = match words.split(' ').next() {
            Some("generate") => "",
            Some("tune") => "--threads 1 --methods csr2:srs=8 --iterations 1 --no-bandwidth",
            _ => EXACT,
        };
        let refused = format!("{name} already exists: name another file, or replace it with --force");
        dir.refuses(&[(&format!("{words} {exact}"), &refused)]);
        assert_eq!((&*dir.read(name), dir.count()), ("mine\n", 2), "{words}");
        dir.run(&format!("{words} {exact} --force")).exits(0);
        assert!(!dir.read(name).contains("mine"), "{words}");
    }
}

/// The result file of a corpus is continued or replaced, but never mixed with a table.
#[test]
fn results_are_not_replaced_by_a_table() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let corpus = format!("corpus DIR/a.mtx -o DIR/all.csv {EXACT}");
    dir.run(&corpus).exits(0);
    let before = ["all.csv", "all.csv.run.json"].map(|name| dir.read(name));
    dir.refuses(&[
        (&format!("--mtx DIR/a.mtx -o DIR/all.csv {EXACT}"), "all.csv already exists"),
        (&corpus, "all.csv already has results: continue with --resume"),
        (&format!("{corpus} --resume --force"), "cannot be used with"),
    ]);
    assert_eq!(["all.csv", "all.csv.run.json"].map(|name| dir.read(name)), before);
    dir.run(&format!("{corpus} --force --warmups 9")).exits(0);
    assert_eq!(dir.read("all.csv").lines().count(), 3);
}

/// Not even with --force, because the input would be destroyed before the output is complete.
#[test]
fn an_input_file_is_not_overwritten() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    std::os::unix::fs::symlink("a.mtx", dir.path("link.mtx")).unwrap();
    let input = "is an input file: use another output file";
    let measured = "a.mtx is a matrix that is measured";
    let different = "--run-record and --output need different files";
    for (words, message) in [
        ("generate DIR/a.mtx -o DIR/a.mtx --force", input),
        ("generate DIR/a.mtx -o DIR/link.mtx --force", input),
        ("--mtx DIR/a.mtx --output DIR/./a.mtx --force", measured),
        ("--mtx DIR/a.mtx --run-record DIR/link.mtx --force", measured),
        ("corpus DIR --output DIR/link.mtx --force", measured),
        ("corpus DIR/a.mtx --output DIR/out.csv --run-record DIR/a.mtx --force", measured),
        ("corpus DIR --output DIR/out.csv --run-record DIR/./out.csv", different),
        ("tune csr-k DIR --output DIR/a.mtx --force", measured),
    ] {
        dir.refuses(&[(words, message)]);
        assert_eq!((dir.read("a.mtx"), dir.count()), (SMALL.into(), 2), "{words}");
    }
}

#[test]
fn the_format_follows_the_extension() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    for (name, beginning) in [
        ("a.csv", "file,num_rows,"),
        ("a.json", "{\"file\":"),
        ("a.txt", &*dir.words("DIR/a.mtx (loaded")),
        ("a.md", &*dir.words("## DIR/a.mtx\n")),
    ] {
        for verb in ["--mtx", "corpus"] {
            let ran = dir.run(&format!("{verb} DIR/a.mtx -o DIR/{verb}-{name} {EXACT}"));
            assert_eq!(ran.exits(0).stdout, "");
            let text = dir.read(&format!("{verb}-{name}"));
            assert!(text.starts_with(beginning), "{verb} {name}: {text}");
        }
    }
    let table = dir.read("corpus-a.md");
    assert!(table.contains("\n| method | result | setup ms | median ms | "), "{table}");
    assert!(table.contains("\n| seq    | PASS   |   1.0000 |   1.00000 | "), "{table}");
    let message = "b.csv has the extension of csv, but --format is json: change one of them";
    dir.refuses(&[(&format!("--mtx DIR/a.mtx -o DIR/b.csv --format json {EXACT}"), message)]);
}

#[test]
fn a_generated_file_is_compressed_if_its_name_ends_in_gz() {
    let dir = Dir::new(&[]);
    for name in ["a.mtx", "a.mtx.gz"] {
        dir.run(&format!("generate gen:wheel,spokes=5 -o DIR/{name}")).exits(0);
    }
    let mut text = String::new();
    let compressed = fs::File::open(dir.path("a.mtx.gz")).unwrap();
    GzDecoder::new(compressed).read_to_string(&mut text).unwrap();
    assert_eq!(text, dir.read("a.mtx"));
    dir.run(&format!("--mtx DIR/a.mtx.gz {EXACT}")).exits(0);
}

#[test]
fn a_run_that_cannot_begin_leaves_no_file() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let [long, too_long] = [246, 256].map(|bytes| "a".repeat(bytes));
    for (words, message) in [
        ("corpus DIR/a.mtx -o DIR/out.csv --methods csr", "there is no method 'csr'"),
        ("corpus DIR/a.mtx -o DIR/out.csv --resume --methods csr", "there is no method 'csr'"),
        ("corpus DIR/a.mtx -o DIR/out.csv --plugin DIR/a.mtx", "--plugin: "),
        ("tune csr-k DIR/a.mtx -o DIR/out.csv --methods merge", "needs a method with"),
        (&format!("corpus DIR/a.mtx -o DIR/{long}.csv"), " bytes is too long: names have up to "),
        (&format!("corpus DIR/a.mtx -o DIR/{long}.csv --resume"), " bytes is too long: names "),
        (&format!("DIR/a.mtx -o DIR/{too_long}"), " bytes is too long: names have up to "),
        (&format!("generate gen:wheel,spokes=5 -o DIR/{long}.mtx"), " bytes is too long: names "),
        (&format!("corpus DIR/a.mtx {EXACT} -o /dev/full --format csv"), "cannot write /dev/full: "),
        (&format!("corpus DIR/a.mtx {EXACT} -o /dev/full --format json"), "cannot write /dev/full: "),
        (&format!("DIR/a.mtx {EXACT} -o /dev/full --format text"), "cannot write /dev/full: "),
    ] {
        dir.refuses(&[(words, message)]);
        assert_eq!(dir.count(), 1, "{words}");
    }
    dir.write("out.csv", "");
    dir.refuses(&[("corpus DIR/a.mtx -o DIR/out.csv --methods csr", "there is no method 'csr'")]);
    assert_eq!(dir.read("out.csv"), "", "it was there before");
}
