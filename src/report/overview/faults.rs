//! Tables of results that are wrong or failed, and of skipped results by reason.

use super::entries::{Entries, OverviewRow};
use crate::record::row::Status;
use crate::report::View;
use crate::report::page::Section;
use crate::report::table::{Cell, Table};

/// The number of matrices that a line of skipped rows names. Further matrices are only counted.
const NAMED: usize = 3;

/// Returns the sections, none if all results are correct.
pub(super) fn sections(entries: &Entries) -> Vec<Section> {
    let bad = entries.all.iter().filter(|entry| is_bad(entry)).collect::<Vec<_>>();
    let skipped = entries.all.iter().filter(|entry| has(entry, Status::Skipped));
    let skipped = by_reason(skipped);
    let section = |title: &str, table: Table| Section {
        title: title.into(),
        views: vec![View { table: Some(table), ..View::default() }],
        ..Section::default()
    };
    let bad = (!bad.is_empty()).then(|| section("Wrong or failed", bad_table(entries, &bad)));
    let skipped = (!skipped.is_empty()).then(|| section("Skipped", skipped_table(&skipped)));
    bad.into_iter().chain(skipped).collect()
}

pub(super) fn has(entry: &OverviewRow, status: Status) -> bool {
    entry.line.row.status == Some(status)
}

/// Whether a row is wrong or failed, or has no status.
pub(super) fn is_bad(entry: &OverviewRow) -> bool {
    !has(entry, Status::Ok) && !has(entry, Status::Skipped)
}

fn bad_table(entries: &Entries, bad: &[&OverviewRow]) -> Table {
    let several = entries.files.len() > 1;
    let columns = ["matrix", "method", "status", "reason", "setting"].into_iter();
    let columns = columns.chain(several.then_some("file"));
    let rows = bad.iter().map(|entry| {
        let line = entry.line;
        let cells = [
            line.matrix(),
            line.method(),
            line.row.status.map_or("unknown", Status::name),
            line.row.reason.as_deref().unwrap_or_default(),
            &entry.setting,
        ];
        let cells = cells.into_iter().chain(several.then_some(&entry.file.name[..]));
        cells.map(Cell::text).collect()
    });
    Table::new(columns, rows.collect())
}

/// Rows that were skipped for the same reason.
struct Skipped<'a> {
    /// The words of the reason, with `…` for numbers that differ between the rows.
    words: Vec<String>,
    rows: usize,
    methods: Vec<&'a str>,
    matrices: Vec<&'a str>,
}

fn by_reason<'a>(entries: impl Iterator<Item = &'a OverviewRow<'a>>) -> Vec<Skipped<'a>> {
    let mut groups: Vec<Skipped> = Vec::new();
    for entry in entries {
        let words = words(entry);
        let same = groups.iter_mut().find(|group| shape(&group.words) == shape(&words));
        let group = match same {
            Some(group) => group,
            None => {
                groups.push(Skipped {
                    words: words.clone(),
                    rows: 0,
                    methods: vec![],
                    matrices: vec![],
                });
                groups.last_mut().expect("just pushed")
            }
        };
        for (known, word) in group.words.iter_mut().zip(words) {
            if *known != word {
                *known = blank(&word);
            }
        }
        group.rows += 1;
        add(&mut group.methods, entry.line.method());
        add(&mut group.matrices, entry.line.matrix());
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows));
    groups
}

fn add<'a>(names: &mut Vec<&'a str>, name: &'a str) {
    if !name.is_empty() && !names.contains(&name) {
        names.push(name);
    }
}

/// Returns the words of the reason, without the file name and line number that it may begin with.
fn words(entry: &OverviewRow) -> Vec<String> {
    let row = &entry.line.row;
    let reason = row.reason.as_deref().unwrap_or("no reason given");
    let reason = match reason.strip_prefix(&row.file[..]) {
        Some(rest) => rest.trim_start_matches(|l: char| l == ':' || l.is_ascii_digit()),
        None => reason,
    };
    reason.split_whitespace().map(String::from).collect()
}

/// Returns the words with `…` for all numbers. Reasons with the same result differ only in numbers.
fn shape(words: &[String]) -> Vec<String> {
    words.iter().map(|word| blank(word)).collect()
}

/// Replaces the number in a word by `…`.
fn blank(word: &str) -> String {
    let is_number = |letter: char| letter.is_ascii_digit() || letter == '…';
    let (Some(from), Some(to)) = (word.find(is_number), word.rfind(is_number)) else {
        return word.into();
    };
    let rest = word[to..].trim_start_matches(is_number);
    format!("{}…{rest}", &word[..from])
}

fn skipped_table(skipped: &[Skipped]) -> Table {
    let rows = skipped.iter().map(|group| {
        let named = group.matrices.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let matrices = match group.matrices.len().saturating_sub(NAMED) {
            0 => named,
            more => format!("{named} and {more} more"),
        };
        vec![
            Cell::text(group.words.join(" ")),
            Cell::Count(group.rows as u64),
            Cell::text(group.methods.join(", ")),
            Cell::text(matrices),
        ]
    });
    Table::new(["reason", "rows", "methods", "matrices"], rows.collect())
}
