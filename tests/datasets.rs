//! The datasets: their grammar and its errors, and that ours say what the collection's index says.

use std::io::Write;
use std::path::Path;

use spmv_bench::datasets::{Datasets, Matrices, Matrix, index};

const TWO: &str = r#"
[[matrix]]
id = "A/a"
rows = 4
cols = 4
nnz = 8
kind = "k"
numerical-symmetry = 1.0

[[matrix]]
id = "A/b"
rows = 4
cols = 5
nnz = 1_000
entries = 1_001
kind = "k"
real = false
binary = true
"#;

fn ids(matrices: &[&Matrix]) -> Vec<String> {
    matrices.iter().map(|matrix| matrix.id.clone()).collect()
}

#[test]
fn facts_have_defaults() {
    let datasets = Datasets::default().and(TWO, "my.toml").unwrap();
    let a = datasets.matrix("A/a").unwrap();
    assert_eq!((a.entries, a.real, a.binary, a.pattern_symmetry), (8, true, false, None));
    // At most 4 on the diagonal and 2 below it are stored.
    assert_eq!((a.stored_at_most(), a.archive_bytes_estimate()), (6, 48));
    let b = datasets.matrix("A/b").unwrap();
    assert_eq!((b.group(), b.name(), b.entries, b.real), ("A", "b", 1001, false));
    assert_eq!((b.stored_at_most(), b.archive_bytes_estimate()), (1001, 2402));
}

#[test]
fn a_set_has_members_or_a_filter() {
    let text = format!(
        "{TWO}
[set.both]
source = \"a paper, Table 1\"
note = \"two\"
members = [{{ id = \"A/b\", printed = \"bee\", label = \"r1\", class = \"c\", symmetry = 0.5, \
longest = 7, nnz = 999 }}, \"A/a\"]

[set.large]
source = \"large ones\"
filter = \"nnz >= 1e3\"
"
    );
    let datasets = Datasets::default().and(&text, "my.toml").unwrap();
    let both = datasets.set("both").unwrap();
    assert_eq!((both.source.as_str(), both.note.as_deref()), ("a paper, Table 1", Some("two")));
    assert_eq!(ids(&datasets.matrices_of(both)), ["A/b", "A/a"]);
    assert_eq!(ids(&datasets.matrices_of(datasets.set("large").unwrap())), ["A/b"]);
    let Matrices::Members(members) = &both.matrices else { panic!("{both:?}") };
    assert_eq!((members[0].printed.as_deref(), members[0].nnz), (Some("bee"), Some(999)));
    assert_eq!((members[1].id.as_str(), members[1].symmetry), ("A/a", None));
}

#[test]
fn a_second_file_adds_and_overrides() {
    let first = format!("{TWO}\n[set.s]\nsource = \"one\"\nmembers = [\"A/a\"]\n");
    let second = "[[matrix]]\nid = \"A/a\"\nrows = 9\ncols = 9\nnnz = 9\nkind = \"mine\"\n
[set.s]\nsource = \"two\"\nmembers = [\"A/b\", \"A/a\"]\n";
    let datasets = Datasets::default().and(&first, "ours.toml").unwrap();
    let datasets = datasets.and(second, "my.toml").unwrap();
    assert_eq!(datasets.matrix("A/a").unwrap().rows, 9);
    assert_eq!(datasets.matrices().count(), 2);
    assert_eq!(ids(&datasets.matrices_of(datasets.set("s").unwrap())), ["A/b", "A/a"]);
}

#[test]
fn errors_say_where() {
    for (text, expected) in [
        (format!("{TWO}colour = 1\n"), &["my.toml: TOML parse error at line 19", "colour"][..]),
        (
            "[[matrix]]\nid = \"A/a\"\nrows = -1\n".into(),
            &["my.toml: TOML parse error at line 3, column 8"],
        ),
        (TWO.replace("A/a", "A"), &["my.toml:3: 'A' is no GROUP/NAME"]),
        (TWO.replace("A/a", "../a"), &["my.toml:3: '../a' is no GROUP/NAME"]),
        (TWO.replace("A/a", "A/a/b"), &["my.toml:3: 'A/a/b' is no GROUP/NAME"]),
        (TWO.replace("A/b", "A/a"), &["my.toml:11: A/a is there twice"]),
        (
            TWO.replace("1_001", "999"),
            &["my.toml:11: A/b: entries = 999, but that many include nnz = 1000"],
        ),
        (TWO.replace("1.0", "1.5"), &["my.toml:3: A/a: a symmetry is from 0 to 1, not 1.5"]),
        (
            format!("{TWO}[set.s]\nsource = \"x\"\n"),
            &["my.toml:20: set s must have either members or a filter"],
        ),
        (
            format!("{TWO}[set.s]\nsource = \"x\"\nmembers = []\nfilter = \"real\"\n"),
            &["my.toml:20: set s must have either members or a filter"],
        ),
        (
            format!("{TWO}[set.s]\nsource = \"x\"\nmembers = [\n\"A/a\",\n\"A/c\"]\n"),
            &["my.toml:23: set s: there is no [[matrix]] with the id A/c"],
        ),
        (
            format!("{TWO}[set.s]\nsource = \"x\"\nmembers = [\"A/a\", {{ id = \"A/a\" }}]\n"),
            &["my.toml:21: set s: A/a is there twice"],
        ),
        (
            format!("{TWO}[set.s]\nsource = \"x\"\nmembers = [{{ id = \"A/a\", lable = \"\" }}]\n"),
            &["my.toml: TOML parse error at line 21", "lable"],
        ),
        (
            format!("{TWO}[set.s]\nsource = \"x\"\nfilter = \"nzz < 1\"\n"),
            &["my.toml:21: set s: filter, column 1: 'nzz' stands where one of rows"],
        ),
    ] {
        let error = Datasets::default().and(&text, "my.toml").unwrap_err().to_string();
        assert!(error.starts_with(expected[0]), "{error}\nnot\n{}", expected[0]);
        assert!(expected.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Datasets::with(Some(Path::new("absent/my.toml"))).unwrap_err().to_string();
    assert!(error.starts_with("cannot read absent/my.toml: "), "{error}");
}

/// Past the test runner, which keeps back what a passing test prints.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn our_matrices_have_the_index_s_facts() {
    let ours = Datasets::ours();
    assert!(ours.set("default").is_some(), "the set that is brought when none is named");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/collection/ssstats.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return say(&format!("skipped: {} is not there", path.display()));
    };
    let collection = index::parse(&text, "ssstats.csv").unwrap();
    assert!(collection.len() > 2000);
    for matrix in ours.matrices() {
        let found = collection.iter().find(|other| other.id == matrix.id);
        let Some(found) = found else { panic!("{} is not in the index", matrix.id) };
        // A symmetry may be left out, or rounded.
        for (ours, theirs) in [
            (matrix.pattern_symmetry, found.pattern_symmetry),
            (matrix.numerical_symmetry, found.numerical_symmetry),
        ] {
            let (ours, theirs) = (ours.or(theirs).unwrap(), theirs.unwrap());
            assert!((ours - theirs).abs() < 5e-4, "{}: symmetry {ours}, not {theirs}", matrix.id);
        }
        let (pattern_symmetry, numerical_symmetry) =
            (found.pattern_symmetry, found.numerical_symmetry);
        let ours =
            Matrix { stand_in: None, pattern_symmetry, numerical_symmetry, ..matrix.clone() };
        assert_eq!(ours, *found);
    }
}
