//! Tests of `--transpose`, `--values` and `--isa`, and of the required bytes and remarks in rows.

use serde_json::json;
use spmv_methods::simd::Isa;

use super::env::{Dir, run};
use super::{EXACT, SMALL, check_parts};

#[test]
fn transposed_products_are_marked_and_methods_without_one_skipped() {
    let dir = Dir::new(&[("wide.mtx", SMALL)]);
    let settings = "--threads 2 --iterations 2 --rounds 1 --beta 0.5 --format csv --transpose";
    let ran = dir.run(&format!("--mtx DIR/wide.mtx {settings} --methods seq,merge,csc")).exits(0);
    assert_eq!(ran.column("transpose"), ["true"; 3]);
    assert_eq!(ran.column("status"), ["ok", "skipped", "ok"]);
    assert_eq!(ran.column("reason"), ["", "it has no transposed product", ""]);
    dir.run("--mtx DIR/wide.mtx --iterations 1 --methods csc").prints("it has no plain product");
}

#[test]
fn without_a_list_only_methods_with_the_product_run() {
    let settings = "--device cpu --threads 2 --iterations 2 --rounds 1 --format csv";
    for (words, expected) in [("", [true, true, false]), ("--transpose", [false, true, true])] {
        let ran = run(&format!("--mtx gen:grid2d,n=5 {settings} {words}")).exits(0);
        let names = ran.column("method_name");
        assert_eq!(["merge", "seq", "csc"].map(|name| names.contains(&name.into())), expected);
    }
}

#[test]
fn the_choice_of_auto_is_compared_with_the_fastest() {
    let ran = run("--mtx gen:grid2d,n=5 --threads 1 --iterations 4 --rounds 1 --methods seq,auto");
    ran.prints("\nauto: picked seq; the fastest of the run\n");
}

/// A matrix with two distinct values.
const TWO: &str = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 2 2\n3 3 5\n3 1 5\n";
const ONCE: &str = "--mtx DIR/a.mtx --threads 1 --iterations 1 --rounds 1 --format csv";

/// CSR needs 4 values and column indices, 4 row offsets and 6 vector elements.
#[test]
fn required_bytes_are_those_of_the_format() {
    let dir = Dir::new(&[("a.mtx", TWO)]);
    let ran = dir.run(&format!("{ONCE} --methods seq,merge,ell"));
    let csr = 4 * 12 + 4 * 4 + 6 * 8;
    let ell: usize = ran.column("extra_bytes")[2].parse().unwrap();
    let expected = [csr, csr, ell + 6 * 8].map(|bytes| bytes.to_string());
    assert_eq!(ran.column("required_bytes"), expected);
}

#[test]
fn values_are_replaced_before_any_method_runs() {
    let dir = Dir::new(&[("a.mtx", TWO)]);
    for (kind, distinct) in [("stored", "2"), ("ones", "1"), ("random", "4")] {
        let ran = dir.run(&format!("{ONCE} --methods seq --values {kind}")).exits(0);
        assert_eq!(ran.column("distinct_values"), [distinct]);
        assert_eq!(ran.column("values"), [kind]);
    }
    // A method that stores the values as codes needs a byte for each if there are few, and otherwise all of them.
    let bytes = |kind: &str| -> usize {
        let words = "--mtx gen:grid2d,n=40,points=5 --threads 1 --iterations 1 --rounds 1";
        let ran = run(&format!("{words} --methods packed:values=coded --values {kind} --format csv"));
        ran.column("required_bytes")[0].parse().unwrap()
    };
    assert!(3 * bytes("ones") < bytes("random"), "{} {}", bytes("ones"), bytes("random"));
}

#[test]
fn instruction_sets_are_forced_and_recorded() {
    let dir = Dir::new(&[]);
    for isa in Isa::available() {
        let name = format!("{isa:?}").to_lowercase();
        let words = format!("--mtx gen:grid2d,n=5 {EXACT} --isa {name} --force");
        dir.run(&format!("{words} --run-record DIR/run.json")).exits(0);
        let record = dir.json("run.json");
        assert_eq!((&record["settings"]["isa"], &record["command"][1]), (&json!(name), &json!("--mtx")));
        assert!(record["bandwidth"][0]["triad_gbs"].as_f64().unwrap() > 0.0);
    }
    run("--mtx gen:grid2d,n=5 --isa sse").exits(2);
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
}

#[test]
fn the_documents_show_every_method() {
    let list = run("methods --format md").stdout;
    // With the feature mpi there is one more, of which the document has a sentence.
    let lines = list.split_inclusive('\n').filter(|line| !line.starts_with("| mpi-merge "));
    check_parts("docs/methods.md", &[("list of methods", &lines.collect::<String>())]);
    let missing = run("methods --results no-such.csv");
    assert_eq!(missing.error(), "cannot read no-such.csv: No such file or directory (os error 2)");
}
