//! Tests of `--order`.

use super::env::{Dir, run};
use super::{EXACT, SMALL};

#[test]
fn the_order_is_reported_with_its_cost_and_effect() {
    run(&format!("--mtx gen:grid2d,n=4,points=5 {EXACT} --order rcm"))
        .ok()
        .prints("hot cache, order rcm in 1.0 ms, bandwidth 4 -> 4");
    let ran = run(&format!("--mtx gen:grid2d,n=4,points=5 {EXACT} --order band-k --format json"));
    let group = &ran.json()[0]["groups"][0];
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
    let wide = Dir::new(&[("wide.mtx", SMALL)]);
    let lists = "--methods seq --order natural,rcm,natural --cache cold,hot";
    let ran = wide.run(&format!("corpus DIR {once} {lists}"));
    let expected = ["ok cold,natural", "ok hot,natural", "skipped cold,rcm", "skipped hot,rcm"];
    assert_eq!(ran.stdout.lines().count(), 1 + expected.len(), "{}", ran.stdout);
    for (row, expected) in ran.stdout.lines().skip(1).zip(expected) {
        let has = |cells: &str| row.contains(&format!(",{cells},"));
        assert!(expected.split(' ').all(has), "{expected}: {row}");
    }
}

#[test]
fn rows_contain_the_order_and_its_time_and_rectangular_matrices_are_skipped() {
    let dir = Dir::new(&[("wide.mtx", SMALL)]);
    let words =
        format!("corpus DIR gen:rmat,scale=6 {EXACT} --precision both --beta 1 --order band-k");
    let ran = dir.run(&words).ok();
    let cells = ["order", "status", "order_ms", "reason"].map(|name| ran.column(name));
    assert_eq!(cells[0].len(), 2 * 2 * 3);
    let reason = "the order band-k needs a square matrix, but this one is 3 x 4";
    for (k, file) in ran.column("file").iter().enumerate() {
        let row = cells.each_ref().map(|column| &*column[k]);
        match file.ends_with("wide.mtx") {
            true => assert_eq!(row, ["band-k", "skipped", "", reason]),
            false => assert_eq!(row[..3], ["band-k", "ok", "1.0"]),
        }
    }
}

/// Runs CSR-k as in the paper: the matrix is reordered once, and x and y are in that order.
#[test]
fn csr_k_runs_as_published() {
    let words = "--mtx gen:grid3d,n=9 --threads 1 --iterations 2 --rounds 1 --order band-k \
                 --methods csr2:order=natural,csr3:order=natural:srs=8,csr2";
    let ran = run(words).ok();
    assert_eq!(ran.stdout.matches("PASS").count(), 3, "{}", ran.stdout);
}
