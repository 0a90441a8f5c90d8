//! Pairs the rows of A with the rows of B, and checks whether they may be compared.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use super::change::Change;
use crate::files::read::RecordedRow;
use crate::row::GroupKey;
use crate::settings::CacheState;
use spmv_matrix::order::Order;

#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The name of the file in messages.
    pub name: &'a str,
    pub lines: &'a [RecordedRow],
}

/// What a row measures. Rows of A and B with the same key are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<'a> {
    pub(super) matrix: &'a str,
    pub(super) method: &'a str,
    pub(super) setting: GroupKey,
}

/// The settings that distinguish rows of one method. Cache and order are the same in all rows that are compared.
const DISTINCT: [&str; 4] = ["precision", "device", "threads", "transpose"];

impl<'a> Key<'a> {
    /// Files without cache or order have hot caches and the natural order, because older versions had no others.
    pub(super) fn of(line: &'a RecordedRow) -> Self {
        let setting = line.group_key();
        let cache = setting.cache.or(Some(CacheState::Hot));
        let order = setting.order.or(Some(Order::Natural));
        let setting = GroupKey { cache, order, ..setting };
        Self { matrix: line.matrix(), method: line.method(), setting }
    }

    pub(super) fn without_matrix(self) -> Self {
        Self { matrix: "", ..self }
    }

    fn word(&self, name: &str) -> String {
        match (name, self.setting.threads, self.setting.word(name)) {
            ("threads", Some(threads), _) => format!("{threads} threads"),
            (_, _, Some(word)) => word,
            ("transpose", ..) => "not transposed".into(),
            _ => format!("no {name}"),
        }
    }

    /// Returns the method, with whatever distinguishes it from keys in `all` with the same method.
    pub(super) fn label(&self, all: &BTreeSet<Self>) -> String {
        let mut words = vec![self.method.to_owned()];
        for name in DISTINCT {
            let mut namesakes = all.iter().filter(|other| other.method == self.method);
            if namesakes.any(|other| other.word(name) != self.word(name)) {
                words.push(self.word(name));
            }
        }
        words.join(" ")
    }

    /// Returns the cache or the order in which two keys differ: its name, and its word in each.
    fn unlike(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let words = |name| (name, self.word(name), other.word(name));
        let (one, two) = (&self.setting, &other.setting);
        let is_other = (one.cache, one.order) != (two.cache, two.order);
        is_other
            .then(|| ["cache", "order"].map(words).into_iter().find(|(_, one, other)| one != other))
            .flatten()
    }
}

/// Returns the settings without a common value: `2 threads in A, 4 threads in B (--threads)`.
pub(super) fn differences(a: &[Key], b: &[Key]) -> Vec<String> {
    let of_setting = |name| {
        let words = |keys: &[Key]| keys.iter().map(|key| key.word(name)).collect::<BTreeSet<_>>();
        let (in_a, in_b) = (words(a), words(b));
        let is_other = !in_a.is_empty() && !in_b.is_empty() && in_a.is_disjoint(&in_b);
        let [a, b] = [in_a, in_b].map(|words| words.into_iter().collect::<Vec<_>>().join(", "));
        is_other.then(|| format!("{a} in A, {b} in B (--{name})"))
    };
    DISTINCT.into_iter().filter_map(of_setting).collect()
}

/// A row of A, a row of B, or both. If no method ran on the matrix in one of them, it is the row that gives the reason.
#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    pub key: Key<'a>,
    pub a: Option<&'a RecordedRow>,
    pub b: Option<&'a RecordedRow>,
    pub change: Option<Change>,
}

/// Returns all pairs, also of a row without a counterpart, or why the files are not compared.
pub(super) fn pairs<'a>(a: &Compared<'a>, b: &Compared<'a>, in_turns: bool) -> Result<Vec<Pair<'a>>, String> {
    let (in_a, in_b) = rayon::join(|| Rows::of(a), || Rows::of(b));
    let (in_a, in_b) = (in_a?, in_b?);
    let (a, b) = (a.name, b.name);
    let first = in_a.keys.first().zip(in_b.keys.first());
    if let Some((column, word_a, word_b)) = first.and_then(|(a, b)| a.unlike(b)) {
        return Err(format!(
            "{a} contains rows of {column} {word_a}, {b} of {column} {word_b}; run one of them again with --{column} \
             {word_a} or --{column} {word_b}, so that both are the same"
        ));
    }
    let only_b = in_b.keys.par_iter().filter(|key| !in_a.measured.contains_key(key));
    let paired = |&key: &Key<'a>| {
        let (row_a, row_b) = (in_a.find(&key), in_b.find(&key));
        let change = row_a.zip(row_b).and_then(|(a, b)| Change::of(a, b, in_turns));
        Pair { key, a: row_a, b: row_b, change }
    };
    let pairs: Vec<Pair> = in_a.keys.par_iter().chain(only_b).map(paired).collect();
    let mut both = pairs.iter().filter_map(|pair| pair.a.zip(pair.b)).peekable();
    if both.peek().is_none() {
        let why = why_nothing(&in_a.keys, &in_b.keys);
        return Err(format!("no row of {a} matches a row of {b}: {why}"));
    }
    if let Some((file, [of_a, of_b], why)) = both.find_map(|(a, b)| difference(a, b)) {
        return Err(format!("{file} has {of_a} in {a} and {of_b} in {b}: {why}"));
    }
    Ok(pairs)
}

#[derive(Default)]
struct Rows<'a> {
    keys: Vec<Key<'a>>,
    measured: HashMap<Key<'a>, &'a RecordedRow>,
    /// Matrices on which no method ran, each with the row that gives the reason.
    ended: HashMap<&'a str, &'a RecordedRow>,
}

impl<'a> Rows<'a> {
    fn of(side: &Compared<'a>) -> Result<Self, String> {
        let measured = HashMap::with_capacity(side.lines.len());
        let mut rows = Self { measured, ..Self::default() };
        for line in side.lines {
            let key = Key::of(line);
            if key.method.is_empty() {
                rows.ended.insert(key.matrix, line);
            } else {
                rows.add(key, line, side.name)?;
            }
        }
        Ok(rows)
    }

    /// Adds the row of a method, unless it may not be compared with the rows before it.
    fn add(&mut self, key: Key<'a>, line: &'a RecordedRow, file: &str) -> Result<(), String> {
        let row = &line.row;
        if let Some((column, one, other)) = self.keys.first().and_then(|first| first.unlike(&key)) {
            return Err(format!(
                "{file} contains rows of {column} {one} and of {column} {other}, which cannot be compared together; \
                 choose one with --methods '* where {column} = {one}'"
            ));
        }
        let described = || {
            let words = DISTINCT.map(|name| key.word(name)).join(", ");
            format!("{} on {} ({words})", key.method, row.file)
        };
        let ms = row.typical_ms();
        if line.is_ok() && !ms.is_some_and(|ms| ms > 0.0 && ms.is_finite()) {
            let column = if row.median_ms.is_some() { "median_ms" } else { "avg_spmv_ms" };
            let value = ms.map(|ms| format!("{ms:?}")).unwrap_or_default();
            return Err(format!(
                "{file}: {} is ok, but its {column} is '{value}'; it must be a positive number",
                described()
            ));
        }
        self.keys.push(key);
        match self.measured.insert(key, line) {
            None => Ok(()),
            Some(_) => {
                let described = described();
                Err(format!("{file} contains two rows of {described}; put only the rows of one run into a file"))
            }
        }
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
    let matrices: [BTreeSet<_>; 2] = [a, b].map(|of| of.iter().map(|key| key.matrix).collect());
    let methods: [BTreeSet<_>; 2] = [a, b].map(|of| of.iter().map(|key| key.method).collect());
    for (column, [in_a, in_b]) in [("matrix", matrices), ("method", methods)] {
        if in_a.is_disjoint(&in_b) {
            why.push(format!("they have no {column} in common"));
        }
    }
    let options = differences(a, b).join("; ");
    if !options.is_empty() {
        why.push(format!("{options}; run one of them again with the options of the other"));
    }
    let otherwise = "no two rows have the same matrix, method, precision, device, threads and transpose";
    if why.is_empty() { otherwise.into() } else { why.join("; ") }
}

/// Returns the file, the first fact in which the matrices of two rows differ, as text for each, and an explanation.
fn difference<'a>(a: &'a RecordedRow, b: &RecordedRow) -> Option<(&'a str, [String; 2], &'static str)> {
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
    let why = "a surrogate is not the matrix that it replaces";
    let is_other = a.is_surrogate() != b.is_surrogate();
    is_other.then(|| (file, [format!("the kind {of_a}"), of_b], why))
}
