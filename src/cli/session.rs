//! What the measuring commands share: threads, methods and output made ready, and one matrix from
//! source to report.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};

use super::args::MeasureArgs;
use super::ordered::Ordered;
use super::{World, choice, install, system};
use crate::bench::clock::Clock;
use crate::bench::execute::{Bench, Interrupted};
use crate::bench::metrics::compulsory_bytes;
use crate::bench::outcome::{Outcome, Report};
use crate::bench::plan::Settings;
use crate::device::Gpu;
use crate::device::buffer::Value;
use crate::device::facts::Clocks;
use crate::matrix::kept::Kept;
use crate::matrix::order::Order;
use crate::matrix::source::{LoadError, Loaded, Source};
use crate::method::{Choice, Device, Unavailable};
use crate::methods::{cpu, gpu};
use crate::record::row::{Circumstances, MatrixFacts, Row, Shape, Status};
use crate::record::run::{Library, RunRecord};
use crate::record::{Group, MatrixReport};
use crate::scalar::Precision;
use crate::simd::Isa;
use crate::system::System;
use crate::team::Team;

/// The methods whose times per product setups are set off against: plain parallel CSR of each device.
const BREAK_EVEN_BASELINES: [&str; 2] = ["csr-rows", "gpu-csr-vector"];

/// What a whole run shares.
pub struct Session<'a> {
    pub(super) choices: Vec<Choice<'static>>,
    pub(super) gpu: Result<Gpu, Unavailable>,
    precisions: &'static [Precision],
    pub(super) settings: Settings,
    pub(super) expand: bool,
    kept: Option<Kept>,
    order: Order,
    pub(super) team: Team,
    pub(super) clock: &'a dyn Clock,
    interrupted: &'a AtomicBool,
    pub(super) run_id: String,
    /// Opened before anything is timed.
    pub(super) libraries: Vec<Library>,
    /// The GPU's clocks before and after each matrix.
    pub(super) clocks: Vec<Clocks>,
    /// Where the facts of the run are written, and what.
    pub(super) recorded: Option<(PathBuf, RunRecord)>,
}

/// A matrix' report; interrupted, it holds the groups that were completed.
pub struct Run {
    pub report: MatrixReport,
    pub interrupted: bool,
}

impl<'a> Session<'a> {
    /// Checks what was asked for and starts the threads.
    pub fn start(args: &MeasureArgs, world: &mut World<'a>) -> Result<Self> {
        let (choices, gpu) = choice::methods(args, world)?;
        let team = team(args.threads, world)?;
        let settings = args.settings();
        ensure!(Isa::available().contains(&settings.isa), "--isa: this machine lacks it");
        let precisions = args.precisions();
        let profiles = install::profiles(&choices, precisions, settings.isa, args.quiet, world)?;
        Ok(Self {
            choices,
            gpu,
            precisions,
            settings: Settings { profiles, ..settings },
            team,
            run_id: world.run_id.clone(),
            libraries: system::libraries(),
            clocks: Vec::new(),
            recorded: None,
            expand: !args.no_expand,
            kept: world.matrices.clone().filter(|_| !args.no_cache),
            order: args.order,
            clock: world.clock,
            interrupted: world.interrupted,
        })
    }

    /// Reads and measures one matrix. Whatever goes wrong becomes a row. A trivial matrix may be left
    /// unmeasured.
    pub fn run(&mut self, source: &Source, skip_trivial: bool) -> Run {
        let start = self.clock.now();
        let loaded = source.load(self.expand, self.kept.as_ref());
        let load = (self.clock.now() - start).as_secs_f64();
        let mut loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return self.unreadable(source, &error),
        };
        let facts = facts(source, &mut loaded);
        loaded.keep();
        let mut report = MatrixReport {
            facts,
            load_ms: Some(1e3 * load),
            load_mbs: loaded.bytes.map(|bytes| bytes as f64 / load / 1e6),
            from_cache: loaded.from_cache,
            note: loaded.note.take(),
            duplicates: loaded.market.as_ref().map_or(0, |market| market.duplicates),
            ..MatrixReport::default()
        };
        if skip_trivial && report.is_trivial() {
            return Run { report, interrupted: false };
        }
        let ordered = Ordered::new(&loaded.csr, self.order, self.clock);
        report.reordering = ordered.as_ref().ok().and_then(|ordered| ordered.cost);
        for &precision in self.precisions {
            let measured = match precision {
                Precision::F64 => self.measure::<f64>(&ordered, &mut report),
                Precision::F32 => self.measure::<f32>(&ordered, &mut report),
            };
            if measured == Err(Interrupted) {
                return Run { report, interrupted: true };
            }
        }
        Run { report, interrupted: false }
    }

    fn unreadable(&self, source: &Source, error: &LoadError) -> Run {
        let facts = MatrixFacts { file: source.to_string(), ..MatrixFacts::default() };
        let status = if error.is_unsupported() { Status::Skipped } else { Status::Failed };
        let row = Row::of_matrix(&facts, &self.run_id).ended(status, error.to_string());
        let report = MatrixReport { facts, ended: Some(row), ..MatrixReport::default() };
        Run { report, interrupted: false }
    }

    /// All methods in one precision: a group per device that any of them runs on.
    fn measure<T: Value>(
        &mut self,
        ordered: &Result<Ordered, String>,
        report: &mut MatrixReport,
    ) -> Result<(), Interrupted> {
        let Self { team, clock, interrupted, settings, .. } = &*self;
        let bench = Bench { team, clock: *clock, interrupted, settings };
        let matrix = ordered.as_ref().map_err(Clone::clone).and_then(Ordered::to_precision::<T>);
        let trial = matrix.as_ref().map(|matrix| matrix.trial(&bench));
        let mut clocks = Vec::new();
        for device in [Device::Cpu, Device::Gpu] {
            let of_device = |choice: &&Choice| choice.method.device() == device;
            let choices: Vec<_> = self.choices.iter().filter(of_device).cloned().collect();
            if choices.is_empty() {
                continue;
            }
            let skipped = |reason: String| {
                let outcomes = vec![Outcome::Skipped(reason); choices.len()];
                Report { outcomes, ..Report::default() }
            };
            let measured = match (&trial, device, &self.gpu) {
                (Err(reason), ..) => skipped((*reason).clone()),
                (Ok(trial), Device::Cpu, _) => trial.on_host(&choices)?,
                (Ok(trial), Device::Gpu, Ok(gpu)) => trial.on_gpu(gpu, &choices)?,
                (_, Device::Gpu, Err(Unavailable(reason))) => skipped(reason.clone()),
            };
            clocks.extend(measured.clocks.iter().flatten().cloned());
            let group = self.group(T::PRECISION, device, &choices, report, measured);
            report.groups.push(group);
        }
        self.clocks.extend(clocks);
        Ok(())
    }

    fn group(
        &self,
        precision: Precision,
        device: Device,
        choices: &[Choice],
        matrix: &MatrixReport,
        report: Report,
    ) -> Group {
        let facts = &matrix.facts;
        let results = || choices.iter().zip(&report.outcomes);
        let baseline_ms = results().find_map(|(choice, outcome)| match outcome {
            Outcome::Ok(measured) if BREAK_EVEN_BASELINES.contains(&&*choice.name()) => {
                Some(measured.summary.mean_ms)
            }
            _ => None,
        });
        let circumstances = Circumstances {
            precision,
            threads: self.team.len(),
            cache: self.settings.cache,
            transpose: self.settings.transpose,
            order: self.order,
            order_ms: matrix.reordering.map(|cost| cost.order_ms),
            peak_gbs: report.peak.gbs(),
            baseline_ms,
            run_id: &self.run_id,
        };
        let row = |(choice, outcome): (&Choice, &Outcome)| {
            Row::new(facts, choice, outcome, &circumstances)
        };
        let stages = |outcome: &Outcome| match outcome {
            Outcome::Ok(measured) => measured.stages.clone(),
            _ => Vec::new(),
        };
        let shape = facts.shape.as_ref().expect("a measured matrix was read");
        let mut group = Group {
            precision,
            device,
            threads: self.team.len(),
            cache: self.settings.cache,
            footprint: compulsory_bytes(shape.rows, shape.cols, shape.nnz, precision),
            peak: Some(report.peak).filter(|peak| peak.gbs() > 0.0),
            compile_ms: report.compile_ms,
            clocks: report.clocks.clone(),
            rows: results().map(row).collect(),
            stages: report.outcomes.iter().map(stages).collect(),
        };
        let choosers = [cpu::auto::METHOD.name, gpu::auto::METHOD.name];
        choosers.into_iter().for_each(|chooser| group.set_off(chooser));
        group
    }
}

fn facts(source: &Source, loaded: &mut Loaded) -> MatrixFacts {
    MatrixFacts {
        file: source.to_string(),
        shape: Some(Shape::of(&loaded.csr)),
        pattern_symmetry: loaded.pattern_symmetry(),
        kind: source.kind(loaded),
    }
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
