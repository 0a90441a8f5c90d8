//! The overview page of result files: wrong results first, then summaries and charts, then all rows.

mod entries;
mod runs;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::View;
use super::chart::Axis;
use super::matched::{self, Numbers, timed};
use super::page::{Page, Section};
use super::standings::{self, Ranking, Standings};
use super::statistics::{Kinds, Statistic};
use super::views::{Recorded, Spec};
use crate::record::read::RecordedRow;
use crate::record::table::Table;
use entries::Entries;
pub use entries::{ResultFile, read};
pub use runs::runs;

/// The maximum number of settings on a page; each has tables and charts of its own.
const MOST_SETTINGS: usize = 200;

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

fn with_settings(entries: &Entries, wanted: fn(&Spec) -> bool) -> Page {
    let mut sections = summary::faults(entries);
    sections.extend(summary::measured(entries));
    let runs: Vec<_> = entries.files.iter().filter_map(|file| file.record.as_ref()).collect();
    let settings = entries.settings();
    let mut lead = summary::lead(entries);
    if settings.len() > MOST_SETTINGS {
        let all = settings.len();
        lead.push(format!(
            "Only the first {MOST_SETTINGS} of {all} settings are shown: give fewer rows to one report."
        ));
    }
    sections.extend(settings.into_iter().take(MOST_SETTINGS).map(|(setting, lines)| {
        let recorded = Recorded { lines, runs: runs.clone(), ..Recorded::default() };
        section(setting, &recorded, wanted)
    }));
    Page { title: "Sparse matrix-vector products".into(), lead, sections }
}

/// The definitions of the views of a setting, which follow the tables of rates and of speed-ups.
const VIEWS: &str = include_str!("views.toml");

fn section(setting: &str, recorded: &Recorded, wanted: fn(&Spec) -> bool) -> Section {
    let Some(rates) = rates(&recorded.lines) else {
        let lead = vec!["No result is correct and timed: there is nothing to show.".into()];
        return Section { title: setting.into(), lead, ..Section::default() };
    };
    let times = standings::times(&recorded.lines);
    let standings = Standings::of(&times);
    let over_baselines = View {
        title: "Speed-up over the best baseline on each matrix".into(),
        ..View::of(standings.notes(), None, standings.table())
    };
    let mut views = vec![View { foot: recorded.foot(&recorded.lines), ..rates }, over_baselines];
    let specs = specs(standings.reference).into_iter().filter(wanted);
    let others = specs.map(|spec| spec.view(recorded));
    views.extend(others.filter(|view| view.chart.is_some() || view.table.is_some()));
    Section { title: setting.into(), views, ..Section::default() }
}

/// Returns a bar chart of geometric means, the fastest method first, and a table with the extremes, if there are times.
fn rates(lines: &[&RecordedRow]) -> Option<View> {
    let timed: Vec<_> = timed(lines.iter().copied()).collect();
    let [matrices, _] = matched::matrices(timed.iter().copied());
    let mut rates = BTreeMap::<_, Numbers>::new();
    for &line in &timed {
        let rate = line.row.typical_gflops().map(|rate| (line, rate));
        rates.entry(line.method()).or_default().extend(rate);
    }
    let ranking = Ranking::of(rates, matrices, true);
    if ranking.methods.is_empty() {
        return None;
    }
    let kinds = Kinds::of_lines(&timed);
    let axis = Axis::linear(format!("GFLOP/s, geometric mean over {matrices} matrices"));
    let table = Table::of(&ranking.methods)
        .column("method", |of| of.method)
        .column("matrices", |of| of.numbers.len())
        .column("least", |of| Statistic::Min.over(&of.numbers))
        .means(kinds, ("geometric mean", Statistic::GeometricMean), |of| &of.numbers)
        .column("greatest", |of| Statistic::Max.over(&of.numbers))
        .build();
    let notes = kinds.note().into_iter().chain(ranking.note()).collect();
    let view = View::of(notes, ranking.chart(axis, "GFLOP/s"), table);
    Some(View { title: "Speed of each method, in GFLOP/s".into(), ..view })
}

/// Returns the views. Without a baseline, those that need one are left out: they have the text between their title and
/// the baseline.
fn specs(baseline: Option<&str>) -> Vec<Spec> {
    let views: BTreeMap<String, Vec<toml::Table>> =
        toml::from_str(VIEWS).expect("the file is tested");
    let spec = |mut keys: toml::Table| {
        if let Some(between) = keys.remove("before_baseline") {
            let (title, between, baseline) =
                (keys["title"].as_str()?, between.as_str()?, baseline?);
            keys.insert("title".into(), format!("{title}{between}{baseline}").into());
            keys.insert("over".into(), baseline.into());
        }
        Some(keys.try_into().expect("the file is tested"))
    };
    views.into_values().flatten().filter_map(spec).collect()
}
