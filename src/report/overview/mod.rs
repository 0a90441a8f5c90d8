//! What can be shown of any rows: what is wrong first, then what was measured, all rows last.

mod entries;
mod faults;
mod files;
mod rows;
mod runs;
mod settings;
mod speeds;
mod summary;
#[cfg(test)]
mod tests;

use super::page::{Page, Section};
use super::views::Recorded;
use entries::Entries;
pub use files::{FileError, ResultFile, read};

/// Everything: charts, tables, all rows, the facts of the runs.
pub fn page(files: &[ResultFile]) -> Page {
    let entries = Entries::of(files);
    let closing = rows::section(&entries).into_iter().chain(runs::section(files));
    let mut page = with_settings(&entries, settings::section);
    page.sections.extend(closing);
    page
}

/// The main tables, for a terminal.
pub fn glance(files: &[ResultFile]) -> Page {
    with_settings(&Entries::of(files), settings::main_tables)
}

/// What is wrong or failed, and what was skipped.
pub fn faults(files: &[ResultFile]) -> Vec<Section> {
    faults::sections(&Entries::of(files))
}

/// The facts of the runs; none where no file has them.
pub fn runs(files: &[ResultFile]) -> Option<Section> {
    runs::section(files)
}

/// What is wrong, the summary, and a section per setting.
fn with_settings(entries: &Entries, section: fn(&str, Recorded) -> Section) -> Page {
    let opening = faults::sections(entries).into_iter().chain(summary::section(entries));
    let runs: Vec<_> = entries.files.iter().filter_map(|file| file.record.as_ref()).collect();
    let settings = entries.settings().into_iter().map(|(setting, lines)| {
        section(setting, Recorded { lines, runs: runs.clone(), ..Recorded::default() })
    });
    Page {
        title: "Sparse matrix-vector products".into(),
        lead: summary::lead(entries),
        sections: opening.chain(settings).collect(),
    }
}
