//! The overview page of result files: wrong results first, then summaries and charts, then all rows.

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

/// Returns the full page: charts, tables, all rows and the facts of the runs.
pub fn page(files: &[ResultFile]) -> Page {
    let entries = Entries::of(files);
    let closing = rows::section(&entries).into_iter().chain(runs::section(files));
    let mut page = with_settings(&entries, settings::section);
    page.sections.extend(closing);
    page
}

/// Returns a page with only the main tables, for a terminal.
pub fn main_tables(files: &[ResultFile]) -> Page {
    with_settings(&Entries::of(files), settings::main_tables)
}

/// Returns the sections on wrong or failed and on skipped results.
pub fn faults(files: &[ResultFile]) -> Vec<Section> {
    faults::sections(&Entries::of(files))
}

/// Returns the section with the facts of the runs, or `None` if no file has a run record.
pub fn runs(files: &[ResultFile]) -> Option<Section> {
    runs::section(files)
}

/// Returns a page with the faults, the summary, and a section per setting that `section` makes.
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
