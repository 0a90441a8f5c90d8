//! What a row measures: the key by which rows of two files are paired.

use std::collections::BTreeSet;

use crate::record::read::RecordedRow;
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Device;

/// What a row measures. Rows of A and B with the same key are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    /// The name of the matrix.
    pub matrix: &'a str,
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

impl<'a> Key<'a> {
    /// Returns the key of a row.
    pub(super) fn of(line: &'a RecordedRow) -> Self {
        let row = &line.row;
        let (precision, device, threads) = (row.precision, row.device, row.threads);
        let transpose = row.transpose.unwrap_or(false);
        let (matrix, method) = (line.matrix(), line.method());
        Self { matrix, method, precision, device, threads, transpose }
    }

    /// Returns the key without the matrix, which is the same on all matrices.
    pub fn without_matrix(self) -> Self {
        Self { matrix: "", ..self }
    }

    /// Returns the method, with whatever distinguishes it from keys in `all` with the same method.
    pub fn label(&self, all: &BTreeSet<Self>) -> String {
        let namesakes = || all.iter().filter(|other| other.method == self.method);
        let telling = |&&(_, word): &&Aspect| namesakes().any(|other| word(other) != word(self));
        let words = ASPECTS.iter().filter(telling).map(|(_, word)| word(self));
        std::iter::once(self.method.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Describes the key of a row of this file in full, for messages.
    pub(super) fn describe(&self, file: &str) -> String {
        let words: Vec<_> = ASPECTS.iter().map(|(_, word)| word(self)).collect();
        format!("{} on {file} ({})", self.method, words.join(", "))
    }
}

/// A property of a key: the option that sets it, and a function that returns its text.
pub(super) type Aspect = (&'static str, fn(&Key) -> String);

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
