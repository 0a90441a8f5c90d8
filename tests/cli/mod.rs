//! Tests of the command line: expected outputs with a fake clock, exit statuses, and the state after errors.

mod cached;
mod changes;
mod compare;
mod documents;
mod env;
mod explain;
mod figures;
mod foreign;
mod forms;
mod ginkgo;
mod gpu;
mod gpu_file;
mod imports;
mod interrupts;
mod memory;
mod model;
mod order;
mod overflow;
mod products;
mod refusals;
mod report;
mod reproduce;
mod schema;
mod sources;
mod structure;
mod tune;
mod writing;

use std::fs;
use std::path::Path;

use expect_test::{expect, expect_file};

use spmv_results::row::Row;

use env::{Dir, run};

/// Settings with which the output does not depend on the machine.
const EXACT: &str = "--threads 1 --methods seq,csr-rows,merge --x ones --iterations 8 --rounds 1";

const SMALL: &str = "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 2\n1 4 3\n3 2 1\n3 3 5\n";

/// Compares parts of a document, each between `<!-- NAME -->` and `<!-- end of NAME -->`, with what the program prints.
/// `UPDATE_EXPECT=1` writes them.
fn check_parts(document: &str, parts: &[(&str, &str)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let mut text = fs::read_to_string(&path).unwrap();
    for (name, printed) in parts {
        assert!(printed.lines().count() > 10, "{printed}");
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let (before, rest) = text.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        text = format!("{before}{begin}{printed}{end}{after}");
    }
    expect_file![path].assert_eq(&text);
}

/// A profile is measured once for the methods that need it, and again if its file is damaged.
#[test]
fn a_profile_of_the_machine_is_measured_once() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let profiles = dir.path("profiles");
    let run = |methods: &str| {
        let exact = "--threads 1 --iterations 1 --rounds 1 --no-cache --format csv --methods";
        let ran = dir.run_keeping(&format!("--mtx DIR/a.mtx {exact} {methods}")).exits(0);
        let is_measured = ran.stderr.contains("; this is done only once");
        let is_used = ran.stdout.contains("the measured profile");
        (is_measured, is_used, profiles.read_dir().map_or(0, |entries| entries.count()))
    };
    assert_eq!(run("bcsr"), (false, false, 0));
    assert_eq!(run("oski-style"), (true, true, 1));
    assert_eq!(run("oski-style"), (false, true, 1));
    let entry = dir.only_entry("profiles");
    fs::write(&entry, &fs::read(&entry).unwrap()[1..]).unwrap();
    assert_eq!(run("oski-style"), (true, true, 1));
}

#[test]
fn text_of_one_matrix() {
    let dir = Dir::new(&[("a.mtx", SMALL)]);
    let ran = dir.run(&format!("--mtx DIR/a.mtx {EXACT} --alpha 2")).exits(0);
    expect![[r#"
        DIR/a.mtx (loaded in 1.0 ms, 0 MB/s)
                     num_rows: 3
                     num_cols: 4
                 num_nonzeros: 4
              row_length_mean: 1.33333
           row_length_std_dev: 0.94281
         row_length_variation: 0.70711
          row_length_skewness: -0.70711
               max_row_length: 2
                     length 0: 1 of 3 rows (33.33 %)
                   length 1-9: 2 of 3 rows (66.67 %)

        f64, CPU, 1 thread, hot cache; peak 2.00 GB/s at 0.000 MB (triad 2.00, read 2.00)
        method                result     setup ms   median ms    ± %     mean ms    GFLOP/s  eff.GB/s  % peak   % CSR
        seq                   PASS         1.0000     1.00000    0.0     1.00000     0.0000     0.000     0.0     0.0  <- fastest
        csr-rows              PASS         1.0000     1.00000    0.0     1.00000     0.0000     0.000     0.0     0.0
        merge                 PASS         1.0000     1.00000    0.0     1.00000     0.0000     0.000     0.0     0.0

        setup ms: what a method does once for the matrix, before its products.
        ±: half the 95 % confidence interval of the median, in percent of it. Rates are of the median.
        eff.GB/s: the bytes that merge-spmv counts, with x once for each nonzero.
        % peak: the bytes that a product must read and write, with the matrix in the method's own form, x and y, over the peak.
        % CSR: the same with the matrix as CSR, above 100 % where a form is smaller.
        Products that cannot be told apart from that of seq, as the ratio may be 1: csr-rows, merge.

        seq is as fast as csr-rows, the second, within 5 % (1.00).
    "#]].assert_eq(&ran.stdout);
}

fn corpus() -> Dir {
    let broken = SMALL.replace("3 3 5", "3 9 5");
    let complex = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n";
    Dir::new(&[
        ("small.mtx", SMALL),
        ("broken.mtx", &broken),
        ("complex.mtx", complex),
        ("trivial.mtx", "%%MatrixMarket matrix coordinate real general\n1 4 1\n1 1 2\n"),
        ("notes.txt", "not a matrix"),
        ("sub/duplicates.mtx", &SMALL.replace("1 4 3", "1 1 3")),
    ])
}

/// What the fake clock gives for [`SMALL`]: of the first method, and of the two others where they differ.
const MEASURED: &[(&str, &str)] = &[
    ("row_length_mean", "1.3333333333333333"),
    ("row_length_std_dev", "0.9428090415820634"),
    ("row_length_variation", "0.7071067811865476"),
    ("row_length_skewness", "-0.7071067811865475"),
    ("max_row_length", "2"),
    ("empty_rows", "1"),
    ("variance", "0.888888888888889"),
    ("distinct_values", "4"),
    ("setup_ms", "1.0"),
    ("avg_spmv_ms", "1.0"),
    ("median_ms", "1.0"),
    ("ci95_high_ms", "1.0"),
    ("samples", "8"),
    ("gflops", "8e-6"),
    ("effective_GBs", "0.000116"),
    ("compulsory_GBs", "0.00012"),
    ("percent_of_peak", "0.005991180981595093"),
    ("required_bytes", "120"),
    ("extra_bytes", "0 0 128"),
    ("break_even", "inf - inf"),
    ("threads", "1"),
    ("cache", "hot"),
    ("order", "natural"),
    ("run_id", "test"),
];

#[test]
fn csv_of_a_corpus() {
    let dir = corpus();
    // A broken file is a failure.
    let ran = dir.run(&format!("corpus DIR {EXACT}")).exits(1);
    let names: Vec<_> = Row::COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(ran.stdout.lines().next(), Some(&*names.join(",")));
    expect![[r#"
        DIR/trivial.mtx 1 4 1 - skipped
        DIR/complex.mtx - - - - skipped
        DIR/broken.mtx - - - - failed
        DIR/small.mtx 3 4 4 seq ok
        DIR/small.mtx 3 4 4 csr-rows ok
        DIR/small.mtx 3 4 4 merge ok
        DIR/sub/duplicates.mtx 3 4 3 seq ok
        DIR/sub/duplicates.mtx 3 4 3 csr-rows ok
        DIR/sub/duplicates.mtx 3 4 3 merge ok
    "#]]
    .assert_eq(&ran.table("file num_rows num_cols num_nonzeros method_name status"));
    let field = "DIR/complex.mtx:1: field `complex` is not supported, only real, double, integer, unsigned-integer, \
                 pattern";
    let reasons = [
        "it has only one row or column, or none; such matrices are skipped, as in merge-spmv",
        field,
        "DIR/broken.mtx:6: column index 9 exceeds 4 columns",
    ];
    assert_eq!(ran.column("reason")[..4], [&reasons[..], &[""]].concat());
    for (name, values) in MEASURED {
        let found = ran.column(name);
        let expected: Vec<_> = values.split(' ').map(|value| if value == "-" { "" } else { value }).collect();
        assert_eq!(found[3..3 + expected.len()], expected, "{name}");
    }
}

#[test]
fn the_summary_of_a_corpus() {
    let ran = corpus().run(&format!("corpus DIR {EXACT}")).exits(1);
    let mut lines = ran.stderr.splitn(3, '\n');
    assert!(lines.next().unwrap().starts_with("a CPU, 1 thread on CPU "));
    assert!(lines.next().unwrap().starts_with("run test, revision "));
    let summary = lines.next().unwrap();
    expect![[r#"
        DIR/sub/duplicates.mtx: 1 duplicate entries summed
        5 matrices (2 not measured; 1 trivial ones skipped); rows: 6 ok, 2 skipped, 0 wrong, 1 failed, 0 timeout
        not measured: DIR/complex.mtx:1: field `complex` is not supported, only real, double, integer, unsigned-integer, pattern
        not measured: DIR/broken.mtx:6: column index 9 exceeds 4 columns

        f64, CPU, 1 thread, hot cache
        ─────────────────────────────────────────────────────────────────────────────────────────────────────
         method     × merge   × best baseline   least   greatest   matrices   × best baseline, 95 % interval
        ═════════════════════════════════════════════════════════════════════════════════════════════════════
         csr-rows      1.00              1.00    1.00       1.00   2 of 2     1.00 to 1.00
         merge         1.00              1.00    1.00       1.00   2 of 2     1.00 to 1.00
         seq           1.00              1.00    1.00       1.00   2 of 2     1.00 to 1.00
        ─────────────────────────────────────────────────────────────────────────────────────────────────────
        Time of the baseline over that of the method, geometric means; above 1 the method is faster. The best baseline is on each matrix the fastest of csr-rows, merge, seq; least and greatest are over it.
        × merge is over one method that is the same everywhere, so that tables can be compared; × best baseline is over the best choice on each matrix, which nobody knows before; the answer is over the baseline that comes closest if one is used for all.
        Use seq: it is the fastest on 2 of 2 matrices, on 2 of them not distinguishable from another. In the geometric mean it is 1.00 times (95 % interval 1.00 to 1.00) as fast as csr-rows, the baseline that comes closest; on single matrices 1.00 to 1.00 times. csr-rows is about as fast: in the geometric mean it takes 1.00 times (95 % interval 1.00 to 1.00) its time.
    "#]].assert_eq(summary);
}

#[test]
fn generate_writes_the_matrix_as_it_was_read() {
    let dir = Dir::new(&[("a.mtx", &SMALL.replace("1 4 3", "1 4 0.1"))]);
    dir.run("generate DIR/a.mtx -o DIR/b.mtx").exits(0);
    let expected = "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 2.0\n1 4 0.1\n3 2 1.0\n3 3 5.0\n";
    assert_eq!(dir.read("b.mtx"), expected);
    for spec in ["grid2d,n=3", "gen:grid2d,n=3"] {
        dir.run(&format!("generate {spec} --force -o DIR/b.mtx")).exits(0);
        assert!(dir.read("b.mtx").contains("\n9 9 24\n"));
    }
    let wrong = "generate uniform,rows=4,nnz=99 --force -o DIR/b.mtx";
    dir.refuses(&[(wrong, "a row of 25 entries does not fit")]);
    assert!(dir.read("b.mtx").contains("\n9 9 24\n"), "what was there stays");
}

#[test]
fn help_completions_and_version_are_printed() {
    assert!(run("--help").stdout.contains("Exit status"));
    assert!(run("completions bash").stdout.contains("mkl-ie-opt"), "values of --methods");
    assert!(run("--version").stdout.starts_with("spmv-bench 0."));
}

/// The short help has a line for each command and option. Commands that measure do not repeat the rare options.
#[test]
fn every_help_fits_on_a_terminal() {
    let main = run("-h").stdout;
    let part = |title| main.lines().skip_while(move |line| *line != title).skip(1).take_while(|line| !line.is_empty());
    let commands = part("Commands:").map(|line| line.split_whitespace().next().unwrap());
    let commands: Vec<_> = commands.filter(|name| *name != "help").collect();
    assert_eq!(commands.len(), 18, "{main}");
    let options: Vec<_> = part("Options:").map(str::trim_start).collect();
    assert!(options.len() <= 12 && options.iter().all(|line| line.starts_with('-')), "{main}");
    for command in [""].into_iter().chain(commands) {
        for option in ["-h", "--help"] {
            let help = run(&format!("{command} {option}")).exits(0).stdout;
            let widest = help.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= 80, "{command} {option}: {widest}");
        }
    }
    for (command, has_it) in [("", true), ("corpus", false), ("tune", false)] {
        assert_eq!(run(&format!("{command} --help")).stdout.contains("--alpha"), has_it, "{command}");
        assert!(run(&format!("{command} --help")).stdout.contains("--max-time"), "{command}");
    }
}

#[test]
fn methods_are_selected_and_printed_in_every_format() {
    let names = |words: &str| {
        let methods = run(words).json().remove(0);
        let names = methods.as_array().unwrap().iter().map(|method| method["name"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names("methods seq csr-rows seq --format json"), ["seq", "csr-rows"]);
    let all = names("methods --format json");
    assert!(names("methods gpu-* --format json").iter().all(|name| all.contains(name)));
    assert_eq!(run("methods --format csv").stdout.lines().count(), 1 + all.len());
    let table = run("methods merge --format md").stdout;
    assert!(table.lines().count() == 3 && table.contains("| merge "), "{table}");
    let text = run("methods gpu-light").stdout;
    assert!(text.starts_with("gpu-light ") && text.contains(":graph=on "), "{text}");
}

/// The main page refers to all other pages.
#[test]
fn manual_pages_exist_for_all_references() {
    let pages = run("man").stdout;
    let referred = pages.lines().filter_map(|line| line.trim().strip_suffix("\\fR(1)"));
    let referred: Vec<_> = referred.chain(pages.lines().filter_map(|line| line.strip_suffix("(1)"))).collect();
    assert!(referred.len() > 10, "{referred:?}");
    for name in referred {
        let name = name.replace("\\-", "-").replace("\\fB", "");
        assert!(pages.contains(&format!(".TH {name} 1")), "{name}");
    }
    let page = run("man corpus").stdout;
    assert!(page.contains(".TH spmv-bench-corpus 1") && page.contains("shard"));
    assert_eq!(page.matches(".TH ").count(), 1);
}
