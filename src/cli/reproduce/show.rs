//! The output of `reproduce`: lists, plans, results and summaries.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

use super::RESULTS;
use super::measure::Done;
use super::plan::{Batch, Plan};
use crate::campaign::progress::estimate::span;
use crate::cli::Env;
use crate::papers::definition::Experiment;
use crate::papers::experiments;
use crate::papers::judge::Verdicts;
use crate::papers::page;
use crate::record::table::Table;
use spmv_methods::method::Device;

/// The width of a table in characters if there is no terminal.
const WIDTH: u16 = 120;

fn print(table: &Table, env: &mut Env) -> io::Result<()> {
    let width = env.width.unwrap_or(WIDTH);
    writeln!(env.stdout, "{}", table.to_text(Some(width)))
}

pub fn list(env: &mut Env) -> Result<()> {
    let devices = |experiment: &Experiment| {
        let devices = [Device::Cpu, Device::Gpu].into_iter().filter(|&d| experiment.needs(d));
        let is_modelled = experiment.blocks.iter().any(|block| !block.models.is_empty());
        let models = is_modelled.then_some("modelled GPUs");
        devices.map(Device::name).chain(models).collect::<Vec<_>>().join(", ")
    };
    let experiments: Vec<_> = experiments().collect();
    let table = Table::of(&experiments)
        .column("id", |experiment| &experiment.id[..])
        .column("source", |experiment| &experiment.source[..])
        .column("what", |experiment| &experiment.title[..])
        .column("device", devices)
        .column("recorded", |of| recorded(Path::new(""), &of.id).unwrap_or_default().join(", "));
    print(&table.build(), env)?;
    writeln!(
        env.stdout,
        "reproduce ID --dry-run shows the plan of an experiment; reproduce --all runs all experiments"
    )?;
    Ok(())
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

pub fn plan(experiment: &Experiment, plan: &Plan, out: &mut dyn Write) -> Result<()> {
    let Experiment { id, title, source, .. } = experiment;
    writeln!(out, "{id}: {title} ({source})")?;
    for batch in &plan.batches {
        let Batch { rows, found, .. } = batch;
        let (matrices, methods) = (found.len(), rows.len());
        writeln!(out, "  {matrices} matrices x {methods} methods: {}", batch.command().join(" "))?;
        let names: Vec<_> = found.iter().map(|found| found.source.to_string()).collect();
        writeln!(out, "    {}", names.join(" "))?;
    }
    plan.remarks().iter().try_for_each(|remark| writeln!(out, "  {remark}"))?;
    if !plan.missing.is_empty() {
        writeln!(
            out,
            "  `spmv-bench fetch` downloads them; --surrogates uses generated matrices instead"
        )?;
    }
    writeln!(out, "  expected: up to {}", span(plan.expected()))?;
    Ok(())
}

/// Prints the claims with the measured values, and writes them with all views into the folder.
pub fn results(
    experiment: &Experiment,
    done: &Done,
    plan: &Plan,
    quick: bool,
    folder: &Path,
    env: &mut Env,
) -> Result<()> {
    let verdicts = Verdicts::of(experiment, &done.lines, quick);
    verdicts.write(&folder.join("claims.csv"))?;
    let (runs, remarks) = (done.store.runs(), plan.remarks());
    let page = page::of(experiment, &done.lines, &done.stages, &verdicts, runs, &remarks);
    page.write(folder)?;
    writeln!(env.stdout, "{}: {} ({})", experiment.id, experiment.title, experiment.source)?;
    if !experiment.claims.is_empty() {
        print(&verdicts.table(), env)?;
    }
    let out = &mut env.stdout;
    remarks.iter().try_for_each(|remark| writeln!(out, "{remark}"))?;
    writeln!(out, "written: {}\n", folder.join("report.html").display())?;
    Ok(())
}

/// Prints one line for each experiment, or nothing for a single experiment whose table has been printed.
pub fn summary(plans: &[(&Experiment, Plan)], env: &mut Env) -> Result<()> {
    if plans.is_empty() || plans.len() == 1 && plans[0].1.has_cells() {
        return Ok(());
    }
    let table = Table::of(plans)
        .column("id", |(experiment, _)| &experiment.id[..])
        .column("state", |(_, plan)| plan.extent())
        .column("remarks", |(_, plan)| plan.remarks().join("; "));
    Ok(print(&table.build(), env)?)
}
