//! Pairs the rows of A with the rows of B, and checks whether they may be compared.

use std::collections::{BTreeMap, BTreeSet};

use super::Change;
use crate::bench::plan::CacheState;
use crate::record::read::RecordedRow;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Device;

#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The name of the file in messages.
    pub name: &'a str,
    pub lines: &'a [RecordedRow],
}

/// Why two files are not compared, as a sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct CompareError(String);

/// What a row measures. Rows of A and B with the same key are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    pub(super) matrix: &'a str,
    pub(super) method: &'a str,
    pub(super) precision: Option<Precision>,
    pub(super) device: Option<Device>,
    pub(super) threads: Option<usize>,
    /// `false` for files without the column, which are older than products with the transpose.
    pub(super) transpose: bool,
}

/// A property of a key: its name, and a function that returns its text.
type Aspect = (&'static str, fn(&Key) -> String);

/// The properties that distinguish rows of one method, named as the options that set them.
const ASPECTS: [Aspect; 4] = [
    ("precision", |key| key.precision.map_or("no precision", Precision::name).into()),
    ("device", |key| key.device.map_or("no device", Device::name).into()),
    ("threads", |key| key.threads.map_or("no threads".into(), |n| format!("{n} threads"))),
    ("transpose", |key| if key.transpose { "transposed" } else { "not transposed" }.into()),
];

impl<'a> Key<'a> {
    fn of(line: &'a RecordedRow) -> Self {
        Self {
            matrix: line.matrix(),
            method: line.method(),
            precision: line.row.precision,
            device: line.row.device,
            threads: line.row.threads,
            transpose: line.row.transpose.unwrap_or(false),
        }
    }

    pub(super) fn without_matrix(self) -> Self {
        Self { matrix: "", ..self }
    }

    /// Returns the method, with whatever distinguishes it from keys in `all` with the same method.
    pub(super) fn label(&self, all: &BTreeSet<Self>) -> String {
        let mut words = vec![self.method.to_owned()];
        for (_, word) in ASPECTS {
            let mut namesakes = all.iter().filter(|other| other.method == self.method);
            if namesakes.any(|other| word(other) != word(self)) {
                words.push(word(self));
            }
        }
        words.join(" ")
    }

    fn describe(&self, file: &str) -> String {
        let words = ASPECTS.map(|(_, word)| word(self));
        format!("{} on {file} ({})", self.method, words.join(", "))
    }
}

/// Returns the properties in which two groups of keys have no value in common: `2 threads in A, 4 threads in B
/// (--threads)`.
pub(super) fn differences(a: &[Key], b: &[Key]) -> Vec<String> {
    let mut differences = Vec::new();
    for (option, word) in ASPECTS {
        let [in_a, in_b] = [a, b].map(|keys| keys.iter().map(word).collect::<BTreeSet<_>>());
        if !in_a.is_empty() && !in_b.is_empty() && in_a.is_disjoint(&in_b) {
            let [a, b] = [in_a, in_b].map(|words| words.into_iter().collect::<Vec<_>>().join(", "));
            differences.push(format!("{a} in A, {b} in B (--{option})"));
        }
    }
    differences
}

/// A row of A, a row of B, or both. If no method ran on the matrix in one of them, it is the row that gives the reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub key: Key<'a>,
    pub a: Option<&'a RecordedRow>,
    pub b: Option<&'a RecordedRow>,
    /// The change from A to B, or `None` unless both rows are ok.
    pub change: Option<Change>,
}

/// Returns all pairs. A row without a counterpart is a pair alone.
pub(super) fn pairs<'a>(a: &Compared<'a>, b: &Compared<'a>) -> Result<Vec<Pair<'a>>, CompareError> {
    let (in_a, in_b) = (Rows::of(a)?, Rows::of(b)?);
    let (a, b) = (a.name, b.name);
    if let Some((column, word_a, word_b)) = in_a.way.zip(in_b.way).and_then(unlike) {
        return Err(CompareError(format!(
            "{a} contains rows of {column} {word_a}, {b} of {column} {word_b}; run one of them again with --{column} \
             {word_a} or --{column} {word_b}, so that both are the same"
        )));
    }
    let only_b = in_b.keys.iter().filter(|key| !in_a.measured.contains_key(key));
    let paired = |&key: &Key<'a>| {
        let (row_a, row_b) = (in_a.find(&key), in_b.find(&key));
        let change = row_a.zip(row_b).and_then(|(a, b)| Change::of(a, b));
        Pair { key, a: row_a, b: row_b, change }
    };
    let pairs: Vec<Pair> = in_a.keys.iter().chain(only_b).map(paired).collect();
    let mut both = pairs.iter().filter_map(|pair| pair.a.zip(pair.b)).peekable();
    if both.peek().is_none() {
        let why = why_nothing(&in_a.keys, &in_b.keys);
        return Err(CompareError(format!("no row of {a} matches a row of {b}: {why}")));
    }
    if let Some((file, [of_a, of_b], why)) = both.find_map(|(a, b)| difference(a, b)) {
        let text = format!("{file} has {of_a} in {a} and {of_b} in {b}: {why}");
        return Err(CompareError(text));
    }
    Ok(pairs)
}

/// The cache state and the order with which a row was measured, each as column and word. Files without these columns
/// have hot caches and the natural order, because older versions had no others.
type Way = [(&'static str, &'static str); 2];

/// Returns the column in which two ways of measuring differ, and its word in each.
fn unlike((one, other): (Way, Way)) -> Option<(&'static str, &'static str, &'static str)> {
    let differing = one.into_iter().zip(other).find(|(one, other)| one != other)?;
    Some((differing.0.0, differing.0.1, differing.1.1))
}

#[derive(Default)]
struct Rows<'a> {
    /// The keys, in the order of the file.
    keys: Vec<Key<'a>>,
    measured: BTreeMap<Key<'a>, &'a RecordedRow>,
    /// Matrices on which no method ran, each with the row that gives the reason.
    ended: BTreeMap<&'a str, &'a RecordedRow>,
    way: Option<Way>,
}

impl<'a> Rows<'a> {
    fn of(side: &Compared<'a>) -> Result<Self, CompareError> {
        let mut rows = Self::default();
        for line in side.lines {
            let key = Key::of(line);
            if key.method.is_empty() {
                rows.ended.insert(key.matrix, line);
            } else if let Some(problem) = rows.add(key, line, side.name) {
                return Err(CompareError(problem));
            }
        }
        Ok(rows)
    }

    /// Adds the row of a method. Returns a sentence if it may not be compared with the rows before it.
    fn add(&mut self, key: Key<'a>, line: &'a RecordedRow, file: &str) -> Option<String> {
        let row = &line.row;
        let cache = row.cache.unwrap_or(CacheState::Hot).name();
        let way = [("cache", cache), ("order", row.order.unwrap_or_default().name())];
        if let Some((column, one, other)) = unlike((*self.way.get_or_insert(way), way)) {
            return Some(format!(
                "{file} contains rows of {column} {one} and of {column} {other}, which cannot be compared together; \
                 choose one with --methods '* where {column} = {one}'"
            ));
        }
        let (ms, described) = (row.typical_ms(), || key.describe(&row.file));
        if line.is_ok() && !ms.is_some_and(|ms| ms > 0.0 && ms.is_finite()) {
            let column = if row.median_ms.is_some() { "median_ms" } else { "avg_spmv_ms" };
            let value = ms.map(|ms| format!("{ms:?}")).unwrap_or_default();
            return Some(format!(
                "{file}: {} is ok, but its {column} is '{value}'; it must be a positive number",
                described()
            ));
        }
        self.keys.push(key);
        self.measured.insert(key, line).map(|_| {
            let row = described();
            format!("{file} contains two rows of {row}; put only the rows of one run into a file")
        })
    }

    /// Returns the row of a key, or the row that gives the reason if no method ran on its matrix.
    fn find(&self, key: &Key) -> Option<&'a RecordedRow> {
        self.measured.get(key).or_else(|| self.ended.get(key.matrix)).copied()
    }
}

fn why_nothing(a: &[Key], b: &[Key]) -> String {
    if a.is_empty() || b.is_empty() {
        let side = if a.is_empty() { "A" } else { "B" };
        return format!("{side} contains no row of the selected methods");
    }
    let mut why = Vec::new();
    let columns: [Aspect; 2] =
        [("matrix", |key| key.matrix.into()), ("method", |key| key.method.into())];
    for (column, word) in columns {
        let in_a: BTreeSet<_> = a.iter().map(word).collect();
        if !b.iter().any(|key| in_a.contains(&word(key))) {
            why.push(format!("they have no {column} in common"));
        }
    }
    let options = differences(a, b).join("; ");
    if !options.is_empty() {
        why.push(format!("{options}; run one of them again with the options of the other"));
    }
    match why.is_empty() {
        true => {
            "no two rows have the same matrix, method, precision, device, threads and transpose"
                .into()
        }
        false => why.join("; "),
    }
}

/// Returns the file, the first fact in which the matrices of two rows differ, as text for each, and an explanation.
fn difference<'a>(
    a: &'a RecordedRow,
    b: &RecordedRow,
) -> Option<(&'a str, [String; 2], &'static str)> {
    let (file, a_row, b_row) = (&a.row.file[..], &a.row, &b.row);
    let other_file = "they are different files";
    let other_form = "one of them was read with --no-expand, or they are different files";
    for (of_a, of_b, what, why) in [
        (a_row.num_rows, b_row.num_rows, "rows", other_file),
        (a_row.num_cols, b_row.num_cols, "columns", other_file),
        (a_row.num_nonzeros, b_row.num_nonzeros, "nonzeros", other_form),
    ] {
        if let Some((a, b)) = of_a.zip(of_b).filter(|(a, b)| a != b) {
            return Some((file, [format!("{a} {what}"), b.to_string()], why));
        }
    }
    let [of_a, of_b] = [a, b].map(|line| format!("'{}'", line.row.kind.as_deref().unwrap_or("")));
    let why = "a stand-in is not the matrix that it stands in for";
    let is_other = a.is_stand_in() != b.is_stand_in();
    is_other.then(|| (file, [format!("the kind {of_a}"), of_b], why))
}
