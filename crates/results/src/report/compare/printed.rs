use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

use super::change::Judgement::{self, Faster, Slower};
use super::comparison::{Comparison, Loss};
use super::mean::Mean;
use super::pair::{Key, Pair, differences};
use crate::files::cells::to_csv;
use crate::files::read::RecordedRow;
use crate::report::means::Kinds;
use crate::report::names::listed;
use crate::statistics::Statistic;
use crate::table::terminal::wrapped;
use crate::table::{Cell, Document, Table};

/// The maximum number of changes that are printed for each direction.
const CHANGES: usize = 10;
/// The maximum number of lines that are printed on rows that are ok in only one file.
const LINES: usize = 15;
/// The maximum number of methods or matrices that such a line names.
const NAMES: usize = 6;

const RATIO: &str = "B/A: B's median time per product over A's; above 1 B is slower";

const COLUMNS: &str = "matrix,method_name,precision,device,threads,transpose,file_a,file_b,status_a,status_b,\
                       median_ms_a,median_ms_b,ratio,judgement,reason_a,reason_b\n";

/// The severity, matrix, status and reason of a group of losses.
type Group<'a> = (usize, &'a str, &'static str, &'a str);

/// The severities of losses that follow from a matrix or a method of which the other file has no row.
const ABSENT_MATRIX: usize = 4;
const ABSENT_METHOD: usize = 5;

fn status(line: Option<&RecordedRow>) -> &'static str {
    line.map_or("missing", RecordedRow::status)
}

impl Comparison<'_> {
    /// Returns the tables and a sentence, fitted to a terminal of this width if there is one.
    pub fn to_text(&self, width: Option<u16>) -> String {
        let mut text = format!("A: {}\nB: {}\n", self.a.name, self.b.name);
        text += &self.losses_text("ok in A, not in B", &self.lost());
        text += &self.losses_text("ok in B, not in A", &self.losses(|pair| [pair.b, pair.a]));
        text += &self.unpaired_text();
        let Some(overall) = &self.overall else { return text + "\nno row is ok in both\n" };
        text += &format!("\n{RATIO}\n{}\n", self.methods_table().to_text(width));
        text += &self.kinds().note().map_or(String::new(), |note| note + "\n");
        let changes = self.changes_table();
        if !changes.rows.is_empty() {
            text += &format!("\nthe largest changes\n{}\n", changes.to_text(width));
        }
        text += &format!("\n{}\n", sentence(overall));
        text.lines().map(|line| wrapped(line, width) + "\n").collect()
    }

    /// Returns the tables for LaTeX. What they mean are comments.
    pub fn to_latex(&self) -> String {
        let result = self.overall.as_ref().map_or("no row is ok in both".into(), sentence);
        let sides = format!("A: {}; B: {}; {RATIO}", self.a.name, self.b.name);
        let tables = [self.methods_table(), self.changes_table()];
        let tables = tables.iter().filter(|table| !table.rows.is_empty());
        let [sides, result] = [sides, result].map(|text| Document::Latex.prose(&text));
        let parts = [sides].into_iter().chain(tables.map(Table::to_latex)).chain([result]);
        parts.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// Formats rows that are ok in one file only, a line per group: wrong, failed, skipped, missing.
    fn losses_text(&self, title: &str, losses: &[Loss]) -> String {
        if losses.is_empty() {
            return String::new();
        }
        let mut text = format!("{title}: {} rows\n", losses.len());
        let groups = self.groups(losses);
        for ((severity, matrix, status, reason), names) in groups.iter().take(LINES) {
            let names = listed(names.iter(), NAMES);
            let what = match *severity {
                ABSENT_METHOD => format!("{names} on every matrix"),
                ABSENT_MATRIX => format!("all on {names}"),
                _ => format!("{names} on {matrix}"),
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
        let matrices: HashSet<_> = both().map(|pair| pair.key.matrix).collect();
        let methods: HashSet<_> = both().map(|pair| pair.key.without_matrix()).collect();
        let mut groups = BTreeMap::<_, BTreeSet<_>>::new();
        for (key, other) in losses {
            let (label, status) = (key.label(&self.keys), status(*other));
            let rank = ["wrong", "failed", "skipped"].iter().position(|of| *of == status);
            let (severity, matrix, name) = if other.is_none() && !methods.contains(&key.without_matrix()) {
                (ABSENT_METHOD, "", label)
            } else if other.is_none() && !matrices.contains(key.matrix) {
                (ABSENT_MATRIX, "", key.matrix.to_owned())
            } else {
                (rank.unwrap_or(3), key.matrix, label)
            };
            let reason = other.and_then(|line| line.row.reason.text()).unwrap_or_default();
            groups.entry((severity, matrix, status, reason)).or_default().insert(name);
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
        let judgements = ["faster", "same", "slower", "unknown"].into_iter().take(shown);
        let kinds = self.kinds();
        Table::of(&self.methods)
            .column("method", |(label, _)| &label[..])
            .column("pairs", |(_, mean)| mean.ratios.len())
            .columns(judgements, |(_, mean)| mean.counts.into_iter().take(shown))
            .columns(kinds.columns("B/A"), |(_, mean)| {
                let means = kinds.means(&mean.ratios, Statistic::GeometricMean).into_iter();
                means.map(|mean| mean.map(|ratio| Cell::Decimal(ratio, 3)))
            })
            .column("95 % interval", |(_, mean)| mean.ratio.interval().map(range))
            .column("lowest", |(_, mean)| Cell::Decimal(mean.lowest.1, 3))
            .column("lowest on", |(_, mean)| mean.lowest.0)
            .column("highest", |(_, mean)| Cell::Decimal(mean.highest.1, 3))
            .column("highest on", |(_, mean)| mean.highest.0)
            .build()
    }

    fn kinds(&self) -> Kinds {
        let ratios = self.overall.iter().flat_map(|mean| &mean.ratios);
        let kinds = Kinds::of(ratios.map(|ratio| ratio.0));
        if self.by_values { kinds } else { kinds.together() }
    }

    /// Returns the largest changes beyond the intervals, slower ones at the left, faster ones at the right.
    fn changes_table(&self) -> Table {
        let texts = |judgement: Judgement| -> Vec<String> {
            let changes = self.pairs.iter().filter_map(|pair| Some((pair.key, pair.change.as_ref()?)));
            let changes = changes.filter(|(_, change)| change.judgement == judgement);
            let changes = changes.map(|(key, change)| (key, change.ratio.value));
            let mut changes: Vec<_> = changes.collect();
            changes.sort_by(|(_, a), (_, b)| b.ln().abs().total_cmp(&a.ln().abs()));
            let text = |(key, ratio): &(Key, f64)| format!("{ratio:.3} {} on {}", key.label(&self.keys), key.matrix);
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
        let records = self.pairs.iter().map(|Pair { key, a, b, change }| {
            let (Key { matrix, method, setting }, sides) = (*key, [*a, *b]);
            let rows = sides.map(|line| line.map(|line| &line.row));
            (
                (matrix, method, setting.precision, setting.device, setting.threads),
                setting.transpose,
                rows.map(|row| row.map(|row| &row.file)),
                sides.map(status),
                rows.map(|row| row?.typical_ms()),
                change.as_ref().map(|change| change.ratio.value),
                change.as_ref().map(|change| change.judgement),
                rows.map(|row| row?.reason.text()),
            )
        });
        let text = to_csv(&records.collect::<Vec<_>>(), false).expect("memory takes all");
        COLUMNS.to_owned() + &String::from_utf8(text).expect("cells are text")
    }
}

fn range((low, high): (f64, f64)) -> String {
    format!("{low:.3} to {high:.3}")
}

fn sentence(mean: &Mean) -> String {
    let interval = mean.ratio.interval().map_or(String::new(), |ends| format!(" ({})", range(ends)));
    let [faster, same, slower, unknown] = mean.counts;
    format!(
        "over all {} pairs B takes {:.3} times as long as A{interval}: {faster} faster, {same} the same, \
         {slower} slower, {unknown} unknown",
        mean.ratios.len(),
        mean.ratio.value,
    )
}
