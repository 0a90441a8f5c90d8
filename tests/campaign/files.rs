//! Tests of output files: contents are kept until there is a replacement, and different outputs need different
//! files.

use std::path::Path;

use walkdir::WalkDir;

use crate::{Dir, EXACT, at_once, behind, column, corpus, eventually, rows};

/// An unbalanced quote joins the rows after it into one field.
#[test]
fn an_unbalanced_quote_loses_no_row() {
    let place = Dir::with_matrices(&[20, 30]);
    let words = |more: &str| corpus(&format!("--output out.csv {more}"));
    place.run(&words("")).exits(0);
    let edited = place.read("out.csv").replacen("\nmatrices", "\n\"matrices", 1);
    place.write("out.csv", &edited);
    for more in ["", "--resume", "--resume --warmups 9"] {
        let ran = place.run(&words(more)).exits(2);
        let message = "spmv-bench: out.csv:2: a quote that is not closed: ";
        assert!(ran.stderr.starts_with(message), "{ran:?}");
        assert_eq!(place.read("out.csv"), edited, "{more}");
    }
    // A command that is refused for another reason does not remove the incomplete last row either.
    let torn = &edited.replacen('"', "", 1)[..edited.len() - 9];
    place.write("out.csv", torn);
    for more in ["", "--resume --warmups 9"] {
        place.run(&words(more)).exits(2);
        assert_eq!(place.read("out.csv"), torn, "{more}");
    }
}

/// A file of rows is locked; other formats have a run record from the beginning.
#[test]
fn two_runs_do_not_write_one_file() {
    let place = Dir::with_matrices(&[]);
    let endless = "corpus gen:grid2d,n=300,points=5 --no-bandwidth --methods seq --min-time 60 --max-time 60 --output";
    let exists = "out.json.run.json already exists: name another file, or replace it with --force";
    for (output, again, message) in
        [("out.csv", "--resume", "out.csv: another process is writing to it"), ("out.json", "", exists)]
    {
        let mut first = place.program(&format!("{endless} {output}")).spawn().unwrap();
        let record = format!("{output}.run.json");
        assert!(eventually(|| place.path(&record).exists()));
        let before = place.read(&record);
        let second = place.run(&format!("{endless} {output} {again}"));
        first.kill().unwrap();
        first.wait().unwrap();
        assert_eq!(second.exits(2).stderr, format!("spmv-bench: {message}\n"));
        assert_eq!(place.read(&record), before);
    }
}

#[test]
fn an_output_that_is_not_a_file_has_no_run_record() {
    let place = Dir::with_matrices(&[20]);
    for (format, result) in [("csv", ",seq,"), ("json", "\"seq\""), ("text", "PASS")] {
        let output = ["--output /dev/stdout", ""].map(|output| {
            let words = format!("corpus matrices {EXACT} seq --format {format} {output}");
            place.run(&words).exits(0).stdout
        });
        // A busy machine adds remarks.
        let results = output.each_ref().map(|text| text.lines().filter(|line| line.contains(result)).count());
        assert_eq!(results, [1, 1], "{format}: {output:?}");
        assert!(!Path::new("/dev/stdout.run.json").exists());
    }
}

/// If nobody reads the warnings, the rows are still written.
#[test]
fn a_closed_stderr_does_not_end_the_run() {
    let place = Dir::with_matrices(&[20, 30]);
    let twice = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 1\n2 2 1\n";
    place.write("matrices/a.mtx", twice);
    for to in ["2>/dev/full", "2>&1 | true", "2>&-"] {
        let shell = format!("\"$@\" {to}");
        let front = ["bash", "-o", "pipefail", "-c", &shell, "sh"];
        behind(&front, &place.program(&corpus("--output out.csv"))).exits(0);
        assert_eq!(column(&place.read("out.csv"), "status"), ["ok"; 6], "{to}");
        ["out.csv", "out.csv.run.json"].iter().for_each(|name| place.remove(name));
        behind(&front, &place.program("corpus absent")).exits(2);
    }
}

/// A failure to write the cache does not end the run; a failure to write a row does, with a message.
#[test]
fn a_limited_file_size_is_a_write_error() {
    let place = Dir::with_matrices(&[6000, 30, 20]);
    let words = format!("corpus matrices {EXACT} seq,merge,csr-rows,csr5 --output out.csv");
    let run = |kib: usize| {
        let limit = format!("ulimit -f {kib} && exec \"$@\"");
        behind(&["bash", "-c", &limit, "sh"], &place.program(&words))
    };
    run(20).exits(0).says("File too large");
    assert_eq!(column(&place.read("out.csv"), "status"), ["ok"; 12]);
    ["out.csv", "out.csv.run.json"].iter().for_each(|name| place.remove(name));
    run(4).exits(2).says(
        "cannot write out.csv: File too large (os error 27); the rows in it are complete: free disk space, then resume",
    );
    let there = place.read("out.csv");
    assert!((4..12).contains(&rows(&there).len()));
    place.run(&format!("{words} --resume")).exits(0);
    let resumed = place.read("out.csv");
    assert!(resumed.starts_with(&there));
    assert_eq!(column(&resumed, "status"), ["ok"; 12]);
    ["out.csv", "out.csv.run.json"].iter().for_each(|name| place.remove(name));
    run(0).exits(2).says("cannot write out.csv.run.json: File too large");
    assert!(!place.path("out.csv").exists());
}

const DATASETS: &str = r#"
[[matrix]]
id = "S/a"
rows = 60
cols = 60
nnz = 180
kind = "random"
surrogate = "gen:uniform,rows=60,nnz=180,random=7"
"#;
const EXPERIMENT: &str = r#"
title = "One matrix"
source = "nobody"

[[measure]]
matrices = ["gen:grid2d,n=3"]
methods = ["seq"]
rounds = 1
iterations = 2

[[view]]
kind = "bars"
title = "Throughput"
value = "gflops"
"#;

/// With a limit of zero bytes every command names the file that it cannot write, and leaves nothing of it. `OUT` is a
/// name of each case's own.
#[test]
fn nothing_is_left_of_what_cannot_be_written() {
    let place = Dir::with_matrices(&[30]);
    place.run(&corpus("--output a.csv")).exits(0);
    place.write("my.toml", DATASETS);
    place.write("one.toml", EXPERIMENT);
    let files = || {
        let entries = WalkDir::new(place.path("")).sort_by_file_name().into_iter().flatten();
        let entries = entries.filter(|entry| !entry.path().starts_with(place.path("cache")));
        entries.map(|entry| entry.into_path()).collect::<Vec<_>>()
    };
    let before = files();
    let cases = [
        ("matrices/m1.mtx EXACT -o OUT.csv", "OUT.csv"),
        ("matrices/m1.mtx EXACT --export OUT.json", "OUT.json"),
        ("matrices/m1.mtx EXACT --run-record OUT.json", "OUT.json"),
        ("matrices/m1.mtx EXACT --samples OUT.csv", "OUT.csv"),
        ("matrices/m1.mtx EXACT --samples OUT.csv.zst", "OUT.csv.zst"),
        ("corpus matrices EXACT -o OUT.csv", "OUT.csv.run.json"),
        ("corpus matrices EXACT --format ginkgo -o OUT.json", "OUT.json.run.json"),
        ("tune csr-k matrices EXACT -o OUT.csv", "OUT.csv.run.json"),
        ("reproduce one.toml --data none -o OUT/folder", "OUT/folder/runs/"),
        ("report a.csv -o OUT/folder", "OUT/folder/report.html"),
        ("report a.csv -o OUT.md", "OUT.md"),
        ("report a.csv -o OUT.svg --chart heat", "OUT.svg"),
        ("compare a.csv a.csv -o OUT.csv", "OUT.csv"),
        ("merge a.csv -o OUT.csv", "OUT.csv"),
        ("methods -o OUT.json", "OUT.json"),
        ("generate gen:wheel,spokes=5 -o OUT.mtx", "OUT.mtx"),
        ("generate gen:wheel,spokes=5 -o OUT.mtx.gz", "OUT.mtx.gz"),
        ("generate surrogate:S/a --datasets my.toml --mirror OUT/a", "OUT/a/MM/S/a.tar.gz"),
        ("new-method rust OUT", "OUT/src/lib.rs"),
        ("new-method c a -o OUT/folder", "OUT/folder/a.c"),
    ];
    let cases: Vec<_> = (0..).zip(cases).collect();
    at_once(&cases, |(number, (words, file))| {
        let exact = format!("{EXACT} csr2:srs=8");
        let [words, file] = [words, file].map(|text| text.replace("OUT", &format!("out{number}")));
        let program = place.program(&words.replace("EXACT", &exact));
        let ran = behind(&["bash", "-c", "ulimit -f 0 -v 900000 && exec \"$@\"", "sh"], &program).exits(2);
        let error = ran.stderr.lines().last().unwrap_or_default();
        let is_named = error.contains(&format!("cannot write {file}"));
        assert!(is_named && error.ends_with(": File too large (os error 27)"), "{words}: {ran:?}");
    });
    assert_eq!(files(), before);
}
