//! The order of the rows in text and Markdown tables.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Group;
use super::row::Row;

/// The criterion by which the rows of a table are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// The order in which the methods run: that of `spmv-bench methods`
    #[default]
    Command,
    /// The fastest first by the median; methods without a time last
    Speed,
    /// By the names of the methods
    Name,
}

impl Sort {
    /// Returns the group with its rows, and their stages, in this order.
    pub fn of(self, group: &Group) -> Cow<'_, Group> {
        let by: fn(&Row, &Row) -> Ordering = match self {
            Self::Command => return Cow::Borrowed(group),
            Self::Speed => |a, b| {
                let [a, b] = [a, b].map(|row| row.typical_ms().unwrap_or(f64::INFINITY));
                a.total_cmp(&b)
            },
            Self::Name => |a, b| a.method_name.cmp(&b.method_name),
        };
        let mut pairs: Vec<_> = group.rows.iter().cloned().zip(group.stages.clone()).collect();
        pairs.sort_by(|(a, _), (b, _)| by(a, b));
        let (rows, stages) = pairs.into_iter().unzip();
        Cow::Owned(Group { rows, stages, ..group.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_methods::device::Stage;

    fn group() -> Group {
        let row = |(name, median_ms): (&str, Option<f64>)| Row {
            method_name: Some(name.into()),
            median_ms,
            ..Row::default()
        };
        let rows = [("merge", Some(2.0)), ("csr5", None), ("seq", Some(1.0)), ("coo", Some(2.0))];
        let stage = |name: &str| vec![Stage { name: name.into(), ms: 1.0, ..Stage::default() }];
        let stages = rows.map(|(name, _)| stage(name)).to_vec();
        Group { stages, ..Group::of(rows.map(row).to_vec()) }
    }

    #[test]
    fn rows_are_sorted_with_their_stages() {
        for (sort, expected) in [
            (Sort::Command, ["merge", "csr5", "seq", "coo"]),
            (Sort::Speed, ["seq", "merge", "coo", "csr5"]),
            (Sort::Name, ["coo", "csr5", "merge", "seq"]),
        ] {
            let group = group();
            let sorted = sort.of(&group);
            let names: Vec<_> =
                sorted.rows.iter().map(|row| row.method_name.as_deref().unwrap()).collect();
            assert_eq!(names, expected);
            let stages: Vec<_> = sorted.stages.iter().map(|stages| &stages[0].name[..]).collect();
            assert_eq!(stages, expected);
        }
    }
}
