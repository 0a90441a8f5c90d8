use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use expect_test::expect;

use super::env::Dir;

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

/// The only programs are those in the folder.
#[test]
fn a_chart_becomes_pdf_by_a_program_that_is_installed() {
    let dir = Dir::new(&[("a.csv", ROWS)]);
    let convert = |script: &str| {
        if !script.is_empty() {
            dir.write("rsvg-convert", script);
            fs::set_permissions(dir.path("rsvg-convert"), Permissions::from_mode(0o755)).unwrap();
        }
        dir.program_with(&[("PATH", ".")], "report a.csv -o a.pdf --chart heat")
    };
    convert("").exits(2).says("and none is installed");
    let why = "rsvg-convert did not convert the chart to PDF: no font";
    convert("#!/bin/sh\necho no font >&2; exit 1").exits(2).says(why);
    convert("#!/bin/sh\necho no font >&2").exits(2).says(why);
    assert!(!dir.path("a.pdf").exists());
    convert("#!/bin/sh\nprintf %%PDF-; /bin/cat \"$2\"").exits(0);
    assert!(dir.read("a.pdf").starts_with("%PDF-<svg"));
}

#[test]
fn a_path_with_an_extension_gets_only_that() {
    let dir = Dir::new(&[("a.csv", ROWS), ("there.html", "mine")]);
    let to = |name: &str| dir.run(&format!("report DIR/a.csv -o DIR/{name}"));
    assert_eq!(to("new.html").exits(0).stderr, "");
    assert!(dir.read("new.html").contains("</html>"));
    let exists = "already exists: name another file, or replace it with --force";
    let unknown = "a report is not written as .csv; use a folder, or a file that ends in .html, .md, .tex";
    to("there.html").exits(2).says(&format!("DIR/there.html {exists}"));
    to("a.csv").exits(2).says(&format!("a.csv: {unknown}"));
    to("new.svg").exits(2).says("choose the chart with --chart");
    to("new.svg --chart pie").exits(2).says("invalid value 'pie' for '--chart <KIND>'");
    to("new.md --methods megre").exits(2).says("megre matches no row; did you mean merge?");
    to("new.md --where precision=f32").exits(2).says("--where precision=f32: no row meets this");
    to("new.md --baseline mkl-ie").exits(2).says("--baseline: mkl-ie matches no row");
    to("no/new.md").exits(2).says("there is no folder DIR/no: cannot write DIR/no/new.md");
    assert_eq!((&*dir.read("there.html"), dir.count()), ("mine", 3));
    to("new.svg --chart heat").exits(0);
    assert!(dir.read("new.svg").contains("<svg"));
    to("new.svg --chart speedup --baseline csr-rows --methods merge --products 7 --force").exits(0);
    let chart = dir.read("new.svg");
    let parts = ["Speed-up over csr-rows", "for 7 products, with setup", "background:#fff"];
    assert!(parts.iter().all(|part| chart.contains(part)), "{chart}");
    to("new.tex --methods merge").exits(0);
    let table = dir.read("new.tex");
    assert!(table.contains("\\toprule") && !table.contains("csr-rows &"), "{table}");
    assert!(table.contains("matrix & merge \\\\\n\\midrule\na & \\textbf{0.00200}"), "{table}");
    to("out").exits(0);
    let before = dir.read("out/report.md");
    to("out").exits(2).says(&format!("report.html {exists}"));
    assert_eq!(dir.read("out/report.md"), before);
    to("out --force").exits(0);
    to("there.html --force").exits(0);
    assert!(dir.read("there.html").contains("</html>"));
}

/// The geometric means are sqrt(0.002 * 0.002), sqrt(0.001 * 0.004). The losses are 2 and 1 for `csr-rows`, 1 and 2 for
/// `merge`.
#[test]
fn the_main_tables_are_printed() {
    let dir = Dir::new(&[("a.csv", ROWS)]);
    let ran = dir.run("report DIR/a.csv").exits(0);
    assert_eq!(ran.stderr, "");
    let mut rest = &*ran.stdout;
    for part in [
        "Sparse matrix-vector products\n\n6 rows from a.csv: 2 matrices, 3 methods. 1 wrong or failed; 4 correct and",
        "\nWrong or failed\n===============\n\n",
        " <b>&'_x_   ell      wrong    row 3 is off by 7 bounds   f64, CPU, 2 threads, hot cache\n",
        "\nf64, CPU, 2 threads, hot cache\n==============================\n\n",
        "Use merge: it is the fastest on 1 of 2 matrices; on the others it takes at most 2.00 times the time of the",
        "\nSpeed of each method, in GFLOP/s\n",
        " csr-rows          2   0.00100          0.00200   0.00100 to 0.00400    0.00400\n",
        "\nSpeed-up over the best baseline on each matrix\n",
        " merge         1.00             0.707   0.500       1.00   2 of 2     0.500 to 1.00\n",
        "\nShare of the matrices within a factor of the fastest method\n",
        "\nwithout a time: ell on 2 matrices\n",
        " merge              50.0             50.0              50.0             50.0            100            100\n",
        "\nTime lost if a single method is used for all matrices\n",
        " csr-rows            1         2        1.41   1.00 to 2.00             2.00   a\n",
        "\nWhat was measured\n=================\n\n",
        " f64, CPU, 2 threads, hot cache          2         3    4         1                 1   a.csv   r1\n",
        "\nSkipped\n=======\n\n",
        " stores 3.5 times as many entries; the limit is 3      1   ell       a\n",
    ] {
        let found = rest.split_once(part);
        rest = found.unwrap_or_else(|| panic!("no {part} in its place: {}", ran.stdout)).1;
    }
    assert!(!ran.stdout.contains("Not shown for lack of width"), "{}", ran.stdout);
}

const RECORD: &str = r#"{"run_id": "r1", "system": {"cpu": "C", "cpus": [0, 1]}, "gpu": null,
    "bandwidth": [{"threads": 2, "read_gbs": 12.345}]}"#;

#[test]
fn a_folder_contains_the_page_in_two_formats_and_its_charts() {
    let dir = Dir::new(&[("a.csv", ROWS), ("a.csv.run.json", RECORD)]);
    let ran = dir.run("report DIR/a.csv -o DIR/out").exits(0);
    assert_eq!(ran.stdout, "");
    let entries = dir.path("out").read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    files.sort();
    let mut reported: Vec<_> = ran.stderr.lines().collect();
    reported.sort_unstable();
    assert!(reported.iter().map(|line| &line["DIR/out/".len()..]).eq(&files), "{ran:?}");
    let markdown = dir.read("out/report.md");
    for svg in files.iter().filter(|name| Path::new(name).extension().is_some_and(|of| of == "svg")) {
        assert_eq!(markdown.matches(&format!("]({svg})")).count(), 1, "{svg}");
        let svg = dir.read(&format!("out/{svg}"));
        assert!(svg.contains("<svg") && !svg.contains("<b>"), "{svg}");
    }
    assert!(!dir.read("out/report.html").contains("<b>"));
    let titles = markdown.lines().filter(|line| line.starts_with(['#', '!']));
    let titles: String = titles.map(|line| format!("{line}\n")).collect();
    expect![[r#"
        # Sparse matrix-vector products
        ## Wrong or failed
        ## f64, CPU, 2 threads, hot cache
        ### The fastest method on each matrix
        ### Speed of each method, in GFLOP/s
        ![Speed of each method, in GFLOP/s](f64-cpu-2-threads-hot-cache-speed-of-each-method-in-gflop-s.svg)
        ### Speed-up over the best baseline on each matrix
        ### Share of the matrices within a factor of the fastest method
        ![Share of the matrices within a factor of the fastest method](f64-cpu-2-threads-hot-cache-share-of-the-matrices-within-a-factor-of-the-fastest.svg)
        ### Time of a product against nonzeros
        ![Time of a product against nonzeros](f64-cpu-2-threads-hot-cache-time-of-a-product-against-nonzeros.svg)
        ### Speed-up over merge
        ![Speed-up over merge](f64-cpu-2-threads-hot-cache-speed-up-over-merge.svg)
        ### Speed in percent of the fastest on each matrix
        ![Speed in percent of the fastest on each matrix](f64-cpu-2-threads-hot-cache-speed-in-percent-of-the-fastest-on-each-matrix.svg)
        ### Time lost if a single method is used for all matrices
        ![Time lost if a single method is used for all matrices](f64-cpu-2-threads-hot-cache-time-lost-if-a-single-method-is-used-for-all-matrice.svg)
        ### Where the best single method loses, and why
        ### Roofline
        ![Roofline](f64-cpu-2-threads-hot-cache-roofline.svg)
        ## What was measured
        ## Skipped
        ## All rows
        ## How it was measured
        ### Run
        ### Machine
        ### Bandwidth
    "#]].assert_eq(&titles);
}

#[test]
fn a_page_ends_with_all_rows_and_how_they_were_measured() {
    let dir = Dir::new(&[("a.csv", ROWS), ("a.csv.run.json", RECORD)]);
    dir.run("report DIR/a.csv -o DIR/out").exits(0);
    let markdown = dir.read("out/report.md");
    let (_, rows) = markdown.split_once("## All rows\n").unwrap();
    expect![[r#"

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
    "#]].assert_eq(rows);
}

#[test]
fn other_files_are_neither_read_nor_overwritten() {
    let dir = Dir::new(&[("a.csv", ROWS), ("b.csv", "x,y\n1,2\n"), ("report.html", "mine")]);
    dir.refuses(&[
        ("report DIR/none.csv", "cannot read DIR/none.csv: "),
        ("report DIR/b.csv", "DIR/b.csv:1: no column file; "),
        ("report DIR/a.csv DIR/./a.csv", "DIR/./a.csv is named twice"),
        // --force does not allow this either.
        ("report DIR/a.csv -o DIR --force", "DIR/report.html exists and was not written by"),
    ]);
    assert_eq!(dir.read("report.html"), "mine");
    dir.write("a.csv.run.json", "{");
    dir.refuses(&[("report DIR/a.csv", "DIR/a.csv.run.json: EOF while parsing")]);
}
