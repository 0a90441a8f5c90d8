//! The output of `reproduce`: lists, plans, results and summaries.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::measure::Done;
use super::plan::{Batch, Plan};
use super::{MODEL_RUN, QUICK_RUN, RESULTS, after_day};
use crate::campaign::progress::estimate::span;
use crate::cli::command::Env;
use crate::papers::definition::Experiment;
use crate::papers::experiments;
use crate::papers::judge::JudgedClaim;
use crate::papers::page;
use crate::papers::verdicts::Verdicts;
use crate::record::table::{Table, significant};
use crate::report::names::listed;
use spmv_methods::method::Device;

/// The width of a table in characters if there is no terminal.
const WIDTH: u16 = 120;

/// The maximum number of matrices that a remark names.
const NAMED: usize = 5;

/// Prints a table with the width of the terminal.
fn print(table: &Table, env: &mut Env) -> io::Result<()> {
    let width = env.width.unwrap_or(WIDTH);
    writeln!(env.stdout, "{}", table.to_text(Some(width)))
}

/// The state of an experiment: which part of it can be measured on this machine.
pub struct State {
    cells: usize,
    missing: Vec<String>,
    left_out: Vec<String>,
    waiting: Option<String>,
    modelled: bool,
}

impl State {
    /// Creates the state from the plan; `reason` is the reason why there is no GPU.
    pub fn of(plan: &Plan, reason: Option<&str>) -> Self {
        let waiting = plan.waiting.then(|| reason.unwrap_or("no GPU").to_owned());
        let [missing, left_out] =
            [&plan.missing, &plan.left_out].map(|names| names.iter().cloned().collect());
        Self { cells: plan.cells(), missing, left_out, waiting, modelled: plan.modelled }
    }

    /// Creates the state of rows that exist; `missing` are the matrices without rows.
    pub fn recorded(missing: Vec<String>) -> Self {
        Self { cells: 1, missing, left_out: Vec::new(), waiting: None, modelled: false }
    }

    /// Returns whether anything was measured.
    pub fn has_run(&self) -> bool {
        self.cells > 0
    }

    fn word(&self) -> &'static str {
        let (done, in_part) = match self.modelled {
            true => ("modelled", "modelled in part"),
            false => ("measured", "measured in part"),
        };
        match (self.has_run(), &self.waiting) {
            (true, None) if self.missing.is_empty() && self.left_out.is_empty() => done,
            (true, _) => in_part,
            (false, Some(_)) => "waiting for a GPU",
            (false, None) => "matrices missing",
        }
    }

    fn remarks(&self) -> Vec<String> {
        let waiting = self.waiting.iter().map(|reason| format!("without the GPU: {reason}"));
        let lists = [("missing", &self.missing), ("left out by --max-nonzeros", &self.left_out)];
        let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
        waiting
            .chain(lists.map(|(what, names)| format!("{what}: {}", listed(names.iter(), NAMED))))
            .collect()
    }
}

/// Prints a table of all experiments.
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
        .column("recorded", |of| recorded(&of.id).unwrap_or_default().join(", "));
    print(&table.build(), env)?;
    writeln!(
        env.stdout,
        "reproduce ID --dry-run shows the plan of an experiment; reproduce --all runs all experiments"
    )?;
    Ok(())
}

/// Returns the names of an experiment's runs in the folder of results.
fn recorded(id: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Path::new(RESULTS).join(id).read_dir()? {
        let path = entry?.path();
        if path.join("rows.csv").is_file() {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the newest measured or modelled run that was not a quick run.
fn newest(id: &str, modelled: bool) -> Option<String> {
    let is_modelled = |name: &str| after_day(name).is_some_and(|rest| rest.starts_with(MODEL_RUN));
    let is_wanted = |name: &String| !name.ends_with(QUICK_RUN) && is_modelled(name) == modelled;
    recorded(id).ok()?.into_iter().rfind(is_wanted)
}

/// Prints the judged claims as Markdown with links to the reports: those of the newest measured run of each
/// experiment, completed by those of its newest modelled run.
pub fn claims(out: &mut dyn Write) -> Result<()> {
    let (mut rows, mut links, mut unjudged) = (Vec::new(), Vec::new(), 0);
    for Experiment { id, .. } in experiments() {
        let mut verdicts: Option<Verdicts> = None;
        for (modelled, word) in [(false, ""), (true, " modelled")] {
            let Some(newest) = newest(&id, modelled) else { continue };
            links.push(format!("[{id}{word}]({RESULTS}/{id}/{newest}/report.md)"));
            let path = Path::new(RESULTS).join(&id).join(newest).join("claims.csv");
            let own = Verdicts::read(&path);
            let own = own.with_context(|| format!("cannot read {}", path.display()))?;
            verdicts = Some(match verdicts {
                Some(measured) => measured.completed_by(&own),
                None => own,
            });
        }
        let verdicts = verdicts.unwrap_or_default();
        let (judged, open) = verdicts.judged();
        unjudged += open.len();
        rows.extend(judged.into_iter().cloned());
    }
    let table = Table::of(&rows)
        .column("experiment", |row| &row.id[..])
        .column("claim", |row| &row.claim[..])
        .column("paper", |row| &row.paper[..])
        .column("here", |row| row.measured.map(significant).unwrap_or_default())
        .column("verdict", JudgedClaim::in_words);
    writeln!(out, "{}", table.build().to_markdown())?;
    let on_models = rows.iter().filter(|row| row.modelled.is_some()).count();
    let (judged, links) = (rows.len(), links.join(", "));
    writeln!(
        out,
        "\n{judged} claims were judged, {on_models} of them by a model of the source's GPU; {unjudged} could not be \
         judged; the reports say why: {links}."
    )?;
    Ok(())
}

/// Prints what would be measured.
pub fn plan(
    experiment: &Experiment,
    plan: &Plan,
    state: &State,
    out: &mut dyn Write,
) -> Result<()> {
    let Experiment { id, title, source, .. } = experiment;
    writeln!(out, "{id}: {title} ({source})")?;
    for batch in &plan.batches {
        let Batch { rows, found, .. } = batch;
        let (matrices, methods) = (found.len(), rows.len());
        writeln!(out, "  {matrices} matrices x {methods} methods: {}", batch.command().join(" "))?;
        let names: Vec<_> = found.iter().map(|found| found.source.to_string()).collect();
        writeln!(out, "    {}", names.join(" "))?;
    }
    state.remarks().iter().try_for_each(|remark| writeln!(out, "  {remark}"))?;
    if !state.missing.is_empty() {
        writeln!(
            out,
            "  `spmv-bench fetch` downloads them; --stand-ins uses generated matrices instead"
        )?;
    }
    writeln!(out, "  expected: up to {}", span(plan.expected()))?;
    Ok(())
}

/// Prints the claims with the measured values, and writes them with all views into the folder.
pub fn results(
    experiment: &Experiment,
    done: &Done,
    state: &State,
    quick: bool,
    folder: &Path,
    env: &mut Env,
) -> Result<()> {
    let verdicts = Verdicts::of(experiment, &done.lines, quick);
    verdicts.write(&folder.join("claims.csv"))?;
    let (runs, remarks) = (done.store.runs(), state.remarks());
    let page = page::of(experiment, &done.lines, &done.stages, &verdicts, runs, &remarks);
    page.write(folder)?;
    writeln!(env.stdout, "{}: {} ({})", experiment.id, experiment.title, experiment.source)?;
    if !experiment.claims.is_empty() {
        print(&verdicts.table(), env)?;
    }
    let out = &mut env.stdout;
    state.remarks().iter().try_for_each(|remark| writeln!(out, "{remark}"))?;
    writeln!(out, "written: {}\n", folder.join("report.html").display())?;
    Ok(())
}

/// Prints one line for each experiment, or nothing for a single experiment whose table has been printed.
pub fn summary(states: &[(&Experiment, State)], env: &mut Env) -> Result<()> {
    match states {
        [] => return Ok(()),
        [(_, state)] if state.has_run() => return Ok(()),
        _ => {}
    }
    let table = Table::of(states)
        .column("id", |(experiment, _)| &experiment.id[..])
        .column("state", |(_, state)| state.word())
        .column("remarks", |(_, state)| state.remarks().join("; "));
    Ok(print(&table.build(), env)?)
}
