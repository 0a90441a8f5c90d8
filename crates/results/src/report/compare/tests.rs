use std::path::Path;

use expect_test::expect_file;

use super::*;
use crate::files::read::{RecordedRow, read};
use crate::report::cases;
use crate::report::identity::name_matrices;

fn rows(name: &str) -> Vec<RecordedRow> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/compare/tests/rows"));
    read(&folder.join(name).with_extension("csv")).unwrap()
}

/// Returns what is printed of two files in this form, or why nothing is.
fn printed(form: &str, a: &str, b: &str) -> String {
    let mut a = rows(a);
    let mut b = rows(b);
    name_matrices(vec![a.iter_mut().collect(), b.iter_mut().collect()]);
    let a = Compared { name: "a.csv", lines: &a };
    let b = Compared { name: "b.csv", lines: &b };
    match Comparison::of(a, b, false) {
        Err(why) => format!("{why}\n"),
        Ok(comparison) if form == "csv" => comparison.to_csv(),
        Ok(comparison) => Comparison { by_values: form == "apart", ..comparison }.to_text(None),
    }
}

#[test]
fn comparisons_print_what_the_file_says() {
    let text = cases(include_str!("tests/cases.txt"), |case| {
        let [form, a, b] = case.split(' ').collect::<Vec<_>>()[..] else { panic!("{case}") };
        printed(form, a, b)
    });
    expect_file!["tests/cases.txt"].assert_eq(&text);
}
