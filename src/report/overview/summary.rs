//! A summary of all rows: counts, warnings, and a table of files, runs and settings.

use std::collections::BTreeSet;

use super::entries::{Entries, OverviewRow};
use super::faults::{has, is_bad};
use crate::bench::steadiness::WIDEST;
use crate::record::row::Status;
use crate::record::table::Table;
use crate::report::grouped::grouped;
use crate::report::matched::matrices;
use crate::report::names::count;
use crate::report::page::Section;

/// Returns the sentences at the top of the page.
pub(super) fn lead(entries: &Entries) -> Vec<String> {
    let names: Vec<_> = entries.files.iter().map(|file| format!("`{}`", file.name)).collect();
    let from = names.join(", ");
    if entries.all.is_empty() {
        return vec![format!("There are no rows in {from}.")];
    }
    let lines = entries.all.iter().map(|entry| entry.line);
    let lines = lines.filter(|line| !line.method().is_empty());
    let methods: BTreeSet<_> = lines.clone().map(|line| line.method()).collect();
    let [matrices, _] = matrices(lines);
    let measured = format!(
        "{} from {from}: {}, {}. {}",
        count(entries.all.len(), "row"),
        count(matrices, "matrix"),
        count(methods.len(), "method"),
        verdict(entries)
    );
    std::iter::once(measured).chain(remarks(entries)).collect()
}

fn verdict(entries: &Entries) -> String {
    let number =
        |of: &dyn Fn(&OverviewRow) -> bool| entries.all.iter().filter(|entry| of(entry)).count();
    let (ok, skipped) =
        (number(&|entry| has(entry, Status::Ok)), number(&|entry| has(entry, Status::Skipped)));
    let verdict = match number(&is_bad) {
        0 => format!("Nothing wrong or failed: {ok} correct and timed, {skipped} skipped."),
        bad => format!("{bad} wrong or failed; {ok} correct and timed, {skipped} skipped."),
    };
    std::iter::once(verdict).chain(uncertainty(entries)).collect::<Vec<_>>().join(" ")
}

/// Returns sentences on noisy times and on times without an interval, where there are any.
fn uncertainty(entries: &Entries) -> impl Iterator<Item = String> {
    let ok = entries.all.iter().filter(|entry| has(entry, Status::Ok));
    let halves: Vec<_> = ok.map(|entry| entry.line.row.uncertainty()).collect();
    let widest = 50.0 * WIDEST;
    let noisy = halves.iter().flatten().filter(|&&half| half > widest).count();
    let unknown = halves.iter().filter(|half| half.is_none()).count();
    let of = halves.len();
    let noisy = (noisy > 0).then(|| {
        format!("{noisy} of {of} times are noisy: their 95 % interval is wider than ± {widest} %.")
    });
    let unknown = (unknown > 0).then(|| {
        format!(
            "{unknown} of {of} times have no confidence interval: they have fewer than six samples."
        )
    });
    noisy.into_iter().chain(unknown)
}

/// Returns notes on the files, on stand-ins, on duplicate rows and on settings that were split by run.
fn remarks(entries: &Entries) -> Vec<String> {
    let [_, stand_ins] = matrices(entries.all.iter().map(|entry| entry.line));
    let repeated = entries.repeated;
    let mut remarks: Vec<_> = entries.files.iter().filter_map(|file| file.note.clone()).collect();
    if stand_ins > 0 {
        remarks.push(format!("Generated stand-ins for matrices of the collection: {stand_ins}."));
    }
    if repeated > 0 {
        remarks.push(format!(
            "Left out because the same run has an earlier row of the same matrix and method: {repeated} of the rows."
        ));
    }
    for setting in &entries.split_by_run {
        remarks.push(format!(
            "Several runs measured the same matrices and methods ({setting}); each run is shown separately. \
             `spmv-bench compare` compares two of them."
        ));
    }
    remarks
}

/// Returns a table with a row per file, run and setting, or `None` if there are no rows.
pub(super) fn section(entries: &Entries) -> Option<Section> {
    let part = |entry: &&'_ OverviewRow| {
        (entry.file.name.clone(), entry.run().to_owned(), entry.setting.clone())
    };
    let parts = grouped(&entries.all, part);
    type Entries<'a> = Vec<&'a OverviewRow<'a>>;
    let distinct = |entries: &Entries, of: fn(&OverviewRow) -> String| {
        let names = entries.iter().map(|entry| of(entry)).filter(|name| !name.is_empty());
        names.collect::<BTreeSet<_>>().len()
    };
    let number = |entries: &Entries, of: fn(&OverviewRow) -> bool| {
        entries.iter().filter(|entry| of(entry)).count()
    };
    let table = Table::of(&parts)
        .column("setting", |((.., setting), _)| match &setting[..] {
            "" => "no method ran",
            setting => setting,
        })
        .column("matrices", |(_, of)| distinct(of, |entry| entry.line.matrix().into()))
        .column("methods", |(_, of)| distinct(of, |entry| entry.line.method().into()))
        .column("ok", |(_, of)| number(of, |entry| has(entry, Status::Ok)))
        .column("skipped", |(_, of)| number(of, |entry| has(entry, Status::Skipped)))
        .column("wrong or failed", |(_, of)| number(of, is_bad))
        .column("file", |((file, ..), _)| &file[..])
        .column("run", |((_, run, _), _)| &run[..]);
    (!entries.all.is_empty()).then(|| Section::of("What was measured", table.build()))
}
