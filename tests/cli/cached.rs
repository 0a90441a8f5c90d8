use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::env::{Dir, Ran};
use super::{EXACT, SMALL};
use crate::support::gzip;

fn corpus(dir: &Dir, more: &str) -> Ran {
    dir.run_keeping(&format!("corpus DIR {EXACT} --format json {more}")).exits(0)
}

fn from_cache(ran: &Ran) -> Vec<bool> {
    ran.json().iter().map(|report| report["from_cache"] == true).collect()
}

#[test]
fn a_corpus_is_parsed_once() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("b.mtx", &SMALL.replace("3 4 4", "3 5 4"))]);
    let [first, second] = [corpus(&dir, ""), corpus(&dir, "")];
    assert_eq!((from_cache(&first), from_cache(&second)), (vec![false; 2], vec![true; 2]));
    let keys = ["file", "rows", "cols", "nnz", "row_length", "pattern_symmetry", "duplicates"];
    for (first, second) in first.json().iter().zip(second.json()) {
        keys.iter().for_each(|key| assert_eq!(first.get(key).unwrap(), &second[key], "{key}"));
    }
    assert_eq!(from_cache(&corpus(&dir, "--no-cache")), [false; 2]);
    dir.write("b.mtx", SMALL);
    assert_eq!(from_cache(&corpus(&dir, "")), [true, false]);
}

#[test]
fn a_damaged_entry_is_reported() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    corpus(&dir, "");
    fs::write(dir.only_entry("cache"), "x").unwrap();
    let ran = corpus(&dir, "");
    ran.says("a.mtx: the file was read again, because its cached copy DIR/cache/");
    ran.says(" is damaged or of another version");
}

#[test]
fn the_cache_is_listed_and_cleared() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("b.mtx", SMALL)]);
    let verb = |verb: &str| dir.run_keeping(&format!("cache {verb}")).exits(0);
    verb("list").says("0 entries, 0.0 MB stored in ");
    corpus(&dir, "");
    verb("list").prints("DIR/a.mtx\n").says("2 entries, ");
    dir.remove("a.mtx");
    verb("list").prints("DIR/a.mtx (has changed or no longer exists)");
    verb("clear --stale").says("1 entries, ");
    verb("list").prints("b.mtx");
    verb("clear").says("1 entries, ");
    assert_eq!(verb("list").stdout, "");
    dir.refuses(&[("cache list", "there is no cache folder")]);
}

/// The cache folder may contain files of the user: `SPMV_BENCH_CACHE=~` with matrices in `~/matrices`.
#[test]
fn only_the_program_s_own_files_are_cleared() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let cache = dir.path("cache");
    corpus(&dir, "");
    let entry = dir.only_entry("cache");
    let partial = |process: u32| {
        let path = cache.join(format!("{}.{process}-aB3", entry.file_name().unwrap().display()));
        fs::write(&path, "half").unwrap();
        path
    };
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let (of_dead, of_living) = (partial(child.id()), partial(std::process::id()));
    let mine = ["thesis.mtx", "0123.csv", &"f".repeat(63), "sub/paper.tex"];
    let mine = mine.map(|name| format!("cache/{name}"));
    mine.iter().for_each(|name| dir.write(name, "mine"));
    let clear = || dir.run_keeping("cache clear").exits(0);
    clear()
        .says("1 entries, ")
        .says("\n1 unfinished files of interrupted processes, 0.0 MB cleared\n")
        .says("4 other files or folders do not belong to this program and are not changed\n");
    assert!(mine.iter().all(|name| dir.read(name) == "mine"));
    assert_eq!([&entry, &of_dead, &of_living].map(|path| path.exists()), [false, false, true]);
    clear().says("0 entries, ");
}

#[test]
fn an_archive_is_read_like_its_matrix() {
    let dir = Dir::new(&[]);
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(SMALL.len() as u64);
    archive.append_data(&mut header, "small/small.mtx", SMALL.as_bytes()).unwrap();
    dir.write("small.tar.gz", gzip(&archive.into_inner().unwrap()));
    assert_eq!(from_cache(&corpus(&dir, "")), [false]);
    assert_eq!(from_cache(&corpus(&dir, "")), [true]);
    dir.run(&format!("--mtx DIR/small.tar.gz {EXACT}")).prints("num_nonzeros: 4");
}

#[test]
fn generated_matrices_are_marked_in_every_output() {
    let dir = Dir::new(&[]);
    dir.run("generate grid2d,n=4 -o DIR/g.mtx").exits(0);
    for source in ["DIR/g.mtx", "gen:grid2d,n=4"] {
        for format in ["text", "csv", "json"] {
            let ran = dir.run(&format!("--mtx {source} {EXACT} --format {format}"));
            ran.prints("generated: gen:grid2d,n=4");
        }
    }
}

/// A name that is not valid UTF-8 is printed as in results, and its file is found again.
#[test]
fn a_file_of_any_name_is_listed() {
    let dir = Dir::new(&[]);
    let name = std::ffi::OsStr::from_bytes(b"a\xffb.mtx");
    fs::write(dir.path("").join(name), SMALL).unwrap();
    assert_eq!(from_cache(&corpus(&dir, "")), [false]);
    dir.run_keeping("cache list").prints("/a\\xffb.mtx\n");
    dir.run_keeping("cache clear --stale").says("0 entries, ");
}

/// A matrix that was used again stays, and an entry that is larger than the limit is not made.
#[test]
fn the_cache_has_a_limit() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("b.mtx", SMALL), ("c.mtx", SMALL)]);
    let cache = dir.path("cache").display().to_string();
    let with = |limit: &str, words: &str| {
        let variables = [("SPMV_BENCH_CACHE", &*cache), ("SPMV_BENCH_CACHE_MAX", limit)];
        dir.program_with(&variables, words)
    };
    let measure = |name: &str, limit: &str| {
        with(limit, &format!("{name} {EXACT} --no-isolate --format json --no-bandwidth")).exits(0)
    };
    measure("a.mtx", "");
    let bytes = dir.only_entry("cache/matrices").metadata().unwrap().len();
    let two = (2 * bytes + 300).to_string();
    measure("b.mtx", &two);
    assert_eq!(from_cache(&measure("a.mtx", &two)), [true]);
    measure("c.mtx", &two);
    let listed = with("1.5KiB", "cache list").exits(0);
    listed.prints("/a.mtx\n").prints("/c.mtx\n").says("2 entries, ");
    listed.says("\nlimit of all entries: 1.5 KiB (SPMV_BENCH_CACHE_MAX); those that were not used");
    assert!(!listed.stdout.contains("b.mtx"), "{listed:?}");
    with("", "cache list").says("\nlimit of all entries: 20.0 GiB (");
    measure("b.mtx", "99").says(" are more than 99 bytes, the limit of SPMV_BENCH_CACHE_MAX");
    let wrong = "SPMV_BENCH_CACHE_MAX: 'much' is not a size: write 16GiB, 500M or a number of bytes";
    measure("b.mtx", "much").says(wrong);
    with("much", "cache list").exits(2).says(wrong);
}
