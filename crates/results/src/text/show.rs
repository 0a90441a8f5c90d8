//! How the tables of a matrix are shown.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::matrix::Group;
use crate::row::Row;

/// The criterion by which the rows of a table are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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

/// How tables are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    pub sort: Sort,
    /// The number of products that are planned with a matrix, for their total time with the setup.
    pub planned: Option<u32>,
    /// The width of the terminal to which tables are fitted; `None`: they are not for a terminal.
    pub width: Option<u16>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_matrix::device::Stage;

    #[test]
    fn rows_are_sorted_with_their_stages() {
        let rows = [("merge", Some(2.0)), ("csr5", None), ("seq", Some(1.0)), ("coo", Some(2.0))];
        let stages = rows.map(|(name, _)| vec![Stage { name: name.into(), ..Stage::default() }]);
        let rows = rows.map(|(name, median_ms)| {
            let method_name = Some(name.into());
            Row { method_name, median_ms, ..Row::default() }
        });
        let group = Group { stages: stages.to_vec(), ..Group::of(rows.to_vec()) };
        for (sort, expected) in [
            (Sort::Command, ["merge", "csr5", "seq", "coo"]),
            (Sort::Speed, ["seq", "merge", "coo", "csr5"]),
            (Sort::Name, ["coo", "csr5", "merge", "seq"]),
        ] {
            let Group { rows, stages, .. } = sort.of(&group).into_owned();
            assert!(rows.iter().map(|row| row.method_name.as_deref().unwrap()).eq(expected));
            assert!(stages.iter().map(|stages| &stages[0].name[..]).eq(expected));
        }
    }
}
