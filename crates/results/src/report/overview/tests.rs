use std::path::Path;

use expect_test::expect_file;

use super::*;
use crate::files::read::RecordedRow;
use crate::report::cases;
use crate::row::Row;
use crate::settings::{CacheState, Values};

fn page(files: &[ResultFile]) -> Page {
    super::page(files, Question::default())
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

/// The sections whose tables are in the file of cases.
const SHOWN: [&str; 3] = ["Threads", "Skipped", "How it was measured"];

#[test]
fn pages_are_divided_as_the_file_says() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/overview/tests"));
    let text = cases(include_str!("tests/cases.txt"), |names| {
        let paths: Vec<_> = names.split(' ').map(|name| folder.join(name)).collect();
        outline(&page(&read(&paths, None).unwrap()))
    });
    expect_file!["tests/cases.txt"].assert_eq(&text);
}

/// Returns the texts of a page, with some tables.
fn outline(page: &Page) -> String {
    let mut lines = page.lead.clone();
    for section in &page.sections {
        lines.push(format!("## {}", section.title));
        lines.extend(section.lead.clone());
        if SHOWN.contains(&&section.title[..]) {
            let tables = section.views.iter().filter_map(|view| view.table.as_ref());
            lines.extend(tables.map(Table::to_markdown));
        }
    }
    lines.join("\n") + "\n"
}

/// Each run that measured the same has a setting of its own, with tables and charts.
#[test]
fn a_page_has_a_limited_number_of_settings() {
    let run = |number: usize| Row { run_id: format!("r{number}"), ..row("a.mtx", "merge", 1.0) };
    let of_runs = |count| page(&[file("a.csv", (0..count).map(run))]);
    assert_eq!(of_runs(MOST_SETTINGS).sections.len(), MOST_SETTINGS + 2);
    let page = of_runs(MOST_SETTINGS + 1);
    assert_eq!(page.sections.len(), MOST_SETTINGS + 2);
    assert!(page.lead.iter().any(|line| line.starts_with("Only the first 200 of 201 settings")));
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
    let rows = methods.iter().enumerate().map(|(place, method)| row("a.mtx", method, 9.0 - place as f64));
    let page = super::tables(&[file("a.csv", rows)], Question::default());
    let view = &page.sections[0].views[0];
    let columns = view.table.as_ref().unwrap().columns.join(" ");
    assert_eq!(columns, "matrix packed merge csr5 bcsr coo dia hyb sell");
    assert!(view.notes.concat().contains("the 8 best of 9 methods"), "{view:?}");
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
