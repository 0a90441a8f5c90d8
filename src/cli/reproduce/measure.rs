//! Measures the cells of an experiment that have no results yet.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::Places;
use super::plan::{Batch, Plan};
use crate::campaign::isolate::Runner;
use crate::campaign::recording::Recording;
use crate::campaign::task::MatrixTask;
use crate::cli::Env;
use crate::cli::args::MeasureArgs;
use crate::matrix::source::Source;
use crate::papers::definition::Experiment;
use crate::papers::experiments;
use crate::papers::store::Store;
use crate::record::MatrixReport;
use crate::record::run::{Bandwidth, RunRecord};
use crate::record::stages::StageRow;
use crate::report::lines::RecordedRow;

/// The results of an experiment.
pub struct Done {
    pub lines: Vec<RecordedRow>,
    pub stages: Vec<StageRow>,
    pub store: Store,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Whether a result is wrong or something failed.
    pub bad: bool,
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
    let runs = folder.join("runs");
    std::fs::create_dir_all(&runs).with_context(|| format!("cannot create {}", runs.display()))?;
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
    let lines = experiment.known.join(rows.flatten().cloned().collect());
    let bad = lines.iter().any(RecordedRow::is_bad);
    let stages = files.iter().flat_map(|(batch, file)| store.stages_of(batch.cell(file)));
    let stages = stages.cloned().collect();
    Ok(Done { lines, stages, store, interrupted, bad })
}

struct Run<'a> {
    /// The id of the experiment.
    id: &'a str,
    store: Store,
    places: &'a Places,
    quiet: bool,
    /// The measured bandwidths by number of threads.
    bandwidth: BTreeMap<usize, Vec<Bandwidth>>,
}

impl Plan {
    fn files(&self) -> impl Iterator<Item = (&Batch, String)> {
        self.batches.iter().flat_map(|batch| {
            batch.found.iter().map(move |found| (batch, found.source.to_string()))
        })
    }
}

impl Run<'_> {
    /// Copies existing rows from the folders of other experiments.
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
        let is_open =
            |source: &&Source| self.store.rows_of(batch.cell(&source.to_string())).is_none();
        let sources = batch.found.iter().map(|found| &found.source);
        let open: Vec<_> = sources.filter(is_open).collect();
        if open.is_empty() {
            return Ok(false);
        }
        self.store.check_origin(&self.places.origin)?;
        let (mut runner, mut recording) = self.begin(batch, open[0], env)?;
        for (number, source) in open.iter().enumerate() {
            if !self.quiet {
                let options = batch.options.join(" ");
                let (number, all) = (number + 1, open.len());
                writeln!(env.stderr, "  {number}/{all} {source} {options}")?;
            }
            let (task, mut report) = (MatrixTask::whole(source, true), MatrixReport::default());
            if runner.run(task, &mut |event| event.add_to(&mut report))? {
                return Ok(true);
            }
            recording.take(&report)?;
            self.store.append(&report)?;
        }
        recording.finish(self.quiet, env.stderr)?;
        Ok(false)
    }

    /// Prepares the measurement of a batch, in a child process if possible; `first` is one of its matrices.
    fn begin<'w>(
        &mut self,
        batch: &Batch,
        first: &Source,
        env: &mut Env<'w>,
    ) -> Result<(Runner<'w>, Recording)> {
        let measure = MeasureArgs { quiet: self.quiet, ..batch.measure()? };
        let quiet = self.quiet.then(|| "--quiet".to_owned());
        let words = batch.command().into_iter().chain(quiet).chain([first.to_string()]);
        env.arguments = words.map(Into::into).collect();
        let run_id = format!("{}-{}-{}", env.run_id, self.id, self.store.runs().count() + 1);
        let path = self.store.run_path(&run_id);
        let threads = measure.threads.first().copied().unwrap_or_else(|| env.system.threads());
        let bandwidth = self.bandwidth.get(&threads).cloned();
        let of_world = std::mem::replace(&mut env.run_id, run_id.clone());
        let started = Runner::start(&measure, true, bandwidth.is_none(), batch.command(), env);
        env.run_id = of_world;
        let (runner, facts) = started?;
        let bandwidth = self.bandwidth.entry(threads).or_insert(facts.bandwidth).clone();
        let facts = RunRecord { bandwidth, ..facts };
        let (readings, stderr) = (env.readings, &mut *env.stderr);
        let recording = Recording::begin(Some(path), facts, readings, self.quiet, stderr)?;
        recording.write()?;
        self.store.begin(&run_id)?;
        Ok((runner, recording))
    }
}
