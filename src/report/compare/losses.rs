//! Rows that are ok in only one of the two files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Comparison;
use super::key::Key;
use super::pair::status;
use crate::record::read::RecordedRow;
use crate::report::names::listed;

/// The maximum number of lines that are printed.
const LINES: usize = 15;
/// The maximum number of methods or matrices that a line names.
const NAMES: usize = 6;

/// A row that is ok in one file, with its status in the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss<'a> {
    /// What the row measures.
    pub key: Key<'a>,
    /// The status in the other file: `wrong`, `failed`, `skipped` or `missing`.
    pub status: &'static str,
    /// The reason that the row of the other file gives; empty if there is none.
    pub reason: &'a str,
}

/// What several rows with the same status have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    /// A matrix on which other methods ran.
    Matrix(&'a str),
    /// Matrices of which the other file has no row.
    AbsentMatrix,
    /// Methods of which the other file has no row.
    AbsentMethod,
}

impl<'a> Comparison<'a> {
    /// Returns the rows that are ok in A and not in B.
    pub fn lost(&self) -> Vec<Loss<'a>> {
        self.pairs.iter().filter_map(|pair| loss(pair.key, pair.a, pair.b)).collect()
    }

    /// Returns the rows that are ok in B and not in A.
    pub fn gained(&self) -> Vec<Loss<'a>> {
        self.pairs.iter().filter_map(|pair| loss(pair.key, pair.b, pair.a)).collect()
    }

    /// Formats rows that are ok in only one file, one line per group, in the order wrong, failed, skipped,
    /// missing.
    pub(super) fn losses_text(&self, title: &str, losses: &[Loss]) -> String {
        let mut text = String::new();
        if losses.is_empty() {
            return text;
        }
        let _ = writeln!(text, "{title}: {} rows", losses.len());
        let groups = self.grouped(losses);
        for ((_, place, status, reason), names) in groups.iter().take(LINES) {
            let names = listed(names.iter(), NAMES);
            let what = match place {
                Place::Matrix(matrix) => format!("{names} on {matrix}"),
                Place::AbsentMatrix => format!("all on {names}"),
                Place::AbsentMethod => format!("{names} on every matrix"),
            };
            let colon = if reason.is_empty() { "" } else { ": " };
            let _ = writeln!(text, "  {what}: {status}{colon}{reason}");
        }
        if groups.len() > LINES {
            let more = groups.len() - LINES;
            let _ = writeln!(text, "  and {more} more lines; --format csv prints every row");
        }
        text
    }

    /// Groups the rows by severity, place, status and reason. A group contains the names of methods, or of
    /// matrices where all methods are missing.
    fn grouped<'l>(
        &self,
        losses: &[Loss<'l>],
    ) -> BTreeMap<(usize, Place<'l>, &'static str, &'l str), BTreeSet<String>> {
        let both = || self.pairs.iter().filter(|pair| pair.a.is_some() && pair.b.is_some());
        let matrices: BTreeSet<_> = both().map(|pair| pair.key.matrix).collect();
        let methods: BTreeSet<_> = both().map(|pair| pair.key.without_matrix()).collect();
        let mut groups: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for Loss { key, status, reason } in losses {
            let is_missing = *status == "missing";
            let (place, name) = if is_missing && !methods.contains(&key.without_matrix()) {
                (Place::AbsentMethod, self.label(key))
            } else if is_missing && !matrices.contains(key.matrix) {
                (Place::AbsentMatrix, key.matrix.to_owned())
            } else {
                (Place::Matrix(key.matrix), self.label(key))
            };
            let rank = ["wrong", "failed", "skipped"].iter().position(|known| known == status);
            groups.entry((rank.unwrap_or(3), place, *status, *reason)).or_default().insert(name);
        }
        groups
    }
}

fn loss<'a>(
    key: Key<'a>,
    from: Option<&RecordedRow>,
    to: Option<&'a RecordedRow>,
) -> Option<Loss<'a>> {
    let is_lost = from.is_some_and(RecordedRow::is_ok) && !to.is_some_and(RecordedRow::is_ok);
    let reason = to.and_then(|line| line.row.reason.as_deref()).unwrap_or_default();
    is_lost.then(|| Loss { key, status: status(to), reason })
}
