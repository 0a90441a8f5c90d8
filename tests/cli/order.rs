use spmv_matrix::order::Permutation;

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
    let rcm = ", order rcm in 1.0 ms, bandwidth 4 -> 4, profile 51 -> 46";
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

/// Returns a grid of 8 x 8 points in an order without locality, and the old row at each new position.
fn shuffled_grid() -> (String, Permutation) {
    let order = Permutation::from((0..64).map(|row| row * 37 % 64).collect::<Vec<u32>>());
    let csr = spmv_bench::read("gen:grid2d,n=8,points=5").unwrap().permuted(&order);
    let entries = (0..64).flat_map(|row| csr.row(row).map(move |k| (row, k)));
    let entries = entries.map(|(row, k)| format!("{} {} 1\n", row + 1, csr.column_indices()[k] + 1));
    let entries: String = entries.collect();
    let head = "%%MatrixMarket matrix coordinate real general";
    (format!("{head}\n64 64 {}\n{entries}", csr.nnz()), order)
}

#[test]
fn the_order_of_another_program_restores_a_shuffled_grid() {
    let (matrix, order) = shuffled_grid();
    let list = |rows: &[u32]| rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    let (p, iperm) = (list(order.new_of_old()), list(order.old()));
    let short = list(&order.old()[1..]);
    let files = [("grid.mtx", &*matrix), ("p/grid.perm", &p), ("i.iperm", &iperm), ("short", &short)];
    let folder = Dir::new(&files);
    let orders = "natural,file:DIR/p,inverse-file:DIR/i.iperm,file:DIR/i.iperm,file:DIR/short";
    let ran = folder.run(&format!("corpus DIR/grid.mtx {EXACT} --order {orders}"));
    let of_seq = |column| ran.column(column).into_iter().step_by(3).collect::<Vec<_>>();
    let [natural, other] = [0, 3].map(|place| of_seq("bandwidth")[place].parse::<u32>().unwrap());
    assert!(natural > 40 && other > 40, "{ran:?}");
    assert_eq!(of_seq("order"), orders.split(',').collect::<Vec<_>>());
    assert_eq!(of_seq("bandwidth")[1..3], ["8", "8"], "{ran:?}");
    assert_eq!((&*of_seq("profile")[1], &*of_seq("bandwidth")[4]), ("455", ""), "{ran:?}");
    assert_eq!(of_seq("order_ms"), [""; 5]);
    assert!(of_seq("reason")[4].contains("DIR/short: it has 63 numbers"), "{ran:?}");
    let ran = folder.run(&format!("DIR/grid.mtx {EXACT} --order file:DIR/p --products 9"));
    let unknown = "order file:DIR/p (cost unknown: read from DIR/p), bandwidth";
    assert!(ran.stdout.contains(unknown), "{ran:?}");
    let none = folder.run("gen:grid2d,n=4 --order file:DIR/none");
    assert_eq!(none.error(), "--order: DIR/none: No such file or directory (os error 2)");
    let unknown = folder.run("gen:grid2d,n=4 --order amd");
    assert!(unknown.stderr.contains("band-ampere, file:PATH, inverse-file:PATH]"), "{unknown:?}");
}
