//! What the rows contain: counts and warnings, tables of wrong and of skipped results, and a table of all rows.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::entries::{Entries, Entry};
use crate::report::groups::grouped;
use crate::report::matched::matrices;
use crate::report::names::{count, join, listed};
use crate::report::numeric::Column;
use crate::report::page::Section;
use crate::row::{Row, Status};
use crate::settings::WIDEST_INTERVAL;
use crate::table::{Table, significant};
use spmv_matrix::verify::LIKELY_FACTOR;

/// The number of matrices that a sentence or a line of skipped rows names. Further matrices are only counted.
const NAMED: usize = 3;

const NUMBERS: &str = "num_nonzeros distinct_values median_ms uncertainty avg_spmv_ms gflops effective_GBs \
                       compulsory_GBs required_percent_of_peak percent_of_peak joules_per_product \
                       gflops_per_watt setup_ms break_even extra_bytes error_ratio";

pub(super) fn lead(entries: &Entries) -> Vec<String> {
    let from = files(entries);
    if entries.all.is_empty() {
        return vec![format!("There are no rows in {from}.")];
    }
    let measured = entries.all.iter().map(|entry| entry.line);
    let measured = measured.filter(|line| !line.method().is_empty());
    let methods: BTreeSet<_> = measured.clone().map(|line| line.method()).collect();
    let lead = format!(
        "{} from {from}: {}, {}. {}",
        count(entries.all.len(), "row"),
        count(matrices(measured)[0], "matrix"),
        count(methods.len(), "method"),
        verdict(entries)
    );
    std::iter::once(lead).chain(remarks(entries)).collect()
}

fn files(entries: &Entries) -> String {
    join(entries.files.iter().map(|file| format!("`{}`", file.name)), ", ")
}

/// Returns the numbers of rows by status, with sentences on noisy times and times without an interval.
fn verdict(entries: &Entries) -> String {
    let number = |of: fn(&&Entry) -> bool| entries.all.iter().filter(of).count();
    let ok = number(|entry| entry.has(Status::Ok));
    let skipped = number(|entry| entry.has(Status::Skipped));
    let mut verdict = match number(|entry| entry.is_bad()) {
        0 => format!("Nothing wrong or failed: {ok} correct and timed, {skipped} skipped."),
        bad => format!("{bad} wrong or failed; {ok} correct and timed, {skipped} skipped."),
    };
    let is_noisy = |row: &Row| row.uncertainty().is_some_and(|half| half > 50.0 * WIDEST_INTERVAL);
    let noisy = entries.all.iter().filter(|of| of.has(Status::Ok) && is_noisy(&of.line.row));
    let noisy: Vec<_> = noisy.collect();
    if !noisy.is_empty() {
        verdict += &format!(
            " {} of {ok} times are noisy: their 95 % interval is wider than ± {} %, on {}.",
            noisy.len(),
            50.0 * WIDEST_INTERVAL,
            listed(widest(&noisy).iter(), NAMED)
        );
    }
    let is_inexact = |of: &&Entry| {
        let ratio = of.line.row.likely_ratio;
        of.has(Status::Ok) && ratio.is_some_and(|ratio| ratio > LIKELY_FACTOR)
    };
    let inexact: Vec<_> = entries.all.iter().filter(is_inexact).collect();
    if !inexact.is_empty() {
        let methods = names(&inexact, |entry| entry.line.method()).join(", ");
        verdict +=
            &format!(" {} of {ok} results are less accurate than their precision explains: {methods}.", inexact.len());
    }
    let unknown = number(|of| of.has(Status::Ok) && of.line.row.uncertainty().is_none());
    if unknown > 0 {
        verdict += &format!(" {unknown} of {ok} times have no confidence interval: they have fewer than six samples.");
    }
    verdict
}

/// Returns the matrices of rows with the widest interval on each, the widest first.
fn widest(rows: &[&Entry]) -> Vec<String> {
    let half = |of: &&Entry| of.line.row.uncertainty().unwrap_or_default();
    let of_matrices = grouped(rows.iter().copied(), |of| of.line.matrix()).into_iter();
    let widest = of_matrices.map(|(name, of)| (name, of.iter().map(half).fold(0.0, f64::max)));
    let mut widest: Vec<_> = widest.collect();
    widest.sort_by(|a, b| b.1.total_cmp(&a.1));
    widest.into_iter().map(|(name, half)| format!("{name} (± {} %)", significant(half))).collect()
}

fn remarks(entries: &Entries) -> Vec<String> {
    let Entries { files, all, repeated, split_by_run } = entries;
    let [_, surrogates] = matrices(all.iter().map(|entry| entry.line));
    let of_surrogates = format!("Generated surrogates for matrices of the collection: {surrogates}.");
    let of_repeated = format!(
        "Left out because the same run has an earlier row of the same matrix and method: {repeated} of the rows."
    );
    let of_split = |setting: &String| {
        format!(
            "Several runs measured the same matrices and methods ({setting}); each run is shown separately. \
             `spmv-bench compare` compares two of them."
        )
    };
    let remarks = files.iter().filter_map(|file| file.note.clone());
    let remarks = remarks.chain((surrogates > 0).then_some(of_surrogates));
    let remarks = remarks.chain((*repeated > 0).then_some(of_repeated));
    remarks.chain(split_by_run.iter().map(of_split)).collect()
}

pub(super) fn measured(entries: &Entries) -> Option<Section> {
    let parts = grouped(&entries.all, |entry| (&entry.file.name, entry.run(), &entry.setting));
    let number = |of: &[&Entry], is: fn(&Entry) -> bool| of.iter().filter(|entry| is(entry)).count();
    let table = Table::of(&parts)
        .column("setting", |((.., setting), _)| match &setting[..] {
            "" => "no method ran",
            setting => setting,
        })
        .column("matrices", |(_, of)| names(of, |entry| entry.line.matrix()).len())
        .column("methods", |(_, of)| names(of, |entry| entry.line.method()).len())
        .column("ok", |(_, of)| number(of, |entry| entry.has(Status::Ok)))
        .column("skipped", |(_, of)| number(of, |entry| entry.has(Status::Skipped)))
        .column("wrong or failed", |(_, of)| number(of, |entry| entry.is_bad()))
        .column("file", |((file, ..), _)| &file[..])
        .column("run", |((_, run, _), _)| &run[..]);
    (!entries.all.is_empty()).then(|| Section::of("What was measured", table))
}

pub(super) fn faults(entries: &Entries) -> Option<Section> {
    let bad: Vec<_> = entries.all.iter().filter(|entry| entry.is_bad()).collect();
    let file = (entries.files.len() > 1).then_some("file");
    let table = Table::of(&bad)
        .column("matrix", |entry| entry.line.matrix())
        .column("method", |entry| entry.line.method())
        .column("status", |entry| entry.line.status())
        .column("reason", |entry| entry.line.row.reason.text().unwrap_or_default())
        .column("setting", |entry| &entry.setting[..])
        .columns(file, |entry| file.map(|_| &entry.file.name[..]));
    (!bad.is_empty()).then(|| Section::of("Wrong or failed", table))
}

pub(super) fn skipped(entries: &Entries) -> Option<Section> {
    let skipped = entries.all.iter().filter(|entry| entry.has(Status::Skipped));
    // Reasons that differ only in numbers are one.
    let blanks = |words: Vec<String>| words.iter().map(|word| blank(word)).collect::<Vec<_>>();
    let mut reasons = grouped(skipped, |entry| blanks(words(entry)));
    reasons.sort_by_key(|(_, rows)| Reverse(rows.len()));
    let table = Table::of(&reasons)
        .column("reason", |(_, rows)| common(rows))
        .column("rows", |(_, rows)| rows.len())
        .column("methods", |(_, rows)| names(rows, |entry| entry.line.method()).join(", "))
        .column("matrices", |(_, rows)| listed(names(rows, |entry| entry.line.matrix()).iter(), NAMED));
    (!reasons.is_empty()).then(|| Section::of("Skipped", table))
}

/// Returns the words of the reason, without the file name and line number that it may begin with.
fn words(entry: &Entry) -> Vec<String> {
    let row = &entry.line.row;
    let reason = row.reason.text().unwrap_or("no reason given");
    let rest = reason.strip_prefix(&row.file[..]);
    let rest = rest.map(|rest| rest.trim_start_matches(|l: char| l == ':' || l.is_ascii_digit()));
    rest.unwrap_or(reason).split_whitespace().map(String::from).collect()
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

/// Returns the reason that several rows have in common, with `…` for numbers that differ between them.
fn common(rows: &[&Entry]) -> String {
    let mut common = words(rows[0]);
    for row in rows {
        for (known, word) in common.iter_mut().zip(words(row)) {
            if *known != word {
                *known = blank(&word);
            }
        }
    }
    common.join(" ")
}

fn names<'a>(rows: &[&'a Entry], name: fn(&'a Entry) -> &'a str) -> Vec<&'a str> {
    let named = grouped(rows.iter().map(|row| name(row)), |name| *name);
    named.into_iter().map(|(name, _)| name).filter(|name| !name.is_empty()).collect()
}

pub(super) fn all_rows(entries: &Entries) -> Option<Section> {
    let all = &entries.all;
    let settings = all.iter().map(|entry| &entry.setting).collect::<BTreeSet<_>>();
    let settings = (settings.len() > 1).then_some("setting");
    let runs = all.iter().map(Entry::run).collect::<BTreeSet<_>>();
    let runs = (runs.len() > 1).then_some("run");
    let mut table = Table::of(all)
        .column("matrix", |entry| entry.line.matrix())
        .column("method", |entry| entry.line.method())
        .column("status", |entry| entry.line.status());
    for column in NUMBERS.split(' ').map(Column::of) {
        let cell = column.cells();
        if all.iter().any(|entry| cell(entry.line).is_some()) {
            table = table.column(column.label(), |entry| cell(entry.line));
        }
    }
    let table = table
        .columns(settings, |entry| settings.map(|_| &entry.setting[..]))
        .columns(runs, |entry| runs.map(|_| entry.run()));
    let lead = format!("These are some of the columns; all are in {}.", files(entries));
    let section = || Section { lead: vec![lead], ..Section::of("All rows", table) };
    (!all.is_empty()).then(section)
}
