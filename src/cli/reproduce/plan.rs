//! The plan of an experiment: its runs, their matrices, and the estimated time.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use super::args::ReproduceArgs;
use super::blocks;
use super::matrices::{Found, Library};
use crate::campaign::choice::chosen;
use crate::campaign::progress::estimate::Estimate;
use crate::campaign::session::cells;
use spmv_methods::method::{Device, Unavailable};
use spmv_results::papers::definition::{Block, Experiment};
use spmv_results::papers::store::GridCell;
use spmv_results::report::names::listed;
use spmv_results::row::RowKey;
use spmv_results::run::facts::options;
use spmv_results::settings::{DeviceChoice, RunSettings};

/// The maximum number of matrices that a remark names.
const NAMED: usize = 5;

pub struct Batch {
    /// What is measured, and how: in one order, precision and cache state.
    pub run: RunSettings,
    /// The keys of the rows of each matrix.
    pub rows: Vec<RowKey>,
    /// The name of the GPU, if a method runs on a real one.
    gpu: Option<String>,
    pub found: Vec<Found>,
}

#[derive(Default)]
pub struct Plan {
    pub batches: Vec<Batch>,
    /// The names of matrices that are not in the folder of the data.
    pub missing: BTreeSet<String>,
    /// The words with which `fetch` downloads them.
    pub fetch: BTreeSet<String>,
    pub left_out: BTreeSet<String>,
    /// The reason why there is no GPU, if blocks are skipped because of it.
    pub without_gpu: Option<String>,
    /// Whether the plan is for modelled GPUs.
    pub modelled: bool,
}

/// What decides about the plan of an experiment beside its definition.
pub struct Here<'a> {
    pub args: &'a ReproduceArgs,
    pub library: &'a Library<'a>,
    /// The name of the GPU, or the reason why there is none.
    pub gpu: Result<String, Unavailable>,
    pub cores: usize,
}

/// Returns the modelled GPUs on which an experiment runs: those of `--device`, or those of the experiment's source.
pub fn models<'a>(device: &'a DeviceChoice, experiment: &'a Experiment) -> &'a [String] {
    match device {
        DeviceChoice::Models(names) if names.is_empty() => &experiment.gpus,
        DeviceChoice::Models(names) => names,
        _ => &[],
    }
}

impl Plan {
    pub fn of(experiment: &Experiment, here: &Here) -> Result<Self> {
        let Here { args, library, .. } = here;
        let modelled = matches!(args.device, DeviceChoice::Models(_));
        let mut plan = Self { modelled, ..Self::default() };
        for block in experiment.blocks.iter().filter(|block| args.device.includes(blocks::device(block))) {
            let models = models(&args.device, experiment);
            let is_modelled = !(models.is_empty() && block.models.is_empty());
            if let (Device::Gpu, false, Err(Unavailable(reason))) = (blocks::device(block), is_modelled, &here.gpu) {
                plan.without_gpu = Some(reason.clone());
                continue;
            }
            let mut wanted = library.wanted(&block.matrices)?;
            if is_modelled {
                // A quick run of a model needs fewer matrices, because its time limits have no effect.
                library.thin(&mut wanted.found);
            }
            plan.missing.extend(wanted.missing);
            plan.fetch.extend(wanted.fetch);
            plan.left_out.extend(wanted.left_out);
            let block = Block { rounds: block.rounds.or(args.rounds()), ..block.clone() };
            for mut run in blocks::runs(&block, here.cores, models) {
                run.settings.max_time = args.max_time().unwrap_or(run.settings.max_time);
                if let (DeviceChoice::Gpu(None), DeviceChoice::Gpu(_)) = (&run.device, &args.device) {
                    run.device = args.device.clone();
                }
                plan.batches.push(Batch::of(run, wanted.found.clone(), here)?);
            }
        }
        Ok(plan)
    }

    /// Returns an estimate of the longest time.
    pub fn expected(&self) -> Duration {
        Duration::from_secs_f64(self.batches.iter().map(Batch::expected).sum())
    }

    /// Returns whether any matrix can be measured.
    pub fn has_cells(&self) -> bool {
        self.batches.iter().any(|batch| !batch.found.is_empty())
    }

    /// Returns how much of the experiment can be measured on this machine.
    pub fn extent(&self) -> &'static str {
        let (done, in_part) =
            if self.modelled { ("modelled", "modelled in part") } else { ("measured", "measured in part") };
        match (self.has_cells(), &self.without_gpu) {
            (true, None) if self.missing.is_empty() && self.left_out.is_empty() => done,
            (true, _) => in_part,
            (false, Some(_)) => "waiting for a GPU",
            (false, None) => "matrices missing",
        }
    }

    /// Returns what is not measured, and why.
    pub fn remarks(&self) -> Vec<String> {
        let without = self.without_gpu.iter().map(|reason| format!("without the GPU: {reason}"));
        let lists = [("missing", &self.missing), ("left out by --max-nonzeros", &self.left_out)];
        let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
        without
            .chain(lists.map(|(what, names)| format!("{what}: {}", listed(names.iter(), NAMED))))
            .collect()
    }
}

impl Batch {
    fn of(run: RunSettings, found: Vec<Found>, here: &Here) -> Result<Self> {
        let device = run.models().first().map_or(Device::Gpu, |name| Device::model(name));
        let threads = run.threads.first().copied().unwrap_or(here.cores);
        let cells = cells(&chosen(&run)?, &run, device, threads);
        let rows: Vec<_> = cells.into_iter().map(|cell| cell.key).collect();
        let is_on_gpu = rows.iter().any(|row| row.device == Device::Gpu);
        let gpu = here.gpu.as_ref().ok().filter(|_| is_on_gpu).cloned();
        Ok(Self { run, rows, gpu, found })
    }

    /// Returns the command line for the run record and for display, with the methods last.
    pub fn command(&self) -> Vec<String> {
        let head = ["spmv-bench", "corpus"].map(String::from);
        let methods = self.run.methods.iter().flatten().cloned().collect::<Vec<_>>().join(",");
        [&head[..], &options(&self.run), &["--methods".to_owned(), methods]].concat()
    }

    pub fn cell<'a>(&'a self, file: &'a str) -> GridCell<'a> {
        GridCell { run: &self.run, gpu: self.gpu.as_deref(), rows: &self.rows, file }
    }

    /// Returns the estimated time in seconds.
    fn expected(&self) -> f64 {
        let of_matrix = |found: &Found| Estimate::of(found.entries, &self.run.settings).seconds(self.rows.len());
        self.found.iter().map(of_matrix).sum()
    }
}
