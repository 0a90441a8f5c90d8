//! The plan of an experiment: command lines, their matrices, and the estimated time.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use super::matrices::{Found, Library};
use crate::bench::run::DeviceChoice;
use crate::campaign::choice;
use crate::campaign::progress::estimate::Estimate;
use crate::cli::measure::MeasureArgs;
use crate::method::Device;
use crate::papers::definition::Experiment;
use crate::papers::store::GridCell;

/// One command line and its matrices.
pub struct Batch {
    /// The options of `corpus`, without the methods and matrices.
    pub options: Vec<String>,
    /// The methods as in the definition of the experiment.
    pub words: Vec<String>,
    /// The names of the methods with parameters, as in result rows.
    pub methods: Vec<String>,
    /// The matrices.
    pub found: Vec<Found>,
}

/// Everything that an experiment measures on this machine.
#[derive(Default)]
pub struct Plan {
    pub batches: Vec<Batch>,
    /// The missing matrices.
    pub missing: BTreeSet<String>,
    /// The matrices that are too large.
    pub left_out: BTreeSet<String>,
    /// Whether GPU blocks are skipped because there is no GPU.
    pub waiting: bool,
    /// Whether the plan is for modelled GPUs.
    pub modelled: bool,
}

/// The conditions on this machine on which a plan depends.
pub struct Here<'a> {
    pub library: &'a Library,
    pub device: DeviceChoice,
    pub has_gpu: bool,
    pub cores: usize,
    /// Options that are added to those of every block.
    pub pace: Vec<String>,
}

impl Here<'_> {
    /// Returns the modelled GPUs on which an experiment runs.
    fn models<'e>(&'e self, experiment: &'e Experiment) -> &'e [String] {
        models(&self.device, experiment)
    }
}

/// Returns the modelled GPUs on which an experiment runs: those of `--device`, or those of the experiment's source.
pub fn models<'a>(device: &'a DeviceChoice, experiment: &'a Experiment) -> &'a [String] {
    match device {
        DeviceChoice::Models(names) if names.is_empty() => &experiment.gpus,
        DeviceChoice::Models(names) => names,
        _ => &[],
    }
}

/// Adds the options of the pace that are not already among the options.
fn with_pace(mut options: Vec<String>, pace: &[String]) -> Vec<String> {
    for pair in pace.chunks(2).filter(|pair| !options.contains(&pair[0])).collect::<Vec<_>>() {
        options.extend_from_slice(pair);
    }
    options
}

impl Plan {
    /// Creates the plan of an experiment.
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
                // A quick run of a model needs fewer matrices, because its time limits have no effect.
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

    /// Returns an estimate of the longest time.
    pub fn expected(&self) -> Duration {
        Duration::from_secs_f64(self.batches.iter().map(Batch::expected).sum())
    }

    /// Returns the number of matrices, summed over all batches.
    pub fn cells(&self) -> usize {
        self.batches.iter().map(|batch| batch.found.len()).sum()
    }
}

impl Batch {
    /// Parses the options and methods as those of a measuring command.
    pub fn measure(&self) -> Result<MeasureArgs> {
        let methods = ["--methods".to_owned(), self.words.join(",")];
        Ok(MeasureArgs::of(self.options.iter().chain(&methods).cloned())?)
    }

    /// Returns the command line for the run record and for display, with the methods last.
    pub fn command(&self) -> Vec<String> {
        let head = ["spmv-bench", "corpus"].map(String::from);
        let methods = ["--methods".to_owned(), self.words.join(",")];
        [&head[..], &self.options, &methods].concat()
    }

    /// Returns the grid cell of one matrix.
    pub fn cell<'a>(&'a self, file: &'a str) -> GridCell<'a> {
        GridCell { options: &self.options, methods: &self.methods, file }
    }

    /// Returns the estimated time in seconds.
    fn expected(&self) -> f64 {
        let Ok(measure) = self.measure() else { return 0.0 };
        let settings = measure.settings();
        let of_matrix =
            |found: &Found| Estimate::of(found.entries, &settings).seconds(self.methods.len());
        self.found.iter().map(of_matrix).sum()
    }
}
