use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;

use super::Judgement::{self, Faster, Slower};
use super::pair::{Key, Pair, differences};
use super::{Comparison, Loss, Mean};
use crate::record::cells::to_csv;
use crate::record::read::RecordedRow;
use crate::record::row::Row;
use crate::record::table::{Cell, Table};
use crate::report::names::listed;
use crate::report::statistics::{Kinds, Statistic};
use spmv_matrix::scalar::Precision;
use spmv_methods::method::Device;

/// The maximum number of changes that are printed for each direction.
const CHANGES: usize = 10;
/// The maximum number of lines that are printed on rows that are ok in only one file.
const LINES: usize = 15;
/// The maximum number of methods or matrices that such a line names.
const NAMES: usize = 6;

/// What several rows with the same status have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    Matrix(&'a str),
    /// Matrices of which the other file has no row.
    AbsentMatrix,
    /// Methods of which the other file has no row.
    AbsentMethod,
}

/// The severity, place, status and reason of a group of losses.
type Group<'a> = (usize, Place<'a>, &'static str, &'a str);

fn status(line: Option<&RecordedRow>) -> &'static str {
    line.map_or("missing", RecordedRow::status)
}

impl Comparison<'_> {
    pub fn to_text(&self) -> String {
        let mut text = format!("A: {}\nB: {}\n", self.a.name, self.b.name);
        text += &self.losses_text("ok in A, not in B", &self.lost());
        text += &self.losses_text("ok in B, not in A", &self.gained());
        text += &self.unpaired_text();
        let Some(overall) = &self.overall else { return text + "\nno row is ok in both\n" };
        text += "\nB/A: B's median time per product over A's; above 1 B is slower\n";
        text += &(self.methods_table().to_text(None) + "\n");
        text += &self.kinds().note().map_or(String::new(), |note| note + "\n");
        let changes = self.changes_table();
        if !changes.rows.is_empty() {
            text += &format!("\nthe largest changes\n{}\n", changes.to_text(None));
        }
        text + "\n" + &sentence(overall)
    }

    /// Formats rows that are ok in one file only, a line per group: wrong, failed, skipped, missing.
    fn losses_text(&self, title: &str, losses: &[Loss]) -> String {
        if losses.is_empty() {
            return String::new();
        }
        let mut text = format!("{title}: {} rows\n", losses.len());
        let groups = self.groups(losses);
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

    /// Groups losses. A group contains the labels of methods, or the names of matrices where all methods are missing.
    fn groups<'l>(&self, losses: &[Loss<'l>]) -> BTreeMap<Group<'l>, BTreeSet<String>> {
        let both = || self.pairs.iter().filter(|pair| pair.a.is_some() && pair.b.is_some());
        let matrices: BTreeSet<_> = both().map(|pair| pair.key.matrix).collect();
        let methods: BTreeSet<_> = both().map(|pair| pair.key.without_matrix()).collect();
        let mut groups = BTreeMap::<_, BTreeSet<_>>::new();
        for (key, other) in losses {
            let (label, status) = (key.label(&self.keys), status(*other));
            let (place, name) = if other.is_none() && !methods.contains(&key.without_matrix()) {
                (Place::AbsentMethod, label)
            } else if other.is_none() && !matrices.contains(key.matrix) {
                (Place::AbsentMatrix, key.matrix.to_owned())
            } else {
                (Place::Matrix(key.matrix), label)
            };
            let rank = ["wrong", "failed", "skipped"].iter().position(|known| *known == status);
            let reason = other.and_then(|line| line.row.reason.as_deref()).unwrap_or_default();
            groups.entry((rank.unwrap_or(3), place, status, reason)).or_default().insert(name);
        }
        groups
    }

    /// Describes the rows that only one file has: their labels with the number of rows, and in what they differ.
    fn unpaired_text(&self) -> String {
        let only = |missing: fn(&&Pair) -> bool| -> Vec<Key> {
            self.pairs.iter().filter(missing).map(|pair| pair.key).collect()
        };
        let (only_a, only_b) = (only(|pair| pair.b.is_none()), only(|pair| pair.a.is_none()));
        let mut text = String::new();
        let sides = [("A", &only_a), ("B", &only_b)];
        for (side, keys) in sides.into_iter().filter(|of| !of.1.is_empty()) {
            let mut labels: Vec<_> = keys.iter().map(|key| key.label(&self.keys)).collect();
            labels.sort();
            let counts = labels.chunk_by(|a, b| a == b);
            let counts = counts.map(|same| format!("{} ({})", same[0], same.len()));
            let counts = counts.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "only in {side}: {} rows: {counts}", keys.len());
        }
        let differences = differences(&only_a, &only_b).into_iter();
        text.extend(differences.map(|difference| format!("these differ in {difference}\n")));
        text
    }

    /// Returns a table with one row per method. It has a column of unknown judgements only if there are any.
    fn methods_table(&self) -> Table {
        let any_unknown = self.methods.iter().any(|(_, mean)| mean.counts[3] > 0);
        let shown = if any_unknown { 4 } else { 3 };
        let kinds = self.kinds();
        let extreme = |(matrix, ratio): (&str, f64)| format!("{ratio:.3} {matrix}");
        Table::of(&self.methods)
            .column("method", |(label, _)| &label[..])
            .column("pairs", |(_, mean)| mean.ratios.len())
            .columns(
                ["faster", "same", "slower", "unknown"].into_iter().take(shown),
                |(_, mean)| mean.counts.into_iter().take(shown),
            )
            .columns(kinds.columns("B/A"), |(_, mean)| {
                let means = kinds.means(&mean.ratios, Statistic::GeometricMean).into_iter();
                means.map(|mean| mean.map(|ratio| Cell::Decimal(ratio, 3)))
            })
            .column("95 % interval", |(_, mean)| mean.interval.map(range))
            .column("lowest", |(_, mean)| extreme(mean.lowest))
            .column("highest", |(_, mean)| extreme(mean.highest))
            .build()
    }

    fn kinds(&self) -> Kinds {
        Kinds::of(self.overall.iter().flat_map(|mean| &mean.ratios).map(|ratio| ratio.0))
    }

    /// Returns the largest changes beyond the intervals, slower ones at the left, faster ones at the right.
    fn changes_table(&self) -> Table {
        let texts = |judgement: Judgement| -> Vec<String> {
            let mut changes: Vec<_> = self
                .pairs
                .iter()
                .filter_map(|pair| Some((pair.key, pair.change?)))
                .filter(|(_, change)| change.judgement == judgement)
                .collect();
            changes.sort_by(|(_, a), (_, b)| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
            let text = |(key, change): &(Key, super::Change)| {
                format!("{:.3} {} on {}", change.ratio, key.label(&self.keys), key.matrix)
            };
            changes.iter().take(CHANGES).map(text).collect()
        };
        let (slower, faster) = (texts(Slower), texts(Faster));
        let places: Vec<_> = (0..slower.len().max(faster.len())).collect();
        Table::of(&places)
            .column("slower in B, by B/A", |&place| slower.get(place).cloned())
            .column("faster in B, by B/A", |&place| faster.get(place).cloned())
            .build()
    }

    pub fn to_csv(&self) -> String {
        let records: Vec<_> = self.pairs.iter().map(Record::of).collect();
        let text = to_csv(&records, true).expect("memory takes all");
        String::from_utf8(text).expect("cells are text")
    }
}

fn range((low, high): (f64, f64)) -> String {
    format!("{low:.3} to {high:.3}")
}

fn sentence(mean: &Mean) -> String {
    let interval = mean.interval.map_or(String::new(), |ends| format!(" ({})", range(ends)));
    let [faster, same, slower, unknown] = mean.counts;
    format!(
        "over all {} pairs B takes {:.3} times as long as A{interval}: {faster} faster, {same} the same, \
         {slower} slower, {unknown} unknown\n",
        mean.ratios.len(),
        mean.ratio,
    )
}

#[derive(Serialize)]
struct Record<'a> {
    matrix: &'a str,
    method_name: &'a str,
    precision: Option<Precision>,
    device: Option<Device>,
    threads: Option<usize>,
    transpose: bool,
    file_a: Option<&'a str>,
    file_b: Option<&'a str>,
    status_a: &'a str,
    status_b: &'a str,
    median_ms_a: Option<f64>,
    median_ms_b: Option<f64>,
    ratio: Option<f64>,
    judgement: Option<Judgement>,
    reason_a: Option<&'a str>,
    reason_b: Option<&'a str>,
}

impl<'a> Record<'a> {
    fn of(&Pair { key, a, b, change }: &Pair<'a>) -> Self {
        let [row_a, row_b] = [a, b].map(|line| line.map(|line| &line.row));
        Self {
            matrix: key.matrix,
            method_name: key.method,
            precision: key.setting.precision,
            device: key.setting.device,
            threads: key.setting.threads,
            transpose: key.setting.transpose,
            file_a: row_a.map(|row| &row.file[..]),
            file_b: row_b.map(|row| &row.file[..]),
            status_a: status(a),
            status_b: status(b),
            median_ms_a: row_a.and_then(Row::typical_ms),
            median_ms_b: row_b.and_then(Row::typical_ms),
            ratio: change.map(|change| change.ratio),
            judgement: change.map(|change| change.judgement),
            reason_a: row_a.and_then(|row| row.reason.as_deref()),
            reason_b: row_b.and_then(|row| row.reason.as_deref()),
        }
    }
}
