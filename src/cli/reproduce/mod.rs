//! `spmv-bench reproduce`: measures the experiments of the papers, prints the results and judges the claims.

pub mod args;
mod blocks;
mod documents;
mod lacks;
mod matrices;
mod measure;
mod plan;
mod recorded;
mod show;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{CommandStatus, Env, Interrupted};
use crate::campaign::gpus;
use crate::campaign::{REVISION, VERSION};
use args::ReproduceArgs;
use blocks::{experiment, needs};
use lacks::Tried;
use matrices::Library;
use plan::{Here, Plan};
use spmv_matrix::system::System;
use spmv_methods::method::{Device, Unavailable};
use spmv_results::papers::definition::Experiment;
use spmv_results::papers::experiments;
use spmv_results::settings::DeviceChoice;

const RESULTS: &str = "results";
/// The part of a folder name after the day that marks a modelled run.
const MODEL_RUN: &str = "model-";
/// The suffix of the folder names of quick runs.
const QUICK_RUN: &str = "-quick";
/// The time per method in a quick run.
const QUICK_TIME: Duration = Duration::from_millis(50);
const QUICK_ROUNDS: u32 = 2;

pub fn run(args: &ReproduceArgs, env: &mut Env) -> Result<CommandStatus> {
    if let Some(root) = &args.documents {
        return documents::write(root, args.check, env);
    }
    let chosen = chosen(args)?;
    if chosen.is_empty() {
        return show::list(env).map(|()| CommandStatus::Ok);
    }
    let library = Library::open(args, env.stderr)?;
    if let Some(folder) = &args.recorded {
        return recorded::show(&chosen, folder, args.quick, &library, env);
    }
    let here = Here {
        library: &library,
        device: args.device.clone(),
        gpu: gpu(&args.device, &chosen, env),
        cores: env.system.threads(),
        rounds: args.quick.then_some(QUICK_ROUNDS),
        max_time: args.max_time.or(args.quick.then_some(QUICK_TIME)),
    };
    let places = Places::of(args, env, here.gpu.as_deref().ok());
    let (mut summary, mut failed, mut bad) = (Vec::new(), Vec::new(), false);
    let mut tried = Tried::default();
    for (number, experiment) in chosen.iter().enumerate() {
        let mut plan = Plan::of(experiment, &here)?;
        if args.dry_run {
            let lacks = tried.lacks(&mut plan, env)?;
            show::plan(experiment, &plan, &lacks, &args.data, env.stdout)?;
            continue;
        }
        if plan.has_cells() {
            if !args.quiet {
                let (number, all) = (number + 1, chosen.len());
                writeln!(env.stderr, "{number}/{all} {}: {}", experiment.id, experiment.title)?;
            }
            let folder = places.of_experiment(experiment);
            match measure::measure(experiment, &plan, &folder, &places, args.quiet, env) {
                Err(error) if chosen.len() > 1 && !error.is::<Interrupted>() => {
                    failed.push(format!("{}: {error:#}", experiment.id));
                    continue;
                }
                Err(error) => return Err(error),
                Ok(done) if done.interrupted => {
                    writeln!(
                        env.stderr,
                        "interrupted: the same command continues where this one ended"
                    )?;
                    return Ok(CommandStatus::Bad);
                }
                Ok(done) => {
                    bad |= done.bad;
                    show::results(experiment, &done, &plan, args.quick, &folder, env)?;
                }
            }
        }
        summary.push((experiment, plan));
    }
    conclude(&summary, &failed, args, env)?;
    Ok(if bad { CommandStatus::Bad } else { CommandStatus::Ok })
}

fn conclude(
    summary: &[(&Experiment, Plan)],
    failed: &[String],
    args: &ReproduceArgs,
    env: &mut Env,
) -> Result<()> {
    show::summary(summary, env)?;
    let (count, all) = (failed.len(), failed.len() + summary.len());
    ensure!(
        failed.is_empty(),
        "{count} of {all} experiments could not be measured completely: {}",
        failed.join("; ")
    );
    ensure!(
        args.dry_run || summary.iter().any(|(_, plan)| plan.has_cells()),
        "nothing was measured; the missing matrices or devices are listed above"
    );
    Ok(())
}

fn chosen(args: &ReproduceArgs) -> Result<Vec<Experiment>> {
    if !args.all {
        return args.ids.iter().map(|id| experiment(id)).collect();
    }
    let on_device = |experiment: &Experiment| {
        experiment.blocks.iter().any(|block| args.device.includes(blocks::device(block)))
    };
    Ok(experiments().filter(on_device).collect())
}

/// Returns the name of the GPU if any of the experiments needs one, or the reason why there is none.
fn gpu(device: &DeviceChoice, chosen: &[Experiment], env: &mut Env) -> Result<String, Unavailable> {
    let is_needed = chosen.iter().any(|experiment| needs(experiment, Device::Gpu));
    let number = match device {
        DeviceChoice::Models(_) => {
            let reason = "its source names no GPU; use --device model:NAME to choose one";
            return Err(Unavailable(reason.into()));
        }
        DeviceChoice::Gpu(number) if is_needed => *number,
        DeviceChoice::All if is_needed => None,
        _ => return Err(Unavailable(format!("--device {device}"))),
    };
    gpus::facts(number, gpus::LIMIT, env).map(|facts| facts.name)
}

struct Places {
    output: Option<PathBuf>,
    /// Whether `output` is the folder of a single experiment.
    single: bool,
    /// The parent folder of the results if `output` is not given.
    results: PathBuf,
    day: String,
    machine: String,
    device: DeviceChoice,
    /// The facts of a run record that state the origin of the results.
    origin: Value,
}

impl Places {
    fn of(args: &ReproduceArgs, env: &Env, gpu: Option<&str>) -> Self {
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

    fn of_experiment(&self, experiment: &Experiment) -> PathBuf {
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
        match plan::models(&self.device, experiment) {
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
fn after_day(name: &str) -> Option<&str> {
    name.get(10..)?.strip_prefix('-')
}

/// Converts a name into lower-case letters, digits and hyphens.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
