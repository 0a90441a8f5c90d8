//! Formats a comparison as text and as CSV.

use std::fmt::Write;

use serde::Serialize;

use super::key::{Key, differences};
use super::pair::{Pair, status};
use super::ratio::Judgement::{self, Faster, Same, Slower, Unknown};
use super::ratio::Mean;
use super::{Comparison, Group};
use crate::record::cells::to_csv;
use crate::record::read::RecordedRow;
use crate::record::table::{Cell, Table};
use crate::report::statistics::Statistic;
use crate::report::values::Kinds;

/// The maximum number of changes that are printed for each direction.
const CHANGES: usize = 10;

impl Comparison<'_> {
    /// Formats the rows that are ok in only one file, a table of methods, the largest changes, and a sentence on
    /// all pairs.
    pub fn to_text(&self) -> String {
        let mut text = format!("A: {}\nB: {}\n", self.a.name, self.b.name);
        text += &self.losses_text("ok in A, not in B", &self.lost());
        text += &self.losses_text("ok in B, not in A", &self.gained());
        text += &self.unpaired_text();
        if let Some(overall) = &self.overall {
            text += "\nB/A: B's median time per product over A's; above 1 B is slower\n";
            text += &self.methods_table().to_text(None);
            text += "\n";
            text += &self.kinds().note().map_or(String::new(), |note| note + "\n");
            let changes = self.changes_table();
            if !changes.rows.is_empty() {
                text += "\nthe largest changes\n";
                text += &changes.to_text(None);
                text += "\n";
            }
            text += "\n";
            text += &sentence(overall);
        } else {
            text += "\nno row is ok in both\n";
        }
        text
    }

    fn unpaired_text(&self) -> String {
        let mut text = String::new();
        for (side, counts) in ["A", "B"].into_iter().zip(self.unpaired()) {
            if !counts.is_empty() {
                let rows: usize = counts.values().sum();
                let counts: Vec<_> =
                    counts.iter().map(|(label, count)| format!("{label} ({count})")).collect();
                let _ = writeln!(text, "only in {side}: {rows} rows: {}", counts.join(", "));
            }
        }
        let only = |missing: fn(&&Pair) -> bool| self.pairs.iter().filter(missing).map(|p| p.key);
        for difference in differences(only(|pair| pair.b.is_none()), only(|pair| pair.a.is_none()))
        {
            let _ = writeln!(text, "these differ in {difference}");
        }
        text
    }

    /// Returns a table with one row per method. It has a column of unknown judgements only if there are any.
    fn methods_table(&self) -> Table {
        let any = |&judgement: &Judgement| {
            judgement != Unknown || self.methods.iter().any(|group| group.mean.count(Unknown) > 0)
        };
        let judgements: Vec<_> = [Faster, Same, Slower, Unknown].into_iter().filter(any).collect();
        let kinds = self.kinds();
        let ratios = |group: &Group| {
            let means = kinds.means(&group.mean.ratios, Statistic::GeometricMean).into_iter();
            means.map(|mean| mean.map(|ratio| Cell::Decimal(ratio, 3)))
        };
        let extreme = |(key, ratio): (Key, f64)| format!("{ratio:.3} {}", key.matrix);
        let table = Table::of(&self.methods)
            .column("method", |group| &group.label[..])
            .column("pairs", |group| group.mean.pairs())
            .columns(judgements.iter().map(|judgement| judgement.name()), |group| {
                judgements.iter().map(|&judgement| group.mean.count(judgement))
            })
            .columns(kinds.columns("B/A"), ratios)
            .column("95 % interval", |group| group.mean.interval.map(range))
            .column("lowest", |group| extreme(group.mean.lowest))
            .column("highest", |group| extreme(group.mean.highest));
        table.build()
    }

    /// Returns the kinds of matrices over which separate means are given.
    fn kinds(&self) -> Kinds {
        Kinds::of(self.overall.iter().flat_map(|mean| &mean.ratios).map(|ratio| ratio.0))
    }

    /// Returns the pairs whose intervals do not overlap: at most [`CHANGES`] slower ones in the left column, and
    /// as many faster ones in the right.
    fn changes_table(&self) -> Table {
        let of = |judgement: Judgement| {
            let judged = self.pairs.iter().filter_map(|pair| Some((pair, pair.change?)));
            let mut changes: Vec<_> = judged
                .filter(|(_, c)| c.judgement == judgement)
                .map(|(p, c)| (p, c.ratio))
                .collect();
            changes.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
            changes
        };
        let (slower, faster) = (of(Slower), of(Faster));
        let text = |(pair, ratio): &(&Pair, f64)| {
            let (label, matrix) = (self.label(&pair.key), pair.key.matrix);
            format!("{ratio:.3} {label} on {matrix}")
        };
        let places: Vec<_> = (0..slower.len().max(faster.len()).min(CHANGES)).collect();
        let table = Table::of(&places)
            .column("slower in B, by B/A", |&place| slower.get(place).map(text))
            .column("faster in B, by B/A", |&place| faster.get(place).map(text));
        table.build()
    }

    /// Formats the comparison as CSV, one line per pair.
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
    let interval =
        mean.interval.map_or(String::new(), |interval| format!(" ({})", range(interval)));
    let [faster, same, slower, unknown] = mean.counts;
    format!(
        "over all {} pairs B takes {:.3} times as long as A{interval}: {faster} faster, {same} the same, \
         {slower} slower, {unknown} unknown\n",
        mean.pairs(),
        mean.ratio,
    )
}

/// A pair as a line of CSV.
#[derive(Serialize)]
struct Record<'a> {
    matrix: &'a str,
    method_name: &'a str,
    precision: Option<&'a str>,
    device: Option<&'a str>,
    threads: Option<usize>,
    transpose: bool,
    file_a: Option<&'a str>,
    file_b: Option<&'a str>,
    status_a: &'a str,
    status_b: &'a str,
    median_ms_a: Option<f64>,
    median_ms_b: Option<f64>,
    ratio: Option<f64>,
    judgement: Option<&'a str>,
    reason_a: Option<&'a str>,
    reason_b: Option<&'a str>,
}

impl<'a> Record<'a> {
    fn of(pair: &Pair<'a>) -> Self {
        let key = pair.key;
        let [file_a, file_b] = [pair.a, pair.b].map(|line| Some(&line?.row.file[..]));
        let ms = |line: Option<&RecordedRow>| line.and_then(|line| line.row.typical_ms());
        let [reason_a, reason_b] = [pair.a, pair.b].map(|line| line?.row.reason.as_deref());
        Self {
            matrix: key.matrix,
            method_name: key.method,
            precision: key.precision.map(|precision| precision.name()),
            device: key.device.map(|device| device.name()),
            threads: key.threads,
            transpose: key.transpose,
            file_a,
            file_b,
            status_a: status(pair.a),
            status_b: status(pair.b),
            median_ms_a: ms(pair.a),
            median_ms_b: ms(pair.b),
            ratio: pair.change.map(|change| change.ratio),
            judgement: pair.change.map(|change| change.judgement.name()),
            reason_a,
            reason_b,
        }
    }
}
