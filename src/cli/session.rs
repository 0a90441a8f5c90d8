//! What the measuring commands share: threads, methods and output made ready, and one matrix from
//! source to report.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};

use super::args::MeasureArgs;
use super::{World, system};
use crate::bench::clock::Clock;
use crate::bench::execute::{Bench, Interrupted};
use crate::bench::metrics::compulsory_bytes;
use crate::bench::outcome::{Outcome, Report};
use crate::bench::peak::Peak;
use crate::bench::plan::Settings;
use crate::matrix::Csr;
use crate::matrix::market::MarketError;
use crate::matrix::source::{Loaded, Source};
use crate::matrix::stats::pattern_symmetry;
use crate::method::Method;
use crate::methods::METHODS;
use crate::record::row::{Circumstances, MatrixFacts, Row, Shape, Status};
use crate::record::run::{Library, REVISION, RunRecord};
use crate::record::{Group, MatrixReport};
use crate::scalar::{Precision, Scalar};
use crate::system::System;
use crate::team::Team;

/// The method whose time per product setups are set off against: plain parallel CSR.
const BREAK_EVEN_BASELINE: &str = "csr-rows";

/// What a whole run shares.
pub struct Session<'a> {
    methods: Vec<&'static Method>,
    precisions: &'static [Precision],
    settings: Settings,
    expand: bool,
    team: Team,
    clock: &'a dyn Clock,
    interrupted: &'a AtomicBool,
    run_id: String,
    /// Opened before anything is timed.
    libraries: Vec<Library>,
}

/// A matrix' report; interrupted, it holds the precisions that were completed.
pub struct Run {
    pub report: MatrixReport,
    pub interrupted: bool,
}

impl<'a> Session<'a> {
    /// Checks what was asked for and starts the threads.
    pub fn start(args: &MeasureArgs, world: &World<'a>) -> Result<Self> {
        let methods = select(&args.methods)?;
        let team = team(args.threads, world)?;
        Ok(Self {
            methods,
            precisions: args.precisions(),
            settings: args.settings(),
            team,
            run_id: world.run_id.clone(),
            libraries: system::libraries(),
            expand: !args.no_expand,
            clock: world.clock,
            interrupted: world.interrupted,
        })
    }

    /// Writes the facts of the run where they were asked for; with results on stdout and no file
    /// named, a line on stderr.
    pub fn record(
        &self,
        args: &MeasureArgs,
        command: Vec<String>,
        stderr: &mut dyn Write,
        date: &str,
        machine: &System,
    ) -> Result<()> {
        let beside = args.output.as_ref().map(|output| {
            let mut name = output.clone().into_os_string();
            name.push(".run.json");
            PathBuf::from(name)
        });
        let Some(path) = args.run_record.clone().or(beside) else {
            return self.summarise(args.quiet, stderr, machine);
        };
        let record = RunRecord {
            run_id: self.run_id.clone(),
            date: date.to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            revision: REVISION,
            command,
            system: machine.clone(),
            pinned_to: self.team.cpus().to_vec(),
            settings: self.settings.clone(),
            libraries: self.libraries.clone(),
            bandwidth: system::bandwidth(&self.team, self.clock, &system::sizes(machine)),
        };
        let json = serde_json::to_string_pretty(&record)? + "\n";
        std::fs::write(&path, json).with_context(|| format!("cannot write {}", path.display()))
    }

    fn summarise(&self, quiet: bool, stderr: &mut dyn Write, machine: &System) -> Result<()> {
        if !quiet {
            let cpu = machine.cpu.as_deref().unwrap_or("unknown CPU");
            let (threads, cpus) = (self.team.len(), self.team.cpus());
            let run = &self.run_id;
            writeln!(
                stderr,
                "run {run}, revision {REVISION}: {cpu}, {threads} threads on CPUs {cpus:?}"
            )?;
        }
        Ok(())
    }

    /// Reads and measures one matrix. Whatever goes wrong becomes a row. A trivial matrix may be left
    /// unmeasured.
    pub fn run(&self, source: &Source, skip_trivial: bool) -> Run {
        let start = self.clock.now();
        let loaded = source.load(self.expand);
        let load = (self.clock.now() - start).as_secs_f64();
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return self.unreadable(source, &error),
        };
        let mut report = MatrixReport {
            facts: facts(source, &loaded),
            load_ms: Some(1e3 * load),
            load_mbs: loaded.market.map(|market| market.file_bytes as f64 / load / 1e6),
            duplicates: loaded.market.map_or(0, |market| market.duplicates),
            ..MatrixReport::default()
        };
        if skip_trivial && report.is_trivial() {
            return Run { report, interrupted: false };
        }
        for &precision in self.precisions {
            let group = match precision {
                Precision::F64 => self.measure::<f64>(&loaded.csr, &report.facts),
                Precision::F32 => self.measure::<f32>(&loaded.csr, &report.facts),
            };
            match group {
                Ok(group) => report.groups.push(group),
                Err(Interrupted) => return Run { report, interrupted: true },
            }
        }
        Run { report, interrupted: false }
    }

    fn unreadable(&self, source: &Source, error: &MarketError) -> Run {
        let facts = MatrixFacts { file: source.to_string(), ..MatrixFacts::default() };
        let status = if error.is_unsupported() { Status::Skipped } else { Status::Failed };
        let row = Row::of_matrix(&facts, &self.run_id).ended(status, error.to_string());
        let report = MatrixReport { facts, ended: Some(row), ..MatrixReport::default() };
        Run { report, interrupted: false }
    }

    /// All methods in one precision.
    fn measure<T: Scalar>(
        &self,
        csr: &Csr<f64>,
        facts: &MatrixFacts,
    ) -> Result<Group, Interrupted> {
        let report = match csr.to_precision::<T>() {
            Ok(csr) => {
                let Self { team, clock, interrupted, settings, .. } = self;
                Bench { team, clock: *clock, interrupted, settings }.measure(&csr, &self.methods)?
            }
            Err(value) => {
                let reason = format!("value {value:e} overflows {}", T::PRECISION.name());
                let outcomes = vec![Outcome::Skipped(reason); self.methods.len()];
                Report { peak: Peak::default(), outcomes }
            }
        };
        let footprint = compulsory_bytes(csr.rows, csr.cols, csr.nnz(), T::PRECISION);
        Ok(self.group(T::PRECISION, footprint, facts, &report))
    }

    fn group(
        &self,
        precision: Precision,
        footprint: u64,
        facts: &MatrixFacts,
        report: &Report,
    ) -> Group {
        let results = || self.methods.iter().zip(&report.outcomes);
        let baseline_ms = results().find_map(|(method, outcome)| match outcome {
            Outcome::Ok(measured) if method.name == BREAK_EVEN_BASELINE => {
                Some(measured.summary.mean_ms)
            }
            _ => None,
        });
        let circumstances = Circumstances {
            precision,
            threads: self.team.len(),
            cache: self.settings.cache,
            peak_gbs: report.peak.gbs(),
            baseline_ms,
            run_id: &self.run_id,
        };
        let row = |(&method, outcome): (&&Method, &Outcome)| {
            Row::new(facts, method, outcome, &circumstances)
        };
        Group {
            precision,
            threads: self.team.len(),
            cache: self.settings.cache,
            footprint,
            peak: report.peak,
            rows: results().map(row).collect(),
        }
    }
}

fn facts(source: &Source, loaded: &Loaded) -> MatrixFacts {
    let mirrored = loaded.market.is_some_and(|market| market.mirrored);
    let pattern_symmetry =
        if mirrored && loaded.csr.nnz() > 0 { Some(1.0) } else { pattern_symmetry(&loaded.csr) };
    MatrixFacts { file: source.to_string(), shape: Some(Shape::of(&loaded.csr)), pattern_symmetry }
}

/// The methods that the patterns name, in the list's order.
fn select(patterns: &[String]) -> Result<Vec<&'static Method>> {
    let known = || METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ");
    let mut chosen = vec![false; METHODS.len()];
    for text in patterns {
        let pattern = glob::Pattern::new(text).with_context(|| format!("--methods {text}"))?;
        let mut found = false;
        for (method, chosen) in METHODS.iter().zip(&mut chosen) {
            let matches = pattern.matches(method.name);
            *chosen |= matches;
            found |= matches;
        }
        ensure!(found, "--methods {text}: no such method; there are {}", known());
    }
    let chosen = METHODS.iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(chosen.map(|(method, _)| method).collect())
}

/// The threads: pinned, at most one per CPU.
fn team(threads: Option<usize>, world: &World) -> Result<Team> {
    let System { cpus, cores, .. } = &world.system;
    let threads = threads.unwrap_or(*cores);
    ensure!(threads > 0, "--threads 0: at least one is needed");
    if threads > cpus.len() {
        bail!("--threads {threads}: this process may run on {} CPUs only", cpus.len());
    }
    // Before this thread is pinned, or its children would inherit the one CPU. A second session
    // in one process keeps the first one's pool.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    Team::pinned(&cpus[..threads]).with_context(|| format!("cannot pin to CPU {}", cpus[0]))
}

/// Where the results go: `--output` or stdout.
pub fn output<'a>(args: &MeasureArgs, stdout: &'a mut dyn Write) -> Result<Box<dyn Write + 'a>> {
    Ok(match &args.output {
        Some(path) => {
            let file = File::create(path);
            Box::new(file.with_context(|| format!("cannot create {}", path.display()))?)
        }
        None => Box::new(stdout),
    })
}
