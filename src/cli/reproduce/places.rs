//! The folders of results: one for each experiment, day and machine.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::args::ReproduceArgs;
use super::plan::models;
use crate::campaign::env::Env;
use crate::campaign::{REVISION, VERSION};
use spmv_matrix::system::System;
use spmv_results::papers::definition::Experiment;
use spmv_results::settings::DeviceChoice;

pub const RESULTS: &str = "results";
/// The part of a folder name after the day that marks a modelled run.
pub const MODEL_RUN: &str = "model-";
/// The suffix of the folder names of quick runs.
pub const QUICK_RUN: &str = "-quick";
/// Where the results of experiments are, on this day and machine.
pub struct Places {
    pub output: Option<PathBuf>,
    /// Whether `output` is the folder of a single experiment.
    pub single: bool,
    /// The parent folder of the results if `output` is not given.
    pub results: PathBuf,
    pub day: String,
    pub machine: String,
    pub device: DeviceChoice,
    /// The facts of a run record that state the origin of the results.
    pub origin: Value,
}

impl Places {
    pub fn of(args: &ReproduceArgs, env: &Env, gpu: Option<&str>) -> Self {
        let System { cpu, cores, .. } = &env.system;
        let cpu = cpu.as_deref().unwrap_or("unknown CPU");
        let machine = [Some(format!("{cpu} {cores} cores")), gpu.map(String::from)];
        let machine: Vec<_> = machine.iter().flatten().map(|name| slug(name)).collect();
        Self {
            output: args.output.clone(),
            single: args.ids.len() == 1,
            results: RESULTS.into(),
            day: env.date.get(..10).unwrap_or(&env.date).to_owned(),
            machine: machine.join("-") + if args.quick { QUICK_RUN } else { "" },
            device: args.device.clone(),
            origin: json!({
                "version": VERSION, "revision": REVISION, "system": env.system,
            }),
        }
    }

    pub fn of_experiment(&self, experiment: &Experiment) -> PathBuf {
        let id = &experiment.id;
        match &self.output {
            Some(output) if self.single => output.clone(),
            Some(output) => output.join(id),
            None => {
                let folder = self.results.join(id);
                let machine = self.machine_of(experiment);
                let new = || folder.join(format!("{}-{machine}", self.day));
                unfinished(&folder, &machine).unwrap_or_else(new)
            }
        }
    }

    /// Returns the part of the folder name after the day: the modelled GPUs, if any, and the machine.
    fn machine_of(&self, experiment: &Experiment) -> String {
        match models(&self.device, experiment) {
            [] => self.machine.clone(),
            models => format!("{MODEL_RUN}{}-{}", slug(&models.join(" ")), self.machine),
        }
    }
}

/// Returns the newest folder of a machine if it has rows but no report, because its run was interrupted.
fn unfinished(folder: &Path, machine: &str) -> Option<PathBuf> {
    let paths = folder.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_own = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        after_day(&name) == Some(machine)
    };
    let newest = paths.filter(is_own).max()?;
    let is_open = newest.join("rows.csv").is_file() && !newest.join("report.html").is_file();
    is_open.then_some(newest)
}

/// Returns the part of a folder name after the day.
pub fn after_day(name: &str) -> Option<&str> {
    name.get(10..)?.strip_prefix('-')
}

/// Converts a name into lower-case letters, digits and hyphens.
pub fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Returns the names of an experiment's runs in the folder of results.
pub fn recorded(root: &Path, id: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in root.join(RESULTS).join(id).read_dir()? {
        let path = entry?.path();
        if path.join("rows.csv").is_file() {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}
