//! The grid of an experiment: command lines and their matrices, and about how long they take.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use super::matrices::{Found, Library};
use crate::cli::args::{DeviceChoice, MeasureArgs};
use crate::cli::choice;
use crate::cli::progress::estimate::Estimate;
use crate::method::Device;
use crate::papers::definition::Experiment;
use crate::papers::store::GridCell;

/// One command line and its matrices.
pub struct Batch {
    /// Of `corpus`, without those that name methods and matrices.
    pub options: Vec<String>,
    /// As asked for.
    pub words: Vec<String>,
    /// With parameters, as in rows.
    pub methods: Vec<String>,
    /// The matrices.
    pub found: Vec<Found>,
}

/// All that an experiment measures here.
#[derive(Default)]
pub struct Plan {
    pub batches: Vec<Batch>,
    /// Matrices that are not there.
    pub missing: BTreeSet<String>,
    /// Matrices that are too large.
    pub left_out: BTreeSet<String>,
    /// Whether blocks of the GPU are left out because there is none.
    pub waiting: bool,
    /// Whether it was planned for modelled GPUs.
    pub modelled: bool,
}

/// What a plan depends on beside the experiment.
pub struct Here<'a> {
    pub library: &'a Library,
    pub device: DeviceChoice,
    pub has_gpu: bool,
    pub cores: usize,
    /// Added to the options of every block.
    pub pace: Vec<String>,
}

impl Here<'_> {
    /// The modelled GPUs that an experiment runs on.
    fn models<'e>(&'e self, experiment: &'e Experiment) -> &'e [String] {
        models(&self.device, experiment)
    }
}

/// The modelled GPUs on which the device runs an experiment: those that it names, or those of the source.
pub fn models<'a>(device: &'a DeviceChoice, experiment: &'a Experiment) -> &'a [String] {
    match device {
        DeviceChoice::Models(names) if names.is_empty() => &experiment.gpus,
        DeviceChoice::Models(names) => names,
        _ => &[],
    }
}

/// The options and those of the pace that they do not give themselves.
fn with_pace(mut options: Vec<String>, pace: &[String]) -> Vec<String> {
    for pair in pace.chunks(2).filter(|pair| !options.contains(&pair[0])).collect::<Vec<_>>() {
        options.extend_from_slice(pair);
    }
    options
}

impl Plan {
    /// The grid of an experiment.
    pub fn of(experiment: &Experiment, here: &Here) -> Result<Self> {
        let modelled = matches!(here.device, DeviceChoice::Models(_));
        let mut plan = Self { modelled, ..Self::default() };
        for block in experiment.blocks.iter().filter(|block| here.device.includes(block.device())) {
            let models = here.models(experiment);
            let is_modelled = !(models.is_empty() && block.models.is_empty());
            if block.device() == Device::Gpu && !is_modelled && !here.has_gpu {
                plan.waiting = true;
                continue;
            }
            let mut wanted = here.library.wanted(&block.matrices)?;
            if is_modelled {
                // What is modelled takes as long with any pace.
                here.library.thin(&mut wanted.found);
            }
            plan.missing.extend(wanted.missing);
            plan.left_out.extend(wanted.left_out);
            let methods: Vec<_> =
                choice::select(&block.methods)?.iter().map(|choice| choice.name()).collect();
            for options in block.options(here.cores, models) {
                let options = with_pace(options, &here.pace);
                let (words, methods) = (block.methods.clone(), methods.clone());
                plan.batches.push(Batch { options, words, methods, found: wanted.found.clone() });
            }
        }
        Ok(plan)
    }

    /// About how long it takes at most.
    pub fn expected(&self) -> Duration {
        Duration::from_secs_f64(self.batches.iter().map(Batch::expected).sum())
    }

    /// Matrices under one set of options.
    pub fn cells(&self) -> usize {
        self.batches.iter().map(|batch| batch.found.len()).sum()
    }
}

impl Batch {
    /// What a measuring command would understand.
    pub fn measure(&self) -> Result<MeasureArgs> {
        let methods = ["--methods".to_owned(), self.words.join(",")];
        Ok(MeasureArgs::of(self.options.iter().chain(&methods).cloned())?)
    }

    /// Its command line, for the run's record and for eyes; with methods last.
    pub fn command(&self) -> Vec<String> {
        let head = ["spmv-bench", "corpus"].map(String::from);
        let methods = ["--methods".to_owned(), self.words.join(",")];
        [&head[..], &self.options, &methods].concat()
    }

    /// One matrix of it.
    pub fn cell<'a>(&'a self, file: &'a str) -> GridCell<'a> {
        GridCell { options: &self.options, methods: &self.methods, file }
    }

    /// In seconds.
    fn expected(&self) -> f64 {
        let Ok(measure) = self.measure() else { return 0.0 };
        let settings = measure.settings();
        let of_matrix =
            |found: &Found| Estimate::of(found.entries, &settings).seconds(self.methods.len());
        self.found.iter().map(of_matrix).sum()
    }
}
