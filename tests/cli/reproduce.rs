use spmv_bench::bench::clock::SystemClock;
use spmv_methods::device::model::Model;
use std::fs;

use super::env::{Dir, Ran, run, run_on};

const EXPERIMENT: &str = r#"
title = "Two shapes"
source = "nobody, Figure 0"
notes = ["Made for a test."]

[[measure]]
matrices = ["gen:dense,nnz=64,cols={4,8}", "gen:grid2d,n=3"]
methods = ["seq", "csr-rows"]
rounds = 1
iterations = 2

[[view]]
kind = "bars"
title = "Throughput"
value = "gflops"

[[claim]]
text = "csr-rows is as fast as seq"
paper = "1.00"
measured.speed = { of = "csr-rows", over = "seq", statistic = "max" }
holds = "0.5 to 1.5"

[[claim]]
text = "seq is slow"
paper = "0"
measured.number = { of = "seq", column = "avg_spmv_ms", statistic = "max" }
holds = "< 0.5"
"#;

fn experiment(text: &str) -> Dir {
    Dir::new(&[("shapes.toml", text)])
}

fn reproduce(dir: &Dir, words: &str) -> Ran {
    dir.run(&format!("reproduce DIR/shapes.toml --data DIR/none --output DIR/out {words}"))
}

fn verdict_of<'a>(stdout: &'a str, claim: &str) -> &'a str {
    stdout.lines().find(|line| line.trim_start().starts_with(claim)).expect("a line of the claim")
}

#[test]
fn an_experiment_is_measured_judged_and_written() {
    let dir = experiment(EXPERIMENT);
    let ran = reproduce(&dir, "").exits(0);
    // With the fake clock, every product takes a millisecond.
    assert!(verdict_of(&ran.stdout, "csr-rows is as fast").contains("holds"));
    assert!(verdict_of(&ran.stdout, "seq is slow").ends_with("does not hold"));
    let rows = dir.read("out/rows.csv");
    assert_eq!(rows.lines().count(), 1 + 3 * 2);
    assert!(rows.contains("\n\"gen:dense,nnz=64,cols=8\",8,8,64,"));
    let (claims, report) = (dir.read("out/claims.csv"), dir.read("out/report.md"));
    let claim = "shapes,csr-rows is as fast as seq,1.00,0.5 to 1.5,1.0,0.8";
    assert!(claims.contains(claim) && claims.contains(",3,holds,,\n"), "{claims}");
    let parts = ["Two shapes", "nobody, Figure 0", "Made for a test.", "does not hold", "Throughput"];
    parts.iter().for_each(|part| assert!(report.contains(part), "{part}: {report}"));
    assert!(dir.path("out/report.html").is_file() && dir.only_entry("out/runs").is_file());
}

#[test]
fn existing_rows_are_not_measured_again() {
    let dir = experiment(EXPERIMENT);
    reproduce(&dir, "").exits(0);
    let all = dir.read("out/rows.csv");
    let again = reproduce(&dir, "");
    assert_eq!(dir.read("out/rows.csv"), all);
    assert!(!again.stderr.contains("gen:"), "{}", again.stderr);
    // The smallest matrix is measured first, the largest last. One row of the last matrix is missing and the other is
    // incomplete, so only that matrix is measured again.
    let lines: Vec<_> = all.lines().collect();
    dir.write("out/rows.csv", format!("{}\n{}", lines[..5].join("\n"), &lines[5][..20]));
    let again = reproduce(&dir, "");
    assert_eq!(again.stderr.matches("gen:").count(), 1, "{}", again.stderr);
    again.says("1/1 gen:dense,nnz=64,cols=8");
    assert_eq!(dir.read("out/rows.csv").lines().count(), 1 + 3 * 2);
    let other = reproduce(&dir, "--max-time 2");
    assert!(other.stderr.contains("3/3 gen:dense"), "other options: {}", other.stderr);
}

/// The folder of the first experiment has a row of another revision.
#[test]
fn an_experiment_that_fails_does_not_stop_the_others() {
    let dir = experiment(EXPERIMENT);
    let words = "--data DIR/none --device cpu --output DIR/out";
    dir.run(&format!("reproduce DIR/shapes.toml {words}/shapes")).exits(0);
    let rows = dir.read("out/shapes/rows.csv");
    dir.write("out/shapes/rows.csv", rows.split_inclusive('\n').take(2).collect::<String>());
    let record = "out/shapes/runs/test-shapes-1.json";
    dir.write(record, dir.read(record).replace("\"revision\": \"", "\"revision\": \"not "));
    dir.write("more.toml", dir.read("shapes.toml"));
    let ran = dir.run(&format!("reproduce DIR/shapes.toml DIR/more.toml {words}")).exits(2);
    ran.says("1 of 2 experiments could not be measured completely: shapes: DIR/out/shapes has rows of revision not ");
    ran.says(": remove the folder, or name another with --output\n");
    let rows = dir.read("out/more/rows.csv");
    assert_eq!(rows.lines().count(), 1 + 3 * 2, "the other is measured");
}

#[test]
fn a_quick_run_measures_less_and_judges_nothing() {
    let dir = experiment(&EXPERIMENT.replace("cols={4,8}", "cols={2,4,8,16,32}"));
    let ran = reproduce(&dir, "--quick");
    assert!(verdict_of(&ran.stdout, "csr-rows is as fast").contains("cannot be judged"));
    assert!(dir.read("out/claims.csv").contains("a quick run; it would hold"));
    let rows = dir.read("out/rows.csv");
    let is_there = [2, 4, 8, 16, 32].map(|cols| rows.contains(&format!("cols={cols}\"")));
    assert_eq!(is_there, [true, true, true, false, true]);
}

#[test]
fn a_dry_run_prints_the_grid_and_measures_nothing() {
    let dir = experiment(&EXPERIMENT.replace("gen:grid2d,n=3", "Williams/cant"));
    // What `fetch` leaves without a network.
    fs::create_dir(dir.path("none")).unwrap();
    let ran = reproduce(&dir, "--dry-run").exits(0);
    ran.prints(
        "2 matrices x 2 methods: spmv-bench corpus --device cpu --iterations 2 --rounds 1 \
         --precision f64 --methods seq,csr-rows\n    gen:dense,nnz=64,cols=4 gen:dense,nnz=64,cols=8\n",
    );
    ran.prints("missing: Williams/cant").prints("expected: up to 0 s");
    ran.prints("`spmv-bench fetch Williams/cant --to DIR/none` downloads them");
    assert!(!dir.path("out").exists());
    reproduce(&dir, "--dry-run --surrogates").prints(" surrogate:Williams/cant\n");
}

#[test]
fn a_dry_run_names_what_the_run_would_lack() {
    let dir = experiment(
        &EXPERIMENT
            .replace("\"gen:grid2d,n=3\"", "\"corpus\", \"set:csrk-64/regular\"")
            .replace("\"csr-rows\"]", "\"csr-rows\"]\ntranspose = [true]"),
    );
    let head = |field| format!("%%MatrixMarket matrix coordinate {field} general\n");
    dir.write("data/good.mtx", head("real") + "2 2 1\n1 1 1\n");
    dir.write("data/complex.mtx", head("complex") + "1 1 1\n1 1 2 3\n");
    let ran = dir.run("reproduce DIR/shapes.toml --data DIR/data --dry-run").exits(0);
    ran.prints("  3 matrices x 2 methods: ").prints("good.mtx\n");
    ran.prints("  cannot run here (needed for 1 of 2 claims): csr-rows: ");
    ran.prints("  cannot be read: DIR/data/complex.mtx:1: field `complex` is not supported, only ");
    ran.prints("`spmv-bench fetch csrk-64 --to DIR/data` downloads them");
}

#[test]
fn larger_matrices_can_be_skipped() {
    let dir = experiment(EXPERIMENT);
    let ran = reproduce(&dir, "--max-nonzeros 6e1");
    ran.prints("left out by --max-nonzeros: gen:dense,nnz=64,cols=4, gen:dense");
    let rows = dir.read("out/rows.csv");
    assert!(rows.lines().skip(1).all(|row| row.starts_with("\"gen:grid2d,n=3\",9,9,24,")), "{rows}");
    reproduce(&dir, "--max-nonzeros 0").exits(2).says("it must be 1 or more");
}

#[test]
fn real_matrices_are_preferred_to_surrogates() {
    let dir = experiment(&EXPERIMENT.replace("gen:grid2d,n=3", "Williams/cant"));
    let cant = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n";
    dir.write("none/cant.mtx", cant);
    reproduce(&dir, "--surrogates").exits(0);
    let rows = dir.read("out/rows.csv");
    assert!(rows.contains("none/cant.mtx,2,2,2,") && !rows.contains("surrogate"));
}

#[test]
fn without_a_gpu_the_gpu_part_is_not_measured() {
    let block = "[[measure]]\nmatrices = [\"gen:grid2d,n=3\"]\nmethods = [\"gpu-merge\"]\n";
    let claim = "[[claim]]\ntext = \"the GPU is fast\"\npaper = \"9\"\nholds = \"> 1\"\n\
                 measured.speed = { of = \"gpu-merge\", over = \"seq\", statistic = \"max\" }\n";
    let dir = experiment(&format!("{EXPERIMENT}{block}{claim}"));
    let ran = reproduce(&dir, "").exits(0);
    assert!(verdict_of(&ran.stdout, "the GPU is fast").contains("cannot be judged here"));
    ran.prints("without the GPU: no CUDA driver");
    let only = experiment(&format!("title = 't'\nsource = 's'\n{block}{claim}"));
    let ran = reproduce(&only, "--device gpu").exits(2);
    ran.prints("waiting for a GPU").says("nothing was measured");
}

/// The stages of its products are recorded and shown.
#[test]
fn with_a_gpu_the_gpu_part_is_measured() {
    let block = "[[measure]]\nmatrices = [\"gen:grid2d,n=3\"]\nmethods = [\"gpu-merge\"]\n\
                 iterations = 1\nrounds = 1\nstages = true\n\
                 [[view]]\nkind = \"stages\"\ntitle = \"Parts\"\n";
    let dir = experiment(&format!("title = 't'\nsource = 's'\n{block}"));
    let words = dir.words("reproduce DIR/shapes.toml --device gpu --output DIR/out --quiet");
    run_on(&words, &SystemClock::default(), || Model::tiny(1)).exits(0);
    let stages = dir.read("out/stages.csv");
    assert!(stages.lines().any(|line| line.contains(",merge_tiles,")), "{stages}");
    let report = dir.read("out/report.md");
    assert!(report.contains("### Parts") && report.contains("merge_tiles"), "{report}");
}

/// Judges a claim about each of two models of the source's GPUs, and the same claims with another model.
#[test]
fn models_of_the_sources_gpus_judge_what_they_can() {
    let speed = "measured.speed = { of = 'gpu-merge', over = 'gpu-naive', statistic = 'max' }";
    let number = "measured.number = { of = 'gpu-merge', column = 'gflops', statistic = 'max' }";
    let claims = [
        ("merge keeps up", speed),
        ("so it does on the second", &format!("gpu = \"v100\"\n{speed}")),
        ("merge is fast", number),
    ];
    let claims =
        claims.map(|(text, rest)| format!("[[claim]]\ntext = '{text}'\npaper = '9'\nholds = '> 0.1'\n{rest}\n"));
    let text = format!(
        "title = 't'\nsource = 's'\ngpus = ['k40m', 'v100']\n[[measure]]\nmatrices = ['gen:grid2d,n=9']\n\
         methods = ['gpu-merge', 'gpu-naive']\niterations = 1\nrounds = 1\n{}",
        claims.concat()
    );
    let dir = experiment(&text);
    reproduce(&dir, "--device model").exits(0);
    let verdicts = dir.read("out/claims.csv");
    for (claim, expected) in [
        (
            "merge keeps up",
            ",holds,,\"modelled, on k40m: error of these methods' times not known, 31 % assumed",
        ),
        (
            "on the second",
            ",holds,,\"modelled, on v100: error of these methods' times not known, 69 % assumed",
        ),
        ("merge is fast", ",cannot-be-judged,a model cannot judge times alone"),
    ] {
        let line = verdicts.lines().find(|line| line.contains(claim)).unwrap();
        assert!(line.contains(expected), "{line}");
    }
    fs::remove_dir_all(dir.path("out")).unwrap();
    reproduce(&dir, "--device model:a100").exits(0);
    let rows = dir.read("out/rows.csv");
    assert!(rows.contains(",model:a100,") && !rows.contains("k40m"), "{rows}");
    let none = experiment(&text.replace("gpus = ['k40m', 'v100']", "").replace("gpu = \"v100\"", ""));
    let ran = reproduce(&none, "--device model").exits(2);
    ran.prints("its source names no GPU; use --device model:NAME").says("nothing was measured");
}

#[test]
fn experiments_are_listed_and_unknown_ones_refused() {
    let ran = run("reproduce").exits(0);
    for id in ["sc16-table1", "hola-fig7", "five-gpu-table3", "csrk-fig6", "selector"] {
        ran.prints(&format!(" {id} "));
    }
    experiment("title = 3\n").refuses(&[
        ("reproduce sc16-fig99", "there is no experiment 'sc16-fig99'; did you mean sc16-fig9"),
        ("reproduce DIR/shapes.toml", "shapes.toml: TOML parse error at line 1"),
    ]);
}

/// The rows are of another revision, a method of them is no longer part of the experiment, and a matrix has none.
#[test]
fn recorded_rows_are_judged_again_where_nothing_can_be_measured() {
    let dir = experiment(EXPERIMENT);
    reproduce(&dir, "").exits(0);
    let is_kept = |row: &&str| !row.contains("grid2d");
    let fewer: String = dir.read("out/rows.csv").split_inclusive('\n').filter(is_kept).collect();
    dir.write("out/rows.csv", &fewer);
    let record = "out/runs/test-shapes-1.json";
    dir.write(record, dir.read(record).replace("\"rounds\": 1", "\"rounds\": 7"));
    let changed = EXPERIMENT.replace("0.5 to 1.5", "> 2");
    let changed = changed.replacen("[\"seq\", \"csr-rows\"]", "[\"csr-rows\", \"merge\"]", 1);
    dir.write("shapes.toml", changed.replace("over = \"seq\"", "over = \"csr-rows\""));
    let again = "reproduce DIR/shapes.toml --data DIR/none --recorded DIR";
    let ran = dir.run(&format!("{again}/out")).exits(0);
    assert!(verdict_of(&ran.stdout, "csr-rows is as fast").contains("does not hold"));
    ran.prints("missing: gen:grid2d,n=3");
    assert_eq!(dir.read("out/rows.csv"), fewer);
    let claims = dir.read("out/claims.csv");
    assert!(claims.contains("1.00,> 2,1.0,,,2,does-not-hold,,\n"), "{claims}");
    let report = dir.read("out/report.md");
    assert!(report.contains("\n2 rows of 2 matrices.\n"), "{report}");
    fs::rename(dir.path("out"), dir.path("out-quick")).unwrap();
    dir.run(&format!("{again}/out-quick")).prints("a quick run; it would not hold");
    dir.write("more.toml", dir.read("shapes.toml"));
    dir.refuses(&[
        (again, "DIR has no rows of shapes: name the folder"),
        (&format!("{again} selector"), "--recorded shows the rows of one experiment"),
        (&format!("{again} --device gpu"), "--device"),
        (
            &format!("{again}/out-quick").replace("shapes.toml", "more.toml"),
            "DIR/out-quick has the report of shapes, which that of more would replace",
        ),
        ("reproduce --recorded DIR", "<ID|FILE.toml>"),
    ]);
}
