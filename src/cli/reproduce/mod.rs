//! `spmv-bench reproduce`: measures the experiments of the papers, prints the results and judges the claims.

mod args;
mod blocks;
mod documents;
mod lacks;
mod matrices;
mod measure;
mod places;
mod plan;
mod recorded;
mod show;

use anyhow::{Result, ensure};

use super::verb::{CommandStatus, Needs, Verb};
use crate::campaign::env::Env;
use crate::campaign::gpus;
use crate::campaign::isolate::Interrupted;
pub use args::ReproduceArgs;
use blocks::{experiment, needs};
use lacks::Tried;
use matrices::Library;
use places::Places;
use plan::{Here, Plan};
use spmv_methods::method::{Device, Unavailable};
use spmv_results::papers::definition::Experiment;
use spmv_results::papers::experiments;
use spmv_results::settings::DeviceChoice;

impl Verb for ReproduceArgs {
    fn needs(&self) -> Needs {
        Needs { added: Some(self.added.clone()), ..Needs::ORDER }
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        if let Some(root) = &self.documents {
            return documents::write(root, self.check, env);
        }
        let chosen = chosen(self)?;
        if chosen.is_empty() {
            return show::list(env).map(|()| CommandStatus::Ok);
        }
        let library = Library::open(self, env.stderr)?;
        if let Some(folder) = &self.recorded {
            return recorded::show(&chosen, folder, self.quick, &library, env);
        }
        let gpu = gpu(&self.device, &chosen, env);
        let here = Here { args: self, library: &library, gpu, cores: env.system.threads() };
        if self.dry_run { self.show_plans(&chosen, &here, env) } else { self.measure(&chosen, &here, env) }
    }
}

impl ReproduceArgs {
    fn show_plans(&self, chosen: &[Experiment], here: &Here, env: &mut Env) -> Result<CommandStatus> {
        let mut tried = Tried::default();
        for experiment in chosen {
            let mut plan = Plan::of(experiment, here)?;
            let lacks = tried.lacks(&mut plan, env)?;
            show::plan(experiment, &plan, &lacks, &self.data, env.stdout)?;
        }
        Ok(CommandStatus::Ok)
    }

    fn measure(&self, chosen: &[Experiment], here: &Here, env: &mut Env) -> Result<CommandStatus> {
        let places = Places::of(self, env, here.gpu.as_deref().ok());
        let mut summary = Vec::new();
        let mut failed = Vec::new();
        let mut is_bad = false;
        for (number, experiment) in chosen.iter().enumerate() {
            let plan = Plan::of(experiment, here)?;
            if plan.has_cells() {
                if !self.quiet {
                    let (number, all) = (number + 1, chosen.len());
                    writeln!(env.stderr, "{number}/{all} {}: {}", experiment.id, experiment.title)?;
                }
                let folder = places.of_experiment(experiment);
                match measure::measure(experiment, &plan, &folder, &places, self.quiet, env) {
                    Err(error) if chosen.len() > 1 && !error.is::<Interrupted>() => {
                        failed.push(format!("{}: {error:#}", experiment.id));
                        continue;
                    }
                    Err(error) => return Err(error),
                    Ok(done) if done.interrupted => {
                        let how = "the same command continues where this one ended";
                        writeln!(env.stderr, "interrupted: {how}")?;
                        return Ok(CommandStatus::Bad);
                    }
                    Ok(done) => {
                        is_bad |= done.bad;
                        show::results(experiment, &done, &plan, self.quick, &folder, env)?;
                    }
                }
            }
            summary.push((experiment, plan));
        }
        conclude(&summary, &failed, env)?;
        Ok(CommandStatus::bad_if(is_bad))
    }
}

fn conclude(summary: &[(&Experiment, Plan)], failed: &[String], env: &mut Env) -> Result<()> {
    show::summary(summary, env)?;
    let (count, all) = (failed.len(), failed.len() + summary.len());
    ensure!(
        failed.is_empty(),
        "{count} of {all} experiments could not be measured completely: {}",
        failed.join("; ")
    );
    ensure!(
        summary.iter().any(|(_, plan)| plan.has_cells()),
        "nothing was measured; the missing matrices or devices are listed above"
    );
    Ok(())
}

fn chosen(args: &ReproduceArgs) -> Result<Vec<Experiment>> {
    if !args.all {
        return args.ids.iter().map(|id| experiment(id)).collect();
    }
    let on_device =
        |experiment: &Experiment| experiment.blocks.iter().any(|block| args.device.includes(blocks::device(block)));
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

#[cfg(test)]
mod tests;
