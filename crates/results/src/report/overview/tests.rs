use serde_json::json;

use super::*;
use crate::files::read::RecordedRow;
use crate::row::{Row, Status};
use crate::settings::{CacheState, Values};
use crate::table::Cell;
use spmv_matrix::device::Device;
use spmv_matrix::scalar::Precision;

fn page(files: &[ResultFile]) -> Page {
    super::page(files, Question::default())
}

fn main_tables(files: &[ResultFile]) -> Page {
    super::main_tables(files, Question::default())
}

fn row(file: &str, method: &str, ms: f64) -> Row {
    Row {
        num_nonzeros: Some(1000),
        gflops: Some(0.002 / ms),
        threads: Some(if method == "seq" { 1 } else { 2 }),
        cache: Some(CacheState::Hot),
        run_id: "r1".into(),
        ..crate::report::row(file, method, ms)
    }
}

fn file(name: &str, rows: impl IntoIterator<Item = Row>) -> ResultFile {
    let lines = rows.into_iter().map(RecordedRow::from).collect();
    ResultFile { name: name.into(), lines, ..ResultFile::default() }
}

fn of_run(run: &str, row: Row) -> Row {
    Row { run_id: run.into(), ..row }
}

fn skipped(file: &str, method: &str, reason: &str) -> Row {
    let (avg_spmv_ms, gflops) = (None, None);
    Row { avg_spmv_ms, gflops, ..row(file, method, 1.0).ended(Status::Skipped, reason.into()) }
}

fn titles(page: &Page) -> Vec<&str> {
    page.sections.iter().map(|section| &section.title[..]).collect()
}

/// Returns the first table of a section, one string per row.
fn table(page: &Page, title: &str) -> Vec<String> {
    let section = page.sections.iter().find(|section| section.title == title);
    let table = section.and_then(|section| section.views.iter().find_map(|of| of.table.as_ref()));
    lines(table.expect("a section with a table"))
}

/// Returns the table of rates of the first setting.
fn speeds_of(page: &Page) -> Vec<String> {
    let rates = page.sections[0].views.iter().find(|view| view.title.starts_with("Speed of each"));
    lines(rates.unwrap().table.as_ref().unwrap())
}

fn lines(table: &Table) -> Vec<String> {
    let line = |row: &Vec<Cell>| row.iter().map(Cell::show).collect::<Vec<_>>().join(" | ");
    table.rows.iter().map(line).collect()
}

const SETTING: &str = "f64, CPU, 2 threads, hot cache";

/// Each run that measured the same has a setting of its own, with tables and charts.
#[test]
fn a_page_has_a_limited_number_of_settings() {
    let run = |number: usize| of_run(&format!("r{number}"), row("a.mtx", "merge", 1.0));
    let of_runs = |count| page(&[file("a.csv", (0..count).map(run))]);
    assert_eq!(of_runs(MOST_SETTINGS).sections.len(), MOST_SETTINGS + 2);
    let page = of_runs(MOST_SETTINGS + 1);
    assert_eq!(page.sections.len(), MOST_SETTINGS + 2);
    assert!(page.lead.iter().any(|line| line.starts_with("Only the first 200 of 201 settings")));
}

#[test]
fn a_sequential_method_belongs_to_the_setting_of_its_run() {
    let page = page(&[file("a.csv", [row("a.mtx", "seq", 4.0), row("a.mtx", "merge", 1.0)])]);
    assert_eq!(titles(&page), [SETTING, "What was measured", "All rows"]);
    // 0.002 / 1 and 0.002 / 4.
    let speeds = [
        "merge | 1 | 0.00200 | 0.00200 |  | 0.00200",
        "seq | 1 | 0.000500 | 0.000500 |  | 0.000500",
    ];
    assert_eq!(speeds_of(&page), speeds);
}

#[test]
fn means_over_fewer_matrices_come_last() {
    let rows = [row("a.mtx", "merge", 1.0), row("b.mtx", "merge", 1.0), row("a.mtx", "ell", 0.5)];
    let methods = speeds_of(&page(&[file("a.csv", rows)]));
    assert!(methods[0].starts_with("merge | ") && methods[1].starts_with("ell | "), "{methods:?}");
}

#[test]
fn rows_that_may_not_be_compared_have_separate_sections() {
    type Change = fn(Row) -> Row;
    let changes: [(&str, Change); 4] = [
        ("f32, CPU, 2 threads, hot cache", |row| Row { precision: Some(Precision::F32), ..row }),
        ("f64, GPU, hot cache", |row| Row { device: Some(Device::Gpu), threads: None, ..row }),
        ("f64, CPU, 2 threads, cold cache", |row| Row { cache: Some(CacheState::Cold), ..row }),
        ("f64, CPU, 2 threads, hot cache, transposed", |row| Row { transpose: Some(true), ..row }),
    ];
    for (other, change) in changes {
        let rows = [row("a.mtx", "merge", 1.0), change(row("a.mtx", "merge", 2.0))];
        let page = main_tables(&[file("a.csv", rows)]);
        assert_eq!(titles(&page), [SETTING, other, "What was measured"]);
    }
}

/// Twice as many threads are 1.6 times as fast: an efficiency of 80 %.
#[test]
fn several_numbers_of_threads_are_settings_and_a_comparison() {
    let four = Row { threads: Some(4), ..row("a.mtx", "merge", 1.0) };
    let rows = [row("a.mtx", "merge", 1.6), of_run("r2", four)];
    let page = main_tables(&[file("a.csv", rows)]);
    let other = "f64, CPU, 4 threads, hot cache";
    assert_eq!(titles(&page), [SETTING, other, "Threads", "What was measured"]);
    let expected =
        ["merge | 2 | 1.00 | 1.00 | 1.00 | 100 | 1", "merge | 4 | 1.60 | 1.60 | 1.60 | 80.0 | 1"];
    assert_eq!(table(&page, "Threads"), expected);
}

#[test]
fn the_setup_is_spread_over_the_planned_products() {
    let timed = |method, setup, ms| Row { setup_ms: Some(setup), ..row("a.mtx", method, ms) };
    let files = [file("a.csv", [timed("merge", 0.0, 2.0), timed("packed", 90.0, 1.0)])];
    let lead = |planned| {
        let page = super::main_tables(&files, Question { planned, ..Question::default() });
        page.sections[0].lead.last().unwrap().clone()
    };
    assert!(lead(None).starts_with("packed is 2.00 times as fast as merge, the fastest"));
    let least = "takes the least time with its setup";
    assert!(lead(Some(10)).starts_with(&format!("For 10 products merge {least}: 20.0 ms, 5.00 t")));
    let of_900 = format!("For 900 products packed {least}: 990 ms, 1.82 t");
    assert!(lead(Some(900)).starts_with(&of_900));
}

#[test]
fn what_repeated_values_mean_is_said_once() {
    let of = |name, distinct| Row {
        values: Some(Values::Stored),
        distinct_values: Some(distinct),
        setup_ms: Some(1.0),
        ..row(name, "merge", 1.0)
    };
    let rows = [of("a.mtx", 1), of("b.mtx", 1000)];
    for by_values in [false, true] {
        let question = Question { by_values, ..Question::default() };
        let text = super::page(&[file("a.csv", rows.clone())], question).to_markdown();
        assert_eq!(text.matches("Values repeat on").count(), 1, "{text}");
    }
}

#[test]
fn a_table_of_every_matrix_has_the_methods_that_fit_across_a_page() {
    let methods = ["ell", "sell", "hyb", "dia", "coo", "bcsr", "csr5", "merge", "packed"];
    let rows =
        methods.iter().enumerate().map(|(place, method)| row("a.mtx", method, 9.0 - place as f64));
    let page = super::tables(&[file("a.csv", rows)], Question::default());
    let view = &page.sections[0].views[0];
    let columns = view.table.as_ref().unwrap().columns.join(" ");
    assert_eq!(columns, "matrix packed merge csr5 bcsr coo dia hyb sell");
    assert!(view.notes.concat().contains("the 8 best of 9 methods"), "{view:?}");
}

#[test]
fn uncertain_times_are_counted_at_the_top() {
    let timed = |method: &str, half: f64| {
        row("a.mtx", method, 2.0).with_median(2.0, (2.0 - half, 2.0 + half))
    };
    let csr5 = Row { likely_ratio: Some(9.0), ..row("a.mtx", "csr5", 1.0) };
    let rows = [timed("seq", 0.09), timed("merge", 0.11), csr5];
    let lead = page(&[file("a.csv", rows)]).lead;
    let expected = "1 of 3 times are noisy: their 95 % interval is wider than ± 5 %, on a (± 5.50 %). \
        1 of 3 results are less accurate than their precision explains: csr5. \
                    1 of 3 times have no confidence interval: they have fewer than six samples.";
    assert!(lead[0].ends_with(expected), "{lead:?}");
}

#[test]
fn runs_with_the_same_measurements_are_separate_and_others_together() {
    let first = file("a.csv", [row("a.mtx", "merge", 1.0)]);
    let again = file("b.csv", [of_run("r2", row("x/a.mtx.gz", "merge", 2.0))]);
    let page = main_tables(&[first.clone(), again]);
    let [one, two] = ["r1", "r2"].map(|run| format!("{SETTING}, run {run}"));
    assert_eq!(titles(&page), [&one[..], &two, "What was measured"]);
    assert!(page.lead[1].starts_with("Several runs measured the same matrices"), "{page:?}");
    let more = file("b.csv", [of_run("r2", row("b.mtx", "merge", 2.0))]);
    assert_eq!(titles(&main_tables(&[first.clone(), more])), [SETTING, "What was measured"]);
    let copy = ResultFile { name: "copy.csv".into(), ..first.clone() };
    let page = main_tables(&[first, copy]);
    assert_eq!(titles(&page), [SETTING, "What was measured"]);
    assert!(page.lead[1].ends_with("matrix and method: 1 of the rows."), "{page:?}");
}

#[test]
fn machines_are_separate_if_run_records_name_them() {
    let on = |cpu: &str, file: ResultFile| {
        let record = Some(json!({"system": {"cpu": cpu, "cores": 8}}));
        ResultFile { record, ..file }
    };
    let a = on("A", file("a.csv", [row("a.mtx", "merge", 1.0)]));
    let b = on("B", file("b.csv", [of_run("r2", row("b.mtx", "merge", 1.0))]));
    let page = page(&[a, b]);
    let [of_a, of_b] = ["A", "B"].map(|cpu| format!("{SETTING}, {cpu}, 8 cores"));
    let expected = [&of_a, &of_b, "What was measured", "All rows", "How it was measured"];
    assert_eq!(titles(&page), expected);
    assert_eq!(table(&page, "How it was measured"), ["cores | 8 | 8", "cpu | A | B"]);
}

#[test]
fn reasons_that_differ_in_numbers_are_one() {
    let rows = [
        skipped("a.mtx", "ell", "stores 3.5 times (70 for 20); the limit is 3"),
        skipped("b.mtx", "dia", "stores 12 times (24 for 2); the limit is 3"),
        skipped("c.mtx", "dia", "no\nMKL"),
        Row { method_name: None, ..skipped("d/d.mtx", "", "d/d.mtx:1: field complex") },
    ];
    let page = main_tables(&[file("a.csv", rows)]);
    let expected = [
        "stores … times (… for …); the limit is 3 | 2 | ell, dia | a, b",
        "no MKL | 1 | dia | c",
        "field complex | 1 |  | d",
    ];
    assert_eq!(table(&page, "Skipped"), expected);
    let nothing = "No result is correct and timed: there is nothing to show.";
    assert_eq!(page.sections[0].lead, [nothing]);
}

#[test]
fn every_view_is_valid_and_few_rows_make_a_page() {
    let of = |rows: Vec<Row>| page(&[file("a.csv", rows)]);
    assert_eq!(of(vec![]).lead, ["There are no rows in `a.csv`."]);
    assert!(of(vec![]).sections.is_empty());
    for rows in [
        vec![],
        vec![row("a.mtx", "merge", 1.0)],
        vec![row("a.mtx", "merge", 1.0), row("b.mtx", "merge", 0.0)],
        vec![row("a.mtx", "mkl-ie", 1.0), row("a.mtx", "seq", 4.0)],
        vec![Row::default()],
    ] {
        let page = of(rows);
        for text in [page.to_html(), page.to_markdown(), page.to_text(Some(80))] {
            assert!(!text.is_empty());
        }
    }
    let shown = of(vec![row("a.mtx", "mkl-ie", 1.0), row("a.mtx", "seq", 4.0)]);
    let views = &shown.sections[0].views;
    for title in ["Speed-up over mkl-ie", "Speed in percent of the fastest on each matrix"] {
        assert!(views.iter().any(|view| view.title == title), "{views:?}");
    }
}
