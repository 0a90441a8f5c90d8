//! Finds what a real run would lack: methods that cannot run on this machine, and matrices that cannot be read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Result;

use super::plan::{Batch, Plan};
use crate::campaign::env::Env;
use crate::campaign::progress::Display;
use crate::campaign::{Campaign, Plan as CampaignPlan, Work};
use crate::cli::sources::of_matrix;
use spmv_matrix::memory::ReadBounds;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_matrix::source::Source;
use spmv_results::matrix::MatrixReport;
use spmv_results::row::RowKey;
use spmv_results::settings::{Protocol, RunSettings, Settings};

/// A small matrix that every method accepts.
const TRIAL: &str = "gen:grid2d,n=4";

/// The methods and matrices that have been tried, each with the reason why it cannot be used, if there is one.
#[derive(Default)]
pub struct Tried {
    methods: HashMap<Trial, Option<String>>,
    matrices: HashMap<String, Option<String>>,
}

/// What decides whether a method can run: the device with the name of its model, the protocol, precision and method.
type Trial = (String, Protocol, Precision, String);

/// What the run of a plan would lack.
pub struct Lacks {
    /// The methods that cannot run on this machine, by reason.
    pub methods: BTreeMap<String, BTreeSet<String>>,
    /// Why matrices cannot be read; the reason names the file.
    pub matrices: BTreeSet<String>,
}

impl Tried {
    /// Returns what the run of a plan would lack, and leaves the matrices that cannot be read out of it.
    pub fn lacks(&mut self, plan: &mut Plan, env: &mut Env) -> Result<Lacks> {
        let mut lacks = Lacks { methods: BTreeMap::new(), matrices: BTreeSet::new() };
        for batch in &mut plan.batches {
            self.try_methods(batch, env)?;
            for key in &batch.rows {
                if let Some(Some(reason)) = self.methods.get(&trial(&batch.run, key)) {
                    let methods = lacks.methods.entry(reason.clone()).or_default();
                    methods.insert(key.method.clone());
                }
            }
            let Batch { run, found, .. } = batch;
            found.retain(|found| {
                let reason = self.try_matrix(&found.source, run);
                lacks.matrices.extend(reason.cloned());
                reason.is_none()
            });
        }
        Ok(lacks)
    }

    /// Multiplies once with each method of a batch that has not been tried.
    fn try_methods(&mut self, batch: &Batch, env: &mut Env) -> Result<()> {
        let is_new = |key: &&RowKey| !self.methods.contains_key(&trial(&batch.run, key));
        let new: BTreeSet<_> = batch.rows.iter().filter(is_new).map(|key| &key.method).collect();
        if new.is_empty() {
            return Ok(());
        }
        let methods = Some(new.into_iter().cloned().collect());
        let once = Settings { iterations: Some(1), warmups: 0, rounds: 1, processes: 1, ..batch.run.settings.clone() };
        let orders = vec![Order::Natural];
        let run = RunSettings { methods, settings: once, orders, quiet: true, ..batch.run.clone() };
        let mut campaign = Campaign::start(&CampaignPlan::new(run), true, Vec::new(), env)?;
        let (source, mut report) = (Source::parse(TRIAL.as_ref())?, MatrixReport::default());
        campaign.run(&[Work::new(source, 0)], Display::Hidden, &mut report)?;
        for row in report.rows() {
            let reason = row.reason.text().filter(|_| !row.is_ok()).map(String::from);
            self.methods.extend(row.cell().map(|key| (trial(&batch.run, &key), reason)));
        }
        Ok(())
    }

    /// Reads the first lines of a matrix. Returns why it cannot be read.
    fn try_matrix(&mut self, source: &Source, run: &RunSettings) -> Option<&String> {
        let check = || {
            let checked = source.open(run.reading(), ReadBounds::NONE).and_then(|file| file.check());
            checked.err().map(|error| of_matrix(source, &error.to_string()))
        };
        self.matrices.entry(source.to_string()).or_insert_with(check).as_ref()
    }
}

fn trial(run: &RunSettings, key: &RowKey) -> Trial {
    (run.device.to_string(), run.settings.protocol, key.precision, key.method.clone())
}
