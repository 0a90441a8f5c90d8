//! An experiment as a page: its claims beside what was measured, its views, what went wrong, and the facts
//! of the runs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::definition::Experiment;
use super::verdicts::Verdicts;
use crate::record::stages::StageRow;
use crate::record::text::modelled;
use crate::report::View;
use crate::report::lines::RecordedRow;
use crate::report::overview::{self, ResultFile};
use crate::report::page::{Page, Section};
use crate::report::views::Recorded;

/// The page of an experiment. `remarks` say what of it is missing here.
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
    let (all, stages) = (lines.iter().collect(), stages.iter().collect());
    let shown = Recorded { lines: all, stages, runs };
    let views = experiment.views.iter().map(|spec| spec.view(&shown));
    let (views, empty): (Vec<_>, Vec<_>) =
        views.partition(|view| view.chart.is_some() || view.table.is_some());
    let empty = empty.iter().map(|view| format!("Not shown, for lack of rows: {}.", view.title));
    let empty = empty.collect();
    let section = |title: &str, views| Section { title: title.into(), lead: Vec::new(), views };
    let claims = View { table: Some(verdicts.table()), ..View::default() };
    let claims = (!experiment.claims.is_empty()).then(|| section("Claims", vec![claims]));
    let views = Section { title: "Measured".into(), lead: empty, views };
    let faults = overview::faults(&files).into_iter();
    let sections = claims.into_iter().chain([views]).chain(faults).chain(overview::runs(&files));
    let models = lines.iter().filter_map(|line| line.row.device).collect::<BTreeSet<_>>();
    let models = models
        .into_iter()
        .filter_map(|device| Some(format!("{}. {}", device.label(), modelled(device)?)));
    let lead = [source(experiment), extent(lines)].into_iter().chain(models);
    Page {
        title: experiment.title.clone(),
        lead: lead.chain(experiment.notes.iter().cloned()).chain(remarks.iter().cloned()).collect(),
        sections: sections.collect(),
    }
}

fn source(experiment: &Experiment) -> String {
    let Experiment { id, source, .. } = experiment;
    format!("{source}. `spmv-bench reproduce {id}` measures it; all rows are in `rows.csv`.")
}

/// On how many matrices it stands, and on how many in the place of others.
fn extent(lines: &[RecordedRow]) -> String {
    let matrices: BTreeSet<_> = lines.iter().map(|line| &line.row.file).collect();
    let stand_ins = lines.iter().filter(|line| line.is_stand_in()).map(|line| &line.row.file);
    let stand_ins = stand_ins.collect::<BTreeSet<_>>().len();
    let real = match stand_ins {
        0 => String::new(),
        count => format!(", {count} of them generated ones in the place of the collection's"),
    };
    format!("{} rows of {} matrices{real}.", lines.len(), matrices.len())
}

/// The rows of each run, with its facts.
fn by_run(lines: &[RecordedRow], runs: &[&Value]) -> Vec<ResultFile> {
    let file = |run: &&Value| {
        let name = run["run_id"].as_str().unwrap_or_default().to_owned();
        let own = lines.iter().filter(|line| line.row.run_id == name);
        let record = Some((*run).clone());
        ResultFile { lines: own.cloned().collect(), name, record, note: None }
    };
    runs.iter().map(file).filter(|file| !file.lines.is_empty()).collect()
}
