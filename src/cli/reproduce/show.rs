//! The output of `reproduce`: lists, plans, results and summaries.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::measure::Done;
use super::plan::{Batch, Plan};
use super::{MODEL_RUN, QUICK_RUN, RESULTS, after_day};
use crate::campaign::progress::estimate::span;
use crate::cli::command::Env;
use crate::method::Device;
use crate::papers::definition::Experiment;
use crate::papers::experiments;
use crate::papers::page;
use crate::papers::verdicts::Verdicts;
use crate::table::{Cell, Table, significant};

/// The width of a table in characters if there is no terminal.
const WIDTH: u16 = 120;

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
        waiting.chain(lists.map(|(what, names)| format!("{what}: {}", abbreviate(names)))).collect()
    }
}

/// Joins the first few names, and adds the number of the others.
fn abbreviate(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Prints a table of all experiments.
pub fn list(env: &mut Env) -> Result<()> {
    let row = |experiment: Experiment| {
        let devices = [Device::Cpu, Device::Gpu].into_iter().filter(|&d| experiment.needs(d));
        let is_modelled = experiment.blocks.iter().any(|block| !block.models.is_empty());
        let models = is_modelled.then_some("modelled GPUs");
        let devices: Vec<_> = devices.map(Device::name).chain(models).collect();
        let recorded = recorded(&experiment.id).unwrap_or_default();
        let cells = [&experiment.id, &experiment.source, &experiment.title];
        let cells = cells.map(|text| Cell::text(text.as_str())).to_vec();
        [cells, vec![Cell::text(devices.join(", ")), Cell::text(recorded.join(", "))]].concat()
    };
    let columns = ["id", "source", "what", "device", "recorded"].map(String::from).to_vec();
    let table = Table { columns, rows: experiments().map(row).collect() };
    print(&table, env)?;
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
    let columns = ["experiment", "claim", "paper", "here", "verdict"].map(String::from).to_vec();
    let (mut rows, mut links, mut unjudged, mut on_models) = (Vec::new(), Vec::new(), 0, 0);
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
        rows.extend(judged.into_iter().map(|row| {
            let here = row.measured.map(significant).unwrap_or_default();
            on_models += usize::from(row.modelled.is_some());
            let verdict = row.in_words();
            let texts = [row.id.clone(), row.claim.clone(), row.paper.clone(), here, verdict];
            texts.map(Cell::text).to_vec()
        }));
    }
    let (judged, links) = (rows.len(), links.join(", "));
    writeln!(out, "{}", Table { columns, rows }.to_markdown())?;
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
    let row = |(experiment, state): &(&Experiment, State)| {
        let texts = [experiment.id.clone(), state.word().to_owned(), state.remarks().join("; ")];
        texts.map(Cell::text).to_vec()
    };
    let columns = ["id", "state", "remarks"].map(String::from).to_vec();
    let table = Table { columns, rows: states.iter().map(row).collect() };
    Ok(print(&table, env)?)
}
