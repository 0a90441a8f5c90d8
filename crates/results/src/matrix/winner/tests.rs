use expect_test::expect;

use super::*;
use crate::row::Processes;

/// A method with its times of setup and product, and half the interval of this in percent.
type Method = (&'static str, Option<f64>, f64, f64);

fn row(&(name, setup, product, half): &Method) -> Row {
    let mut names = name.split(" picked ");
    let row = crate::report::row("a.mtx", names.next().unwrap(), product);
    let row = Row { setup_ms: setup, picked: names.next().map(String::from), ..row };
    let half = half / 100.0;
    row.with_median(product, ((1.0 - half) * product, (1.0 + half) * product))
}

/// Returns an answer per line.
fn answers<const N: usize>(cases: [(&[Method], Option<u32>); N]) -> String {
    let of = |rows: &[Method], planned| answer(&rows.iter().map(row).collect::<Vec<_>>(), planned);
    cases.map(|(rows, planned)| of(rows, planned).unwrap_or_default() + "\n").concat()
}

/// One method wins nothing, and without the times of setups nothing is known of their products.
#[test]
fn the_winner_is_compared_with_what_a_user_would_take_otherwise() {
    let merge = ("merge", Some(0.5), 2.0, 1.0);
    let (sell, packed) = (("sell", Some(40.0), 1.5, 1.0), ("packed", Some(100.5), 1.0, 1.0));
    let auto = ("auto picked packed", Some(120.0), 0.9, 1.0);
    let fast = ("fast", Some(0.5), 0.5, 1.0);
    let modelled = [("a", None, 1.0, 0.0), ("b", None, 2.0, 0.0)];
    let answers = answers([
        (&[merge, sell, packed], None),
        (&[merge, packed, auto], None),
        (&[merge, auto], None),
        (&[merge, fast], None),
        (&modelled, None),
        (&[merge, sell, packed], Some(100)),
        (&[merge, packed], Some(1000)),
        (&[merge, packed], Some(1)),
        (&[merge], None),
        (&modelled, Some(5)),
    ]);
    expect![[r#"
        packed is 2.00 ± 0.03 times as fast as merge, the fastest without setup, and pays after 100 products.
        packed is 2.00 ± 0.03 times as fast as merge, the fastest without setup, and pays after 100 products.
        auto is 2.22 ± 0.03 times as fast as merge, the fastest without setup, and pays after 109 products.
        fast is 4.00 ± 0.06 times as fast as merge, the second.
        a is 2.00 times as fast as b, the second.
        For 100 products sell takes the least time with its setup: 190 ms, 1.06 ± 0.01 times as fast as merge (200 ms). It does so from 79 to 121 products.
        For 1000 products packed takes the least time with its setup: 1100 ms, 1.82 ± 0.02 times as fast as merge (2000 ms). It does so from 100 products on.
        For 1 product merge takes the least time with its setup: 2.50 ms, 40.60 ± 0.32 times as fast as packed (102 ms). It does so up to 100 products.


    "#]].assert_eq(&answers);
}

/// Another method takes 2 ms. Whether methods that are not told apart are as fast depends on how wide the interval is.
#[test]
fn methods_that_are_not_told_apart_are_as_fast_only_if_they_are_close() {
    let cases = [
        (1.99, 1.0, None),
        (2.0, 0.0, None),
        (1.95, 0.0, None),
        (1.96, 0.4, None),
        (1.9, 5.0, None),
        (1.2, 40.0, None),
        (0.4, 40.0, None),
        (1.99, 1.0, Some(9)),
        (1.9, 5.0, Some(9)),
        (1.2, 40.0, Some(9)),
    ];
    let answers = cases.map(|(product, half, planned)| {
        let both = [("a", Some(0.5), product, half), ("b", Some(0.5), 2.0, half)];
        answers([(&both, planned)])
    });
    expect![[r#"
        a is as fast as b, the second, within 5 % (1.01 ± 0.01).
        a is as fast as b, the second, within 5 % (1.00).
        a is as fast as b, the second, within 5 % (1.03).
        a is 1.02 ± 0.01 times as fast as b, the second.
        a cannot be told apart from b, the second: it is 1.05 ± 0.07 times as fast, which includes 1.
        a cannot be told apart from b, the second: the times are too noisy (1.67 ± 0.97 times as fast).
        a is 5.00 ± 2.90 times as fast as b, the fastest without setup.
        For 9 products with the setup, a (18.4 ms) is as fast as b (18.5 ms), within 5 % (1.00 ± 0.01).
        For 9 products with the setup, a (17.6 ms) cannot be told apart from b (18.5 ms): it is 1.05 ± 0.07 times as fast, which includes 1.
        For 9 products with the setup, a (11.3 ms) cannot be told apart from b (18.5 ms): the times are too noisy (1.64 ± 0.91 times as fast).
    "#]].assert_eq(&answers.concat());
}

/// The machine is three times as slow in the last process, which measured the first two methods only: `b` has the
/// larger median, and is faster than `a` in each process, and than `c`, which needs no setup, in two.
#[test]
fn methods_are_compared_in_the_processes_that_measured_both() {
    let row = |name, setup, times: &[f64]| {
        let time = Estimate::of(times).unwrap();
        let row = row(&(name, Some(setup), time.value, 50.0));
        Row { process_ms: Some(Processes(times.to_vec())), ..row }
    };
    let rows = [row("c", 0.0, &[1.06, 1.04]), row("b", 9.0, &[1.0, 1.0, 3.0]), row("a", 9.0, &[1.02, 1.01, 3.03])];
    assert_eq!(named(&rows, None, &[]), [1, 2, 0]);
    assert_eq!(named(&rows[..2], None, &[]), [1, 0]);
    assert_eq!((named(&rows[..1], None, &[]), named(&rows, Some(9), &[])), (vec![], vec![0, 1]));
    // Of methods that the third process left out, one is named only if it was surely faster than those that it measured.
    for (times, expected) in [([1.51, 1.51], [0, 1].as_slice()), ([1.3, 1.6], &[0, 1]), ([1.3, 1.3], &[0, 2])] {
        let third = [row("b", 9.0, &[1.0, 1.0, 1.0]), row("c", 0.0, &[1.5, 1.5, 2.0]), row("e", 0.0, &times)];
        assert_eq!(named(&third, None, &[]), expected);
        // So it is if all processes measured all, but `c` is preferred.
        let [b, mut c, e] = third;
        c.process_ms.as_mut().unwrap().0.truncate(2);
        let preferred = [b.cell().unwrap(), c.cell().unwrap()];
        assert_eq!(named(&[b, c, e], None, &preferred), expected);
    }
    // A method that is hardly slower than the second, or than the fastest without setup, might be named.
    let close = [row("d", 9.0, &[1.1, 1.1]), row("e", 0.0, &[1.12, 1.12]), row("f", 9.0, &[1.12, 1.12])];
    let more = [&rows[..], &close].concat();
    assert_eq!(candidates(&more, None), [1, 2, 0, 3]);
    assert_eq!(candidates(&[&rows[..], &close[1..]].concat(), None), [1, 2, 0, 3]);
    assert_eq!(candidates(&[&rows[..], &close[2..]].concat(), None), [1, 2, 0]);
    let over_first = stated(&rows, None, &[]).unwrap();
    assert!((over_first.value - (1.06f64 * 1.04).sqrt()).abs() < 1e-12, "{over_first:?}");
    expect![[r#"
        b is as fast as a, the second, within 5 % (1.01 ± 0.01).
    "#]]
    .assert_eq(&(answer(&rows[1..], None).unwrap() + "\n"));
    assert_eq!(not_told_apart(&rows), Some(("b", vec!["c", "a"])));
}
