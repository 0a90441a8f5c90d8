use expect_test::expect;

use super::*;
use crate::files::read::Added;

#[test]
fn kinds_on_rows_of_their_own() {
    // Two runs on two threads take 2 and 8 ms; the geometric mean is 4.
    let on = |threads, ms| Row { threads: Some(threads), ..row("a.mtx", 1000, "merge", ms) };
    let threads =
        vec![on(4, 1.0), on(2, 2.0), on(1, 5.0), on(2, 8.0), row("a.mtx", 1000, "mkl", 3.0)];
    // Only times of one precision are compared.
    let mut precisions = rows()[..2].to_vec();
    for (place, ms) in [(0, 0.5), (1, 0.75)] {
        let (precision, avg_spmv_ms) = (Some(Precision::F32), Some(ms));
        precisions.push(Row { precision, avg_spmv_ms, ..precisions[place].clone() });
    }
    // The baseline has rows in two orders. The faster one on a is used, and a note names both.
    let mut orders = rows();
    orders.push(Row { order: Some(Order::Rcm), ..row("a.mtx", 1000, "base", 0.5) });
    // An order that takes 30 ms saves 3 ms per product: 10 products. The cost of one from a file is unknown.
    let ordered = |order, ms, order_ms| Row { order, order_ms, ..row("a.mtx", 1000, "base", ms) };
    let paid = vec![
        ordered(Some(Order::Natural), 4.0, None),
        ordered(Some(Order::Rcm), 1.0, Some(30.0)),
        ordered(Order::named("file:p"), 1.0, None),
    ];
    let brings = "kind = 'amortisation'\nof = ['* where order != natural']\nover = 'base where order = natural'";
    let counted = |file, nonzeros, method, results: usize| Row {
        distinct_results: Some(results.into()),
        ..row(file, nonzeros, method, 1.0)
    };
    let results = vec![
        counted("a.mtx", 1000, "atomic", 3),
        counted("b.mtx", 2000, "atomic", 5),
        counted("c.mtx", 1000, "atomic", 1),
        counted("a.mtx", 1000, "seq", 1),
        row("a.mtx", 1000, "old", 1.0),
    ];
    // The fit of `srs` is from 32 at one nonzero per row to 8 at e. The relative speeds of the first two sizes are 3/4
    // and 1, or 1 and 3/4, and the first of equally good ones is reported. The first row is of another method.
    let mut sizes = vec![row("a.mtx", 1000, "csr3:order=natural:srs=8:ssrs=4", 1.0)];
    for (file, length, speeds) in [
        ("short.mtx", 1.0, [Some(1.0), Some(1.5), Some(2.0)]),
        ("long.mtx", std::f64::consts::E, [Some(1.0), Some(4.0), Some(3.0)]),
        ("failed.mtx", 9.0, [Some(1.0), None, Some(3.0)]),
    ] {
        let names = ["csr3:srs=8:ssrs=4", "csr3:srs=8:ssrs=16", "csr3:srs=32:ssrs=4"];
        for (method, gflops) in names.into_iter().zip(speeds) {
            let row_length_mean = Some(length);
            sizes.push(Row { row_length_mean, gflops, ..row(file, 7, method, 1.0) });
        }
    }
    // Three rows are the minimum for a point of a trend, so a to c are combined into one; `slow` has too few rows. The
    // mean of 2, 3 and 8 is ³√48 = 3.63, the quartiles are 2.5 and 5.5; for 1, 6 and 2 they are ³√12, 1.5 and 4.
    let trend = "kind = 'plane'\nx = 'num_nonzeros'\ny = 'avg_spmv_ms'\nmark = 'trend'";
    let speedup = "kind = 'speedup'\nover = 'base'\nof = ['fast', 'slow']\nwhere = 'matrix != b'";
    let views = [
        (threads, "kind = 'plane'\nx = 'threads'\ny = 'avg_spmv_ms'\nmark = 'line'"),
        (rows(), trend),
        // Setups of 0 are left out on a logarithmic axis.
        (rows(), "kind = 'plane'\nx = 'num_nonzeros'\ny = 'setup_ms'"),
        (precisions.clone(), "kind = 'heat'"),
        (precisions, "kind = 'best'"),
        (orders, speedup),
        (paid, brings),
        (results, "kind = 'repeatability'"),
        (sizes, "kind = 'sizes'\nmethod = 'csr3'"),
    ];
    let text = views.map(|(rows, toml)| {
        format!("== {}\n{}", toml.replace('\n', ", "), text_of(&view(rows, toml)))
    });
    expect![[r#"
        == kind = 'plane', x = 'threads', y = 'avg_spmv_ms', mark = 'line'
        1 matrix; f64, cpu, natural order
        points: geometric means of the rows with the same threads; strokes: from the least to the greatest
        | threads \ mean time per product (ms) | merge |  mkl |
        |-------------------------------------:|------:|-----:|
        |                                    1 |  5.00 |      |
        |                                    2 |  4.00 | 3.00 |
        |                                    4 |  1.00 |      |
        merge: @1.00,5.00 @2.00,4.00 (2.00 to 8.00) @4.00,1.00
        mkl: @2.00,3.00
        == kind = 'plane', x = 'num_nonzeros', y = 'avg_spmv_ms', mark = 'trend'
        3 matrices; f64, cpu, 2 threads, natural order
        marked *: generated surrogates for matrices of the collection (1)
        without a time: slow on 1 matrix
        points: geometric means of three or more rows with similar nonzeros; bands: from the lower to the upper quartile
        not drawn: 2 of 8 rows (nonzeros or mean time per product (ms): unknown, infinite, not above 0, or too few)
        | method | nonzeros | mean time per product (ms) | lower quartile | upper quartile | rows |
        |--------|---------:|---------------------------:|---------------:|---------------:|-----:|
        | base   |    10000 |                       3.63 |           2.50 |           5.50 |    3 |
        | fast   |    10000 |                       2.29 |           1.50 |           4.00 |    3 |
        base: @10000,3.63 (2.50 to 5.50)
        fast: @10000,2.29 (1.50 to 4.00)
        == kind = 'plane', x = 'num_nonzeros', y = 'setup_ms'
        3 matrices; f64, cpu, 2 threads, natural order
        marked *: generated surrogates for matrices of the collection (1)
        without a time: slow on 1 matrix
        not drawn: 3 of 8 rows (nonzeros or setup (ms): unknown, infinite, or not above 0)
        fast: a@1000,10.0 b@10000,10.0 c*@100000,10.0
        slow: a@1000,1.00 c*@100000,1.00
        == kind = 'heat'
        1 matrix; cpu, 2 threads, natural order
        100 %: the fastest of these methods on that matrix
        | matrix | base | fast |
        |--------|-----:|-----:|
        | a f32  |  100 | 66.7 |
        | a f64  | 50.0 |  100 |
        columns base fast
        a f32: 100 66.7
        a f64: 50.0 100
        == kind = 'best'
        1 matrix; cpu, 2 threads, natural order
        loss: time divided by the time of the fastest method on the same matrix; means are over the matrices on which the method runs; equally fast methods all count as the fastest, and methods that chose another measured one not at all; certain: the 95 % intervals of the times of all others over its time lie above 1
        | method   | fastest on | runs on | mean loss | 95 % interval | greatest loss | on    |
        |----------|-----------:|--------:|----------:|--------------:|--------------:|-------|
        | base f32 |          1 |       1 |      none |               |          none |       |
        | fast f64 |          1 |       1 |      none |               |          none |       |
        | fast f32 |          0 |       1 |      1.50 |               |          1.50 | a f32 |
        | base f64 |          0 |       1 |      2.00 |               |          2.00 | a f64 |
        bars: base f32 | fast f64 | fast f32 | base f64
        geometric mean: 1.00 1.00 1.50 2.00; mean -
        == kind = 'speedup', over = 'base', of = ['fast', 'slow'], where = 'matrix != b'
        2 matrices; f64, cpu, 2 threads, natural order
        marked *: generated surrogates for matrices of the collection (1)
        base: on each matrix the fastest of base natural, base rcm
        time of base / time of the method: above 1 the method is faster
        | method | matrices |   min |  max | harmonic mean | harmonic mean, values repeat | harmonic mean, values differ | geometric mean | geometric mean, values repeat | geometric mean, values differ | 95 % interval | % faster |
        |--------|---------:|------:|-----:|--------------:|-----------------------------:|-----------------------------:|---------------:|------------------------------:|------------------------------:|---------------|---------:|
        | fast   |        2 | 0.500 | 4.00 |         0.889 |                         4.00 |                        0.500 |           1.41 |                          4.00 |                         0.500 | 0.500 to 4.00 |     50.0 |
        | slow   |        2 | 0.125 | 1.00 |         0.222 |                         1.00 |                        0.125 |          0.354 |                          1.00 |                         0.125 | 0.125 to 1.00 |        0 |
        fast: a@1000,0.500 c*@100000,4.00
        slow: a@1000,0.125 c*@100000,1.00
        guide equally fast: 1000,1.00 100000,1.00
        == kind = 'amortisation', of = ['* where order != natural'], over = 'base where order = natural'
        1 matrix; f64, cpu, 2 threads
        pays off after n products: setup and n products together take less time than with base where order = natural; median and quartiles over the matrices on which the method pays off
        | method   | matrices | setup (products of base where order = natural) | pays off after: lower quartile | median | upper quartile | never (% of matrices) |
        |----------|---------:|-----------------------------------------------:|-------------------------------:|-------:|---------------:|----------------------:|
        | base rcm |        1 |                                           7.50 |                           10.0 |   10.0 |           10.0 |                     0 |
        base rcm: @1.00,7.75 @1.78,4.47 … @1000000,0.250
        guide base where order = natural: 1.00,1.00 1000000,1.00
        == kind = 'repeatability'
        3 matrices; f64, cpu, 2 threads, natural order
        without a time: seq on 2 matrices, old on 2 matrices
        compared: the bits of y after the first product and after each round, with the same x
        without a count of results: 1 method
        | method | rows | always the same | most different results | on |
        |--------|-----:|----------------:|-----------------------:|----|
        | atomic |    3 |               1 |                      5 | b  |
        | seq    |    1 |               1 |                      1 |    |
        == kind = 'sizes', method = 'csr3'
        csr3, f64: 3 sizes on 2 matrices
        left out, without a time for some size: 1
        srs = round(32.000 - 24.000 ln(nnz/row)), R^2 1.000
        geometric mean of the best srs: 16.0
        ssrs = round(4.000 + 12.000 ln(nnz/row)), R^2 1.000
        geometric mean of the best ssrs: 8.0
        srs=8:ssrs=16 for all: 86.6 % of each matrix' best in the geometric mean
        | matrix | nonzeros per row | best srs | best ssrs | GFLOP/s |
        |--------|-----------------:|---------:|----------:|--------:|
        | short  |             1.00 |       32 |         4 |    2.00 |
        | long   |             2.72 |        8 |        16 |    4.00 |
        best srs: short@1.00,32.0 long@2.72,8.00
        best ssrs: short@1.00,4.00 long@2.72,16.0
        guide fit of best srs: 1.00,32.0 1.03,31.2 … 2.72,8.00
        guide fit of best ssrs: 1.00,4.00 1.03,4.38 … 2.72,16.0
    "#]].assert_eq(&text.concat());
}

/// A note on the choice among several rows appears only if a part has several.
#[test]
fn parts_have_a_note_if_they_contain_several_rows_per_matrix() {
    let on = |method, threads, ms| Row { threads: Some(threads), ..row("a.mtx", 1000, method, ms) };
    let rows = vec![on("x", 1, 4.0), on("x", 2, 2.0), on("y", 1, 8.0), on("y", 2, 5.0)];
    let notes = |split: &str| {
        let toml = format!("kind = 'speedups'\nof = 'x'\nover = ['y']\nsplit = [{split}]");
        view(rows.clone(), &toml).notes.join("\n")
    };
    let choice = "x: on each matrix the fastest of x 1 thread, x 2 threads";
    let one = "{ name = 'one', where = 'threads = 1' }";
    assert!(!notes(one).contains("fastest of"), "{}", notes(one));
    let all = format!("{one}, {{ name = 'all' }}, {{ name = 'again' }}");
    assert_eq!(notes(&all).matches(choice).count(), 1, "{}", notes(&all));
}

/// 2 ms for 1000 nonzeros are 2000 ns per nonzero. b has more nonzeros, so it comes last. It has the name that its
/// other rows have.
#[test]
fn stages() {
    let stage = |file: &str, method: &str, nonzeros, stage: &str, ms| StageRow {
        file: file.into(),
        method_name: method.into(),
        num_nonzeros: Some(nonzeros),
        row_length_mean: Some(10.0),
        stage: stage.into(),
        ms,
        occupancy: Some(0.75),
        ..StageRow::default()
    };
    let rows = [
        stage("b.mtx", "hola", 4000, "starts", 1.0),
        stage("b.mtx", "hola", 4000, "product", 8.0),
        stage("surrogate:G/a", "merge", 1000, "product", 3.0),
        stage("surrogate:G/a", "hola", 1000, "starts", 0.5),
        stage("surrogate:G/a", "hola", 1000, "product", 2.0),
    ];
    let stages = rows.iter().collect();
    let toml = "kind = 'stages'\nof = ['hola', '*']";
    let b = RecordedRow {
        name: Some("H/b".into()),
        ..RecordedRow::from(row("b.mtx", 4000, "hola", 9.0))
    };
    let all = Recorded { stages, lines: vec![&b], ..Recorded::default() };
    expect![[r#"
        3 products of 2 matrices
        stage 1, 2, …: the kernels of a product in the order in which they run; the table has their names
        | matrix | nonzeros | nonzeros per row | method | stage   | time (ms) | time per nonzero (ns) | occupancy (%) |
        |--------|---------:|-----------------:|--------|---------|----------:|----------------------:|--------------:|
        | a*     |     1000 |             10.0 | hola   | starts  |     0.500 |                   500 |          75.0 |
        | a*     |     1000 |             10.0 | hola   | product |      2.00 |                  2000 |          75.0 |
        | a*     |     1000 |             10.0 | merge  | product |      3.00 |                  3000 |          75.0 |
        | H/b    |     4000 |             10.0 | hola   | starts  |      1.00 |                   250 |          75.0 |
        | H/b    |     4000 |             10.0 | hola   | product |      8.00 |                  2000 |          75.0 |
        stacked bars: a*, hola | a*, merge | H/b, hola
        stage 1: 500 3000 250; mean -
        stage 2: 2000 - 2000; mean -
    "#]].assert_eq(&text_of(&spec(toml).view(&all)));
    view(vec![], toml);
}

/// The foot of a chart describes only the rows that the view shows.
#[test]
fn a_foot_describes_the_rows_that_are_shown() {
    let run = |id: &str, day: &str| {
        serde_json::json!({"run_id": id, "date": format!("{day}T10:00:00Z"), "gpu": {"name": "G"},
            "system": {"cpu": "C", "cores": 2}})
    };
    let runs = [run("fast", "2026-03-03"), run("base", "2026-03-02"), run("slow", "2026-03-04")];
    let of_run = |row: Row| Row { run_id: row.method_name.clone().unwrap(), ..row };
    let gpu = Row { device: Some(Device::Gpu), ..row("b.mtx", 1000, "fast", 1.0) };
    let lines: Vec<_> =
        rows().into_iter().chain([gpu]).map(of_run).map(RecordedRow::from).collect();
    let lines: Vec<_> = lines.iter().collect();
    let recorded = Recorded { lines, runs: runs.iter().collect(), ..Recorded::default() };
    let foot = |toml: &str| spec(toml).view(&recorded).foot;
    let cpu = "f64, cpu, 2 threads, natural order; C, 2 cores, 2026-03-02";
    let of_three = format!("3 matrices (generated surrogates: 1); {cpu} to 2026-03-04");
    assert_eq!(foot(&format!("{BARS}\nwhere = 'device = cpu'")), of_three);
    assert_eq!(foot(&format!("{BARS}\nof = ['base', 'slow']")), of_three);
    assert_eq!(foot(&format!("{BARS}\nof = ['base where num_rows = 7']")), "", "no chart");
    let speedup = "kind = 'speedup'\nover = 'base'";
    let of_b = format!("{speedup}\nof = ['fast']\nwhere = 'matrix = b && device = cpu'");
    assert_eq!(foot(&of_b), format!("1 matrix; {cpu} to 2026-03-03"));
    let both = "C, 2 cores, 2026-03-02 to 2026-03-04; G, 2026-03-03";
    assert!(foot(speedup).ends_with(both), "all methods and the baseline: {}", foot(speedup));
    let unknown = Recorded { runs: vec![], ..recorded.clone() };
    let foot = spec(BARS).view(&unknown).foot;
    assert!(foot.ends_with("; machine and date not recorded"), "{foot}");
}

/// Ten of eleven setups pay off, in proportion to the nonzeros. The one that never does is left out of the
/// correlation.
#[test]
fn setups_that_never_pay_off_are_left_out_of_correlations() {
    let row = |k: usize| {
        let break_even = Some(if k == 11 { f64::INFINITY } else { 2.0 * k as f64 });
        Row { break_even, ..row(&format!("{k}.mtx"), 1000 * k, "merge", 1.0) }
    };
    let pairs = "kind = 'correlations'\npairs = [['num_nonzeros', 'break_even']]";
    let view = view((1..=11).map(row).collect(), pairs);
    assert!(text_of(&view).contains("| merge  |   10 |        1.00 |"), "{}", text_of(&view));
}

/// Two matrices, of which one has long times: modelled times are 10 % too long, half as long, and correct.
#[test]
fn agreement_compares_modelled_with_published_times() {
    let modelled = |file: &str, method: &str, ms: f64, published: f64| {
        let device = Some(Device::model("v100"));
        let row = Row { device, threads: None, ..row(file, 1000, method, ms - 0.01) };
        let (published_ms, waiting_ms) = (Some(published), Some(0.01));
        let added = Added { published_ms, waiting_ms, ..Added::default() };
        RecordedRow { added, ..RecordedRow::from(row) }
    };
    let lines = [
        modelled("a.mtx", "one", 1.1, 1.0),
        modelled("a.mtx", "two", 1.0, 2.0),
        modelled("a.mtx", "three", 4.0, 4.0),
        modelled("b.mtx", "one", 0.05, 0.05),
        RecordedRow::from(row("c.mtx", 1000, "one", 1.0)),
    ];
    let toml = "kind = 'agreement'\nwhere = 'device = model:v100'\nlong_ms = 0.1\nfarthest = 1";
    let all = Recorded { lines: lines.iter().collect(), ..Recorded::default() };
    expect![[r#"
        2 matrices; f64, model:v100, natural order
        without a time: two on 1 matrix, three on 1 matrix
        error: |modelled time with launching and waiting / published time - 1|; long: published times of 0.1 ms or more
        model:v100: rank correlation of modelled and published times over the methods of each matrix: median 0.50, 0.9 or more on 0 of 1 matrices with 3 or more methods, of which at least one has a long published time
        largest error 1: two on a, model:v100: 1.00 ms modelled, 2.00 ms published, ratio 0.50
        | method | cases | median error (%) | within a factor of 1.5 (%) | of them long: cases | median error (%) | within a factor of 1.5 (%) |
        |--------|------:|-----------------:|---------------------------:|--------------------:|-----------------:|---------------------------:|
        | one    |     2 |             5.00 |                        100 |                   1 |             10.0 |                        100 |
        | two    |     1 |             50.0 |                          0 |                   1 |             50.0 |                          0 |
        | three  |     1 |                0 |                        100 |                   1 |                0 |                        100 |
        one: a@1.00,1.10 b@0.0500,0.0500
        two: a@2.00,1.00
        three: a@4.00,4.00
        guide equal: 0.0500,0.0500 4.00,4.00
        guide 1.5 times: 0.0500,0.0750 4.00,6.00
        guide 1.5 times less: 0.0500,0.0333 4.00,2.67
    "#]].assert_eq(&text_of(&spec(toml).view(&all)));
    view(vec![], toml);
}
