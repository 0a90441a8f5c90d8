//! What the measuring commands share: threads, methods and output made ready, and one matrix from
//! source to report.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};

use super::args::{DeviceChoice, MeasureArgs};
use super::{World, choice, system};
use crate::bench::clock::Clock;
use crate::bench::execute::{Bench, Interrupted};
use crate::bench::metrics::compulsory_bytes;
use crate::bench::outcome::{Outcome, Report};
use crate::bench::plan::Settings;
use crate::device::Gpu;
use crate::device::buffer::Plain;
use crate::matrix::Csr;
use crate::matrix::market::MarketError;
use crate::matrix::source::{Loaded, Source};
use crate::matrix::stats::pattern_symmetry;
use crate::method::{Choice, Device, Unavailable};
use crate::record::row::{Circumstances, MatrixFacts, Row, Shape, Status};
use crate::record::run::{Library, REVISION, RunRecord};
use crate::record::{Group, MatrixReport};
use crate::scalar::{Precision, Scalar};
use crate::system::System;
use crate::team::Team;

/// The methods whose times per product setups are set off against: plain parallel CSR of each device.
const BREAK_EVEN_BASELINES: [&str; 2] = ["csr-rows", "gpu-csr-vector"];

/// What a whole run shares.
pub struct Session<'a> {
    choices: Vec<Choice<'static>>,
    gpu: Result<Gpu, Unavailable>,
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
    pub fn start(args: &MeasureArgs, world: &mut World<'a>) -> Result<Self> {
        let (choices, gpu) = methods(args, world)?;
        let team = team(args.threads, world)?;
        Ok(Self {
            choices,
            gpu,
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
            let measured = match precision {
                Precision::F64 => self.measure::<f64>(&loaded.csr, &mut report),
                Precision::F32 => self.measure::<f32>(&loaded.csr, &mut report),
            };
            if measured == Err(Interrupted) {
                return Run { report, interrupted: true };
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

    /// All methods in one precision: a group per device that any of them runs on.
    fn measure<T: Scalar + Plain>(
        &self,
        csr: &Csr<f64>,
        report: &mut MatrixReport,
    ) -> Result<(), Interrupted> {
        let csr = csr.to_precision::<T>();
        let Self { team, clock, interrupted, settings, .. } = self;
        let bench = Bench { team, clock: *clock, interrupted, settings };
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
            let measured = match (&csr, device, &self.gpu) {
                (Err(value), ..) => {
                    skipped(format!("value {value:e} overflows {}", T::PRECISION.name()))
                }
                (Ok(csr), Device::Cpu, _) => bench.measure(csr, &choices)?,
                (Ok(csr), Device::Gpu, Ok(gpu)) => bench.measure_on_gpu(gpu, csr, &choices)?,
                (_, Device::Gpu, Err(Unavailable(reason))) => skipped(reason.clone()),
            };
            let group = self.group(T::PRECISION, device, &choices, &report.facts, measured);
            report.groups.push(group);
        }
        Ok(())
    }

    fn group(
        &self,
        precision: Precision,
        device: Device,
        choices: &[Choice],
        facts: &MatrixFacts,
        report: Report,
    ) -> Group {
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
        Group {
            precision,
            device,
            threads: self.team.len(),
            cache: self.settings.cache,
            footprint: compulsory_bytes(shape.rows, shape.cols, shape.nnz, precision),
            peak: report.peak,
            compile_ms: report.compile_ms,
            rows: results().map(row).collect(),
            stages: report.outcomes.iter().map(stages).collect(),
        }
    }
}

fn facts(source: &Source, loaded: &Loaded) -> MatrixFacts {
    let mirrored = loaded.market.is_some_and(|market| market.mirrored);
    let pattern_symmetry =
        if mirrored && loaded.csr.nnz() > 0 { Some(1.0) } else { pattern_symmetry(&loaded.csr) };
    MatrixFacts { file: source.to_string(), shape: Some(Shape::of(&loaded.csr)), pattern_symmetry }
}

/// The methods that run and the GPU that they may run on. Without a GPU, those of the GPU are left
/// out, which is said once, unless they were asked for.
fn methods(
    args: &MeasureArgs,
    world: &mut World,
) -> Result<(Vec<Choice<'static>>, Result<Gpu, Unavailable>)> {
    let asked = args.methods.is_some() || args.device != DeviceChoice::All;
    let mut choices = choice::select(args.methods.as_deref().unwrap_or(&["*".into()]))?;
    choices.retain(|choice| args.device.includes(choice.method.device()));
    ensure!(!choices.is_empty(), "none of these methods runs on --device {}", args.device);
    let on_gpu = |choice: &Choice| choice.method.device() == Device::Gpu;
    if !choices.iter().any(on_gpu) {
        return Ok((choices, Err(Unavailable("no method needs it".into()))));
    }
    let gpu = (world.open_gpu)(args.gpu());
    if let Err(Unavailable(reason)) = &gpu {
        if let Some(number) = args.gpu() {
            bail!("GPU {number}: {reason}");
        }
        if !asked {
            choices.retain(|choice| !on_gpu(choice));
            writeln!(world.stderr, "without the GPU methods: {reason}")?;
        }
    }
    Ok((choices, gpu))
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
