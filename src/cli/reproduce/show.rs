//! The output of `reproduce`: lists, plans, results and summaries.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

use super::blocks::needs;
use super::lacks::Lacks;
use super::measure::Done;
use super::places::recorded;
use super::plan::{Batch, Plan};
use crate::campaign::env::Env;
use crate::campaign::progress::estimate::span;
use crate::cli::corpus::quoted;
use crate::collection::fetch::folder::DATA;
use spmv_methods::method::Device;
use spmv_results::papers::definition::Experiment;
use spmv_results::papers::experiment_page;
use spmv_results::papers::experiments;
use spmv_results::papers::judge::Verdicts;
use spmv_results::report::names::{count, listed};
use spmv_results::report::select::Select;
use spmv_results::table::Table;

/// The width of a table in characters if there is no terminal.
const WIDTH: u16 = 120;

fn print(table: &Table, env: &mut Env) -> io::Result<()> {
    let width = env.width.unwrap_or(WIDTH);
    writeln!(env.stdout, "{}", table.to_text(Some(width)))
}

pub fn list(env: &mut Env) -> Result<()> {
    let devices = |experiment: &Experiment| {
        let devices = [Device::Cpu, Device::Gpu].into_iter().filter(|&d| needs(experiment, d));
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

/// Prints what a run would measure, what it would lack, and how long it would take.
pub fn plan(experiment: &Experiment, plan: &Plan, lacks: &Lacks, data: &Path, out: &mut dyn Write) -> Result<()> {
    let Experiment { id, title, source, .. } = experiment;
    writeln!(out, "{id}: {title} ({source})")?;
    for batch in &plan.batches {
        let Batch { rows, found, .. } = batch;
        let (matrices, methods) = (found.len(), rows.len());
        writeln!(out, "  {matrices} matrices x {methods} methods: {}", batch.command().join(" "))?;
        let names: Vec<_> = found.iter().map(|found| found.source.to_string()).collect();
        if !names.is_empty() {
            writeln!(out, "    {}", names.join(" "))?;
        }
    }
    lacking(experiment, plan, lacks, data, out)?;
    writeln!(out, "  expected: up to {}", span(plan.expected()))?;
    Ok(())
}

fn lacking(experiment: &Experiment, plan: &Plan, lacks: &Lacks, data: &Path, out: &mut dyn Write) -> io::Result<()> {
    for (reason, methods) in &lacks.methods {
        let (names, claims) = (listed(methods.iter(), usize::MAX), claims_on(experiment, methods));
        writeln!(out, "  cannot run here{claims}: {names}: {reason}")?;
    }
    lacks.matrices.iter().try_for_each(|reason| writeln!(out, "  cannot be read: {reason}"))?;
    plan.remarks().iter().try_for_each(|remark| writeln!(out, "  {remark}"))?;
    if plan.missing.is_empty() {
        return Ok(());
    }
    let to = format!("--to {}", quoted(&data.to_string_lossy()));
    let to = Some(to).filter(|_| data != Path::new(DATA));
    let words: Vec<_> = plan.fetch.iter().cloned().chain(to).collect();
    let words = words.join(" ");
    writeln!(out, "  `spmv-bench fetch {words}` downloads them; --surrogates uses generated matrices instead")
}

/// Returns in words how many claims of an experiment compare one of the methods; nothing if none does.
fn claims_on(experiment: &Experiment, methods: &BTreeSet<String>) -> String {
    let is_of = |select: &&Select| methods.iter().any(|method| select.names(method));
    let claims = experiment.claims.iter();
    let number = claims.filter(|claim| claim.measured.operands().iter().any(is_of)).count();
    let all = count(experiment.claims.len(), "claim");
    if number == 0 { String::new() } else { format!(" (needed for {number} of {all})") }
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
    let page = experiment_page::of(experiment, &done.lines, &done.stages, &verdicts, runs, &remarks);
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
