//! The page of an experiment: its claims with their verdicts, its views, wrong results, and the facts of the
//! runs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::definition::Experiment;
use super::judge::Verdicts;
use crate::files::read::RecordedRow;
use crate::matrix::stage_row::StageRow;
use crate::report::View;
use crate::report::matched::matrices;
use crate::report::overview::{self, ResultFile};
use crate::report::page::{Page, Section, note_on_kinds};
use crate::report::views::Recorded;
use crate::text::modelled;
use spmv_matrix::device::Device;

/// Builds the page of an experiment. `remarks` describe the parts of the experiment that are missing here.
pub fn of<'a>(
    experiment: &Experiment,
    lines: &[RecordedRow],
    stages: &[StageRow],
    verdicts: &Verdicts,
    runs: impl Iterator<Item = &'a Value>,
    remarks: &[String],
) -> Page {
    let runs: Vec<_> = runs.collect();
    let files = by_run(lines, &runs);
    let (rows, stages) = (lines.iter().collect(), stages.iter().collect());
    let shown = Recorded { lines: rows, stages, runs, ..Recorded::default() };
    let views = experiment.views.iter().map(|spec| spec.view(&shown));
    let (views, empty): (Vec<_>, Vec<_>) = views.partition(|view| view.chart.is_some() || view.table.is_some());
    let not_shown = |view: &View| format!("Not shown, because there are no rows for it: {}.", view.title);
    let lead = empty.iter().map(not_shown).collect();
    let views = Section { title: "Measured".into(), lead, views };
    let on_kinds = note_on_kinds(std::slice::from_ref(&views));
    let claims = (!experiment.claims.is_empty()).then(|| Section::of("Claims", verdicts.table()));
    let faults = overview::faults(&files).into_iter();
    let sections = claims.into_iter().chain([views]).chain(faults).chain(overview::runs(&files));
    let devices: BTreeSet<_> = lines.iter().filter_map(|line| line.row.device).collect();
    let of_model = |device: Device| Some(format!("{}. {}", device.label(), modelled(device)?));
    let Experiment { id, title, source, notes, .. } = experiment;
    let source = format!("{source}. `spmv-bench reproduce {id}` measures it; all rows are in `rows.csv`.");
    let mut lead = vec![source, extent(lines)];
    lead.extend(devices.into_iter().filter_map(of_model));
    lead.extend(notes.iter().chain(remarks).cloned().chain(on_kinds));
    Page { title: title.clone(), lead, sections: sections.collect() }
}

fn extent(lines: &[RecordedRow]) -> String {
    let [matrices, surrogates] = matrices(lines);
    let real = match surrogates {
        0 => String::new(),
        count => format!(", {count} of them generated surrogates for matrices of the collection"),
    };
    format!("{} rows of {} matrices{real}.", lines.len(), matrices)
}

fn by_run(lines: &[RecordedRow], runs: &[&Value]) -> Vec<ResultFile> {
    let file = |&run: &&Value| {
        let name = run["run_id"].as_str().unwrap_or_default().to_owned();
        let own = lines.iter().filter(|line| line.row.run_id == name).cloned();
        ResultFile { lines: own.collect(), name, record: Some(run.clone()), note: None }
    };
    runs.iter().map(file).filter(|file| !file.lines.is_empty()).collect()
}
