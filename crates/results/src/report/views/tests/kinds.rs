use expect_test::expect;

use super::*;

/// The notes of views that show all of [`rows`].
const SHARED: &str = "\
3 matrices; f64, cpu, 2 threads, natural order
marked *: generated surrogates for matrices of the collection (1)
without a time: slow on 1 matrix
";

const SPLIT: &str = "split = [{ name = 'small', where = 'num_nonzeros < 5e4' }, \
                     { name = 'large', where = 'num_nonzeros >= 5e4' }]";

#[test]
fn every_kind_on_the_same_rows() {
    let speedups = "kind = 'speedups'\nof = 'fast'\nover = ['base', 'slow', 'gone']";
    let columns = "kind = 'matrices'\ncolumns = ['num_nonzeros', 'intensity']";
    let listing = "kind = 'listing'\ncolumns = ['median_ms', 'device', 'num_nonzeros']\nof = ['base', 'slow']";
    let views = [
        // fast: 2/1, 3/6, 8/2; the sum of their inverses is 2.75: 3/2.75 = 1.09; the geometric mean is ³√4 = 1.59.
        // slow: 2/4, 8/8: 2/3 and √½. Values repeat on c, so the means are over c alone, and over a and b.
        "kind = 'speedup'\nover = 'base'",
        // Small: over base 2 and 1/2, so 2/(1/2 + 2) = 0.8. Over slow only a, 4, because slow does not run on b.
        &format!("{speedups}\n{SPLIT}"),
        "kind = 'speedups'\nof = 'fast'\nover = ['base']",
        // Means: (0.5 + 10/3 + 12.5)/3 = 5.44, (1 + 10/6 + 50)/3 = 17.6, (0.25 + 12.5)/2 = 6.375.
        "kind = 'bars'\nvalue = 'gflops'\nmean = true",
        "kind = 'bars'\nvalue = 'gflops'\nof = ['fast']\nby = 'avg_spmv_ms'",
        "kind = 'heat'",
        // The losses of fast are 1, 2, 1: ³√2 = 1.26; of base 2, 1, 4: ³√8; of slow 4, 4.
        "kind = 'best'",
        "kind = 'winners'",
        "kind = 'each-matrix'\nvalue = 'gflops'",
        "kind = 'each-matrix'\nvalue = 'avg_spmv_ms'\nof = ['slow', 'base']",
        "kind = 'profile'",
        &format!("{columns}\nvalue = 'gflops'\nof = ['base', 'slow']"),
        columns,
        "kind = 'matrices'\nvalue = 'gflops'\nof = ['base', 'slow', 'gone']",
        listing,
        &format!("{listing}\nwhere = 'matrix = a'"),
        // fast: setups 10/2, 10/3, 10/8; pays off after 10/(2 - 1) = 10 and 10/(8 - 2) = 1.67 products; the quartiles
        // are interpolated between them: 1.67 + 8.33/4 and so on. slow: 1/2 and 1/8, never. After one product, fast
        // has taken (10 + 1)/2, (10 + 6)/3 and (10 + 2)/8 times as long as base: ³√44 in the geometric mean.
        "kind = 'amortisation'\nover = 'base'",
        // base: 5/20, 33.3/20, 125/50 GB/s of the ceiling; fast: 10/20, 16.7/20, 500/50; slow: 2.5/20, 125/50. a has
        // 1000 nonzeros of 12 bytes, 101 offsets of 4, 200 numbers of 8, so 2000/14004 FLOP per byte.
        "kind = 'roofline'",
    ];
    let text = views.map(|toml| {
        let name = toml.replace('\n', ", ");
        format!("== {name}\n{}", text_of(&view(rows(), toml)).replace(SHARED, "(shared notes)\n"))
    });
    expect![[r#"
        == kind = 'speedup', over = 'base'
        (shared notes)
        time of base / time of the method: above 1 the method is faster
        | method | matrices |   min |  max | harmonic mean | harmonic mean, values repeat | harmonic mean, values differ | geometric mean | geometric mean, values repeat | geometric mean, values differ | 95 % interval | % faster |
        |--------|---------:|------:|-----:|--------------:|-----------------------------:|-----------------------------:|---------------:|------------------------------:|------------------------------:|---------------|---------:|
        | fast   |        3 | 0.500 | 4.00 |          1.09 |                         4.00 |                        0.800 |           1.59 |                          4.00 |                          1.00 | 0.500 to 4.00 |     66.7 |
        | slow   |        2 | 0.500 | 1.00 |         0.667 |                         1.00 |                        0.500 |          0.707 |                          1.00 |                         0.500 | 0.500 to 1.00 |        0 |
        fast: a@1000,2.00 b@10000,0.500 c*@100000,4.00
        slow: a@1000,0.500 c*@100000,1.00
        guide equally fast: 1000,1.00 100000,1.00
        == kind = 'speedups', of = 'fast', over = ['base', 'slow', 'gone'], split = [{ name = 'small', where = 'num_nonzeros < 5e4' }, { name = 'large', where = 'num_nonzeros >= 5e4' }]
        (shared notes)
        min, max, mean: time of the method / time of fast; above 1 fast is faster
        small: % best: in percent of 1 matrix on which every method has a time (without any time: gone)
        large: % best: in percent of 1 matrix on which every method has a time (without any time: gone)
        | part  | method | matrices |   min |  max | harmonic mean | harmonic mean, values repeat | harmonic mean, values differ | % better than fast | % best |
        |-------|--------|---------:|------:|-----:|--------------:|-----------------------------:|-----------------------------:|-------------------:|-------:|
        | small | base   |        2 | 0.500 | 2.00 |         0.800 |                              |                        0.800 |               50.0 |      0 |
        | small | slow   |        1 |  4.00 | 4.00 |          4.00 |                              |                         4.00 |                  0 |      0 |
        | small | gone   |        0 |       |      |               |                              |                              |                    |        |
        | small | fast   |        2 |       |      |               |                              |                              |                    |    100 |
        | large | base   |        1 |  4.00 | 4.00 |          4.00 |                         4.00 |                              |                  0 |      0 |
        | large | slow   |        1 |  4.00 | 4.00 |          4.00 |                         4.00 |                              |                  0 |      0 |
        | large | gone   |        0 |       |      |               |                              |                              |                    |        |
        | large | fast   |        1 |       |      |               |                              |                              |                    |    100 |
        == kind = 'speedups', of = 'fast', over = ['base']
        3 matrices; f64, cpu, 2 threads, natural order
        marked *: generated surrogates for matrices of the collection (1)
        min, max, mean: time of the method / time of fast; above 1 fast is faster
        % best: in percent of 3 matrices on which every method has a time
        | method | matrices |   min |  max | harmonic mean | harmonic mean, values repeat | harmonic mean, values differ | % better than fast | % best |
        |--------|---------:|------:|-----:|--------------:|-----------------------------:|-----------------------------:|-------------------:|-------:|
        | base   |        3 | 0.500 | 4.00 |          1.09 |                         4.00 |                        0.800 |               33.3 |   33.3 |
        | fast   |        3 |       |      |               |                              |                              |                    |   66.7 |
        == kind = 'bars', value = 'gflops', mean = true
        (shared notes)
        mean: arithmetic mean over the matrices on which the method has a time
        | matrix              | nonzeros |  base | fast |  slow |
        |---------------------|---------:|------:|-----:|------:|
        | a                   |     1000 | 0.500 | 1.00 | 0.250 |
        | b                   |    10000 |  3.33 | 1.67 |       |
        | c*                  |   100000 |  12.5 | 50.0 |  12.5 |
        | mean                |          |  5.44 | 17.6 |  6.38 |
        | mean, values repeat |          |  12.5 | 50.0 |  12.5 |
        | mean, values differ |          |  1.92 | 1.33 | 0.250 |
        bars: a | b | c*
        base: 0.500 3.33 12.5; mean 5.44
        fast: 1.00 1.67 50.0; mean 17.6
        slow: 0.250 - 12.5; mean 6.38
        == kind = 'bars', value = 'gflops', of = ['fast'], by = 'avg_spmv_ms'
        3 matrices; f64, cpu, 2 threads, natural order
        marked *: generated surrogates for matrices of the collection (1)
        | matrix | mean time per product (ms) | fast |
        |--------|---------------------------:|-----:|
        | a      |                       1.00 | 1.00 |
        | c*     |                       2.00 | 50.0 |
        | b      |                       6.00 | 1.67 |
        bars: a | c* | b
        fast: 1.00 50.0 1.67; mean -
        == kind = 'heat'
        (shared notes)
        100 %: the fastest of these methods on that matrix
        | matrix | base | fast | slow |
        |--------|-----:|-----:|-----:|
        | a      | 50.0 |  100 | 25.0 |
        | b      |  100 | 50.0 |      |
        | c*     | 25.0 |  100 | 25.0 |
        columns base fast slow
        a: 50.0 100 25.0
        b: 100 50.0 -
        c*: 25.0 100 25.0
        == kind = 'best'
        (shared notes)
        loss: time divided by the time of the fastest method on the same matrix; means are over the matrices on which the method runs; equally fast methods all count as the fastest, and methods that chose another measured one not at all; certain: the 95 % intervals of the times of all others over its time lie above 1
        95 % interval: of the mean, by a bootstrap over the matrices; those of two methods may overlap although one of them is faster on every matrix
        A number in brackets is the number of matrices of a mean over fewer than all. Such a mean cannot be compared with the others.
        | method | fastest on | runs on | mean loss | mean loss, values repeat | mean loss, values differ | 95 % interval | greatest loss | on |
        |--------|-----------:|--------:|----------:|-------------------------:|-------------------------:|---------------|--------------:|----|
        | fast   |          2 |       3 |      1.26 |                     none |                     1.41 | 1.00 to 2.00  |          2.00 | b  |
        | base   |          1 |       3 |      2.00 |                     4.00 |                     1.41 | 1.00 to 4.00  |          4.00 | c* |
        | slow   |          0 |       2 |      4.00 |                     4.00 |                     4.00 | 4.00 to 4.00  |          4.00 | c* |
        bars: fast | base | slow (2)
        geometric mean: 1.26 2.00 4.00; mean -
        == kind = 'winners'
        (shared notes)
        ±: half the 95 % confidence interval, of the median or of how much longer the second takes, in percent; where that contains 0, the order is uncertain: on 0 matrices
        | matrix | nonzeros | fastest | GFLOP/s | ± (%) | second | takes longer by (%) | ± (%) | order |
        |--------|---------:|---------|--------:|------:|--------|--------------------:|------:|------:|
        | a      |     1000 | fast    |    1.00 |       | base   |                 100 |       |       |
        | b      |    10000 | base    |    3.33 |       | fast   |                 100 |       |       |
        | c*     |   100000 | fast    |    50.0 |       | base   |                 300 |       |       |
        == kind = 'each-matrix', value = 'gflops'
        (shared notes)
        GFLOP/s, the best of each row in bold
        | matrix |     fast |     base |  slow |
        |--------|---------:|---------:|------:|
        | a      | **1.00** |    0.500 | 0.250 |
        | b      |     1.67 | **3.33** |       |
        | c*     | **50.0** |     12.5 |  12.5 |
        == kind = 'each-matrix', value = 'avg_spmv_ms', of = ['slow', 'base']
        (shared notes)
        mean time per product (ms), the best of each row in bold
        | matrix |     base |     slow |
        |--------|---------:|---------:|
        | a      | **2.00** |     4.00 |
        | b      | **3.00** |          |
        | c*     | **8.00** | **8.00** |
        == kind = 'profile'
        (shared notes)
        share of all matrices on which the method's time is at most the factor times that of the fastest method; with a factor of 1, the share on which it is the fastest
        | method | within 1 (%) | within 1.1 (%) | within 1.25 (%) | within 1.5 (%) | within 2 (%) | within 4 (%) |
        |--------|-------------:|---------------:|----------------:|---------------:|-------------:|-------------:|
        | fast   |         66.7 |           66.7 |            66.7 |           66.7 |          100 |          100 |
        | base   |         33.3 |           33.3 |            33.3 |           33.3 |         66.7 |          100 |
        | slow   |            0 |              0 |               0 |              0 |            0 |         66.7 |
        fast: @1.00,66.7 @2.00,66.7 @2.00,100 @10.0,100
        base: @1.00,33.3 @2.00,33.3 … @10.0,100
        slow: @1.00,0 @4.00,0 … @10.0,66.7
        == kind = 'matrices', columns = ['num_nonzeros', 'intensity'], value = 'gflops', of = ['base', 'slow']
        (shared notes)
        | matrix | nonzeros | FLOP per compulsory byte | base GFLOP/s | slow GFLOP/s |
        |--------|---------:|-------------------------:|-------------:|-------------:|
        | a      |     1000 |                    0.143 |        0.500 |        0.250 |
        | b      |    10000 |                    0.164 |         3.33 |              |
        | c*     |   100000 |                    0.166 |         12.5 |         12.5 |
        == kind = 'matrices', columns = ['num_nonzeros', 'intensity']
        (shared notes)
        | matrix | nonzeros | FLOP per compulsory byte |
        |--------|---------:|-------------------------:|
        | a      |     1000 |                    0.143 |
        | b      |    10000 |                    0.164 |
        | c*     |   100000 |                    0.166 |
        == kind = 'matrices', value = 'gflops', of = ['base', 'slow', 'gone']
        (shared notes)
        on each matrix: GFLOP/s
        | method |     a |    b |   c* |
        |--------|------:|-----:|-----:|
        | base   | 0.500 | 3.33 | 12.5 |
        | slow   | 0.250 |      | 12.5 |
        == kind = 'listing', columns = ['median_ms', 'device', 'num_nonzeros'], of = ['base', 'slow']
        (shared notes)
        | method | matrix | median time per product (ms) | device | nonzeros |
        |--------|--------|-----------------------------:|--------|---------:|
        | base   | a      |                         2.00 | cpu    |     1000 |
        | base   | b      |                         3.00 | cpu    |    10000 |
        | base   | c*     |                         8.00 | cpu    |   100000 |
        | slow   | a      |                         4.00 | cpu    |     1000 |
        | slow   | c*     |                         8.00 | cpu    |   100000 |
        == kind = 'listing', columns = ['median_ms', 'device', 'num_nonzeros'], of = ['base', 'slow'], where = 'matrix = a'
        1 matrix; f64, cpu, 2 threads, natural order
        | method | median time per product (ms) | device | nonzeros |
        |--------|-----------------------------:|--------|---------:|
        | base   |                         2.00 | cpu    |     1000 |
        | slow   |                         4.00 | cpu    |     1000 |
        == kind = 'amortisation', over = 'base'
        (shared notes)
        pays off after n products: setup and n products together take less time than with base; median and quartiles over the matrices on which the method pays off
        | method | matrices | setup (products of base) | setup (products of base), values repeat | setup (products of base), values differ | pays off after: lower quartile | median | median, values repeat | median, values differ | upper quartile | never (% of matrices) |
        |--------|---------:|-------------------------:|----------------------------------------:|----------------------------------------:|-------------------------------:|-------:|----------------------:|----------------------:|---------------:|----------------------:|
        | fast   |        3 |                     3.33 |                                    1.25 |                                    4.17 |                           3.75 |   5.83 |                  1.67 |                  10.0 |           7.92 |                  33.3 |
        | slow   |        2 |                    0.312 |                                   0.125 |                                   0.500 |                                |        |                       |                       |                |                   100 |
        fast: @1.00,3.53 @1.78,2.30 … @1000000,0.630
        slow: @1.00,1.68 @1.78,1.56 … @1000000,1.41
        guide base: 1.00,1.00 1000000,1.00
        == kind = 'roofline'
        (shared notes)
        % of peak: the bandwidth if each product moves the CSR arrays, x and y once, in percent of the bandwidth of sweeps over as many bytes; a roof is the median of the bandwidths of these sweeps for a range of matrix sizes in which they differ little
        above 100 % (4 rows): the method stores fewer bytes than CSR, or has more of them in the caches than the sweep had
        | method | median % of peak | median % of peak, values repeat | median % of peak, values differ |  min | on |  max | on |
        |--------|-----------------:|--------------------------------:|--------------------------------:|-----:|----|-----:|----|
        | base   |              167 |                             250 |                            95.8 | 25.0 | a  |  250 | c* |
        | fast   |             83.3 |                            1000 |                            66.7 | 50.0 | a  | 1000 | c* |
        | slow   |              131 |                             250 |                            12.5 | 12.5 | a  |  250 | c* |
        base: a, 13.7 KiB@0.143,0.500 b, 119.1 KiB@0.164,3.33 c*, 1.1 MiB@0.166,12.5
        fast: a, 13.7 KiB@0.143,1.00 b, 119.1 KiB@0.164,1.67 c*, 1.1 MiB@0.166,50.0
        slow: a, 13.7 KiB@0.143,0.250 c*, 1.1 MiB@0.166,12.5
        guide 20.0 GB/s: 13.7 KiB to 119.1 KiB (2 matrices): 0.143,2.86 0.166,3.33
        guide 50.0 GB/s: 1.1 MiB (1 matrix): 0.143,7.14 0.166,8.32
    "#]].assert_eq(&text.concat());
}

/// 1000 nonzeros in 2 ms are 0.5; in 1 to 4 ms they are 1 to 0.25. The fastest row is used, the others are not.
#[test]
fn bars_have_the_intervals_of_their_rows() {
    let with = |ms: f64, ends| row("a.mtx", 1000, "base", ms).with_median(ms, ends);
    let both = || vec![with(3.0, (2.0, 5.0)), with(2.0, (1.0, 4.0))];
    for (rows, value, expected) in [
        (both(), "gflops", Some((0.25, 1.0))),
        (both(), "median_ms", Some((1.0, 4.0))),
        (both(), "avg_spmv_ms", None),
        (both(), "num_rows", None),
        (vec![with(2.0, (3.0, 4.0))], "gflops", None), // the interval of a mean
    ] {
        let view = view(rows, &format!("kind = 'bars'\nvalue = '{value}'"));
        let has_note = view.notes.last().unwrap().starts_with("strokes on bars: ");
        let Some(Chart::Bars(bars)) = view.chart else { panic!() };
        assert_eq!(bars.series[0].intervals, [expected], "{value}");
        assert_eq!(has_note, expected.is_some(), "{value}: {:?}", view.notes);
    }
}

/// Ten points on a line, except for the last one of `fast`, which makes the correlation 37.5/82.5; nine of
/// `slow`.
#[test]
fn correlations() {
    let times = |method: &'static str, count: usize, last: f64| {
        let ms = move |place: usize| if place == 10 { last } else { place as f64 };
        (1..=count).map(move |k| row(&format!("{k}.mtx"), 1000 * k, method, ms(k)))
    };
    let rows = times("base", 10, 10.0).chain(times("fast", 10, 0.0)).chain(times("slow", 9, 0.0));
    let rows: Vec<_> = rows.collect();
    let toml = "kind = 'correlations'\npairs = [['num_nonzeros', 'avg_spmv_ms']]";
    expect![[r#"
        10 matrices; f64, cpu, 2 threads, natural order
        without a time: slow on 1 matrix
        Pearson's correlation of the numbers, without logarithms, over the rows that are correct and timed
        left out: 1 of 3 correlations, which have fewer than 10 rows
        | of                                    | method | rows | correlation |
        |---------------------------------------|--------|-----:|------------:|
        | mean time per product (ms) – nonzeros | base   |   10 |        1.00 |
        | mean time per product (ms) – nonzeros | fast   |   10 |       0.455 |
        bars: base | fast
        mean time per product (ms) – nonzeros: 1.00 0.455; mean -
    "#]].assert_eq(&text_of(&view(rows.clone(), toml)));
    let split = view(rows, &format!("{toml}\n{SPLIT}"));
    assert_eq!(names(&split), ["small: mean time per product (ms) – nonzeros"]);
}
