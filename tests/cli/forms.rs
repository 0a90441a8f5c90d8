//! Tests of the output formats: lines for scripts, several formats of one run, the order of tables, and files instead
//! of stdout.

use std::path::Path;
use std::process::Command;

use super::SMALL;
use super::env::{Dir, Ran, interrupted, run, skip};

const EXACT: &str = "--threads 1 --methods seq,merge,dia --iterations 8 --rounds 1 --no-bandwidth";

#[test]
fn quiet_prints_a_line_per_method() {
    let dir = Dir::new(&[("a b.mtx", SMALL), ("bad.mtx", "nonsense")]);
    let ran = run(&format!("gen:wheel,spokes=200 {EXACT} --quiet"));
    let facts = "precision=f64 device=cpu threads=1 cache=hot order=natural";
    let numbers = "median_ms=1 min_ms=1 ci95_low_ms=1 ci95_high_ms=1 setup_ms=1 gflops=0.0008";
    let lines = ["seq", "merge"]
        .map(|method| format!("matrix=\"gen:wheel,spokes=200\" method={method} {facts} status=ok {numbers} reason=\n"));
    let begin = lines.concat();
    assert!(ran.stdout.starts_with(&begin) && ran.stderr.is_empty(), "{ran:?}");
    let last = &ran.stdout[begin.len()..];
    assert!(last.contains(" status=skipped median_ms= min_ms= ") && last.ends_with("\"\n"), "{last}");
    let ran = dir.run(&format!("corpus DIR {EXACT} --format lines"));
    assert_eq!(ran.stdout.lines().count(), 4, "{}", ran.stdout);
    ran.prints("/a b.mtx\" method=seq ").prints("/bad.mtx method= precision= ");
    for (words, begin) in [("-o DIR/a.csv", "file,num_rows,"), ("-o DIR/a", "matrix=")] {
        dir.run(&format!("gen:wheel,spokes=200 {EXACT} --quiet {words}")).exits(0);
        assert!(dir.read(words.rsplit('/').next().unwrap()).starts_with(begin), "{words}");
    }
    run(&format!("gen:wheel,spokes=200 {EXACT} --quiet --format text")).prints("seq                   PASS ");
}

/// The regular expressions for ReFrame and Ramble in `docs/usage.md` match the lines, tested with Python's `re`.
#[test]
fn the_documented_expressions_match_the_lines() {
    let script = "import re, sys\nusage, lines = (open(name).read() for name in sys.argv[1:])\n\
        code = usage.split('<!-- lines -->')[1].split('<!-- end of lines -->')[0]\n\
        sane, speed, ramble = re.findall(r'r\"(.*?)\"', code)\n\
        assert re.search(sane, lines)\n\
        assert float(re.search(speed, lines).group(1)) == 8e-4\n\
        found = [m for line in lines.splitlines() if (m := re.match(ramble, line))]\n\
        found = {m.group('method'): float(m.group('gflops')) for m in found}\n\
        assert found == {'seq': 8e-4, 'merge': 8e-4}, found\n";
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("there is no python3");
    }
    let dir = Dir::new(&[("lines", &run(&format!("gen:wheel,spokes=200 {EXACT} --quiet")).stdout)]);
    let usage = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/usage.md");
    let mut python = Command::new("python3");
    Ran::of(python.args(["-c", script]).arg(usage).arg(dir.path("lines")).output().unwrap()).exits(0);
}

#[test]
fn one_run_writes_several_formats() {
    let exports = "--export DIR/e.csv --export DIR/e.json --export DIR/e.md";
    let forms = [("e.csv", "csv"), ("e.json", "json"), ("e.md", "md")];
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    for verb in ["--mtx DIR/a.mtx", "corpus DIR/a.mtx gen:wheel,spokes=200 -o DIR/main.csv"] {
        dir.run(&format!("{verb} {EXACT} {exports} --force")).exits(0);
        let alone = verb.split(" -o").next().unwrap();
        for (name, form) in forms {
            let expected = dir.run(&format!("{alone} {EXACT} --format {form}")).stdout;
            assert_eq!(dir.read(name), dir.words(&expected), "{verb} {form}");
        }
    }
    assert_eq!(dir.read("main.csv"), dir.read("e.csv"));
    assert_eq!(dir.count(), 6, "nothing else is left");
}

#[test]
fn exports_are_checked_before_anything_is_measured() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("there.csv", "mine\n")]);
    dir.refuses(&[
        ("--mtx DIR/a.mtx -o DIR/x.pdf", "x.pdf: the extension stands for no format; choose one with"),
        ("--mtx DIR/a.mtx --export DIR/there.csv", "there.csv already exists"),
        ("corpus DIR/a.mtx --export DIR/there.csv", "there.csv already exists"),
        ("--mtx DIR/a.mtx --export DIR/x", "its extension must be .csv, .json, .md, .tex or .txt"),
        ("--mtx gen:dense,cols=2 -o DIR/x.md --export DIR/./x.md", "--export and --output need different"),
        ("--mtx DIR/a.mtx --export DIR/x.md --export DIR/./x.md", "need different files"),
        (
            "corpus DIR/a.mtx -o DIR/o.csv --export DIR/o.csv.run.json",
            "--export and the run record need different files",
        ),
        ("--mtx DIR/a.mtx --export DIR/absent/a.csv", "absent/a.csv: No such file"),
        ("corpus DIR/a.mtx -o DIR/o.csv --export DIR/absent/a.md --force", "absent/a.md: No such"),
        (
            "corpus DIR/a.mtx -o DIR/o.csv --resume --export DIR/x.csv",
            "--export: with --resume the file would not contain the existing rows",
        ),
        ("tune csr-k DIR/a.mtx --export DIR/x.csv", "--export: tune writes its rows as CSV"),
        ("tune csr-k DIR/a.mtx --sort name", "--sort: tune prints no table"),
    ]);
    assert_eq!((dir.count(), &*dir.read("there.csv")), (2, "mine\n"));
}

#[test]
fn tables_are_sorted_and_other_formats_are_not() {
    let names = |words: &str, column: &str| {
        let ran = run(&format!("gen:wheel,spokes=200 {EXACT} --sort name {words}"));
        let lines = ran.stdout.lines().filter(|line| line.contains(column));
        let words = lines.map(|line| line.trim_start_matches("| ").split(' ').next().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    assert_eq!(names("", " PASS  ")[..], ["merge", "seq"]);
    assert_eq!(names("--format md", "| PASS ")[..], ["merge", "seq"]);
    assert_eq!(names("--format latex", " & PASS & ")[..], ["merge", "seq"]);
    let exact = format!("gen:wheel,spokes=200 {EXACT}");
    for form in ["csv", "json", "lines"] {
        let [plain, sorted] = ["", " --sort name"].map(|sort| run(&format!("{exact} --format {form}{sort}")).stdout);
        assert_eq!(plain, sorted, "{form}");
    }
    let words = format!("{exact} --sort name").replace("--rounds 1", "--rounds 2");
    let tables = (3..300).step_by(9).map(|at| interrupted(&words, at).0.stdout);
    let tables: Vec<_> = tables.filter(|table| table.contains("interrupted")).collect();
    let place = |table: &String, name: &str| table.find(&format!("\n{name} "));
    let places = tables.iter().map(|table| (place(table, "merge"), place(table, "seq")));
    let both: Vec<_> = places.filter(|(merge, seq)| merge.is_some() && seq.is_some()).collect();
    assert!(!both.is_empty() && both.iter().all(|(merge, seq)| merge < seq), "{tables:?}");
}

/// If the run is interrupted before the matrix is read, or there is no such matrix, no line is printed and no file is
/// replaced.
#[test]
fn an_interrupt_before_the_matrix_is_read_shows_nothing() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("old.txt", "mine\n")]);
    for words in ["", "--format json", "--format ginkgo"] {
        let (ran, _) = interrupted(&dir.words(&format!("--mtx DIR/a.mtx {EXACT} {words}")), 1);
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{words}");
    }
    let files = "-o DIR/old.txt --export DIR/new.csv --force";
    let (ran, _) = interrupted(&dir.words(&format!("--mtx DIR/a.mtx {EXACT} {files}")), 1);
    ran.exits(1);
    dir.refuses(&[(&format!("--mtx DIR/typo.mtx {EXACT} {files}"), "typo.mtx: ")]);
    assert_eq!(dir.read("old.txt"), "mine\n");
    assert!(!dir.path("new.csv").exists());
}

#[test]
fn an_interrupted_array_is_valid_json() {
    let dir = Dir::new(&[("a.mtx", SMALL), ("b.mtx", SMALL)]);
    let words = dir.words(&format!("corpus DIR {EXACT} --format ginkgo -o DIR/all.json --force"));
    let mut lengths = std::collections::BTreeSet::new();
    for at in (1..1500).step_by(41) {
        interrupted(&words, at);
        lengths.insert(dir.json("all.json").as_array().unwrap().len());
    }
    assert!(lengths.contains(&1) && lengths.contains(&2), "{lengths:?}");
}

/// `compare`, `methods` and `system` support `--output` like the other commands, with the format of the extension.
#[test]
fn lists_can_be_written_to_a_file() {
    let header = "file,method_name,precision,device,threads,transpose,status,avg_spmv_ms,run_id\n";
    let rows = format!("{header}a.mtx,seq,f64,cpu,1,false,ok,1,x\n");
    let dir = Dir::new(&[("a.csv", &rows), ("b.csv", &rows)]);
    for (words, format) in [
        ("compare DIR/a.csv DIR/b.csv -o DIR/out.txt", "text"),
        ("compare DIR/a.csv DIR/b.csv -o DIR/out.csv", "csv"),
        ("methods seq -o DIR/out.json", "json"),
        ("methods seq -o DIR/out.md", "md"),
        ("methods seq -o DIR/out", "text"),
    ] {
        let (printed, file) = words.split_once(" -o DIR/").unwrap();
        assert_eq!(dir.run(words).exits(0).stdout, "", "{words}");
        let expected = dir.run(&format!("{printed} --format {format}")).stdout;
        assert!(!expected.is_empty());
        assert_eq!(dir.read(file), dir.words(&expected), "{words}");
        dir.refuses(&[(words, "already exists")]);
    }
    dir.refuses(&[
        ("compare DIR/a.csv DIR/b.csv -o DIR/b.csv --force", "b.csv is an input file"),
        ("methods --results DIR/a.csv -o DIR/a.csv --force", "a.csv is an input file"),
        ("methods --results DIR/a.csv -o DIR/r.txt", "--results writes Markdown"),
        ("system -o DIR/s.csv", "has the extension of csv, but this command writes text, json"),
        ("system -o DIR/out.md --format json", "has the extension of md, but --format is json"),
        ("system -o DIR/a.csv --format json", "has the extension of csv, but --format is json"),
        ("system -o DIR/out", "out already exists"),
    ]);
    assert_eq!(dir.read("b.csv"), rows);
}
