//! Pairs the rows of A with the rows of B, and checks whether they may be compared.

use std::collections::BTreeSet;

use super::error::CompareError;
use super::key::{Aspect, Key, differences};
use super::ratio::Change;
use super::rows::{Compared, Rows, unlike};
use crate::record::read::RecordedRow;

/// A row of A, a row of B, or both.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// What the rows measure.
    pub key: Key<'a>,
    /// The row of A. If no method ran on the matrix in A, the row that gives the reason.
    pub a: Option<&'a RecordedRow>,
    /// The row of B. If no method ran on the matrix in B, the row that gives the reason.
    pub b: Option<&'a RecordedRow>,
    /// The change from A to B, or `None` unless both rows are ok.
    pub change: Option<Change>,
}

/// Returns the status of a row, or `missing` if there is no row.
pub fn status(line: Option<&RecordedRow>) -> &'static str {
    line.map_or("missing", RecordedRow::status)
}

/// Returns all pairs. Rows with the same matrix, method, precision, device, threads and transposition are a pair;
/// a row without a counterpart is a pair alone.
///
/// # Errors
/// Returns an error if the files were measured in different ways, or if no rows can be paired.
pub fn pairs<'a>(a: &Compared<'a>, b: &Compared<'a>) -> Result<Vec<Pair<'a>>, CompareError> {
    let (in_a, in_b) = (Rows::of(a)?, Rows::of(b)?);
    let ways = in_a.way.zip(in_b.way);
    if let Some((column, word_a, word_b)) = ways.and_then(|(a, b)| unlike(a, b)) {
        let (a, b) = (a.name.to_owned(), b.name.to_owned());
        return Err(CompareError::Unlike { a, b, column, in_a: word_a, in_b: word_b });
    }
    let only_b = in_b.keys.iter().filter(|key| !in_a.measured.contains_key(key));
    let paired = |&key: &Key<'a>| {
        let (row_a, row_b) = (in_a.find(&key), in_b.find(&key));
        let change = row_a.zip(row_b).and_then(|(a, b)| Change::of(a, b));
        Pair { key, a: row_a, b: row_b, change }
    };
    let pairs: Vec<Pair> = in_a.keys.iter().chain(only_b).map(paired).collect();
    if !pairs.iter().any(|pair| pair.a.is_some() && pair.b.is_some()) {
        let why = why_nothing(&in_a.keys, &in_b.keys);
        return Err(CompareError::NothingPairs { a: a.name.to_owned(), b: b.name.to_owned(), why });
    }
    pairs.iter().try_for_each(|pair| same_matrix(pair, a, b))?;
    Ok(pairs)
}

/// Explains why no rows can be paired.
fn why_nothing(a: &[Key], b: &[Key]) -> String {
    let disjoint = |word: fn(&Key) -> String| {
        let in_a: BTreeSet<String> = a.iter().map(word).collect();
        !b.iter().any(|key| in_a.contains(&word(key)))
    };
    if a.is_empty() || b.is_empty() {
        let side = if a.is_empty() { "A" } else { "B" };
        return format!("{side} contains no row of the selected methods");
    }
    let options = differences(a.iter().copied(), b.iter().copied());
    let columns: [Aspect; 2] =
        [("matrix", |key| key.matrix.into()), ("method", |key| key.method.into())];
    let columns = columns.iter().filter(|column| disjoint(column.1));
    let mut why: Vec<String> =
        columns.map(|(column, _)| format!("they have no {column} in common")).collect();
    if !options.is_empty() {
        let options = options.join("; ");
        why.push(format!("{options}; run one of them again with the options of the other"));
    }
    if why.is_empty() {
        why.push(
            "no two rows have the same matrix, method, precision, device, threads and transpose"
                .into(),
        );
    }
    why.join("; ")
}

/// Returns an error if the rows of a pair are of different matrices, as far as their facts show.
fn same_matrix(pair: &Pair, a: &Compared, b: &Compared) -> Result<(), CompareError> {
    let Some((row_a, row_b)) = pair.a.zip(pair.b) else { return Ok(()) };
    difference(row_a, row_b).map_or(Ok(()), |(in_a, in_b, why)| {
        let found = format!("{in_a} in {} and {in_b} in {}", a.name, b.name);
        Err(CompareError::OtherMatrix { matrix: row_a.row.file.clone(), found, why })
    })
}

/// Returns the first fact in which the matrices differ, for each row, and an explanation.
fn difference(a: &RecordedRow, b: &RecordedRow) -> Option<(String, String, &'static str)> {
    let differ = |of: fn(&RecordedRow) -> Option<usize>| of(a).zip(of(b)).filter(|(a, b)| a != b);
    if let Some((a, b)) = differ(|line| line.row.num_rows) {
        return Some((format!("{a} rows"), b.to_string(), "they are different files"));
    }
    if let Some((a, b)) = differ(|line| line.row.num_cols) {
        return Some((format!("{a} columns"), b.to_string(), "they are different files"));
    }
    if let Some((a, b)) = differ(|line| line.row.num_nonzeros) {
        let why = "one of them was read with --no-expand, or they are different files";
        return Some((format!("{a} nonzeros"), b.to_string(), why));
    }
    let kind = |line: &RecordedRow| line.row.kind.clone().unwrap_or_default();
    let why = "a stand-in is not the matrix that it stands in for";
    let stand_in = a.is_stand_in() != b.is_stand_in();
    stand_in.then(|| (format!("the kind '{}'", kind(a)), format!("'{}'", kind(b)), why))
}
