//! The overview page of result files: wrong results first, then summaries and charts, then all rows.

mod entries;
mod files;
mod runs;
mod settings;
mod summary;
#[cfg(test)]
mod tests;

use super::page::{Page, Section};
use super::views::{Recorded, Spec};
use entries::Entries;
pub use files::{FileError, ResultFile, read};
pub use runs::runs;

pub fn page(files: &[ResultFile]) -> Page {
    let entries = Entries::of(files);
    let mut page = with_settings(&entries, |_| true);
    page.sections.extend(summary::all_rows(&entries));
    page.sections.extend(runs(files));
    page
}

pub fn main_tables(files: &[ResultFile]) -> Page {
    with_settings(&Entries::of(files), |spec| matches!(spec, Spec::Profile(_) | Spec::Best(_)))
}

pub fn faults(files: &[ResultFile]) -> Vec<Section> {
    summary::faults(&Entries::of(files))
}

/// Returns a page with the faults, the summary, and a section per setting with the wanted views.
fn with_settings(entries: &Entries, wanted: fn(&Spec) -> bool) -> Page {
    let mut sections = summary::faults(entries);
    sections.extend(summary::measured(entries));
    let runs: Vec<_> = entries.files.iter().filter_map(|file| file.record.as_ref()).collect();
    sections.extend(entries.settings().into_iter().map(|(setting, lines)| {
        let recorded = Recorded { lines, runs: runs.clone(), ..Recorded::default() };
        settings::section(setting, &recorded, wanted)
    }));
    let lead = summary::lead(entries);
    Page { title: "Sparse matrix-vector products".into(), lead, sections }
}
