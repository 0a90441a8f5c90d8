//! The overview page of result files: wrong results first, then summaries and charts, then all rows.

mod entries;
mod runs;
mod summary;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::chart::Axis;
use super::matched::{self, Numbers, timed};
use super::page::{Page, Section, note_on_kinds};
use super::ranking::Ranking;
use super::standings::{self, Standings};
use super::view::View;
use super::views::{Recorded, Spec};
use crate::files::read::RecordedRow;
use crate::matrix::winner::answer;
use crate::statistics::Statistic;
use crate::table::Table;
use entries::Entries;
pub use entries::{ResultFile, read};
pub use runs::runs;

/// The maximum number of settings on a page; each has tables and charts of its own.
const MOST_SETTINGS: usize = 200;

/// What a reader asks of result files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
    /// The number of products over which times spread the setup; `None`: times are those of products alone.
    pub planned: Option<u32>,
    /// Whether matrices whose values repeat have means of their own.
    pub by_values: bool,
    /// The method, with its parameters, over which speed-ups are shown; `None`: the first baseline with a time.
    pub baseline: Option<&'a str>,
}

/// The kinds of views that have a chart.
pub const CHARTS: [&str; 8] =
    ["profile", "plane", "speedup", "heat", "best", "roofline", "amortisation", "correlations"];

pub fn page(files: &[ResultFile], question: Question) -> Page {
    let entries = Entries::of(files);
    let settings = || with_settings(&entries, question, |spec| !matches!(spec, Spec::EachMatrix(_)));
    let (mut page, all_rows) = rayon::join(settings, || summary::all_rows(&entries));
    page.sections.extend(all_rows);
    page.sections.extend(runs(files));
    page
}

pub fn main_tables(files: &[ResultFile], question: Question) -> Page {
    with_settings(&Entries::of(files), question, is_main)
}

fn is_main(spec: &Spec) -> bool {
    matches!(spec, Spec::Profile(_) | Spec::Best(_))
}

/// Returns the main tables, and those that papers print, for a document.
pub fn tables(files: &[ResultFile], question: Question) -> Page {
    let is_meant = |spec: &Spec| is_main(spec) || matches!(spec, Spec::EachMatrix(_));
    with_settings(&Entries::of(files), question, is_meant)
}

pub fn faults(files: &[ResultFile]) -> Vec<Section> {
    let entries = Entries::of(files);
    summary::faults(&entries).into_iter().chain(summary::skipped(&entries)).collect()
}

fn with_settings(entries: &Entries, question: Question, wanted: fn(&Spec) -> bool) -> Page {
    let mut sections: Vec<_> = summary::faults(entries).into_iter().collect();
    let settings = entries.settings();
    let mut lead = summary::lead(entries);
    if settings.len() > MOST_SETTINGS {
        let all = settings.len();
        lead.push(format!(
            "Only the first {MOST_SETTINGS} of {all} settings are shown: give fewer rows to one report."
        ));
    }
    sections.extend(settings.into_iter().take(MOST_SETTINGS).map(|(setting, lines)| {
        let asked: Vec<_> = lines.iter().map(|line| question.of(line)).collect();
        let recorded = question.recorded(&asked, entries.files);
        let lead = question.lead(&lines, &recorded);
        Section { lead, ..section(setting, &recorded, question, wanted) }
    }));
    sections.extend(threads(entries, question));
    lead.extend(note_on_kinds(&sections));
    sections.extend(summary::measured(entries));
    sections.extend(summary::skipped(entries));
    Page { title: "Sparse matrix-vector products".into(), lead, sections }
}

/// Returns the speeds with several numbers of threads, which are settings of their own elsewhere.
fn threads(entries: &Entries, question: Question) -> Option<Section> {
    let lines = entries.all.iter().map(|entry| question.of(entry.line)).collect::<Vec<_>>();
    let scaling = "kind = 'scaling'\ntitle = 'Speed and efficiency'".parse::<Spec>();
    let scaling = scaling.expect("the keys are correct");
    let view = scaling.view(&question.recorded(&lines, entries.files));
    let section = Section { title: "Threads".into(), lead: vec![], views: vec![view] };
    section.views[0].table.is_some().then_some(section)
}

/// Returns a chart of a kind as a file. The rows must have one setting.
pub fn chart(files: &[ResultFile], question: Question, kind: &str) -> Result<String> {
    ensure!(
        kind != "amortisation" || question.planned.is_none(),
        "--chart amortisation shows products with and without their setup: leave out --products"
    );
    let entries = Entries::of(files);
    let settings = entries.settings();
    ensure!(
        settings.len() == 1,
        "a chart shows one setting, and the rows have {}: choose one with --where, such as 'precision = f64' or \
         'run_id = ...'\n{}",
        settings.len(),
        settings.iter().map(|(setting, _)| *setting).collect::<Vec<_>>().join("\n")
    );
    let asked: Vec<_> = settings[0].1.iter().map(|line| question.of(line)).collect();
    let recorded = question.recorded(&asked, files);
    let times = standings::times(&recorded.lines);
    let specs = specs(Standings::over(&times, question.baseline).reference).into_iter();
    let view = specs.filter(|(name, _)| name == kind).map(|(_, spec)| spec.view(&recorded)).next();
    let drawn = view.as_ref().and_then(|view| Some((view.chart.as_ref()?, view)));
    let (chart, view) = drawn.with_context(|| format!("--chart {kind}: no row has what it shows"))?;
    Ok(chart.to_paper(&view.title, &view.foot))
}

/// The definitions of the views of a setting, which follow the tables of rates and of speed-ups.
const VIEWS: &str = include_str!("views.toml");

impl Question<'_> {
    /// Returns a row with the times that are asked for.
    fn of<'a>(&self, line: &'a RecordedRow) -> Cow<'a, RecordedRow> {
        let with_setup = |products| {
            let row = line.row.clone().with_setup(products);
            Cow::Owned(RecordedRow { row, ..line.clone() })
        };
        self.planned.map_or(Cow::Borrowed(line), with_setup)
    }

    fn recorded<'a>(&self, asked: &'a [Cow<RecordedRow>], files: &'a [ResultFile]) -> Recorded<'a> {
        let lines = asked.iter().map(|line| &**line).collect();
        let runs = files.iter().filter_map(|file| file.record.as_ref()).collect();
        let (together, planned) = (!self.by_values, self.planned);
        Recorded { lines, runs, together, planned, ..Recorded::default() }
    }

    /// Returns the answer to which method to use, and what the times are if they are not those of products.
    fn lead(&self, lines: &[&RecordedRow], recorded: &Recorded) -> Vec<String> {
        let times = standings::times(&recorded.lines);
        if times.is_empty() {
            return vec!["No result is correct and timed: there is nothing to show.".into()];
        }
        let [matrices, _] = matched::matrices(timed(recorded.lines.iter().copied()));
        let of_times = if matrices == 1 {
            let rows: Vec<_> = lines.iter().map(|line| line.row.clone()).collect();
            answer(&rows, self.planned)
        } else {
            super::advice::answer(&times, self.planned, self.baseline)
        };
        let meaning = self.planned.map(|products| {
            format!(
                "For {products} products: every time, rate and share is that of a product with its share of the setup. \
                 Methods whose setup was not measured are left out."
            )
        });
        meaning.into_iter().chain(of_times).collect()
    }
}

fn section(setting: &str, recorded: &Recorded, question: Question, wanted: fn(&Spec) -> bool) -> Section {
    let title = setting.to_owned();
    let times = standings::times(&recorded.lines);
    let standings = Standings::over(&times, question.baseline);
    let standings = if recorded.together { standings.together() } else { standings };
    let over_baselines = || View {
        title: "Speed-up over the best baseline on each matrix".into(),
        kinds: standings.kinds,
        ..View::of(standings.notes(), None, standings.table())
    };
    let (rates, over_baselines) = rayon::join(|| rates(recorded), over_baselines);
    let Some(rates) = rates else { return Section { title, ..Section::default() } };
    let rates = View { foot: recorded.foot(&recorded.lines), ..rates };
    let specs = specs(standings.reference).into_iter().map(|(_, spec)| spec).filter(wanted);
    // A time with its share of the setup does not pay off once more.
    let has_setup = question.planned.is_some();
    let specs = specs.filter(|spec| !has_setup || !matches!(spec, Spec::Amortisation(_)));
    let comes_first = |spec: &Spec| matches!(spec, Spec::Winners(_) | Spec::Amortisation(_) | Spec::EachMatrix(_));
    let (first, others): (Vec<_>, Vec<_>) = specs.partition(comes_first);
    let mut views = Spec::views(&[&first[..], &others].concat(), recorded);
    views.splice(first.len()..first.len(), [rates, over_baselines]);
    views.retain(|view| view.chart.is_some() || view.table.is_some());
    Section { title, views, ..Section::default() }
}

/// Returns a bar chart of geometric means, the fastest method first, and a table with the extremes, if there are times.
fn rates(recorded: &Recorded) -> Option<View> {
    let timed: Vec<_> = timed(recorded.lines.iter().copied()).collect();
    let [matrices, _] = matched::matrices(timed.iter().copied());
    let mut rates = BTreeMap::<_, Numbers>::new();
    for &line in &timed {
        let rate = line.row.typical_gflops().map(|rate| (line, rate));
        rates.entry(line.method()).or_default().extend(rate);
    }
    let ranking = Ranking::of(rates, matrices, true).with_intervals();
    if ranking.methods.is_empty() {
        return None;
    }
    let kinds = recorded.kinds(&timed);
    let axis = Axis::linear(format!("GFLOP/s, geometric mean over {matrices} matrices"));
    let table = Table::of(&ranking.methods)
        .column("method", |of| of.method)
        .column("matrices", |of| of.numbers.len())
        .column("least", |of| Statistic::Min.over(&of.numbers))
        .means(kinds, ("geometric mean", Statistic::GeometricMean), |of| &of.numbers)
        .column("95 % interval", |of| of.between())
        .column("greatest", |of| Statistic::Max.over(&of.numbers));
    let notes = ranking.notes().into_iter().flatten().collect();
    let view = View::of(notes, ranking.chart(axis, "GFLOP/s"), table);
    Some(View { title: "Speed of each method, in GFLOP/s".into(), kinds, ..view })
}

/// Returns the views with their kinds. Without a baseline, those that need one are left out: they have the text between
/// their title and the baseline.
fn specs(baseline: Option<&str>) -> Vec<(String, Spec)> {
    let views: BTreeMap<String, Vec<toml::Table>> = toml::from_str(VIEWS).expect("the file is tested");
    let spec = |mut keys: toml::Table| {
        let kind = keys["kind"].as_str()?.to_owned();
        if let Some(between) = keys.remove("before_baseline") {
            let (title, between, baseline) = (keys["title"].as_str()?, between.as_str()?, baseline?);
            keys.insert("title".into(), format!("{title}{between}{baseline}").into());
            keys.insert("over".into(), baseline.into());
        }
        Some((kind, keys.try_into().expect("the file is tested")))
    };
    views.into_values().flatten().filter_map(spec).collect()
}
