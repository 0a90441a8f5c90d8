//! The newest records of the experiments, and what blocks of documents state of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::campaign::choice::select;
use crate::cli::methods::results;
use crate::cli::reproduce::blocks;
use crate::cli::reproduce::places::{MODEL_RUN, QUICK_RUN, RESULTS, after_day, recorded};
use spmv_methods::method::Device;
use spmv_results::files::read::RecordedRow;
use spmv_results::papers::definition::Experiment;
use spmv_results::papers::experiments;
use spmv_results::papers::judge::{ClaimVerdict, Verdicts};
use spmv_results::papers::store::Store;
use spmv_results::run::facts::machine;
use spmv_results::table::Table;

/// The columns of the table of counts.
const COUNTS: [&str; 8] = [
    "experiments",
    "claims",
    "hold",
    "do not hold",
    "not distinguishable",
    "modelled: hold",
    "modelled: do not hold",
    "not judged",
];

/// The experiments with the verdicts of their newest run, completed by those of other machines and then of models.
pub struct Records<'a> {
    root: &'a Path,
    experiments: Vec<(Experiment, Verdicts)>,
}

impl<'a> Records<'a> {
    pub fn read(root: &'a Path) -> Result<Self> {
        let judged = experiments().map(|experiment| {
            let mut verdicts = Verdicts::of(&experiment, &[], false);
            for place in places(root, &experiment.id) {
                let store = Store::open(&root.join(place))?;
                let own = Verdicts::of(&experiment, store.all().0, false);
                verdicts = verdicts.completed_by(&own);
            }
            Ok((experiment, verdicts))
        });
        Ok(Self { root, experiments: judged.collect::<Result<_>>()? })
    }

    /// Returns what a block with these words states.
    pub fn block(&self, words: &str) -> Result<String> {
        let (kind, rest) = words.split_once(' ').unwrap_or((words, ""));
        let (id, title) = rest.split_once(' ').unwrap_or((rest, ""));
        let title = title.trim_matches('"');
        match kind {
            "verdicts" => self.verdicts(rest),
            "counts" => Ok(self.counts().to_markdown() + "\n"),
            "view" => self.part(id, title, false),
            "figure" => self.part(id, title, true),
            "methods" => self.methods(rest),
            _ => bail!("a block is one of verdicts, counts, view, figure and methods"),
        }
    }

    /// Returns the judged claims of the experiments with these IDs, of which the end may be `*`.
    fn verdicts(&self, ids: &str) -> Result<String> {
        let mut parts = Vec::new();
        for word in ids.split_whitespace() {
            let start = word.strip_suffix('*');
            let is_named = |id: &str| start.map_or(id == word, |start| id.starts_with(start));
            let mut named = self.experiments.iter().filter(|(of, _)| is_named(&of.id)).peekable();
            ensure!(named.peek().is_some(), "there is no experiment {word}");
            let before = parts.len();
            for (experiment, verdicts) in named {
                parts.extend(self.judged(experiment, verdicts)?);
            }
            if parts.len() == before {
                parts.push(format!("No claim of `{word}` has been judged yet.\n"));
            }
        }
        Ok(parts.join("\n"))
    }

    fn judged(&self, of: &Experiment, verdicts: &Verdicts) -> Result<Option<String>> {
        let judged = verdicts.judged();
        let [all, count] = [verdicts, &judged].map(|of| of.claims().len());
        if count == 0 {
            return Ok(None);
        }
        let Experiment { id, title, .. } = of;
        let origins = places(self.root, id).into_iter().map(|place| self.origin(id, &place));
        let origins = origins.collect::<Result<Vec<_>>>()?.join("; ");
        let lead = format!("**{id}**: {title}. {origins}; {count} of {all} claims were judged.");
        Ok(Some(format!("{lead}\n\n{}\n", judged.table().to_markdown())))
    }

    /// Returns a table of the claims of each document.
    fn counts(&self) -> Table {
        let mut documents = BTreeMap::<&str, [usize; COUNTS.len()]>::new();
        for (experiment, verdicts) in self.experiments.iter().filter(|(of, _)| !of.claims.is_empty()) {
            let document = experiment.source.split(',').next().unwrap_or_default();
            let counts = documents.entry(document).or_default();
            counts[0] += 1;
            for claim in verdicts.claims() {
                let of_model = 3 * usize::from(claim.modelled.is_some());
                counts[1] += 1;
                counts[match claim.verdict {
                    ClaimVerdict::Holds => 2 + of_model,
                    ClaimVerdict::DoesNotHold => 3 + of_model,
                    ClaimVerdict::NotDistinguishable => 4,
                    ClaimVerdict::CannotBeJudged => 7,
                }] += 1;
            }
        }
        let documents: Vec<_> = documents.into_iter().collect();
        let table = Table::of(&documents).column("document", |(document, _)| *document);
        table.columns(COUNTS, |(_, counts)| *counts).build()
    }

    /// Returns a section of the newest report of an experiment that has it: its figure, or the rest.
    fn part(&self, id: &str, title: &str, figure: bool) -> Result<String> {
        let shown = places(self.root, id).into_iter().find_map(|place| {
            let text = fs::read_to_string(self.root.join(&place).join("report.md")).ok()?;
            let (_, section) = text.split_once(&format!("# {title}\n"))?;
            let lines = section.lines().take_while(|line| !line.starts_with('#'));
            let own = lines.filter(|line| line.starts_with("![") == figure);
            let own = own.collect::<Vec<_>>().join("\n").replace("\n\n\n", "\n\n");
            Some((own.trim().replace("](", &format!("]({place}/")), place))
        });
        let (shown, place) = shown
            .filter(|(shown, _)| !shown.is_empty())
            .with_context(|| "no newest report shows it; `reproduce ID --recorded FOLDER` writes reports anew")?;
        Ok(format!("{shown}\n\n*{title}*: {}.\n", self.origin(id, &place)?))
    }

    /// Returns when and where the rows in a folder were measured, and which methods of the experiment have no time
    /// there.
    fn origin(&self, id: &str, place: &str) -> Result<String> {
        let store = Store::open(&self.root.join(place))?;
        let experiment = self.experiments.iter().map(|(experiment, _)| experiment);
        let missing = experiment.filter(|of| of.id == id).map(|of| without_time(of, store.all().0));
        let missing = missing.collect::<Result<Vec<_>>>()?.concat().join(", ");
        let without = if missing.is_empty() { "" } else { ", without a time of " };
        Ok(source(&store.runs().collect::<Vec<_>>(), &format!("{place}/report.md"))? + without + &missing)
    }

    /// Returns the cost and the speed of the CPU methods in the newest result file of a corpus with this name.
    fn methods(&self, file: &str) -> Result<String> {
        let folders = self.root.join(RESULTS).read_dir()?;
        let names = folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let files = names.filter(|name| name.starts_with("cpu-"));
        let files = files.map(|name| format!("{RESULTS}/{name}/{file}"));
        let newest = files.filter(|rows| self.root.join(rows).is_file()).max();
        let newest = newest.with_context(|| format!("there is no {RESULTS}/cpu-*/{file}"))?;
        let record = format!("{newest}.run.json");
        let run = fs::read(self.root.join(&record)).with_context(|| record.clone())?;
        let mut table = Vec::new();
        results::table(&self.root.join(&newest), &mut table)?;
        let source = source(&[&serde_json::from_slice(&run)?], &record)?;
        Ok(format!("{}\n{source}.\n", String::from_utf8(table)?))
    }
}

/// Returns the folder of the newest run on each machine that was not quick, measured ones first.
fn places(root: &Path, id: &str) -> Vec<String> {
    let mut machines = BTreeSet::new();
    let mut names = recorded(root, id).unwrap_or_default();
    names.reverse();
    names.retain(|name| !name.ends_with(QUICK_RUN) && machines.insert(after_day(name).map(str::to_owned)));
    names.sort_by_key(|name| after_day(name).is_some_and(|rest| rest.starts_with(MODEL_RUN)));
    names.into_iter().map(|name| format!("{RESULTS}/{id}/{name}")).collect()
}

/// Returns when and on which machines the rows of a report were measured, or modelled: the GPUs of all runs, or else
/// the CPUs.
fn source(runs: &[&Value], report: &str) -> Result<String> {
    let last = runs.last().with_context(|| format!("{report}: no run record"))?;
    let [mut gpus, mut cpus] =
        ["gpu", "cpu"].map(|part| -> Vec<_> { runs.iter().filter_map(|run| machine(run, part)).collect() });
    let machines = if gpus.is_empty() { &mut cpus } else { &mut gpus };
    machines.sort();
    machines.dedup();
    let facts = last["date"].as_str().zip(last["revision"].as_str());
    let (date, revision) =
        facts.filter(|_| !machines.is_empty()).with_context(|| format!("{report}: no date or machine"))?;
    let day = date.get(..10).unwrap_or(date);
    Ok(format!("[{day}]({report}), {}, revision {revision}", machines.join("; ")))
}

/// Returns the methods of an experiment without a time, if others of their kind of device have one.
fn without_time(experiment: &Experiment, lines: &[RecordedRow]) -> Result<Vec<String>> {
    let timed: Vec<_> = lines.iter().filter(|line| line.is_ok()).collect();
    let on_cpu = |device: Option<Device>| device == Some(Device::Cpu);
    let mut missing = BTreeSet::new();
    for block in &experiment.blocks {
        let of_block = on_cpu(Some(blocks::device(block)));
        if timed.iter().any(|line| on_cpu(line.row.device) == of_block) {
            let names = select(&block.methods)?.into_iter().map(|choice| choice.name());
            missing.extend(names.filter(|name| !timed.iter().any(|line| line.method() == name)));
        }
    }
    Ok(missing.into_iter().map(|name| format!("`{name}`")).collect())
}
