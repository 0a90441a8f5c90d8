//! Measures the cells of an experiment that have no results yet.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::Result;

use super::matrices::Found;
use super::places::Places;
use super::plan::{Batch, Plan};
use crate::campaign::env::Env;
use crate::campaign::progress::Display;
use crate::campaign::{Campaign, Plan as CampaignPlan, Sink, Work};
use spmv_results::files::read::RecordedRow;
use spmv_results::matrix::MatrixReport;
use spmv_results::matrix::stage_row::StageRow;
use spmv_results::papers::definition::Experiment;
use spmv_results::papers::experiments;
use spmv_results::papers::store::Store;
use spmv_results::report::identity::name_matrices;
use spmv_results::run::Bandwidth;
use spmv_results::run::facts::options;
use spmv_results::settings::RunSettings;

pub struct Done {
    pub lines: Vec<RecordedRow>,
    pub stages: Vec<StageRow>,
    pub store: Store,
    pub interrupted: bool,
    /// Whether a result is wrong or something failed.
    pub bad: bool,
}

impl Done {
    /// Joins the rows of an experiment with what its definition knows of them.
    pub fn of(experiment: &Experiment, mut lines: Vec<RecordedRow>, stages: Vec<StageRow>, store: Store) -> Self {
        name_matrices(vec![lines.iter_mut().collect()]);
        let lines = experiment.known.join(lines);
        let bad = lines.iter().any(|line| line.row.is_bad());
        Self { lines, stages, store, interrupted: false, bad }
    }
}

/// Measures the cells that neither this experiment nor another of the same day and machine has.
pub fn measure(
    experiment: &Experiment,
    plan: &Plan,
    folder: &Path,
    places: &Places,
    quiet: bool,
    env: &mut Env,
) -> Result<Done> {
    let (store, bandwidth) = (Store::open(folder)?, BTreeMap::new());
    let mut run = Run { id: &experiment.id, store, places, quiet, bandwidth };
    run.take_over(plan)?;
    let mut interrupted = false;
    for batch in &plan.batches {
        interrupted = run.measure(batch, env)?;
        if interrupted {
            break;
        }
    }
    let store = run.store;
    let files: Vec<_> = plan.files().collect();
    let rows = files.iter().filter_map(|(batch, file)| store.rows_of(batch.cell(file)));
    let lines = rows.flatten().cloned().collect();
    let stages = files.iter().flat_map(|(batch, file)| store.stages_of(batch.cell(file)));
    let stages = stages.cloned().collect();
    Ok(Done { interrupted, ..Done::of(experiment, lines, stages, store) })
}

struct Run<'a> {
    id: &'a str,
    store: Store,
    places: &'a Places,
    quiet: bool,
    /// The measured bandwidths by number of threads.
    bandwidth: BTreeMap<usize, Vec<Bandwidth>>,
}

impl Plan {
    fn files(&self) -> impl Iterator<Item = (&Batch, String)> {
        self.batches
            .iter()
            .flat_map(|batch| batch.found.iter().map(move |found| (batch, found.source.to_string())))
    }
}

impl Run<'_> {
    fn take_over(&mut self, plan: &Plan) -> Result<()> {
        if self.places.single && self.places.output.is_some() {
            return Ok(());
        }
        for other in experiments().filter(|other| other.id != self.id) {
            let folder = self.places.of_experiment(&other);
            if !folder.join("rows.csv").is_file() {
                continue;
            }
            let other = Store::open(&folder)?;
            for (batch, file) in plan.files() {
                let cell = batch.cell(&file);
                if self.store.rows_of(cell).is_none() {
                    self.store.take(&other, cell, &self.places.origin)?;
                }
            }
        }
        Ok(())
    }

    /// Measures the matrices of a batch that have no rows yet. Returns whether it was interrupted.
    fn measure(&mut self, batch: &Batch, env: &mut Env) -> Result<bool> {
        let is_open = |found: &&Found| self.store.rows_of(batch.cell(&found.source.to_string())).is_none();
        let mut open: Vec<_> = batch.found.iter().filter(is_open).collect();
        if open.is_empty() {
            return Ok(false);
        }
        // The smallest first: most of them have their results if the run is interrupted.
        open.sort_by_key(|found| found.entries);
        self.store.check_origin(&self.places.origin)?;
        let works: Vec<_> = open.iter().map(|found| Work::new(found.source.clone(), 0)).collect();
        let mut campaign = self.begin(batch, env)?;
        let (options, quiet, all) = (options(&batch.run).join(" "), self.quiet, open.len());
        let (store, stderr) = (&mut self.store, &mut *env.stderr);
        let mut results = Results { store, stderr, quiet, options, begun: 0, all };
        let interrupted = campaign.run(&works, Display::Hidden, &mut results)?;
        if !interrupted {
            campaign.finish(env.stderr)?;
        }
        Ok(interrupted)
    }

    /// Prepares the measurement of a batch, in a child process if possible.
    fn begin<'w>(&mut self, batch: &Batch, env: &mut Env<'w>) -> Result<Campaign<'w>> {
        let run = RunSettings { quiet: self.quiet, ..batch.run.clone() };
        let run_id = format!("{}-{}-{}", env.run_id, self.id, self.store.runs().count() + 1);
        let threads = run.threads.first().copied().unwrap_or_else(|| env.system.threads());
        let bandwidth = self.bandwidth.get(&threads).cloned();
        let plan = CampaignPlan { skip_trivial: true, bandwidth: bandwidth.is_none(), ..CampaignPlan::new(run) };
        let of_world = std::mem::replace(&mut env.run_id, run_id.clone());
        let started = Campaign::start(&plan, true, batch.command(), env);
        env.run_id = of_world;
        let mut campaign = started?;
        let record = &mut campaign.recording.record;
        let measured = self.bandwidth.entry(threads).or_insert_with(|| record.bandwidth.clone());
        record.bandwidth.clone_from(measured);
        campaign.recording.begin(Some(self.store.run_path(&run_id)), env.stderr)?;
        campaign.recording.write()?;
        self.store.begin(&run_id)?;
        Ok(campaign)
    }
}

struct Results<'r> {
    store: &'r mut Store,
    stderr: &'r mut dyn Write,
    quiet: bool,
    /// The options of the batch in words.
    options: String,
    begun: usize,
    all: usize,
}

impl Sink for Results<'_> {
    fn begin(&mut self, work: &Work) -> Result<()> {
        self.begun += 1;
        if !self.quiet {
            let Self { begun, all, options, .. } = self;
            writeln!(self.stderr, "  {begun}/{all} {} {options}", work.source)?;
        }
        Ok(())
    }

    fn matrix(&mut self, _work: &Work, report: MatrixReport, interrupted: bool) -> Result<()> {
        if interrupted { Ok(()) } else { Ok(self.store.append(&report)?) }
    }
}
