use super::env::{Dir, run};
use super::{EXACT, SMALL};

#[test]
fn the_order_is_reported_with_its_cost_and_effect() {
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
    let ran = wide.run(&format!("corpus DIR gen:grid2d,n=4 {once} {lists} --beta 1"));
    assert_eq!(ran.column("cache"), ["cold", "hot"].repeat(4), "{ran:?}");
    let natural_and_rcm = ["natural", "natural", "rcm", "rcm"];
    assert_eq!(ran.column("order"), natural_and_rcm.repeat(2), "{ran:?}");
    let reason = "the order rcm needs a square matrix, but this one is 3 x 4";
    assert_eq!(ran.column("reason"), ["", "", reason, reason, "", "", "", ""], "{ran:?}");
    assert_eq!(ran.column("order_ms")[2..], ["", "", "", "", "1.0", "1.0"], "{ran:?}");
}
