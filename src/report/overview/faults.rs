//! Tables of results that are wrong or failed, and of skipped results by reason.

use super::entries::{Entries, OverviewRow};
use crate::record::row::Status;
use crate::record::table::Table;
use crate::report::grouped::grouped;
use crate::report::names::listed;
use crate::report::page::Section;

/// The number of matrices that a line of skipped rows names. Further matrices are only counted.
const NAMED: usize = 3;

/// Returns the sections, none if all results are correct.
pub(super) fn sections(entries: &Entries) -> Vec<Section> {
    let bad = entries.all.iter().filter(|entry| is_bad(entry)).collect::<Vec<_>>();
    let skipped = entries.all.iter().filter(|entry| has(entry, Status::Skipped));
    let skipped = by_reason(skipped);
    let bad = (!bad.is_empty()).then(|| Section::of("Wrong or failed", bad_table(entries, &bad)));
    let skipped = (!skipped.is_empty()).then(|| Section::of("Skipped", skipped_table(&skipped)));
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
    let file = (entries.files.len() > 1).then_some("file");
    let table = Table::of(bad)
        .column("matrix", |entry| entry.line.matrix())
        .column("method", |entry| entry.line.method())
        .column("status", |entry| entry.line.status())
        .column("reason", |entry| entry.line.row.reason.as_deref().unwrap_or_default())
        .column("setting", |entry| &entry.setting[..])
        .columns(file, |entry| file.map(|_| &entry.file.name[..]));
    table.build()
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
    let groups = grouped(entries, |entry| shape(&words(entry)));
    let mut groups: Vec<_> = groups.into_iter().map(|(_, entries)| Skipped::of(&entries)).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows));
    groups
}

impl<'a> Skipped<'a> {
    fn of(entries: &[&'a OverviewRow<'a>]) -> Self {
        let mut group = Self {
            words: words(entries[0]),
            rows: entries.len(),
            methods: vec![],
            matrices: vec![],
        };
        for entry in entries {
            for (known, word) in group.words.iter_mut().zip(words(entry)) {
                if *known != word {
                    *known = blank(&word);
                }
            }
            add(&mut group.methods, entry.line.method());
            add(&mut group.matrices, entry.line.matrix());
        }
        group
    }
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
    let table = Table::of(skipped)
        .column("reason", |group| group.words.join(" "))
        .column("rows", |group| group.rows)
        .column("methods", |group| group.methods.join(", "))
        .column("matrices", |group| listed(group.matrices.iter(), NAMED));
    table.build()
}
