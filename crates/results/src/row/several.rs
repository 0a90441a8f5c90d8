//! Columns of which a row keeps more than a number, so that the rows of several processes can become one.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::column::{ColumnType, Kind, Value};

/// The number of bitwise different results. Messages between processes contain their hashes, too, of single products
/// and of chains of products.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distinct {
    count: usize,
    hashes: [BTreeSet<u64>; 2],
}

impl Distinct {
    pub fn count(&self) -> usize {
        self.count
    }
}

impl From<usize> for Distinct {
    fn from(count: usize) -> Self {
        Self { count, ..Self::default() }
    }
}

impl From<[BTreeSet<u64>; 2]> for Distinct {
    fn from(hashes: [BTreeSet<u64>; 2]) -> Self {
        let count = hashes.iter().map(BTreeSet::len).max().unwrap_or_default();
        Self { count, hashes }
    }
}

impl Serialize for Distinct {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { self.count.serialize(to) } else { self.hashes.serialize(to) }
    }
}

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            return usize::deserialize(from).map(Self::from);
        }
        <[BTreeSet<u64>; 2]>::deserialize(from).map(Self::from)
    }
}

impl ColumnType for Option<Distinct> {
    const KIND: Kind = Kind::Count;

    fn value(&self) -> Option<Value<'_>> {
        self.as_ref().map(|distinct| Value::Number(distinct.count as f64))
    }

    /// Returns the results that any process saw. Rows of files have only numbers, of which the largest is returned.
    fn union(all: &[&Self]) -> Self {
        let known = all.iter().copied().flatten();
        let hashes = [0, 1].map(|of| known.clone().flat_map(|it| it.hashes[of].clone()).collect());
        let most = known.map(|it| it.count).max()?;
        let union = Distinct::from(hashes);
        Some(Distinct { count: union.count.max(most), ..union })
    }
}

/// A time in each of the processes that measured a row, in the order in which they ran, in milliseconds. They are
/// written with blanks between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Processes(pub Vec<f64>);

impl Processes {
    pub fn of(ms: f64) -> Self {
        Self(vec![ms])
    }
}

impl From<Processes> for String {
    fn from(Processes(times): Processes) -> Self {
        times.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
    }
}

impl TryFrom<String> for Processes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let time = |word: &str| word.parse().map_err(|_| format!("'{word}' is not a time in ms"));
        text.split(' ').map(time).collect::<Result<_, _>>().map(Self)
    }
}

impl ColumnType for Option<Processes> {
    const KIND: Kind = Kind::Pattern("^[0-9.e-]+( [0-9.e-]+)*$");

    /// Conditions and reports do not use several numbers.
    fn value(&self) -> Option<Value<'_>> {
        None
    }

    fn union(all: &[&Self]) -> Self {
        let times: Vec<_> = all.iter().copied().flatten().flat_map(|it| it.0.clone()).collect();
        (!times.is_empty()).then_some(Processes(times))
    }
}
