//! What is ok in one file only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Comparison;
use super::pair::{Key, status};
use crate::report::lines::RecordedRow;

/// Lines shown.
const LINES: usize = 15;
/// Methods or matrices named in a line.
const NAMES: usize = 6;

/// A row that is ok on one side only, and why not on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss<'a> {
    /// Of the row.
    pub key: Key<'a>,
    /// `wrong`, `failed`, `skipped` or `missing`.
    pub status: &'static str,
    /// As in the row on the other side; empty when nothing is said.
    pub reason: &'a str,
}

/// What several rows were lost on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    /// A matrix on which other methods ran.
    Matrix(&'a str),
    /// Matrices that the other file has no row of.
    AbsentMatrix,
    /// Methods that the other file has no row of.
    AbsentMethod,
}

impl<'a> Comparison<'a> {
    /// What was ok in A and is not in B.
    pub fn lost(&self) -> Vec<Loss<'a>> {
        self.pairs.iter().filter_map(|pair| loss(pair.key, pair.a, pair.b)).collect()
    }

    /// What is ok in B and was not in A.
    pub fn gained(&self) -> Vec<Loss<'a>> {
        self.pairs.iter().filter_map(|pair| loss(pair.key, pair.b, pair.a)).collect()
    }

    /// What ended alike on one matrix in a line; the wrong first, then the failed.
    pub(super) fn losses_text(&self, title: &str, losses: &[Loss]) -> String {
        let mut text = String::new();
        if losses.is_empty() {
            return text;
        }
        let _ = writeln!(text, "{title}: {} rows", losses.len());
        let groups = self.grouped(losses);
        for ((_, place, status, reason), names) in groups.iter().take(LINES) {
            let names = listed(names);
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
            let _ = writeln!(text, "  and {more} more such lines; --format csv has every row");
        }
        text
    }

    /// By how bad it is, where and why: the methods, or the matrices of all methods.
    fn grouped<'l>(
        &self,
        losses: &[Loss<'l>],
    ) -> BTreeMap<(usize, Place<'l>, &'static str, &'l str), BTreeSet<String>> {
        let both = || self.pairs.iter().filter(|pair| pair.a.is_some() && pair.b.is_some());
        let files: BTreeSet<_> = both().map(|pair| pair.key.file).collect();
        let methods: BTreeSet<_> = both().map(|pair| pair.key.without_matrix()).collect();
        let mut groups: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for Loss { key, status, reason } in losses {
            let (place, name) = if *status != "missing" {
                (Place::Matrix(key.matrix()), self.label(key))
            } else if !methods.contains(&key.without_matrix()) {
                (Place::AbsentMethod, self.label(key))
            } else if !files.contains(key.file) {
                (Place::AbsentMatrix, key.matrix().to_owned())
            } else {
                (Place::Matrix(key.matrix()), self.label(key))
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

/// The first few, and how many more.
fn listed(names: &BTreeSet<String>) -> String {
    let first: Vec<_> = names.iter().take(NAMES).map(String::as_str).collect();
    let more = names.len() - first.len();
    let first = first.join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}
