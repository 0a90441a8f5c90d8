//! Pairs the rows of A with the rows of B, and checks whether they may be compared.

use std::collections::{BTreeMap, BTreeSet};

use super::Compared;
use super::error::{CompareError, check_time, same_matrix};
use super::ratio::Change;
use crate::bench::plan::CacheState;
use crate::matrix::order::Order;
use crate::method::Device;
use crate::record::row::matrix_name;
use crate::report::lines::RecordedRow;
use crate::scalar::Precision;

/// What a row measures. Rows of A and B with the same key are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    /// The file of the matrix; its name in A if A has the matrix.
    pub file: &'a str,
    /// The method with its parameters.
    pub method: &'a str,
    /// The precision of values and vectors.
    pub precision: Option<Precision>,
    /// The device on which the method ran.
    pub device: Option<Device>,
    /// The number of threads; `None` on a GPU.
    pub threads: Option<usize>,
    /// Whether the product is with the transpose. `false` for files without the column, which are older than that
    /// option.
    pub transpose: bool,
}

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

impl<'a> Key<'a> {
    /// Returns the key of a row. `file` is the name of its matrix in the key.
    fn of(line: &'a RecordedRow, file: &'a str) -> Self {
        let row = &line.row;
        let (precision, device, threads) = (row.precision, row.device, row.threads);
        let transpose = row.transpose.unwrap_or(false);
        Self { file, method: line.method(), precision, device, threads, transpose }
    }

    /// Returns the key without the matrix, which is the same on all matrices.
    pub fn without_matrix(self) -> Self {
        Self { file: "", ..self }
    }

    /// Returns the name of the matrix.
    pub fn matrix(&self) -> &'a str {
        matrix_name(self.file)
    }

    /// Returns the method, with whatever distinguishes it from keys in `all` with the same method.
    pub fn label(&self, all: &BTreeSet<Self>) -> String {
        let namesakes = || all.iter().filter(|other| other.method == self.method);
        let telling = |&&(_, word): &&Aspect| namesakes().any(|other| word(other) != word(self));
        let words = ASPECTS.iter().filter(telling).map(|(_, word)| word(self));
        std::iter::once(self.method.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Describes the key in full, for messages.
    pub(super) fn describe(&self) -> String {
        let words: Vec<_> = ASPECTS.iter().map(|(_, word)| word(self)).collect();
        format!("{} on {} ({})", self.method, self.file, words.join(", "))
    }
}

/// A property of a key: the option that sets it, and a function that returns its text.
type Aspect = (&'static str, fn(&Key) -> String);

/// The properties that distinguish rows of one method.
const ASPECTS: [Aspect; 4] = [
    ("precision", |key| key.precision.map_or("no precision", Precision::name).into()),
    ("device", |key| key.device.map_or("no device", Device::name).into()),
    ("threads", |key| key.threads.map_or("no threads".into(), |n| format!("{n} threads"))),
    ("transpose", |key| if key.transpose { "transposed" } else { "not transposed" }.into()),
];

/// Returns the properties in which two groups of keys have no value in common: `2 threads in A, 4 threads in B
/// (--threads)`.
pub fn differences<'a>(
    a: impl Iterator<Item = Key<'a>> + Clone,
    b: impl Iterator<Item = Key<'a>> + Clone,
) -> Vec<String> {
    let all = |words: &BTreeSet<String>| words.iter().cloned().collect::<Vec<_>>().join(", ");
    let differing = ASPECTS.iter().filter_map(|(option, word)| {
        let in_a: BTreeSet<String> = a.clone().map(|key| word(&key)).collect();
        let in_b: BTreeSet<String> = b.clone().map(|key| word(&key)).collect();
        let apart = !in_a.is_empty() && !in_b.is_empty() && in_a.is_disjoint(&in_b);
        apart.then(|| format!("{} in A, {} in B (--{option})", all(&in_a), all(&in_b)))
    });
    differing.collect()
}

/// Returns the status of a row, or `missing` if there is no row.
pub fn status(line: Option<&RecordedRow>) -> &'static str {
    let status = line.map(|line| line.row.status.map_or("unknown", |status| status.name()));
    status.unwrap_or("missing")
}

/// The rows of one file by key.
struct Rows<'a> {
    /// The keys, in the order of the file.
    keys: Vec<Key<'a>>,
    measured: BTreeMap<Key<'a>, &'a RecordedRow>,
    /// Matrices on which no method ran, each with the row that gives the reason.
    ended: BTreeMap<&'a str, &'a RecordedRow>,
    way: Option<(CacheState, Order)>,
}

impl<'a> Rows<'a> {
    fn of(side: &Compared<'a>, file: impl Fn(&'a str) -> &'a str) -> Result<Self, CompareError> {
        let mut rows =
            Self { keys: vec![], measured: BTreeMap::new(), ended: BTreeMap::new(), way: None };
        for line in side.lines {
            let key = Key::of(line, file(&line.row.file));
            if key.method.is_empty() {
                rows.ended.insert(key.file, line);
                continue;
            }
            rows.check_way(side, line)?;
            check_time(side, line, &key)?;
            rows.keys.push(key);
            if rows.measured.insert(key, line).is_some() {
                let (file, row) = (side.name.to_owned(), key.describe());
                return Err(CompareError::Twice { file, row });
            }
        }
        Ok(rows)
    }

    /// Returns an error if a row has another cache state or order than the rows before it. Files without these
    /// columns have hot caches and the natural order, because older versions had no others.
    fn check_way(&mut self, side: &Compared, line: &RecordedRow) -> Result<(), CompareError> {
        let way = (line.row.cache.unwrap_or(CacheState::Hot), line.row.order.unwrap_or_default());
        let known = *self.way.get_or_insert(way);
        let mixed = |column, one, other| CompareError::Mixed {
            file: side.name.to_owned(),
            column,
            one,
            other,
        };
        unlike(known, way).map_or(Ok(()), |(column, one, other)| Err(mixed(column, one, other)))
    }

    fn find(&self, key: &Key) -> Option<&'a RecordedRow> {
        self.measured.get(key).or_else(|| self.ended.get(key.file)).copied()
    }
}

/// Returns the column in which two ways of measuring differ, and its value in each.
fn unlike(
    one: (CacheState, Order),
    other: (CacheState, Order),
) -> Option<(&'static str, &'static str, &'static str)> {
    let cache = (one.0 != other.0).then(|| ("cache", one.0.name(), other.0.name()));
    cache.or_else(|| (one.1 != other.1).then(|| ("order", one.1.name(), other.1.name())))
}

/// Maps each file name of B to the file name of the same matrix in A, where the two differ only in path. Names
/// that several unmatched files of a side share are not mapped.
fn partners<'a>(a: &Compared<'a>, b: &Compared<'a>) -> BTreeMap<&'a str, &'a str> {
    let files = |side: &Compared<'a>| -> BTreeSet<&'a str> {
        side.lines.iter().map(|line| &line.row.file[..]).collect()
    };
    let (a, b) = (files(a), files(b));
    let only = |own: &BTreeSet<&'a str>, other| {
        let mut named: BTreeMap<&'a str, Vec<&'a str>> = BTreeMap::new();
        for &file in own.difference(other) {
            named.entry(matrix_name(file)).or_default().push(file);
        }
        named
    };
    let (only_a, only_b) = (only(&a, &b), only(&b, &a));
    let partner = |(name, in_b): (&&str, &Vec<&'a str>)| match (&only_a.get(name)?[..], &in_b[..]) {
        (&[in_a], &[in_b]) => Some((in_b, in_a)),
        _ => None,
    };
    only_b.iter().filter_map(partner).collect()
}

/// Returns all pairs. Rows with the same matrix, method, precision, device, threads and transposition are a pair;
/// a row without a counterpart is a pair alone.
///
/// # Errors
/// Returns an error if the files were measured in different ways, or if no rows can be paired.
pub fn pairs<'a>(a: &Compared<'a>, b: &Compared<'a>) -> Result<Vec<Pair<'a>>, CompareError> {
    let partners = partners(a, b);
    let in_a = Rows::of(a, |file| file)?;
    let in_b = Rows::of(b, |file| partners.get(file).copied().unwrap_or(file))?;
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
        [("matrix", |key| key.file.into()), ("method", |key| key.method.into())];
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
