//! What was measured, in numbers.

use std::collections::BTreeSet;

use super::entries::{Entries, Entry};
use super::faults::{has, is_bad};
use crate::record::row::Status;
use crate::report::View;
use crate::report::page::Section;
use crate::report::table::{Cell, Table};

/// Sentences over all rows.
pub(super) fn lead(entries: &Entries) -> Vec<String> {
    let names: Vec<_> = entries.files.iter().map(|file| format!("`{}`", file.name)).collect();
    let from = names.join(", ");
    if entries.all.is_empty() {
        return vec![format!("There are no rows in {from}.")];
    }
    let of = |name: &str, of: usize| format!("{of} {name}{}", if of == 1 { "" } else { "s" });
    let methods =
        entries.all.iter().map(|entry| entry.line.method()).filter(|name| !name.is_empty());
    let matrices = match entries.distinct(|entry| entry.line.matrix()) {
        1 => "1 matrix".into(),
        matrices => format!("{matrices} matrices"),
    };
    let measured = format!(
        "{} from {from}: {matrices}, {}. {}",
        of("row", entries.all.len()),
        of("method", methods.collect::<BTreeSet<_>>().len()),
        verdict(entries)
    );
    std::iter::once(measured).chain(remarks(entries)).collect()
}

fn verdict(entries: &Entries) -> String {
    let count = |status| entries.all.iter().filter(|entry| has(entry, status)).count();
    let (ok, skipped) = (count(Status::Ok), count(Status::Skipped));
    match entries.all.iter().filter(|entry| is_bad(entry)).count() {
        0 => format!("{ok} are right and timed, {skipped} skipped; nothing is wrong or failed."),
        bad => format!("{bad} are wrong or failed; {ok} are right and timed, {skipped} skipped."),
    }
}

/// What must be known of rows from several files, and of matrices that are others than they seem.
fn remarks(entries: &Entries) -> Vec<String> {
    let stand_ins = entries.all.iter().filter(|entry| entry.line.is_stand_in());
    let stand_ins = stand_ins.map(|entry| entry.line.matrix()).collect::<BTreeSet<_>>().len();
    let repeated = entries.repeated;
    let mut remarks = Vec::new();
    if stand_ins > 0 {
        remarks.push(format!(
            "{stand_ins} of the matrices are generated stand-ins, not the collection's."
        ));
    }
    if repeated > 0 {
        remarks.push(format!(
            "{repeated} rows were left out: the same run tells of the same matrix and method before."
        ));
    }
    for setting in &entries.set_apart {
        remarks.push(format!(
            "Several runs measured the same matrices and methods ({setting}); each run is shown apart. \
             `spmv-bench compare` sets two of them side by side."
        ));
    }
    remarks
}

/// A line per file, run and setting.
pub(super) fn section(entries: &Entries) -> Section {
    let mut parts: Vec<((&str, &str, &str), Vec<&Entry>)> = Vec::new();
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
    Section { title: "What was measured".into(), views: vec![view], ..Section::default() }
}

fn line(file: &str, run: &str, setting: &str, entries: &[&Entry]) -> Vec<Cell> {
    let different = |of: fn(&Entry) -> String| {
        let names = entries.iter().map(|entry| of(entry)).filter(|name| !name.is_empty());
        Cell::Count(names.collect::<BTreeSet<_>>().len() as u64)
    };
    let count = |of: &dyn Fn(&Entry) -> bool| {
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
