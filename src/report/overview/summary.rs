//! A summary of all rows: counts, warnings, and a table of files, runs and settings.

use std::collections::BTreeSet;

use super::entries::{Entries, OverviewRow};
use super::faults::{has, is_bad};
use crate::bench::steadiness::WIDEST;
use crate::record::row::Status;
use crate::report::View;
use crate::report::page::Section;
use crate::report::table::{Cell, Table};

/// Returns the sentences at the top of the page.
pub(super) fn lead(entries: &Entries) -> Vec<String> {
    let names: Vec<_> = entries.files.iter().map(|file| format!("`{}`", file.name)).collect();
    let from = names.join(", ");
    if entries.all.is_empty() {
        return vec![format!("There are no rows in {from}.")];
    }
    let of = |name: &str, of: usize| format!("{of} {name}{}", if of == 1 { "" } else { "s" });
    let lines = entries.all.iter().map(|entry| entry.line);
    let lines = lines.filter(|line| !line.method().is_empty());
    let methods: BTreeSet<_> = lines.clone().map(|line| line.method()).collect();
    let matrices = match lines.map(|line| line.matrix()).collect::<BTreeSet<_>>().len() {
        1 => "1 matrix".into(),
        matrices => format!("{matrices} matrices"),
    };
    let measured = format!(
        "{} from {from}: {matrices}, {}. {}",
        of("row", entries.all.len()),
        of("method", methods.len()),
        verdict(entries)
    );
    std::iter::once(measured).chain(remarks(entries)).collect()
}

fn verdict(entries: &Entries) -> String {
    let count =
        |of: &dyn Fn(&OverviewRow) -> bool| entries.all.iter().filter(|entry| of(entry)).count();
    let (ok, skipped) =
        (count(&|entry| has(entry, Status::Ok)), count(&|entry| has(entry, Status::Skipped)));
    let verdict = match count(&is_bad) {
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
    let stand_ins = entries.all.iter().filter(|entry| entry.line.is_stand_in());
    let stand_ins = stand_ins.map(|entry| entry.line.matrix()).collect::<BTreeSet<_>>().len();
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
    let mut parts = Vec::<(_, Vec<&OverviewRow>)>::new();
    for entry in &entries.all {
        let part = (&entry.file.name[..], entry.run(), &entry.setting[..]);
        match parts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, of_part)) => of_part.push(entry),
            None => parts.push((part, vec![entry])),
        }
    }
    let columns =
        ["setting", "matrices", "methods", "ok", "skipped", "wrong or failed", "file", "run"];
    let rows =
        parts.iter().map(|((file, run, setting), of_part)| line(file, run, setting, of_part));
    let table = Table::new(columns, rows.collect());
    let view = View { table: Some(table), ..View::default() };
    let section =
        Section { title: "What was measured".into(), views: vec![view], ..Section::default() };
    (!entries.all.is_empty()).then_some(section)
}

fn line(file: &str, run: &str, setting: &str, entries: &[&OverviewRow]) -> Vec<Cell> {
    let different = |of: fn(&OverviewRow) -> String| {
        let names = entries.iter().map(|entry| of(entry)).filter(|name| !name.is_empty());
        Cell::Count(names.collect::<BTreeSet<_>>().len() as u64)
    };
    let count = |of: &dyn Fn(&OverviewRow) -> bool| {
        Cell::Count(entries.iter().filter(|entry| of(entry)).count() as u64)
    };
    vec![
        Cell::text(if setting.is_empty() { "no method ran" } else { setting }),
        different(|entry| entry.line.matrix().into()),
        different(|entry| entry.line.method().into()),
        count(&|entry| has(entry, Status::Ok)),
        count(&|entry| has(entry, Status::Skipped)),
        count(&|entry| is_bad(entry)),
        Cell::text(file),
        Cell::text(run),
    ]
}
