//! Tests of the datasets: the file format, its error messages, and the agreement of the built-in datasets with
//! the index of the collection and with the papers.

use std::path::Path;

use crate::support::skip;
use expect_test::expect_file;
use spmv_bench::collection::{Datasets, Matrices, Matrix, Member, index, table};
use spmv_matrix::source::Source;
use spmv_matrix::stats::RowStatistics;

const TWO: &str = r#"
matrix = [
    { id = "A/a", rows = 4, cols = 4, nnz = 8, kind = "k", numerical-symmetry = 1.0 },
    { id = "A/b", rows = 4, cols = 5, nnz = 1_000, entries = 1_001, kind = "k", real = false, binary = true },
]
"#;

fn ids(matrices: &[&Matrix]) -> Vec<String> {
    matrices.iter().map(|matrix| matrix.id.clone()).collect()
}

#[test]
fn facts_have_defaults() {
    let datasets = Datasets::default().and(TWO, "my.toml").unwrap();
    let a = &datasets.matrices["A/a"];
    assert_eq!((a.entries, a.real, a.binary, a.pattern_symmetry), (8, true, false, None));
    // The file stores at most 4 entries on the diagonal and 2 below it.
    assert_eq!((a.stored_at_most(), a.archive_bytes_estimate()), (6, 42));
    let b = &datasets.matrices["A/b"];
    assert_eq!((b.group(), b.name(), b.entries, b.real), ("A", "b", 1001, false));
    assert_eq!((b.stored_at_most(), b.archive_bytes_estimate()), (1001, 2903));
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
    let both = &datasets.sets["both"];
    assert_eq!((both.source.as_str(), both.note.as_deref()), ("a paper, Table 1", Some("two")));
    assert_eq!(ids(&datasets.matrices_of(both)), ["A/b", "A/a"]);
    assert_eq!(ids(&datasets.matrices_of(&datasets.sets["large"])), ["A/b"]);
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
    assert_eq!(datasets.matrices["A/a"].rows, 9);
    assert_eq!(datasets.matrices.len(), 2);
    assert_eq!(ids(&datasets.matrices_of(&datasets.sets["s"])), ["A/b", "A/a"]);
}

#[test]
fn errors_name_the_line() {
    let set = |rest: &str| format!("{TWO}[set.s]\nsource = \"x\"\n{rest}");
    let negative = "[[matrix]]\nid = \"A/a\"\nrows = -1\n".to_owned();
    let either = "my.toml:7: set s must have either members or a filter";
    // Text after `…` is in the message, too.
    for (text, expected) in [
        (format!("{TWO}colour = 1\n"), "my.toml: TOML parse error at line 6…colour"),
        (negative, "my.toml: TOML parse error at line 3, column 8"),
        (TWO.replace("A/a", "A"), "my.toml:3: 'A' is not of the form GROUP/NAME"),
        (TWO.replace("A/a", "../a"), "my.toml:3: '../a' is not of the form GROUP/NAME"),
        (TWO.replace("A/a", "A/a/b"), "my.toml:3: 'A/a/b' is not of the form GROUP/NAME"),
        (TWO.replace("A/b", "A/a"), "my.toml:4: A/a is defined twice"),
        (TWO.replace("1_001", "999"), "my.toml:4: A/b: entries = 999 must be at least nnz = 1000"),
        (TWO.replace("1.0", "1.5"), "my.toml:3: A/a: a symmetry must be from 0 to 1, not 1.5"),
        (set(""), either),
        (set("members = []\nfilter = \"real\"\n"), either),
        (
            set("members = [\n\"A/a\",\n\"A/c\"]\n"),
            "my.toml:10: set s: there is no [[matrix]] with the id A/c",
        ),
        (set("members = [\"A/a\", { id = \"A/a\" }]\n"), "my.toml:8: set s: A/a is listed twice"),
        (set("members = [{ id = \"A/a\", lable = \"\" }]\n"), "my.toml: TOML parse error at line 8…lable"),
        (
            set("filter = \"nzz < 1\"\n"),
            "my.toml:8: set s: filter, character 1: expected one of rows…found 'nzz' (did you mean nnz?)",
        ),
    ] {
        let error = Datasets::default().and(&text, "my.toml").unwrap_err().to_string();
        let (begin, part) = expected.split_once('…').unwrap_or((expected, ""));
        assert!(error.starts_with(begin) && error.contains(part), "{error}\nnot\n{expected}");
    }
}

#[test]
fn built_in_matrices_agree_with_the_index() {
    let ours = Datasets::ours();
    assert!(ours.sets.contains_key("default"), "`fetch` downloads this set if none is named");
    let (_, collection) = table::ours();
    assert!(collection.len() > 2000);
    for matrix in ours.matrices.values() {
        let found = collection.iter().find(|other| other.id == matrix.id);
        let Some(found) = found else { panic!("{} is not in the index", matrix.id) };
        // `fetch NAME` takes it without looking for namesakes in the index.
        let namesakes = collection.iter().filter(|other| other.name() == matrix.name()).count();
        assert_eq!(namesakes, 1, "{}", matrix.id);
        // Symmetries may be missing and are rounded.
        let theirs = found.pattern_symmetry.unwrap();
        let symmetry = matrix.pattern_symmetry.unwrap_or(theirs);
        assert!((symmetry - theirs).abs() < 1e-3, "{}: {symmetry}, not {theirs}", matrix.id);
        if let Some(symmetry) = matrix.numerical_symmetry {
            assert_eq!(symmetry == 1.0, found.numerical_symmetry == Some(1.0), "{}", matrix.id);
        }
        let (pattern_symmetry, numerical_symmetry) = (found.pattern_symmetry, found.numerical_symmetry);
        let mut ours = Matrix { pattern_symmetry, numerical_symmetry, ..matrix.clone() };
        (ours.longest, ours.variation, ours.surrogate, ours.sha256) = (None, None, None, None);
        assert_eq!(ours, *found);
    }
}

/// `UPDATE_EXPECT=1` writes the table of another index; then the test must run again, with the new table in the
/// program.
#[test]
fn the_built_in_table_is_made_from_the_index() {
    let folder = std::env::var("SPMV_BENCH_TEST_FILES").unwrap_or_default();
    let path = Path::new(&folder).join("collection/ssstats.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return skip("SPMV_BENCH_TEST_FILES names no folder with collection/ssstats.csv");
    };
    let collection = index::parse(&text, "ssstats.csv").unwrap();
    let date = text.lines().nth(1).unwrap();
    let head: String = table::TEXT.split_inclusive('\n').take_while(|it| it.starts_with('#')).collect();
    expect_file!["../collection.txt"].assert_eq(&(head + &written(date, &collection)));
    let (dated, read) = table::ours();
    assert_eq!((dated.as_str(), read.len()), (date, collection.len()));
    for (read, matrix) in read.iter().zip(&collection) {
        let symmetry = read.pattern_symmetry.unwrap() - matrix.pattern_symmetry.unwrap();
        assert!(symmetry.abs() <= 1e-3, "{}", matrix.id);
        let is_symmetric = matrix.numerical_symmetry == Some(1.0);
        let (pattern_symmetry, numerical_symmetry) = (read.pattern_symmetry, is_symmetric.then_some(1.0));
        let expected = Matrix { pattern_symmetry, numerical_symmetry, ..matrix.clone() };
        assert_eq!(*read, expected);
    }
}

/// Returns the text of the table below its head.
fn written(date: &str, matrices: &[Matrix]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for matrix in matrices {
        if !kinds.contains(&&*matrix.kind) {
            kinds.push(&matrix.kind);
        }
    }
    let mut text = format!("index: {date}\n");
    text.extend(kinds.iter().map(|kind| format!("kind: {kind}\n")));
    let mut group = "";
    for matrix in matrices {
        if matrix.group() != group {
            group = matrix.group();
            text += &format!("group: {group}\n");
        }
        let kind = kinds.iter().position(|kind| *kind == matrix.kind).unwrap() + 1;
        text += &line(matrix, kind);
    }
    text
}

fn line(matrix: &Matrix, kind: usize) -> String {
    let Matrix { rows, cols, nnz, entries, .. } = matrix;
    let size = if rows == cols { rows.to_string() } else { format!("{rows}x{cols}") };
    let zeros = if entries > nnz { format!("+{}", entries - nnz) } else { String::new() };
    let symmetry = match matrix.pattern_symmetry.unwrap() {
        _ if matrix.numerical_symmetry == Some(1.0) => "s".into(),
        whole if whole.fract() == 0.0 => whole.to_string(),
        // What is not quite 0 or 1 must not seem to be.
        share => format!("{:.3}", share.clamp(0.001, 0.999)),
    };
    let mut line = format!("{} {size} {nnz}{zeros} {kind} {symmetry}", matrix.name());
    line += match (matrix.binary, matrix.real) {
        (true, _) => " b",
        (false, false) => " c",
        (false, true) => "",
    };
    line + "\n"
}

fn members<'d>(datasets: &'d Datasets, set: &str) -> &'d [Member] {
    match &datasets.sets[set].matrices {
        Matrices::Members(members) => members,
        filter => panic!("{set}: {filter:?}"),
    }
}

#[test]
fn built_in_sets_agree_with_the_papers() {
    let ours = Datasets::ours();
    let sizes = ["sc16-table1", "five-gpu-15", "csrk-64"].map(|set| members(&ours, set).len());
    assert_eq!(sizes, [3, 15, 64]);
    let csrk = members(&ours, "csrk-64");
    let regular = csrk.iter().filter(|member| member.class.as_deref() == Some("regular"));
    assert_eq!(regular.count(), 35);
    for member in csrk {
        let printed = member.symmetry.unwrap();
        let symmetry = ours.matrices[&member.id].pattern_symmetry.unwrap();
        // Most printed symmetries are truncated to one digit, but that of Freescale2 is rounded to 1.0.
        assert!((printed - symmetry).abs() < 0.1, "{}: {symmetry}", member.id);
    }
    for member in members(&ours, "five-gpu-15") {
        let stored = ours.matrices[&member.id].stored_at_most() as f64;
        let printed = member.nnz.unwrap() as f64;
        assert!((printed - stored).abs() <= 0.1e6, "{}: {printed}, not {stored}", member.id);
    }
    let of = |set: &str| ours.matrices_of(&ours.sets[set]).len();
    assert_eq!(of("small") + of("medium") + of("large"), ours.matrices.len());
    let default = ours.matrices_of(&ours.sets["default"]);
    assert!(default.iter().all(|matrix| matrix.archive_bytes_estimate() < 50_000_000));
    assert!(default.len() > 50);
}

#[test]
fn every_matrix_has_a_surrogate_of_its_size_and_row_lengths() {
    const GENERATED: u64 = 1_000_000;
    let ours = Datasets::ours();
    for matrix in ours.matrices.values() {
        let id = &matrix.id;
        let spec = matrix.surrogate.as_deref().unwrap_or_else(|| panic!("{id} has no surrogate"));
        let Source::Generated(generator) = Source::parse(spec.as_ref()).unwrap() else {
            panic!("{id}: {spec}");
        };
        let (size, (rows, cols)) = ([matrix.rows, matrix.cols, matrix.entries], generator.shape());
        let number = |key| -> Option<u64> { spec.split(',').find_map(|word| word.strip_prefix(key)?.parse().ok()) };
        // The generator's bound on the entries counts those of hubs also among the others.
        let twice = number("hubs=").unwrap_or(0) * number("others=").unwrap_or(0);
        let nnz = generator.most_entries() as u64 - twice;
        assert_eq!([rows as u64, cols as u64, nnz], size, "{id}");
        let spec_longest = number("longest=").or(number("length=")).unwrap();
        let printed = members(&ours, "csrk-64").iter().find(|member| member.id == *id);
        let longest = matrix.longest.or(printed.and_then(|member| member.longest));
        let longest = longest.unwrap_or(spec_longest);
        assert_eq!(spec_longest, longest, "{id}");
        if matrix.entries < GENERATED {
            let csr = generator.generate().unwrap();
            let lengths = RowStatistics::of(&csr);
            assert_eq!([csr.rows(), csr.cols(), csr.nnz()].map(|number| number as u64), size, "{id}");
            assert_eq!(u64::from(lengths.max), longest, "{id}");
            if let (Some(published), Some(made)) = (matrix.variation, lengths.variation) {
                assert!((made / published - 1.0).abs() < 0.05, "{id}: {made}, not {published}");
            }
        }
    }
}
