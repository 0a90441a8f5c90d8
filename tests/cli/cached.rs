//! Tests of the cache of parsed matrices, and of archives.

use std::fs::{self, File};
use std::path::Path;

use spmv_bench::cli::CommandStatus;

use crate::env::{Ran, run, run_keeping};
use crate::{EXACT, SMALL, folder};

fn corpus(dir: &Path, more: &str) -> Ran {
    let words = format!("corpus {} {EXACT} --format json {more}", dir.display());
    let ran = run_keeping(&words, &dir.join("cache"));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    ran
}

fn from_cache(ran: &Ran) -> Vec<bool> {
    let reports = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    reports.map(|report: serde_json::Value| report["from_cache"] == true).collect()
}

/// Returns the reported values of each matrix, except times.
fn facts(ran: &Ran) -> Vec<serde_json::Value> {
    let of = |line: &str| {
        let report: serde_json::Value = serde_json::from_str(line).unwrap();
        let keys = ["file", "rows", "cols", "nnz", "row_length", "pattern_symmetry", "duplicates"];
        keys.map(|key| report.get(key).unwrap_or_else(|| panic!("{key}")).clone()).into()
    };
    ran.stdout.lines().map(of).collect()
}

#[test]
fn a_corpus_is_parsed_once() {
    let dir = folder(&[("a.mtx", SMALL), ("b.mtx", &SMALL.replace("3 4 4", "3 5 4"))]);
    let first = corpus(dir.path(), "");
    let second = corpus(dir.path(), "");
    assert_eq!((from_cache(&first), from_cache(&second)), (vec![false; 2], vec![true; 2]));
    assert_eq!(facts(&first), facts(&second));
    assert_eq!(from_cache(&corpus(dir.path(), "--no-cache")), [false; 2]);
    fs::write(dir.path().join("b.mtx"), SMALL).unwrap();
    assert_eq!(from_cache(&corpus(dir.path(), "")), [true, false]);
}

#[test]
fn a_damaged_entry_is_reported() {
    let dir = folder(&[("a.mtx", SMALL)]);
    corpus(dir.path(), "");
    let entry = dir.path().join("cache").read_dir().unwrap().next().unwrap().unwrap().path();
    fs::write(&entry, "x").unwrap();
    let ran = corpus(dir.path(), "");
    let copy = entry.display();
    let note = format!(
        "a.mtx: the file was read again, because its cached copy {copy} is damaged or of another version"
    );
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
}

#[test]
fn the_cache_is_listed_and_cleared() {
    let dir = folder(&[("a.mtx", SMALL), ("b.mtx", SMALL)]);
    let (cache, path) = (dir.path().join("cache"), dir.path().join("a.mtx"));
    let verb = |verb: &str| {
        let ran = run_keeping(&format!("cache {verb}"), &cache);
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
        (ran.stdout, ran.stderr)
    };
    assert!(verb("list").1.starts_with("0 entries, 0.0 MB stored in "));
    corpus(dir.path(), "");
    let (list, summary) = verb("list");
    assert!(list.lines().any(|line| line.ends_with(path.to_str().unwrap())), "{list}");
    assert!(summary.starts_with("2 entries, "), "{summary}");
    fs::remove_file(&path).unwrap();
    assert!(
        verb("list").0.contains(&format!("{} (has changed or no longer exists)", path.display()))
    );
    assert!(verb("clear --stale").1.starts_with("1 entries, "));
    assert!(verb("list").0.contains("b.mtx"));
    assert!(verb("clear").1.starts_with("1 entries, "));
    assert_eq!(verb("list").0, "");
    assert!(run("cache list").result.unwrap_err().contains("there is no cache folder"));
}

/// The cache folder may contain files of the user: `SPMV_BENCH_CACHE=~` with matrices in `~/matrices`.
#[test]
fn only_the_program_s_own_files_are_cleared() {
    let dir = folder(&[("a.mtx", SMALL)]);
    let cache = dir.path().join("cache");
    corpus(dir.path(), "");
    let entry = cache.read_dir().unwrap().next().unwrap().unwrap().path();
    let partial = |process: u32| {
        let path = cache.join(format!("{}.{process}-aB3", entry.file_name().unwrap().display()));
        fs::write(&path, "half").unwrap();
        path
    };
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let (of_dead, of_living) = (partial(child.id()), partial(std::process::id()));
    let mine =
        ["thesis.mtx", "0123.csv", &"f".repeat(63), "sub/paper.tex"].map(|name| cache.join(name));
    fs::create_dir(cache.join("sub")).unwrap();
    mine.iter().for_each(|path| fs::write(path, "mine").unwrap());
    let clear = || run_keeping("cache clear", &cache);
    let ran = clear();
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    assert!(ran.stderr.starts_with("1 entries, "), "{}", ran.stderr);
    let others = "4 other files or folders do not belong to this program and are not changed\n";
    assert!(ran.stderr.ends_with(others), "{}", ran.stderr);
    assert!(ran.stderr.contains("\n1 unfinished files of interrupted processes, 0.0 MB cleared\n"));
    assert!(mine.iter().all(|path| fs::read(path).unwrap() == b"mine"));
    assert_eq!([&entry, &of_dead, &of_living].map(|path| path.exists()), [false, false, true]);
    assert!(clear().stderr.starts_with("0 entries, "));
}

#[test]
fn an_archive_is_read_like_its_matrix() {
    let dir = folder(&[]);
    let file = File::create(dir.path().join("small.tar.gz")).unwrap();
    let packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    let mut header = tar::Header::new_gnu();
    header.set_size(SMALL.len() as u64);
    archive.append_data(&mut header, "small/small.mtx", SMALL.as_bytes()).unwrap();
    archive.into_inner().unwrap().finish().unwrap();
    assert_eq!(from_cache(&corpus(dir.path(), "")), [false]);
    assert_eq!(from_cache(&corpus(dir.path(), "")), [true]);
    let single = run(&format!("--mtx {}/small.tar.gz {EXACT}", dir.path().display()));
    assert!(single.stdout.contains("num_nonzeros: 4"), "{single:?}");
}

#[test]
fn generated_matrices_are_marked_in_every_output() {
    let dir = folder(&[]);
    let path = dir.path().join("g.mtx");
    let ran = run(&format!("generate grid2d,n=4 -o {}", path.display()));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    for source in [path.to_str().unwrap(), "gen:grid2d,n=4"] {
        for format in ["text", "csv", "json"] {
            let ran = run(&format!("--mtx {source} {EXACT} --format {format}"));
            assert!(ran.stdout.contains("generated: gen:grid2d,n=4"), "{source} {ran:?}");
        }
    }
}

/// A name that is not valid UTF-8 is printed as in results, and its file is found again.
#[test]
fn a_file_of_any_name_is_listed() {
    use std::os::unix::ffi::OsStrExt;
    let dir = folder(&[]);
    let name = std::ffi::OsStr::from_bytes(b"a\xffb.mtx");
    fs::write(dir.path().join(name), SMALL).unwrap();
    let cache = dir.path().join("cache");
    assert_eq!(from_cache(&corpus(dir.path(), "")), [false]);
    let list = |words: &str| run_keeping(words, &cache);
    assert!(list("cache list").stdout.ends_with("/a\\xffb.mtx\n"), "{:?}", list("cache list"));
    assert!(list("cache clear --stale").stderr.starts_with("0 entries, "));
}
