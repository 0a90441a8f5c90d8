//! Tests of `--order`.

use spmv_bench::cli::CommandStatus;

use super::env::run;
use super::{EXACT, SMALL, folder};

#[test]
fn the_order_is_reported_with_its_cost_and_effect() {
    let ran = run(&format!("--mtx gen:grid2d,n=4,points=5 {EXACT} --order rcm"));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    assert!(
        ran.stdout.contains("hot cache, order rcm in 1.0 ms, bandwidth 4 -> 4"),
        "{}",
        ran.stdout
    );
    let ran = run(&format!("--mtx gen:grid2d,n=4,points=5 {EXACT} --order band-k --format json"));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let group = &report["groups"][0];
    assert_eq!((&group["order"], &group["order_ms"]), (&"band-k".into(), &1.0.into()));
    assert_eq!(group["bandwidth"][0], 4);
    assert!(!run(&format!("--mtx gen:grid2d,n=4 {EXACT}")).stdout.contains("order"));
}

/// Each order, precision and cache state has its own table, and only square matrices support all orders. The caches are
/// emptied once for each measured sample, which takes long where they are large, and not at all for skipped methods.
#[test]
fn several_orders_and_caches_have_a_table_each() {
    let once = "--threads 1 --warmups 0 --iterations 1 --rounds 1";
    let headings = |words: &str| {
        let ran = run(&format!("gen:grid2d,n=4,points=5 {once} {words} --precision f64,f32"));
        let lines = ran.stdout.lines().filter(|line| line.contains(", CPU, "));
        lines.map(|line| line.split([';', '(']).next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rcm = ", order rcm in 1.0 ms, bandwidth 4 -> 4";
    let expected = [("f64", ""), ("f32", ""), ("f64", rcm), ("f32", rcm)]
        .map(|(precision, order)| format!("{precision}, CPU, 1 thread, hot cache{order}"));
    assert_eq!(headings("--methods seq --order natural,rcm,natural"), expected);
    let expected = [("f64", "cold"), ("f64", "hot"), ("f32", "cold"), ("f32", "hot")]
        .map(|(precision, cache)| format!("{precision}, CPU, 1 thread, {cache} cache"));
    assert_eq!(headings("--methods csc --cache cold,hot,cold"), expected);
    let wide = folder(&[("wide.mtx", SMALL)]);
    let lists = "--methods seq --order natural,rcm,natural --cache cold,hot";
    let ran = run(&format!("corpus {} {once} {lists}", wide.path().display()));
    let expected = ["ok cold,natural", "ok hot,natural", "skipped cold,rcm", "skipped hot,rcm"];
    assert_eq!(ran.stdout.lines().count(), 1 + expected.len(), "{}", ran.stdout);
    for (row, expected) in ran.stdout.lines().skip(1).zip(expected) {
        let has = |cells: &str| row.contains(&format!(",{cells},"));
        assert!(expected.split(' ').all(has), "{expected}: {row}");
    }
}

#[test]
fn rows_contain_the_order_and_its_time_and_rectangular_matrices_are_skipped() {
    let wide = folder(&[("wide.mtx", SMALL)]);
    let words = format!(
        "corpus {} gen:rmat,scale=6 {EXACT} --precision both --beta 1 --order band-k",
        wide.path().display()
    );
    let ran = run(&words);
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let [order, order_ms] =
        ["order", "order_ms"].map(|column| headers.iter().position(|name| name == column).unwrap());
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2 * 2 * 3);
    for row in rows {
        assert_eq!(&row[order], "band-k");
        if row[0].ends_with("wide.mtx") {
            assert_eq!((&row[17], &row[order_ms]), ("skipped", ""));
            assert_eq!(&row[18], "the order band-k needs a square matrix, but this one is 3 x 4");
        } else {
            assert_eq!((&row[17], &row[order_ms]), ("ok", "1.0"), "{row:?}");
        }
    }
}

/// Runs CSR-k as in the paper: the matrix is reordered once, and x and y are in that order.
#[test]
fn csr_k_runs_as_published() {
    let words = "--mtx gen:grid3d,n=9 --threads 1 --iterations 2 --rounds 1 --order band-k \
                 --methods csr2:order=natural,csr3:order=natural:srs=8,csr2";
    let ran = run(words);
    assert_eq!(ran.result, Ok(CommandStatus::Ok));
    assert_eq!(ran.stdout.matches("PASS").count(), 3, "{}", ran.stdout);
}
