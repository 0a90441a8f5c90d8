//! Tests of the command `report`.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use spmv_bench::cli::CommandStatus;
use tempfile::TempDir;

use super::env::{Ran, run};
use super::{check, folder};

/// Results for two matrices of 1000 and 4000 nonzeros: `merge` takes 1 and 4 ms, `csr-rows` 2 and 2 ms.
const ROWS: &str = "\
file,num_rows,num_cols,num_nonzeros,row_length_variation,method_name,setup_ms,avg_spmv_ms,gflops,precision,device,threads,transpose,status,reason,cache,order,run_id
a.mtx,100,100,1000,0.5,csr-rows,0,2,0.001,f64,cpu,2,false,ok,,hot,natural,r1
a.mtx,100,100,1000,0.5,merge,0,1,0.002,f64,cpu,2,false,ok,,hot,natural,r1
a.mtx,100,100,1000,0.5,ell,,,,f64,cpu,2,false,skipped,stores 3.5 times as many entries; the limit is 3,hot,natural,r1
<b>&'_x_.mtx,200,200,4000,1.5,csr-rows,0,2,0.004,f64,cpu,2,false,ok,,hot,natural,r1
<b>&'_x_.mtx,200,200,4000,1.5,merge,0,4,0.002,f64,cpu,2,false,ok,,hot,natural,r1
<b>&'_x_.mtx,200,200,4000,1.5,ell,,,,f64,cpu,2,false,wrong,row 3 is off by 7 bounds,hot,natural,r1
";

fn report(dir: &TempDir, words: &str) -> Ran {
    run(&format!("report {}/a.csv {words}", dir.path().display()))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_path_that_ends_in_html_gets_only_the_page() {
    let dir = folder(&[("a.csv", ROWS), ("there.html", "mine")]);
    let to = |name: &str| report(&dir, &format!("-o {}/{name}", dir.path().display()));
    let ran = to("new.html");
    assert_eq!((ran.result, &*ran.stderr), (Ok(CommandStatus::Ok), ""));
    assert!(read(&dir.path().join("new.html")).contains("</html>"));
    for (name, expected) in [
        ("there.html", "there.html already exists: name another file, or replace it with --force"),
        (
            "new.md",
            "new.md: a report has several files; use a folder, or a page that ends in .html",
        ),
        ("a.csv", "a.csv: a report has several files; use a folder, or a page that ends in .html"),
    ] {
        let error = to(name).result.unwrap_err();
        assert!(error.ends_with(expected), "{error}");
    }
    assert_eq!(
        (read(&dir.path().join("there.html")), fs::read_dir(&dir).unwrap().count()),
        ("mine".into(), 3)
    );
    assert_eq!(to("DIR").result, Ok(CommandStatus::Ok));
    let before = read(&dir.path().join("DIR/report.md"));
    let error = to("DIR").result.unwrap_err();
    assert!(
        error
            .ends_with("report.html already exists: name another file, or replace it with --force"),
        "{error}"
    );
    assert_eq!(read(&dir.path().join("DIR/report.md")), before);
    assert_eq!(to("DIR --force").result, Ok(CommandStatus::Ok));
    assert_eq!(to("there.html --force").result, Ok(CommandStatus::Ok));
    assert!(read(&dir.path().join("there.html")).contains("</html>"));
}

/// The geometric means are sqrt(0.002 * 0.002), sqrt(0.001 * 0.004). The losses are 2 and 1 for `csr-rows`, 1 and 2 for `merge`.
#[test]
fn the_main_tables_are_printed() {
    let dir = folder(&[("a.csv", ROWS)]);
    let ran = report(&dir, "");
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    assert_eq!(ran.stderr, "");
    check(
        &ran.stdout,
        dir.path(),
        expect![[r#"
            Sparse matrix-vector products

            6 rows from a.csv: 2 matrices, 3 methods. 1 wrong or failed; 4 correct and timed, 1 skipped. 4 of 4 times have no confidence interval: they have fewer than six samples.

            Wrong or failed
            ===============

            ────────────────────────────────────────────────────────────────────────────────────────
             matrix     method   status   reason                     setting
            ════════════════════════════════════════════════════════════════════════════════════════
             <b>&'_x_   ell      wrong    row 3 is off by 7 bounds   f64, CPU, 2 threads, hot cache
            ────────────────────────────────────────────────────────────────────────────────────────

            Skipped
            =======

            ──────────────────────────────────────────────────────────────────────────────
             reason                                             rows   methods   matrices
            ══════════════════════════════════════════════════════════════════════════════
             stores 3.5 times as many entries; the limit is 3      1   ell       a
            ──────────────────────────────────────────────────────────────────────────────

            What was measured
            =================

            ────────────────────────────────────────────────────────────────────────────────────────────────────
             setting                          matrices   methods   ok   skipped   wrong or failed   file    run
            ════════════════════════════════════════════════════════════════════════════════════════════════════
             f64, CPU, 2 threads, hot cache          2         3    4         1                 1   a.csv   r1
            ────────────────────────────────────────────────────────────────────────────────────────────────────

            f64, CPU, 2 threads, hot cache
            ==============================

            Speed of each method, in GFLOP/s
            ───────────────────────────────────────────────────────────
             method     matrices     least   geometric mean   greatest
            ═══════════════════════════════════════════════════════════
             csr-rows          2   0.00100          0.00200    0.00400
             merge             2   0.00200          0.00200    0.00200
            ───────────────────────────────────────────────────────────

            Speed-up over the best baseline on each matrix
            Time of the baseline over that of the method, geometric means; above 1 the method is faster. The best baseline is on each matrix the fastest of csr-rows, merge; least and greatest are over it.
            ────────────────────────────────────────────────────────────────────
             method     × merge   × best baseline   least   greatest   matrices
            ════════════════════════════════════════════════════════════════════
             csr-rows      1.00             0.707   0.500       1.00   2 of 2
             merge         1.00             0.707   0.500       1.00   2 of 2
            ────────────────────────────────────────────────────────────────────

            Share of the matrices within a factor of the fastest method
            2 matrices; f64, cpu, 2 threads, hot cache, natural order
            without a time: ell on 2 matrices
            share of all matrices on which the method's time is at most the factor times that of the fastest method; with a factor of 1, the share on which it is the fastest
            ───────────────────────────────────────────────────────────────────────────────────────────────────────────
             method     within 1 (%)   within 1.1 (%)   within 1.25 (%)   within 1.5 (%)   within 2 (%)   within 4 (%)
            ═══════════════════════════════════════════════════════════════════════════════════════════════════════════
             csr-rows           50.0             50.0              50.0             50.0            100            100
             merge              50.0             50.0              50.0             50.0            100            100
            ───────────────────────────────────────────────────────────────────────────────────────────────────────────

            Time lost if a single method is used for all matrices
            2 matrices; f64, cpu, 2 threads, hot cache, natural order
            without a time: ell on 2 matrices
            loss: time divided by the time of the fastest method on the same matrix; means are over the matrices on which the method runs; equally fast methods all count as the fastest
            ────────────────────────────────────────────────────────────────────────
             method     fastest on   runs on   mean loss   greatest loss   on
            ════════════════════════════════════════════════════════════════════════
             csr-rows            1         2        1.41            2.00   a
             merge               1         2        1.41            2.00   <b>&'_x_
            ────────────────────────────────────────────────────────────────────────
        "#]],
    );
}

#[test]
fn a_folder_contains_the_page_in_two_formats_and_its_charts() {
    let record = r#"{"run_id": "r1", "system": {"cpu": "C", "cpus": [0, 1]}, "gpu": null,
        "bandwidth": [{"threads": 2, "read_gbs": 12.345}]}"#;
    let dir = folder(&[("a.csv", ROWS), ("a.csv.run.json", record)]);
    let out = dir.path().join("out");
    let ran = report(&dir, &format!("-o {}", out.display()));
    assert_eq!(ran.result, Ok(CommandStatus::Ok), "{ran:?}");
    assert_eq!(ran.stdout, "");
    let mut files: Vec<_> = fs::read_dir(&out).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut reported: Vec<PathBuf> = ran.stderr.lines().map(PathBuf::from).collect();
    reported.sort();
    assert_eq!(files, reported);
    let markdown = read(&out.join("report.md"));
    for svg in files.iter().filter(|file| file.extension().is_some_and(|e| e == "svg")) {
        let name = svg.file_name().unwrap().to_str().unwrap();
        assert_eq!(markdown.matches(&format!("]({name})")).count(), 1, "{name}");
        assert!(read(svg).contains("<svg") && !read(svg).contains("<b>"), "{name}");
    }
    assert!(!read(&out.join("report.html")).contains("<b>"));
    check(
        &markdown,
        dir.path(),
        expect![[r#"
            <!-- written by spmv-bench, which may overwrite it -->

            # Sparse matrix-vector products

            6 rows from `a.csv`: 2 matrices, 3 methods. 1 wrong or failed; 4 correct and timed, 1 skipped. 4 of 4 times have no confidence interval: they have fewer than six samples.

            ## Wrong or failed

            | matrix      | method | status | reason                   | setting                        |
            |-------------|--------|--------|--------------------------|--------------------------------|
            | \<b>\&'\_x_ | ell    | wrong  | row 3 is off by 7 bounds | f64, CPU, 2 threads, hot cache |

            ## Skipped

            | reason                                           | rows | methods | matrices |
            |--------------------------------------------------|-----:|---------|----------|
            | stores 3.5 times as many entries; the limit is 3 |    1 | ell     | a        |

            ## What was measured

            | setting                        | matrices | methods | ok | skipped | wrong or failed | file  | run |
            |--------------------------------|---------:|--------:|---:|--------:|----------------:|-------|-----|
            | f64, CPU, 2 threads, hot cache |        2 |       3 |  4 |       1 |               1 | a.csv | r1  |

            ## f64, CPU, 2 threads, hot cache

            ### Speed of each method, in GFLOP/s

            ![Speed of each method, in GFLOP/s](f64-cpu-2-threads-hot-cache-speed-of-each-method-in-gflop-s.svg)

            | method   | matrices |   least | geometric mean | greatest |
            |----------|---------:|--------:|---------------:|---------:|
            | csr-rows |        2 | 0.00100 |        0.00200 |  0.00400 |
            | merge    |        2 | 0.00200 |        0.00200 |  0.00200 |

            ### Speed-up over the best baseline on each matrix

            Time of the baseline over that of the method, geometric means; above 1 the method is faster. The best baseline is on each matrix the fastest of csr-rows, merge; least and greatest are over it.

            | method   | × merge | × best baseline | least | greatest | matrices |
            |----------|--------:|----------------:|------:|---------:|----------|
            | csr-rows |    1.00 |           0.707 | 0.500 |     1.00 | 2 of 2   |
            | merge    |    1.00 |           0.707 | 0.500 |     1.00 | 2 of 2   |

            ### Share of the matrices within a factor of the fastest method

            2 matrices; f64, cpu, 2 threads, hot cache, natural order

            without a time: ell on 2 matrices

            share of all matrices on which the method's time is at most the factor times that of the fastest method; with a factor of 1, the share on which it is the fastest

            ![Share of the matrices within a factor of the fastest method](f64-cpu-2-threads-hot-cache-share-of-the-matrices-within-a-factor-of-the-fastest.svg)

            | method   | within 1 (%) | within 1.1 (%) | within 1.25 (%) | within 1.5 (%) | within 2 (%) | within 4 (%) |
            |----------|-------------:|---------------:|----------------:|---------------:|-------------:|-------------:|
            | csr-rows |         50.0 |           50.0 |            50.0 |           50.0 |          100 |          100 |
            | merge    |         50.0 |           50.0 |            50.0 |           50.0 |          100 |          100 |

            ### Time of a product against nonzeros

            2 matrices; f64, cpu, 2 threads, hot cache, natural order

            without a time: ell on 2 matrices

            ![Time of a product against nonzeros](f64-cpu-2-threads-hot-cache-time-of-a-product-against-nonzeros.svg)

            ### Speed-up over merge

            2 matrices; f64, cpu, 2 threads, hot cache, natural order

            without a time: ell on 2 matrices

            time of merge / time of the method: above 1 the method is faster

            ![Speed-up over merge](f64-cpu-2-threads-hot-cache-speed-up-over-merge.svg)

            | method   | matrices |   min |  max | harmonic mean | geometric mean | % faster |
            |----------|---------:|------:|-----:|--------------:|---------------:|---------:|
            | csr-rows |        2 | 0.500 | 2.00 |         0.800 |           1.00 |     50.0 |

            ### Speed in percent of the fastest on each matrix

            2 matrices; f64, cpu, 2 threads, hot cache, natural order

            without a time: ell on 2 matrices

            100 %: the fastest of these methods on that matrix

            ![Speed in percent of the fastest on each matrix](f64-cpu-2-threads-hot-cache-speed-in-percent-of-the-fastest-on-each-matrix.svg)

            | matrix      | csr-rows | merge | ell |
            |-------------|---------:|------:|----:|
            | a           |     50.0 |   100 |     |
            | \<b>\&'\_x_ |      100 |  50.0 |     |

            ### Time lost if a single method is used for all matrices

            2 matrices; f64, cpu, 2 threads, hot cache, natural order

            without a time: ell on 2 matrices

            loss: time divided by the time of the fastest method on the same matrix; means are over the matrices on which the method runs; equally fast methods all count as the fastest

            ![Time lost if a single method is used for all matrices](f64-cpu-2-threads-hot-cache-time-lost-if-a-single-method-is-used-for-all-matrice.svg)

            | method   | fastest on | runs on | mean loss | greatest loss | on          |
            |----------|-----------:|--------:|----------:|--------------:|-------------|
            | csr-rows |          1 |       2 |      1.41 |          2.00 | a           |
            | merge    |          1 |       2 |      1.41 |          2.00 | \<b>\&'\_x_ |

            ### The fastest method on each matrix

            2 matrices; f64, cpu, 2 threads, hot cache, natural order

            without a time: ell on 2 matrices

            ±: half the 95 % confidence interval of the median, in percent; where the intervals of both overlap, the order is uncertain: on 0 matrices

            | matrix      | nonzeros | fastest  | GFLOP/s | ± (%) | second   | takes longer by (%) | ± (%) | intervals |
            |-------------|---------:|----------|--------:|------:|----------|--------------------:|------:|----------:|
            | a           |     1000 | merge    | 0.00200 |       | csr-rows |                 100 |       |           |
            | \<b>\&'\_x_ |     4000 | csr-rows | 0.00400 |       | merge    |                 100 |       |           |

            ### Roofline

            2 matrices; f64, cpu, 2 threads, hot cache, natural order

            without a time: ell on 2 matrices

            % of peak: the bandwidth if each product moves the CSR arrays, x and y once, in percent of the bandwidth of sweeps over as many bytes; a roof is the median of the bandwidths of these sweeps for a range of matrix sizes in which they differ little

            ![Roofline](f64-cpu-2-threads-hot-cache-roofline.svg)

            ## All rows

            These are some of the columns; all are in `a.csv`.

            | matrix      | method   | status  | nonzeros | median time per product (ms) | mean time per product (ms) | GFLOP/s | setup (ms) |
            |-------------|----------|---------|---------:|-----------------------------:|---------------------------:|--------:|-----------:|
            | a           | csr-rows | ok      |     1000 |                         2.00 |                       2.00 | 0.00100 |          0 |
            | a           | merge    | ok      |     1000 |                         1.00 |                       1.00 | 0.00200 |          0 |
            | a           | ell      | skipped |     1000 |                              |                            |         |            |
            | \<b>\&'\_x_ | csr-rows | ok      |     4000 |                         2.00 |                       2.00 | 0.00400 |          0 |
            | \<b>\&'\_x_ | merge    | ok      |     4000 |                         4.00 |                       4.00 | 0.00200 |          0 |
            | \<b>\&'\_x_ | ell      | wrong   |     4000 |                              |                            |         |            |

            ## How it was measured

            ### Run

            | fact   | a.csv |
            |--------|-------|
            | run id | r1    |

            ### Machine

            | fact | a.csv |
            |------|-------|
            | cpu  | C     |
            | cpus | 0 1   |

            ### Bandwidth

            | fact | a.csv                    |
            |------|--------------------------|
            | 1    | read gbs 12.3, threads 2 |
        "#]],
    );
}

#[test]
fn other_files_are_neither_read_nor_overwritten() {
    let dir = folder(&[("a.csv", ROWS), ("b.csv", "x,y\n1,2\n"), ("report.html", "mine")]);
    let at = dir.path().display().to_string();
    let error =
        |words: &str| run(&format!("report {words}")).result.unwrap_err().replace(&at, "DIR");
    assert!(error(&format!("{at}/none.csv")).starts_with("cannot read DIR/none.csv: "));
    assert!(error(&format!("{at}/b.csv")).starts_with("DIR/b.csv:1: no column file; "));
    assert_eq!(error(&format!("{at}/a.csv {at}/./a.csv")), "DIR/./a.csv is named twice");
    // --force does not allow this either.
    let refused = error(&format!("{at}/a.csv -o {at} --force"));
    assert!(refused.starts_with("DIR/report.html exists and was not written by"), "{refused}");
    assert_eq!(read(&dir.path().join("report.html")), "mine");
    fs::write(dir.path().join("a.csv.run.json"), "{").unwrap();
    let record = error(&format!("{at}/a.csv"));
    assert!(record.starts_with("DIR/a.csv.run.json: EOF while parsing"), "{record}");
}
