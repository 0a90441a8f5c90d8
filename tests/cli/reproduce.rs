//! Tests of the command `reproduce`.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use spmv_bench::bench::clock::SystemClock;
use spmv_bench::cli::CommandStatus;
use spmv_methods::device::Gpu;
use spmv_methods::device::model::Model;

use crate::check_parts;
use crate::env::{run, run_on};

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

fn experiment(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("shapes.toml"), text).unwrap();
    dir
}

fn reproduce(dir: &Path, words: &str) -> crate::env::Ran {
    let dir = dir.display();
    run(&format!("reproduce {dir}/shapes.toml --data {dir}/none --output {dir}/out {words}"))
}

/// Returns the line of the table that starts with that text.
fn verdict_of<'a>(stdout: &'a str, claim: &str) -> &'a str {
    stdout.lines().find(|line| line.trim_start().starts_with(claim)).expect("a line of the claim")
}

#[test]
fn an_experiment_is_measured_judged_and_written() {
    let dir = experiment(EXPERIMENT);
    let ran = reproduce(dir.path(), "");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    // With the fake clock, every product takes a millisecond.
    assert!(verdict_of(&ran.stdout, "csr-rows is as fast").contains("holds"));
    assert!(verdict_of(&ran.stdout, "seq is slow").ends_with("does not hold"));
    let out = dir.path().join("out");
    let rows = fs::read_to_string(out.join("rows.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 3 * 2);
    assert!(rows.contains("\n\"gen:dense,nnz=64,cols=8\",8,8,64,"));
    let claims = fs::read_to_string(out.join("claims.csv")).unwrap();
    assert!(
        claims.contains("shapes,csr-rows is as fast as seq,1.00,0.5 to 1.5,1.0,3,holds,,\n"),
        "{claims}"
    );
    let report = fs::read_to_string(out.join("report.md")).unwrap();
    for part in
        ["Two shapes", "nobody, Figure 0", "Made for a test.", "does not hold", "Throughput"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(out.join("report.html").is_file());
    let runs: Vec<_> = fs::read_dir(out.join("runs")).unwrap().collect();
    assert_eq!(runs.len(), 1);
}

#[test]
fn existing_rows_are_not_measured_again() {
    let dir = experiment(EXPERIMENT);
    reproduce(dir.path(), "").result.unwrap();
    let path = dir.path().join("out/rows.csv");
    let all = fs::read_to_string(&path).unwrap();
    let again = reproduce(dir.path(), "");
    assert_eq!(fs::read_to_string(&path).unwrap(), all);
    assert!(!again.stderr.contains("gen:"), "{}", again.stderr);
    // One row of the last matrix is missing and the other is incomplete, so only that matrix is measured again.
    let lines: Vec<_> = all.lines().collect();
    fs::write(&path, format!("{}\n{}", lines[..5].join("\n"), &lines[5][..20])).unwrap();
    let again = reproduce(dir.path(), "");
    assert_eq!(again.stderr.matches("gen:").count(), 1, "{}", again.stderr);
    assert!(again.stderr.contains("1/1 gen:grid2d,n=3"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1 + 3 * 2);
    let other = reproduce(dir.path(), "--max-time 1");
    assert!(other.stderr.contains("3/3 gen:grid2d,n=3"), "other options: {}", other.stderr);
}

/// The folder of the first experiment has a row of another revision.
#[test]
fn an_experiment_that_fails_does_not_stop_the_others() {
    let dir = experiment(EXPERIMENT);
    let (place, out) = (dir.path().display(), dir.path().join("out"));
    let words = format!("--data {place}/none --device cpu --output {place}/out");
    let first = format!("reproduce {place}/shapes.toml {words}/shapes");
    assert_eq!(run(&first).result, Ok(CommandStatus::Ok));
    let edit = |name: &str, change: &dyn Fn(String) -> String| {
        let path = out.join("shapes").join(name);
        fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    };
    edit("rows.csv", &|rows| rows.lines().take(2).map(|row| format!("{row}\n")).collect());
    edit("runs/test-shapes-1.json", &|run| run.replace("\"revision\": \"", "\"revision\": \"not "));
    fs::copy(dir.path().join("shapes.toml"), dir.path().join("more.toml")).unwrap();
    let ran = run(&format!("reproduce {place}/shapes.toml {place}/more.toml {words}"));
    let error = ran.result.unwrap_err();
    let begin = format!(
        "1 of 2 experiments could not be measured completely: shapes: {place}/out/shapes has rows of revision not "
    );
    assert!(error.starts_with(&begin), "{error}");
    assert!(error.ends_with(": remove the folder, or name another with --output"), "{error}");
    let rows = fs::read_to_string(out.join("more/rows.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 3 * 2, "the other is measured");
}

#[test]
fn a_quick_run_measures_less_and_judges_nothing() {
    let many = EXPERIMENT.replace("cols={4,8}", "cols={2,4,8,16,32}");
    let dir = experiment(&many);
    let ran = reproduce(dir.path(), "--quick");
    assert!(verdict_of(&ran.stdout, "csr-rows is as fast").contains("cannot be judged"));
    assert!(ran.stdout.contains("a quick run; it would hold"), "{}", ran.stdout);
    let rows = fs::read_to_string(dir.path().join("out/rows.csv")).unwrap();
    let cols: Vec<_> = [2, 4, 8, 16, 32]
        .into_iter()
        .filter(|cols| rows.contains(&format!("cols={cols}\"")))
        .collect();
    assert_eq!(cols, [2, 4, 8, 32]);
}

#[test]
fn a_dry_run_prints_the_grid_and_measures_nothing() {
    let text = EXPERIMENT.replace("\"gen:grid2d,n=3\"", "\"Williams/cant\"");
    let dir = experiment(&text);
    let ran = reproduce(dir.path(), "--dry-run");
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    assert!(ran.stdout.contains(
        "2 matrices x 2 methods: spmv-bench corpus --device cpu --rounds 1 --iterations 2 \
         --precision f64 --methods seq,csr-rows\n    gen:dense,nnz=64,cols=4 gen:dense,nnz=64,cols=8\n"
    ));
    assert!(ran.stdout.contains("missing: Williams/cant"), "{}", ran.stdout);
    assert!(ran.stdout.contains("expected: up to 0 s"));
    assert!(!dir.path().join("out").exists());
    let stood_in = reproduce(dir.path(), "--dry-run --stand-ins");
    assert!(stood_in.stdout.contains(" stand-in:Williams/cant\n"), "{}", stood_in.stdout);
}

#[test]
fn larger_matrices_can_be_skipped() {
    let dir = experiment(EXPERIMENT);
    let ran = reproduce(dir.path(), "--max-nonzeros 6e1");
    assert!(ran.stdout.contains("left out by --max-nonzeros: gen:dense,nnz=64,cols=4, gen:dense"));
    let rows = fs::read_to_string(dir.path().join("out/rows.csv")).unwrap();
    assert!(
        rows.lines().skip(1).all(|row| row.starts_with("\"gen:grid2d,n=3\",9,9,24,")),
        "{rows}"
    );
    let error = reproduce(dir.path(), "--max-nonzeros 0").result.unwrap_err();
    assert!(error.contains("it must be 1 or more"), "{error}");
}

#[test]
fn real_matrices_are_preferred_to_stand_ins() {
    let text = EXPERIMENT.replace("\"gen:grid2d,n=3\"", "\"Williams/cant\"");
    let dir = experiment(&text);
    fs::create_dir(dir.path().join("none")).unwrap();
    let cant = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n";
    fs::write(dir.path().join("none/cant.mtx"), cant).unwrap();
    let ran = reproduce(dir.path(), "--stand-ins");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    let rows = fs::read_to_string(dir.path().join("out/rows.csv")).unwrap();
    assert!(rows.contains("none/cant.mtx,2,2,2,") && !rows.contains("stand-in"));
}

#[test]
fn without_a_gpu_the_gpu_part_is_not_measured() {
    let block = "[[measure]]\nmatrices = [\"gen:grid2d,n=3\"]\nmethods = [\"gpu-merge\"]\n";
    let claim = "[[claim]]\ntext = \"the GPU is fast\"\npaper = \"9\"\nholds = \"> 1\"\n\
                 measured.speed = { of = \"gpu-merge\", over = \"seq\", statistic = \"max\" }\n";
    let dir = experiment(&format!("{EXPERIMENT}{block}{claim}"));
    let ran = reproduce(dir.path(), "");
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    assert!(verdict_of(&ran.stdout, "the GPU is fast").contains("cannot be judged here"));
    assert!(ran.stdout.contains("without the GPU: no CUDA driver"), "{}", ran.stdout);
    let only = experiment(&format!("title = 't'\nsource = 's'\n{block}{claim}"));
    let ran = reproduce(only.path(), "--device gpu");
    assert!(ran.result.unwrap_err().contains("nothing was measured"));
    assert!(ran.stdout.contains("waiting for a GPU"), "{}", ran.stdout);
}

/// The stages of its products are recorded and shown.
#[test]
fn with_a_gpu_the_gpu_part_is_measured() {
    let block = "[[measure]]\nmatrices = [\"gen:grid2d,n=3\"]\nmethods = [\"gpu-merge\"]\n\
                 iterations = 1\nrounds = 1\nstages = true\n\
                 [[view]]\nkind = \"stages\"\ntitle = \"Parts\"\n";
    let dir = experiment(&format!("title = 't'\nsource = 's'\n{block}"));
    let place = dir.path().display();
    let words = format!("reproduce {place}/shapes.toml --device gpu --output {place}/out --quiet");
    let open = |_| Ok(Gpu::new(Model::tiny(1)));
    let ran = run_on(&words, &SystemClock::default(), &AtomicBool::new(false), &open);
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    let stages = fs::read_to_string(dir.path().join("out/stages.csv")).unwrap();
    assert!(stages.lines().any(|line| line.contains(",merge_tiles,")), "{stages}");
    let report = fs::read_to_string(dir.path().join("out/report.md")).unwrap();
    assert!(report.contains("### Parts") && report.contains("merge_tiles"), "{report}");
}

/// Judges a claim about each of two models of the source's GPUs, and the same claims with another model.
#[test]
fn models_of_the_sources_gpus_judge_what_they_can() {
    let claim = |text: &str, rest: &str| {
        format!("[[claim]]\ntext = \"{text}\"\npaper = \"9\"\nholds = \"> 0.1\"\n{rest}\n")
    };
    let speed =
        "measured.speed = { of = \"gpu-merge\", over = \"gpu-naive\", statistic = \"max\" }";
    let claims = [
        claim("merge keeps up", speed),
        claim("so it does on the second", &format!("gpu = \"v100\"\n{speed}")),
        claim(
            "merge is fast",
            "measured.number = { of = \"gpu-merge\", column = \"gflops\", statistic = \"max\" }",
        ),
    ];
    let text = format!(
        "title = 't'\nsource = 's'\ngpus = ['k40m', 'v100']\n[[measure]]\nmatrices = ['gen:grid2d,n=9']\n\
         methods = ['gpu-merge', 'gpu-naive']\niterations = 1\nrounds = 1\n{}",
        claims.concat()
    );
    let dir = experiment(&text);
    let ran = reproduce(dir.path(), "--device model");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    let verdicts = fs::read_to_string(dir.path().join("out/claims.csv")).unwrap();
    let verdict = |claim: &str| verdicts.lines().find(|line| line.contains(claim)).unwrap();
    let first = verdict("merge keeps up");
    assert!(first.contains(",holds,,\"modelled, on k40m: median error of times 21 %"), "{first}");
    let second = verdict("on the second");
    assert!(second.contains(",holds,,\"modelled, on v100: median error of times 12 %"), "{second}");
    let alone = verdict("merge is fast");
    assert!(alone.contains(",cannot-be-judged,a model cannot judge times alone"), "{alone}");
    fs::remove_dir_all(dir.path().join("out")).unwrap();
    let ran = reproduce(dir.path(), "--device model:a100");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    let rows = fs::read_to_string(dir.path().join("out/rows.csv")).unwrap();
    assert!(rows.contains(",model:a100,") && !rows.contains("k40m"), "{rows}");
    let none =
        experiment(&text.replace("gpus = ['k40m', 'v100']", "").replace("gpu = \"v100\"", ""));
    let ran = reproduce(none.path(), "--device model");
    assert!(ran.result.unwrap_err().contains("nothing was measured"));
    assert!(
        ran.stdout.contains("its source names no GPU; use --device model:NAME"),
        "{}",
        ran.stdout
    );
}

#[test]
fn experiments_are_listed_and_unknown_ones_refused() {
    let ran = run("reproduce");
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    for id in ["sc16-table1", "hola-fig7", "five-gpu-table3", "csrk-fig6", "selector"] {
        assert!(ran.stdout.contains(&format!(" {id} ")), "{id}");
    }
    let error = run("reproduce sc16-fig99").result.unwrap_err();
    assert!(
        error.starts_with("there is no experiment 'sc16-fig99'; did you mean sc16-fig9"),
        "{error}"
    );
    let dir = experiment("title = 3\n");
    let error = reproduce(dir.path(), "").result.unwrap_err();
    assert!(error.contains("shapes.toml: TOML parse error at line 1"), "{error}");
}

/// The rows are of another revision, a method of them is no longer part of the experiment, and a matrix has none.
#[test]
fn recorded_rows_are_judged_again_where_nothing_can_be_measured() {
    let dir = experiment(EXPERIMENT);
    reproduce(dir.path(), "").result.unwrap();
    let (place, out) = (dir.path().display(), dir.path().join("out"));
    let rows = fs::read_to_string(out.join("rows.csv")).unwrap();
    let fewer: String =
        rows.lines().filter(|row| !row.contains("grid2d")).map(|row| format!("{row}\n")).collect();
    fs::write(out.join("rows.csv"), &fewer).unwrap();
    let run_path = out.join("runs/test-shapes-1.json");
    let other = fs::read_to_string(&run_path).unwrap().replace("\"rounds\": 1", "\"rounds\": 7");
    fs::write(&run_path, other).unwrap();
    let changed = EXPERIMENT.replace("0.5 to 1.5", "> 2");
    let changed = changed.replacen("[\"seq\", \"csr-rows\"]", "[\"csr-rows\", \"merge\"]", 1);
    fs::write(
        dir.path().join("shapes.toml"),
        changed.replace("over = \"seq\"", "over = \"csr-rows\""),
    )
    .unwrap();
    let again = format!("reproduce {place}/shapes.toml --data {place}/none --recorded");
    let ran = run(&format!("{again} {place}/out"));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{}", ran.stderr);
    assert!(verdict_of(&ran.stdout, "csr-rows is as fast").contains("does not hold"));
    assert!(ran.stdout.contains("missing: gen:grid2d,n=3"), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(out.join("rows.csv")).unwrap(), fewer);
    let claims = fs::read_to_string(out.join("claims.csv")).unwrap();
    assert!(claims.contains("1.00,> 2,1.0,2,does-not-hold,,\n"), "{claims}");
    let report = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(report.contains("\n2 rows of 2 matrices.\n"), "{report}");
    fs::rename(&out, dir.path().join("out-quick")).unwrap();
    let ran = run(&format!("{again} {place}/out-quick"));
    assert!(ran.stdout.contains("a quick run; it would not hold"), "{}", ran.stdout);
    fs::copy(dir.path().join("shapes.toml"), dir.path().join("more.toml")).unwrap();
    for (words, expected) in [
        (format!("{again} {place}"), format!("{place} has no rows of shapes: name the folder")),
        (format!("{again} {place} selector"), "--recorded shows the rows of one experiment".into()),
        (format!("{again} {place} --device gpu"), "--device".into()),
        (
            format!("{again} {place}/out-quick").replace("shapes.toml", "more.toml"),
            format!("{place}/out-quick has the report of shapes, which that of more would replace"),
        ),
        (format!("reproduce --recorded {place}"), "<ID|FILE.toml>".into()),
    ] {
        let error = run(&words).result.unwrap_err();
        assert!(error.contains(&expected), "{words}: {error}");
    }
}

/// The tables in `docs/gpu.md` are those in the report of the newest measured run.
#[test]
fn the_documents_show_the_measured_methods_of_the_gpu() {
    let claims = run("reproduce --claims").stdout;
    let (place, _) = claims.split_once("[gpu-methods](").unwrap().1.split_once(')').unwrap();
    let (folder, report) = (Path::new(place).parent().unwrap(), fs::read_to_string(place).unwrap());
    let record = fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    let record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
    let (gpu, date) =
        (record["gpu"]["name"].as_str().unwrap(), &record["date"].as_str().unwrap()[..10]);
    let mut shown = format!("Measured on the GPU {gpu} on {date}\n([report](../{place})):\n");
    for title in [
        "Claims",
        "Percent of the bandwidth on the large matrices, f64",
        "Speed relative to the best of cuSPARSE on regular matrices, f64",
        "Speed relative to the best of cuSPARSE on irregular matrices, f64",
        "gpu-auto relative to the best of this project",
    ] {
        let (_, section) = report.split_once(&format!("# {title}\n")).expect(title);
        let is_row = |line: &&str| line.starts_with('|');
        let rows = section.lines().skip_while(|line| !is_row(line)).take_while(is_row);
        shown += &format!("\n**{title}**\n\n");
        shown.extend(rows.map(|row| format!("{row}\n")));
    }
    check_parts("docs/gpu.md", &[("gpu-methods", &shown)]);
}

/// The table in `docs/results.md` equals the claims of the recorded runs, with links from the folder `docs`.
#[test]
fn the_documents_show_the_judged_claims() {
    let ran = run("reproduce --claims");
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    let claims = ran.stdout.replace("](results/", "](../results/");
    check_parts("docs/results.md", &[("claims", &claims)]);
}
