//! Tests of kinds on the rows of [`rows`]. The comment above each test derives the expected numbers by hand.

use expect_test::{Expect, expect};

use super::*;

fn check(toml: &str, expected: Expect) -> View {
    let view = view(rows(), toml);
    expected.assert_eq(&text_of(&view));
    view
}

/// fast: 2/1, 3/6, 8/2; the sum of their inverses is 2.75: 3/2.75 = 1.09; the geometric mean is ³√4 = 1.59.
/// slow: 2/4, 8/8: 2/3 and √½.
#[test]
fn speedup() {
    let view = check(
        "kind = 'speedup'\nover = 'base'",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            time of base / time of the method: above 1 the method is faster
            | method | matrices |   min |  max | harmonic mean | geometric mean | % faster |
            |--------|---------:|------:|-----:|--------------:|---------------:|---------:|
            | fast   |        3 | 0.500 | 4.00 |          1.09 |           1.59 |     66.7 |
            | slow   |        2 | 0.500 | 1.00 |         0.667 |          0.707 |        0 |
        "#]],
    );
    let Some(Chart::Plane(plane)) = view.chart else { panic!() };
    let dots = |series: usize| {
        let dots = plane.series[series].points.iter();
        dots.map(|dot| (dot.label.as_deref().unwrap(), dot.x, dot.y)).collect::<Vec<_>>()
    };
    assert_eq!(dots(0), [("a", 1e3, 2.0), ("b", 1e4, 0.5), ("c*", 1e5, 4.0)]);
    assert_eq!(dots(1), [("a", 1e3, 0.5), ("c*", 1e5, 1.0)]);
    assert_eq!(plane.guides[0].points, [(1e3, 1.0), (1e5, 1.0)]);
}

/// Small: over base 2 and 1/2, so 2/(1/2 + 2) = 0.8. Over slow only a, 4, because slow does not run on b.
#[test]
fn speedups() {
    let split = "split = [{ name = 'small', where = 'num_nonzeros < 5e4' }, \
                 { name = 'large', where = 'num_nonzeros >= 5e4' }]";
    let of = "kind = 'speedups'\nof = 'fast'\nover = ['base', 'slow', 'gone']";
    check(
        &format!("{of}\n{split}"),
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            min, max, mean: time of the method / time of fast; above 1 fast is faster
            small: % best: in percent of 1 matrix on which every method has a time (without any time: gone)
            large: % best: in percent of 1 matrix on which every method has a time (without any time: gone)
            | part  | method | matrices |   min |  max | harmonic mean | % better than fast | % best |
            |-------|--------|---------:|------:|-----:|--------------:|-------------------:|-------:|
            | small | base   |        2 | 0.500 | 2.00 |         0.800 |               50.0 |      0 |
            | small | slow   |        1 |  4.00 | 4.00 |          4.00 |                  0 |      0 |
            | small | gone   |        0 |       |      |               |                    |        |
            | small | fast   |        2 |       |      |               |                    |    100 |
            | large | base   |        1 |  4.00 | 4.00 |          4.00 |                  0 |      0 |
            | large | slow   |        1 |  4.00 | 4.00 |          4.00 |                  0 |      0 |
            | large | gone   |        0 |       |      |               |                    |        |
            | large | fast   |        1 |       |      |               |                    |    100 |
        "#]],
    );
    check(
        "kind = 'speedups'\nof = 'fast'\nover = ['base']",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            min, max, mean: time of the method / time of fast; above 1 fast is faster
            % best: in percent of 3 matrices on which every method has a time
            | method | matrices |   min |  max | harmonic mean | % better than fast | % best |
            |--------|---------:|------:|-----:|--------------:|-------------------:|-------:|
            | base   |        3 | 0.500 | 4.00 |          1.09 |               33.3 |   33.3 |
            | fast   |        3 |       |      |               |                    |   66.7 |
        "#]],
    );
}

/// Means: (0.5 + 10/3 + 12.5)/3 = 5.44, (1 + 10/6 + 50)/3 = 17.6, (0.25 + 12.5)/2 = 6.375.
#[test]
fn bars() {
    let view = check(
        "kind = 'bars'\nvalue = 'gflops'\nmean = true",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            mean: arithmetic mean over the matrices on which the method has a time
            | matrix | nonzeros |  base | fast |  slow |
            |--------|---------:|------:|-----:|------:|
            | a      |     1000 | 0.500 | 1.00 | 0.250 |
            | b      |    10000 |  3.33 | 1.67 |       |
            | c*     |   100000 |  12.5 | 50.0 |  12.5 |
            | mean   |          |  5.44 | 17.6 |  6.38 |
        "#]],
    );
    let Some(Chart::Bars(bars)) = view.chart else { panic!() };
    assert_eq!(bars.categories, ["a", "b", "c*"]);
    assert_eq!(bars.series[2].values, [Some(0.25), None, Some(12.5)]);
    assert_eq!(bars.series[2].mean, Some(6.375));
    assert_eq!(bars.series[0].intervals, [None; 3]);
    let by_time = "kind = 'bars'\nvalue = 'gflops'\nof = ['fast']\nby = 'avg_spmv_ms'";
    let by_time = super::view(rows(), by_time).chart;
    let Some(Chart::Bars(bars)) = by_time else { panic!() };
    assert_eq!(bars.categories, ["a", "c*", "b"], "times 1, 2, 6");
}

/// 1000 nonzeros in 2 ms are 0.5; in 1 to 4 ms they are 1 to 0.25. The fastest row is used, the others are not.
#[test]
fn bars_have_the_intervals_of_their_rows() {
    let with = |ms: f64, low: f64, high: f64| Row {
        ci95_low_ms: Some(low),
        ci95_high_ms: Some(high),
        median_ms: Some(ms),
        ..row("a.mtx", 1000, "base", ms)
    };
    for (value, expected) in [
        ("gflops", Some((0.25, 1.0))),
        ("median_ms", Some((1.0, 4.0))),
        ("avg_spmv_ms", None),
        ("num_rows", None),
    ] {
        let toml = format!("kind = 'bars'\nvalue = '{value}'");
        let view = view(vec![with(3.0, 2.0, 5.0), with(2.0, 1.0, 4.0)], &toml);
        let has_note = view.notes.last().unwrap().starts_with("strokes on bars: ");
        let Some(Chart::Bars(bars)) = view.chart else { panic!() };
        assert_eq!(bars.series[0].intervals, [expected], "{value}");
        assert_eq!(has_note, expected.is_some(), "{value}: {:?}", view.notes);
    }
    let of_a_mean = view(vec![with(2.0, 3.0, 4.0)], "kind = 'bars'\nvalue = 'gflops'");
    let Some(Chart::Bars(bars)) = of_a_mean.chart else { panic!() };
    assert_eq!(bars.series[0].intervals, [None]);
}

#[test]
fn heat() {
    let view = check(
        "kind = 'heat'",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            100 %: the fastest of these methods on that matrix
            | matrix | base | fast | slow |
            |--------|-----:|-----:|-----:|
            | a      | 50.0 |  100 | 25.0 |
            | b      |  100 | 50.0 |      |
            | c*     | 25.0 |  100 | 25.0 |
        "#]],
    );
    let Some(Chart::Heat(heat)) = view.chart else { panic!() };
    assert_eq!(heat.cells[1], [Some(100.0), Some(50.0), None]);
    assert_eq!((&heat.rows[2][..], &heat.columns[2][..]), ("c*", "slow"));
}

/// The losses of fast are 1, 2, 1: ³√2 = 1.26; of base 2, 1, 4: ³√8; of slow 4, 4.
#[test]
fn best() {
    let view = check(
        "kind = 'best'",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            loss: time divided by the time of the fastest method on the same matrix; means are over the matrices on which the method runs; equally fast methods all count as the fastest
            A number in brackets is the number of matrices of a mean over fewer than all. Such a mean cannot be compared with the others.
            | method | fastest on | runs on | mean loss | greatest loss | on |
            |--------|-----------:|--------:|----------:|--------------:|----|
            | fast   |          2 |       3 |      1.26 |          2.00 | b  |
            | base   |          1 |       3 |      2.00 |          4.00 | c* |
            | slow   |          0 |       2 |      4.00 |          4.00 | c* |
        "#]],
    );
    let Some(Chart::Bars(bars)) = view.chart else { panic!() };
    assert_eq!(bars.categories, ["fast", "base", "slow (2)"]);
}

#[test]
fn winners() {
    check(
        "kind = 'winners'",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            ±: half the 95 % confidence interval of the median, in percent; where the intervals of both overlap, the order is uncertain: on 0 matrices
            | matrix | nonzeros | fastest | GFLOP/s | ± (%) | second | takes longer by (%) | ± (%) | intervals |
            |--------|---------:|---------|--------:|------:|--------|--------------------:|------:|----------:|
            | a      |     1000 | fast    |    1.00 |       | base   |                 100 |       |           |
            | b      |    10000 | base    |    3.33 |       | fast   |                 100 |       |           |
            | c*     |   100000 | fast    |    50.0 |       | base   |                 300 |       |           |
        "#]],
    );
}

/// Ten points on a line, except for the last one of `fast`, which makes the correlation 37.5/82.5; nine of
/// `slow`.
#[test]
fn correlations() {
    let pairs = "pairs = [['num_nonzeros', 'avg_spmv_ms']]";
    let times = |method: &'static str, count: usize, last: f64| {
        let ms = move |place: usize| if place == 10 { last } else { place as f64 };
        (1..=count).map(move |k| row(&format!("{k}.mtx"), 1000 * k, method, ms(k)))
    };
    let rows =
        || times("base", 10, 10.0).chain(times("fast", 10, 0.0)).chain(times("slow", 9, 0.0));
    let view =
        |toml: &str| view(rows().collect(), &format!("kind = 'correlations'\n{pairs}\n{toml}"));
    let all = view("");
    expect![[r#"
        10 matrices; f64, cpu, 2 threads, natural order
        without a time: slow on 1 matrix
        Pearson's correlation of the numbers, without logarithms, over the rows that are correct and timed
        left out: 1 of 3 correlations, which have fewer than 10 rows
        | of                                    | method | rows | correlation |
        |---------------------------------------|--------|-----:|------------:|
        | mean time per product (ms) – nonzeros | base   |   10 |        1.00 |
        | mean time per product (ms) – nonzeros | fast   |   10 |       0.455 |
    "#]]
    .assert_eq(&text_of(&all));
    let Some(Chart::Bars(bars)) = all.chart else { panic!() };
    assert_eq!(bars.categories, ["base", "fast"]);
    assert_eq!(bars.series[0].name, "mean time per product (ms) – nonzeros");
    let split = "split = [{ name = 'small', where = 'num_nonzeros < 5e4' }, \
                 { name = 'few', where = 'num_nonzeros < 5e3' }]";
    assert_eq!(names(&view(split)), ["small: mean time per product (ms) – nonzeros"]);
}

#[test]
fn matrices() {
    let columns = "columns = ['num_nonzeros', 'intensity']";
    check(
        &format!("kind = 'matrices'\n{columns}\nvalue = 'gflops'\nof = ['base', 'slow']"),
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            | matrix | nonzeros | FLOP per compulsory byte | base GFLOP/s | slow GFLOP/s |
            |--------|---------:|-------------------------:|-------------:|-------------:|
            | a      |     1000 |                    0.143 |        0.500 |        0.250 |
            | b      |    10000 |                    0.164 |         3.33 |              |
            | c*     |   100000 |                    0.166 |         12.5 |         12.5 |
        "#]],
    );
    let facts = super::view(rows(), &format!("kind = 'matrices'\n{columns}")).table.unwrap();
    assert_eq!(facts.columns.len(), 3);
    check(
        "kind = 'matrices'\nvalue = 'gflops'\nof = ['base', 'slow', 'gone']",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            on each matrix: GFLOP/s
            | method |     a |    b |   c* |
            |--------|------:|-----:|-----:|
            | base   | 0.500 | 3.33 | 12.5 |
            | slow   | 0.250 |      | 12.5 |
        "#]],
    );
}

#[test]
fn listing() {
    let listing = "kind = 'listing'\ncolumns = ['median_ms', 'device', 'num_nonzeros']\nof = ['base', 'slow']";
    check(
        listing,
        expect![[r#"
        3 matrices; f64, cpu, 2 threads, natural order
        marked *: generated stand-ins for matrices of the collection (1)
        without a time: slow on 1 matrix
        | method | matrix | median time per product (ms) | device | nonzeros |
        |--------|--------|-----------------------------:|--------|---------:|
        | base   | a      |                         2.00 | cpu    |     1000 |
        | base   | b      |                         3.00 | cpu    |    10000 |
        | base   | c*     |                         8.00 | cpu    |   100000 |
        | slow   | a      |                         4.00 | cpu    |     1000 |
        | slow   | c*     |                         8.00 | cpu    |   100000 |
    "#]],
    );
    let of_one = super::view(rows(), &format!("{listing}\nwhere = 'matrix = a'")).table.unwrap();
    assert!(!of_one.columns.contains(&"matrix".into()), "{of_one:?}");
    let unknown = "title = 'T'\nkind = 'listing'\ncolumns = ['median_m']";
    let error = toml::from_str::<Spec>(unknown).unwrap_err().to_string();
    assert!(error.contains("there is no column 'median_m'"), "{error}");
}

/// fast: setups 10/2, 10/3, 10/8; pays off after 10/(2 - 1) = 10 and 10/(8 - 2) = 1.67 products; the quartiles
/// are interpolated between them: 1.67 + 8.33/4 and so on. slow: 1/2 and 1/8, never. After one product, fast has
/// taken (10 + 1)/2, (10 + 6)/3 and (10 + 2)/8 times as long as base: ³√44 in the geometric mean.
#[test]
fn amortisation() {
    let view = check(
        "kind = 'amortisation'\nover = 'base'",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            pays off after n products: setup and n products together take less time than with base; median and quartiles over the matrices on which the method pays off
            | method | matrices | setup (products of base) | pays off after: lower quartile | median | upper quartile | never (% of matrices) |
            |--------|---------:|-------------------------:|-------------------------------:|-------:|---------------:|----------------------:|
            | fast   |        3 |                     3.33 |                           3.75 |   5.83 |           7.92 |                  33.3 |
            | slow   |        2 |                    0.312 |                                |        |                |                   100 |
        "#]],
    );
    let Some(Chart::Plane(plane)) = view.chart else { panic!() };
    let first = &plane.series[0].points[0];
    assert!(first.x == 1.0 && (first.y.powi(3) - 44.0).abs() < 1e-9);
    assert_eq!(plane.series[0].points.last().unwrap().x, 1e6);
}

/// base: 5/20, 33.3/20, 125/50 GB/s of the ceiling; fast: 10/20, 16.7/20, 500/50; slow: 2.5/20, 125/50.
#[test]
fn roofline() {
    let view = check(
        "kind = 'roofline'",
        expect![[r#"
            3 matrices; f64, cpu, 2 threads, natural order
            marked *: generated stand-ins for matrices of the collection (1)
            without a time: slow on 1 matrix
            % of peak: the bandwidth if each product moves the CSR arrays, x and y once, in percent of the bandwidth of sweeps over as many bytes; a roof is the median of the bandwidths of these sweeps for a range of matrix sizes in which they differ little
            above 100 % (4 rows): the method stores fewer bytes than CSR, or has more of them in the caches than the sweep had
            | method | median % of peak |  min | on |  max | on |
            |--------|-----------------:|-----:|----|-----:|----|
            | base   |              167 | 25.0 | a  |  250 | c* |
            | fast   |             83.3 | 50.0 | a  | 1000 | c* |
            | slow   |              131 | 12.5 | a  |  250 | c* |
        "#]],
    );
    let Some(Chart::Plane(plane)) = view.chart else { panic!() };
    // 1000 nonzeros of 12 bytes, 101 offsets of 4, 200 numbers of 8; ceilings of 20, 20 and 50 GB/s.
    let x = 2000.0 / (12_000.0 + 404.0 + 1600.0);
    assert_eq!(plane.series[0].points[0].x, x);
    let guides: Vec<_> = plane.guides.iter().map(|g| (&g.name[..], g.points[0])).collect();
    let [small, large] =
        ["20.0 GB/s: 13.7 KiB to 119.1 KiB (2 matrices)", "50.0 GB/s: 1.1 MiB (1 matrix)"];
    assert_eq!(guides, [(small, (x, 20.0 * x)), (large, (x, 50.0 * x))]);
    assert_eq!(plane.series[0].points[0].label.as_deref(), Some("a, 13.7 KiB"));
}
