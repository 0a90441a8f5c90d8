//! Tests of `--transpose`, `--values` and `--isa`, and of the required bytes and remarks in rows.

use spmv_bench::cli::CommandStatus;
use spmv_methods::simd::Isa;

use super::env::run;
use super::{EXACT, SMALL, check_parts, folder};

#[test]
fn transposed_products_are_marked_and_methods_without_one_skipped() {
    let wide = folder(&[("wide.mtx", SMALL)]);
    let file = wide.path().join("wide.mtx");
    let settings = "--threads 2 --iterations 2 --rounds 1 --beta 0.5 --format csv --transpose";
    let ran = run(&format!("--mtx {} {settings} --methods seq,merge,csc", file.display()));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let cells: Vec<_> = rows.iter().map(|row| [&row[8], &row[16], &row[17], &row[18]]).collect();
    assert_eq!(cells[0], ["seq", "true", "ok", ""]);
    assert_eq!(cells[1], ["merge", "true", "skipped", "it has no transposed product"]);
    assert_eq!(cells[2], ["csc", "true", "ok", ""]);
    let forward = run(&format!("--mtx {} --iterations 1 --methods csc", file.display()));
    assert!(forward.stdout.contains("it has no plain product"), "{forward:?}");
}

#[test]
fn without_a_list_only_methods_with_the_product_run() {
    let settings = "--device cpu --threads 2 --iterations 2 --rounds 1 --format csv";
    let names = |words: &str| {
        let ran = run(&format!("--mtx gen:grid2d,n=5 {settings} {words}"));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
        let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
        reader.records().map(|row| row.unwrap()[8].to_owned()).collect::<Vec<_>>()
    };
    let (plain, transposed) = (names(""), names("--transpose"));
    let has = |names: &[String], name: &str| names.iter().any(|other| other == name);
    assert!(has(&plain, "merge") && has(&plain, "seq") && !has(&plain, "csc"), "{plain:?}");
    assert!(!has(&transposed, "merge") && has(&transposed, "seq") && has(&transposed, "csc"));
}

#[test]
fn the_choice_of_auto_is_compared_with_the_fastest() {
    let ran = run("--mtx gen:grid2d,n=5 --threads 1 --iterations 4 --rounds 1 --methods seq,auto");
    let line = ran.stdout.lines().find(|line| line.starts_with("auto")).unwrap_or_default();
    assert!(line.ends_with("(picked seq; the fastest of the run)"), "{}", ran.stdout);
}

/// Returns the cells of a column.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let place = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[place].to_owned()).collect()
}

/// CSR needs 4 values and column indices, 4 row offsets and 6 vector elements.
#[test]
fn required_bytes_are_those_of_the_format() {
    let file = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 2 2\n3 3 5\n3 1 5\n";
    let dir = folder(&[("a.mtx", file)]);
    let words = "--threads 1 --iterations 1 --rounds 1 --methods seq,merge,ell --format csv";
    let ran = run(&format!("--mtx {} {words}", dir.path().join("a.mtx").display()));
    let csr = 4 * 12 + 4 * 4 + 6 * 8;
    let ell: usize = column(&ran.stdout, "extra_bytes")[2].parse().unwrap();
    let expected = [csr, csr, ell + 6 * 8].map(|bytes| bytes.to_string());
    assert_eq!(column(&ran.stdout, "required_bytes"), expected);
}

/// A matrix with two distinct values is measured as stored and with replaced values.
#[test]
fn values_are_replaced_before_any_method_runs() {
    let file = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 2 2\n3 3 5\n3 1 5\n";
    let dir = folder(&[("a.mtx", file)]);
    let cells = |values: &str| {
        let words = "--threads 1 --iterations 1 --rounds 1 --methods packed,packed:values=coded";
        let path = dir.path().join("a.mtx");
        let ran = run(&format!("--mtx {} {words} {values} --format csv", path.display()));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
        ["distinct_values", "values", "required_bytes"].map(|name| column(&ran.stdout, name))
    };
    let [distinct, values, stored] = cells("");
    assert_eq!((distinct, values), (vec!["2".to_owned(); 2], vec!["stored".to_owned(); 2]));
    let [distinct, values, ones] = cells("--values ones");
    assert_eq!((distinct, values), (vec!["1".to_owned(); 2], vec!["ones".to_owned(); 2]));
    let [distinct, values, _] = cells("--values random");
    assert_eq!((distinct, values), (vec!["4".to_owned(); 2], vec!["random".to_owned(); 2]));
    assert!(stored[0] == ones[0] && stored[1] != ones[1], "{stored:?} {ones:?}");
}

#[test]
fn instruction_sets_are_forced_and_recorded() {
    for isa in Isa::available() {
        let name = format!("{isa:?}").to_lowercase();
        let dir = folder(&[]);
        let record = dir.path().join("run.json");
        let words = format!("--mtx gen:grid2d,n=5 {EXACT} --isa {name}");
        let ran = run(&format!("{words} --run-record {}", record.display()));
        assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
        let record = std::fs::read_to_string(&record).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["settings"]["isa"], name.as_str());
    }
    assert!(run("--mtx gen:grid2d,n=5 --isa sse").result.is_err());
}

#[test]
fn sources_of_methods_and_papers_are_cited_once() {
    let keys = |words: &str| {
        let text = run(words).stdout;
        let entries = text.lines().filter_map(|line| line.strip_prefix('@')?.split_once('{'));
        entries.map(|(_, key)| key.trim_end_matches(',').to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys("cite merge seq csr5"), ["liu-vinter-2015", "merge-spmv-sc16"]);
    assert_eq!(keys("cite mkl-* csr-k auto"), ["csr-k", "merge-spmv-sc16", "mkl", "spmv-bench"]);
    assert!(keys("cite all").len() > 20);
    let error = run("cite merge-spmv-sc61").result.unwrap_err();
    assert!(error.contains("is not a key of docs/papers.bib: there is no method"), "{error}");
}

#[test]
fn the_documents_show_every_method_and_the_table_of_the_recorded_run() {
    let results = "results/cpu-2026-11-26-epyc-zen4/corpus.csv";
    let [list, measured] = ["--format md", &format!("--results {results}")]
        .map(|words| run(&format!("methods {words}")).stdout);
    check_parts("docs/methods.md", &[("list of methods", &list), ("measured methods", &measured)]);
    let missing = run("methods --results no-such.csv").result.unwrap_err();
    assert_eq!(missing, "cannot read no-such.csv: No such file or directory (os error 2)");
}
