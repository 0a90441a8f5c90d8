//! Matrix Market files: how long their parts may be, and what their header says.

use super::super::formats::market::header::LONGEST_HEAD;
use super::super::{LONGEST_LINE, Opened};
use super::{CHUNKS, Options, file, gzip, read_text, read_within, triplets};
use crate::memory::{ReadBounds, SizeHint};

const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n";

/// Returns the error for a text, which must be the same for plain and compressed text and all chunk sizes.
fn error(text: &str) -> String {
    let error = |text: &[u8], chunk| read_text(text, chunk).map(|_| ()).unwrap_err();
    let first = error(text.as_bytes(), 1 << 20);
    let compressed = gzip(text.as_bytes());
    for chunk in CHUNKS.into_iter().filter(|&chunk| chunk >= 30) {
        assert_eq!(error(text.as_bytes(), chunk), first, "{chunk}");
        assert_eq!(error(&compressed, chunk), first, "{chunk}, compressed");
    }
    first
}

#[test]
fn the_length_of_every_line_has_a_limit() {
    let long = |first: &str, size: usize| first.repeat(size.div_ceil(first.len()));
    let refused = |line: u64| format!("a.mtx:{line}: the line has more than 65536 bytes");
    for size in [LONGEST_LINE + 1, 3 * LONGEST_LINE] {
        let blank = long(" ", size);
        let digit = long("1", size);
        for (text, line) in [
            (long("%", size), 1),
            (format!("{BANNER}%{blank}\n1 1 1\n1 1 1\n"), 2),
            (format!("{BANNER}{digit}"), 2),
            (format!("{BANNER}1 1 1\n1{blank}1 7\n"), 3),
            (format!("{BANNER}1 1 1\n{digit}"), 3),
            (format!("{BANNER}1 1 1\n1 1 7\n%{blank}"), 4),
            (format!("%%MatrixMarket matrix array real general\n1 1\n{blank}1\n"), 3),
        ] {
            assert_eq!(error(&text), refused(line), "{size}, line {line}");
        }
    }
    let allowed = format!("{BANNER}1 1 1\n1 1 {}\n", long("7", LONGEST_LINE));
    assert!(error(&allowed[..allowed.len() - 5]).ends_with("...` is not finite"));
}

#[test]
fn the_size_of_the_header_has_a_limit() {
    let comments = format!("{}\n", "%".repeat(1023)).repeat(1 + LONGEST_HEAD as usize / 1024);
    let text = format!("{BANNER}{comments}1 1 1\n1 1 1\n");
    assert!(error(&text).ends_with("no size line within the first 16777216 bytes"));
}

#[test]
fn messages_are_short_for_all_errors() {
    let digits = "7".repeat(10_000);
    let word = "w".repeat(10_000);
    for text in [
        format!("{word}\n"),
        format!("%%MatrixMarket {word}\n"),
        format!("%%MatrixMarket matrix {word}\n"),
        format!("%%MatrixMarket matrix array real general {word}\n"),
        format!("{BANNER}{digits} 1 1\n"),
        format!("{BANNER}{word} 1 1\n"),
        format!("{BANNER}{word}\n"),
        format!("{BANNER}9 9 1\n{digits} 1 1\n"),
        format!("{BANNER}9 9 1\n1 {digits} 1\n"),
        format!("{BANNER}9 9 1\n1 1 {digits}\n"),
        format!("{BANNER}9 9 1\n1 1 1 {word}\n"),
        format!("{BANNER}9 9 1\n{word}\n"),
        format!("%%MatrixMarket matrix array real general\n1 1\n{word}\n"),
    ] {
        let message = error(&text);
        assert!(message.len() < 200 && message.contains("..."), "{message}");
    }
    let kind = format!("{BANNER}% kind: {word}\n1 1 1\n1 1 1\n");
    let kind = read_text(kind.as_bytes(), 30).unwrap().kind.unwrap();
    assert_eq!(kind, format!("{}...", &word[..200]));
}

/// The entries themselves are not read. Each entry takes 2 bytes for the row, 4 for the column, 8 for the value, and 1
/// for the tables.
#[test]
fn the_size_is_that_of_the_header_and_limited_by_the_size_of_the_text() {
    for (head, expand, [rows, cols], nnz, scratch) in [
        ("coordinate real general\n% a comment\n5 6 7", true, [5, 6], 7, 7 * 15),
        ("coordinate pattern symmetric\n5 5 7", true, [5, 5], 14, 14 * 7),
        ("coordinate pattern symmetric\n5 5 7", false, [5, 5], 7, 7 * 7),
        ("array real skew-symmetric\n4 4", true, [4, 4], 12, 6 * 24),
        ("coordinate real general\n9 9 2000000000", true, [9, 9], 91, 91 * 15),
    ] {
        let text = format!("%%MatrixMarket matrix {head}\n{}", "this is ignored ".repeat(19));
        let compressed = gzip(text.as_bytes());
        for contents in [text.as_bytes(), &compressed].into_iter().take(1 + usize::from(nnz < 90)) {
            let (_folder, path) = file("a.mtx", contents);
            let options = Options { expand, ..Options::default() };
            let opened = Opened::open(&path, &options, ReadBounds::NONE).unwrap();
            let expected = SizeHint { rows, cols, nnz, scratch };
            assert_eq!(opened.size_hint().unwrap(), Some(expected), "{head}");
        }
    }
}

#[test]
fn without_expansion_only_the_stored_entries_are_returned() {
    for (text, expected) in [
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n1 2 3\n",
            vec![(0, 0, 1.0), (0, 1, 3.0), (1, 0, 2.0)],
        ),
        (
            "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n",
            vec![(0, 0, 1.0), (1, 0, 2.0), (1, 1, 3.0)],
        ),
        ("%%MatrixMarket matrix array real skew-symmetric\n2 2\n1\n", vec![(1, 0, 1.0)]),
    ] {
        let options = Options::new(false, None);
        let read = read_within("a.mtx", text.as_bytes(), &options, ReadBounds::NONE).unwrap();
        assert_eq!((triplets(&read.csr), read.duplicates), (expected, 0));
    }
}

/// Some of the lines are longer than most blocks.
#[test]
fn lines_may_be_long() {
    let comment = format!("%{}\n", "c".repeat(60_000));
    let blanks = " ".repeat(60_000);
    let text = format!(
        "%%MatrixMarket matrix coordinate real general\n{comment}1 2 2\n1{blanks}1 7\n{comment}1 2 8{blanks}\n"
    );
    for chunk in CHUNKS {
        let read = read_text(text.as_bytes(), chunk).unwrap();
        assert_eq!(triplets(&read.csr), [(0, 0, 7.0), (0, 1, 8.0)]);
    }
}

#[test]
fn the_kind_is_taken_from_the_first_such_comment() {
    let kind = |comments: &str| {
        let text = format!("%%MatrixMarket matrix coordinate real general\n{comments}1 1 1\n1 1 7\n");
        read_text(text.as_bytes(), 30).unwrap().kind
    };
    assert_eq!(kind("% name: HB/a\n% kind: power network\r\n"), Some("power network".into()));
    assert_eq!(kind("%kind: a\n%\n%  kind: b\n"), Some("a".into()));
    assert_eq!(kind("% kind: a\u{1b}[2Jb\u{9b}c\n"), Some("a\u{fffd}[2Jb\u{fffd}c".into()));
    assert_eq!(kind("% kinds: a\n% kind:\n% fields: kind: b\n"), None);
}
