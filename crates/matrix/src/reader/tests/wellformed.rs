use super::{read_in_every_way, read_text, triplets};

/// Texts, most of them without the first two words, and after the arrow the expected entries after expansion (row and
/// column from 0, value) and the number of duplicates.
const CASES: &[&str] = &[
    "coordinate real general\n2 3 2\n1 2 1.5\n2 3 -2\n => 0 1 1.5, 1 2 -2",
    "coordinate real general\n2 3 2\n1 2 1.5\n2 3 -2 => 0 1 1.5, 1 2 -2",
    "coordinate real general\r\n%c\r\n2 3 2\r\n1 2 1.5\r\n2 3 -2\r\n => 0 1 1.5, 1 2 -2",
    "\u{feff}%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n => 0 0 7",
    "%%matrixmarket MATRIX Coordinate REAL General  \n1 1 1\n1 1 7\n => 0 0 7",
    "coordinate real general % x\n\n%c\n \n1 1 1 % size\n%c\n\n \t\n1 1 7 % seven\n%c\n\n => 0 0 7",
    "%%MatrixMarket\tmatrix coordinate real general\n\t2  2 2 \n  1\t 2  1.5 \t\n\t2 1\t2 \r\n => \
     0 1 1.5, 1 0 2",
    "coordinate real general\n1 9 9\n1 1 1.0D+03\n1 2 +1.5\n1 3 .5\n1 4 5.\n1 5 1d-2\n1 6 -0\n1 7 1E5\n1 8 0.1e+01\n\
     1 9 -.25e-1\n => 0 0 1000, 0 1 1.5, 0 2 0.5, 0 3 5, 0 4 0.01, 0 5 -0, 0 6 100000, 0 7 1, 0 8 -0.025",
    "coordinate real general\n1 1 1\n1 1 0\n => 0 0 0",
    "coordinate real general\n1 1 1\n0000000000000000000000001 01 7\n => 0 0 7",
    "coordinate pattern general\n2 2147483647 3\n1 99999999\n1 123456789\n2 2147483647\n\n => \
     0 99999998 1, 0 123456788 1, 1 2147483646 1",
    "coordinate real general\n2 3 4\n2 3 1\n1 3 2\n1 1 3\n2 1 4\n => 0 0 3, 0 2 2, 1 0 4, 1 2 1",
    " \t%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n => 0 0 7",
    " \r\n\n%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n => 0 0 7",
    "\u{feff}\n%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n => 0 0 7",
    "%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n => 0 0 7",
    "coordinate real general\n1 2 2\n1 1 1.25-120\n1 2 -.5+101\n\u{1a}\0\0 => 0 0 1.25e-120, 0 1 -5e100",
    "coordinate real general\n2 3 0\n => ",
    "coordinate real general\n0 0 0\n%end => ",
    "coordinate double general\n1 1 1\n1 1 7\n => 0 0 7",
    "coordinate integer general\n1 2 2\n1 1 -7\n1 2 3.0\n => 0 0 -7, 0 1 3",
    "coordinate unsigned-integer general\n1 1 1\n1 1 18446744073709551615\n => 0 0 18446744073709552000",
    "coordinate pattern general\n2 2 2\n2 1\n1 1\n => 0 0 1, 1 0 1",
    "coordinate real general\n2 2 5\n1 1 1e16\n2 2 3\n1 1 1\n2 2 0\n1 1 -1e16\n => 0 0 0, 1 1 3, 3 duplicates",
    "coordinate pattern general\n2 2 3\n1 1\n2 1\n1 1\n => 0 0 2, 1 0 1, 1 duplicates",
    "coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n => 0 0 1, 0 1 2, 1 0 2, 1 2 3, 2 1 3",
    "coordinate real symmetric\n3 3 2\n2 1 2\n2 3 3\n => 0 1 2, 1 0 2, 1 2 3, 2 1 3",
    "coordinate real symmetric\n2 2 3\n2 1 2\n1 2 3\n2 2 1\n => 0 1 5, 1 0 5, 1 1 1, 1 duplicates",
    "coordinate real hermitian\n2 2 1\n2 1 2\n => 0 1 2, 1 0 2",
    "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n => 0 1 1, 1 0 1, 1 1 1",
    "coordinate real skew-symmetric\n2 2 2\n2 1 2\n2 2 0\n => 0 1 -2, 1 0 2, 1 1 0",
    "coordinate real skew-symmetric\n2 2 2\n2 1 2\n1 2 3\n => 0 1 1, 1 0 -1, 1 duplicates",
    "array real general\n2 3\n1\n2\n%c\n0\n 4 \n5\n6 => 0 0 1, 0 1 0, 0 2 5, 1 0 2, 1 1 4, 1 2 6",
    "array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n => \
     0 0 1, 0 1 2, 0 2 3, 1 0 2, 1 1 4, 1 2 5, 2 0 3, 2 1 5, 2 2 6",
    "array real skew-symmetric\n3 3\n1\n2\n3\n => 0 1 -1, 0 2 -2, 1 0 1, 1 2 -3, 2 0 2, 2 1 3",
    "array real skew-symmetric\n0 0\n => ",
];

#[test]
fn all_forms_are_read() {
    for case in CASES {
        let (text, expected) = case.split_once(" => ").unwrap();
        let has_banner = text.starts_with(['%', ' ', '\u{feff}']);
        let text = if has_banner { text.into() } else { format!("%%MatrixMarket matrix {text}") };
        let market =
            read_in_every_way(text.as_bytes(), true).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut found: Vec<_> = triplets(&market.csr)
            .iter()
            .map(|(row, col, value)| match value.abs() {
                1e-9..1e40 | 0.0 => format!("{row} {col} {value}"),
                _ => format!("{row} {col} {value:e}"),
            })
            .collect();
        found.extend((market.duplicates > 0).then(|| format!("{} duplicates", market.duplicates)));
        assert_eq!(found.join(", "), expected, "{text}");
        assert_eq!(market.text_bytes, text.len() as u64, "{text}");
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
        let market = read_in_every_way(text.as_bytes(), false).unwrap();
        assert_eq!((triplets(&market.csr), market.duplicates), (expected, 0));
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
    let market = read_in_every_way(text.as_bytes(), true).unwrap();
    assert_eq!(triplets(&market.csr), [(0, 0, 7.0), (0, 1, 8.0)]);
}

#[test]
fn the_kind_is_taken_from_the_first_such_comment() {
    let kind = |comments: &str| {
        let text =
            format!("%%MatrixMarket matrix coordinate real general\n{comments}1 1 1\n1 1 7\n");
        read_text(text.as_bytes(), true, 30).unwrap().kind
    };
    assert_eq!(kind("% name: HB/a\n% kind: power network\r\n"), Some("power network".into()));
    assert_eq!(kind("%kind: a\n%\n%  kind: b\n"), Some("a".into()));
    assert_eq!(kind("% kind: a\u{1b}[2Jb\u{9b}c\n"), Some("a\u{fffd}[2Jb\u{fffd}c".into()));
    assert_eq!(kind("% kinds: a\n% kind:\n% fields: kind: b\n"), None);
}
