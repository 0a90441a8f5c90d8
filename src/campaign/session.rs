//! The measurement session that all measuring commands use: prepares threads, methods and devices, and measures
//! one matrix from its source to the report.

mod measure;
#[cfg(feature = "mpi")]
mod ranks;

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::env::Env;
#[cfg(feature = "mpi")]
use super::env::Together;
use super::install::{self, Profiles};
use super::plan::Plan;
use super::version::{REVISION, VERSION};
use super::work::{MatrixTask, Part};
use super::{bandwidth, choice, idle};
use crate::bench::clock::Clock;
use crate::bench::event::{Event, Step, Stopped};
use crate::bench::execute::Cell;
use crate::bench::inputs::replace_values;
use crate::bench::need;
use crate::bench::outcome::Outcome;
use crate::bench::problem::Reordered;
use spmv_matrix::Csr;
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::loaded::Loaded;
use spmv_matrix::memory::extent::Extent;
use spmv_matrix::memory::{self, Available, ReadBounds, SizeHint};
use spmv_matrix::order::Order;
use spmv_matrix::remarks;
use spmv_matrix::scalar::Precision;
use spmv_matrix::source::{LoadError, Opened, Source};
use spmv_matrix::stats::Shape;
use spmv_matrix::system::energy::Rapl;
use spmv_matrix::system::processes::start_pool;
use spmv_methods::device::Gpu;
use spmv_methods::method::{Choice, Device};
use spmv_methods::simd::Isa;
use spmv_methods::team::Team;
use spmv_methods::vendor::mkl;
use spmv_results::matrix::MatrixReport;
use spmv_results::row::{MatrixFacts, Row, RowKey, Status, matrix_name};
use spmv_results::run::{self, GpuRecord, HostEnergy, RunRecord};
use spmv_results::settings::{RunSettings, Settings};

/// The reason for skipping a matrix with a single row or column, as the paper merge-spmv does.
const TRIVIAL: &str = "it has only one row or column, or none; such matrices are skipped, as in merge-spmv";

pub struct Session<'a> {
    /// The rows that each matrix gets, in their order.
    cells: Vec<Cell<'static>>,
    /// The GPU, if any of the methods runs on it.
    gpu: Option<Gpu>,
    plan: Plan,
    profiles: Profiles,
    kept: Option<CacheFolder>,
    team: Team,
    rapl: Option<Rapl>,
    clock: &'a dyn Clock,
    interrupted: &'a AtomicBool,
    run_id: String,
    is_worker: bool,
    #[cfg(feature = "mpi")]
    together: Together,
}

impl<'a> Session<'a> {
    pub fn start(plan: &Plan, env: &mut Env<'a>) -> Result<Self> {
        let (choices, gpu) = choice::methods(&plan.run, env)?;
        Self::of(choices, gpu, plan, env)
    }

    /// Like [`Session::start`], but with these methods and this GPU.
    pub fn of(choices: Vec<Choice<'static>>, gpu: Option<Gpu>, plan: &Plan, env: &mut Env<'a>) -> Result<Self> {
        let run = &plan.run;
        let choices: Vec<_> = choices.iter().flat_map(|choice| choice::swept(choice, &plan.sweep)).collect();
        ensure!(
            run.threads.len() <= 1,
            "--threads: several numbers are measured in separate child processes, which --no-isolate and mpi-merge \
             do not use: choose one number"
        );
        run.settings.check().map_err(|error| anyhow!(error))?;
        for order in &run.orders {
            order.check().map_err(|error| anyhow!("--order: {error}"))?;
        }
        let team = team(run.threads.first().copied(), env)?;
        let isa = run.settings.isa;
        ensure!(Isa::available().contains(&isa), "--isa: this CPU does not support these instructions");
        if isa != Isa::detect() {
            mkl::limit(isa);
        }
        let profiles = install::profiles(&choices, run, &team, env)?;
        let device = gpu.as_ref().map_or(Device::Gpu, Gpu::device);
        let mut cells = cells(&choices, run, device, team.len());
        if let Some(ranks) = env.together.count() {
            cells.iter_mut().for_each(|cell| cell.key.threads = Some(ranks));
        }
        Ok(Self {
            cells,
            gpu,
            team,
            rapl: Rapl::open(&env.powercap).ok(),
            run_id: env.run_id.clone(),
            is_worker: false,
            #[cfg(feature = "mpi")]
            together: env.together.clone(),
            kept: env.matrices.clone().filter(|_| run.matrix_cache),
            plan: plan.clone(),
            profiles,
            clock: env.clock,
            interrupted: env.interrupted,
        })
    }

    /// Changes the session to that of a child process, which ends if its device is lost.
    pub fn in_child(self) -> Self {
        Self { is_worker: true, ..self }
    }

    /// Creates the record of the run at its beginning, without the command line. Measures the bandwidths if the plan
    /// requires them, that of the host only if a method runs on it.
    pub fn record(&self, env: &Env) -> RunRecord {
        let is_on_host = self.cells.iter().any(|cell| cell.key.device == Device::Cpu);
        let is_wanted = self.plan.bandwidth && is_on_host;
        let sizes = if is_wanted { bandwidth::sizes(&env.system) } else { Vec::new() };
        // Before the measurement of bandwidth, which would count as activity.
        let activity = self.gpu.as_ref().and_then(|gpu| gpu.activity());
        let rapl = self.rapl.as_ref().filter(|_| is_on_host);
        let [host_watts, idle_watts] =
            if self.plan.bandwidth { idle::watts(rapl, self.gpu.as_ref(), self.clock) } else { [None; 2] };
        let gpu = self.gpu.as_ref().map(|gpu| {
            let (bandwidth, launch_us) = if self.plan.bandwidth { bandwidth::of_gpu(gpu) } else { (Vec::new(), None) };
            let facts = gpu.facts().clone();
            let nominal_gbs = facts.nominal_gbs();
            let clocks = None;
            GpuRecord { facts, nominal_gbs, bandwidth, launch_us, activity, idle_watts, clocks }
        });
        let energy = rapl.map(|rapl| HostEnergy::new(rapl, host_watts));
        let bandwidth = bandwidth::of_team(&self.team, self.clock, &sizes);
        let begin = (env.readings)();
        RunRecord {
            run_id: self.run_id.clone(),
            date: env.date.clone(),
            version: VERSION.into(),
            revision: REVISION.into(),
            command: Vec::new(),
            gpu,
            energy,
            bandwidth,
            system: env.system.clone(),
            pinned_to: self.team.cpus().to_vec(),
            settings: self.plan.run.settings.clone(),
            expand: self.plan.run.expand,
            edges: self.plan.run.edges,
            order: self.plan.run.orders[0],
            cells: self.cells.iter().map(|cell| cell.key.clone()).collect(),
            libraries: Vec::new(),
            corpus: None,
            sessions: vec![run::Session { date: env.date.clone(), begin, end: None, others: None }],
            joined: Vec::new(),
        }
    }

    /// Carries out a task and calls `emit` for each result as soon as it is available. Errors are recorded as rows.
    /// Ends early if the task is interrupted, or if the device is lost in a child process.
    pub fn carry_out(&self, task: &MatrixTask, emit: &dyn Fn(Event)) -> Result<(), Stopped> {
        emit(Event::Step(Step::Load));
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.together.ranks {
            return self.carry_out_together(ranks, task, emit);
        }
        let mut report = MatrixReport::default();
        let csr = self.read(task, &mut report)?;
        let facts = report.facts.clone();
        emit(Event::Matrix(Box::new(report)));
        csr.map_or(Ok(()), |csr| self.carry_out_on(&csr, &facts, &task.part, emit))
    }

    /// Measures a part of the run on a matrix in memory, which `facts` describes.
    pub fn carry_out_on(
        &self,
        csr: &Csr<f64>,
        facts: &MatrixFacts,
        part: &Part,
        emit: &dyn Fn(Event),
    ) -> Result<(), Stopped> {
        let own = self.cells_of(part);
        for of_order in own.chunk_by(|a, b| a.key.order == b.key.order) {
            let order = of_order[0].key.order.unwrap_or(Order::Natural);
            if order != Order::Natural {
                emit(Event::Step(Step::Order(order)));
            }
            let name = matrix_name(&facts.file);
            let reordered = Reordered::new(csr, name, order, self.clock);
            let is_same = |a: &Cell, b: &Cell| (a.key.cache, a.key.precision) == (b.key.cache, b.key.precision);
            for of_problem in of_order.chunk_by(is_same) {
                if of_problem[0].key.precision == Precision::F64 {
                    self.measure::<f64>(csr, &reordered, facts, of_problem, part, emit)?;
                } else {
                    self.measure::<f32>(csr, &reordered, facts, of_problem, part, emit)?;
                }
            }
        }
        Ok(())
    }

    fn cells_of(&self, part: &Part) -> Vec<Cell<'static>> {
        let cells = self.cells.iter().filter(|cell| part.cells.contains(&cell.key)).cloned();
        cells.map(|cell| Cell { duels: part.duelists.contains(&cell.key), ..cell }).collect()
    }

    /// Returns the matrix as it is measured, and describes it in `report`; or else the reason why it is not measured.
    fn read(&self, task: &MatrixTask, report: &mut MatrixReport) -> Result<Option<Csr<f64>>, Stopped> {
        report.facts.file = task.source.to_string();
        let end = match self.read_if_it_fits(task, report) {
            Ok(Ok(csr)) => return Ok(Some(csr)),
            Ok(Err(end)) => end,
            Err(error) if error.is_interrupted() => return Err(Stopped::Interrupted),
            Err(error) if error.is_unsupported() => Outcome::new(Status::Skipped, error.to_string()),
            Err(error) => Outcome::new(Status::Failed, error.to_string()),
        };
        report.ended = Some(end.in_row(Row::of_matrix(&report.facts, &self.run_id)));
        Ok(None)
    }

    /// Like [`Session::read`], but returns why a matrix that can be read is not measured, or the error of one that
    /// cannot.
    fn read_if_it_fits(
        &self,
        task: &MatrixTask,
        report: &mut MatrixReport,
    ) -> Result<Result<Csr<f64>, Outcome>, LoadError> {
        let available = Available::now(self.plan.run.settings.max_memory, 0);
        let bounds = ReadBounds::new(self.interrupted, available.bytes, available.by);
        let opened = task.source.open(self.plan.run.reading(), bounds)?;
        if let Some(reason) = self.too_large(&opened) {
            return Ok(Err(Outcome::new(Status::Skipped, reason)));
        }
        let start = self.clock.now();
        let mut loaded = opened.load(self.kept.as_ref())?;
        let load = (self.clock.now() - start).as_secs_f64();
        *report = self.described(&task.source, &mut loaded, load, bounds);
        if self.plan.skip_trivial && report.is_trivial() {
            return Ok(Err(Outcome::new(Status::Skipped, TRIVIAL.into())));
        }
        let sizes = report.facts.shape.as_ref().map(Shape::sizes);
        let differs = sizes.and_then(|sizes| task.differs_from(sizes));
        Ok(differs.map_or(Ok(loaded.csr), |reason| Err(Outcome::new(Status::Failed, reason))))
    }

    /// Gives a matrix the values with which it is measured, and describes it. `load` is the time of reading it in
    /// seconds.
    fn described(&self, source: &Source, loaded: &mut Loaded, load: f64, bounds: ReadBounds) -> MatrixReport {
        let (kind, symmetry) = (source.kind(loaded), loaded.pattern_symmetry());
        loaded.write_to_cache(bounds);
        replace_values(&self.plan.run.settings, &mut loaded.csr);
        let (file, values) = (source.to_string(), self.plan.run.settings.values);
        let of_file = loaded.facts.iter().flat_map(|facts| facts.remarks.clone());
        let precisions = self.plan.run.precisions.iter();
        let of_values = precisions.flat_map(|&precision| remarks::of_precision(loaded.csr.values(), precision));
        let notes: Vec<_> = loaded.note.take().into_iter().chain(of_file).chain(of_values).collect();
        MatrixReport {
            facts: MatrixFacts::of(file, kind, symmetry, &loaded.csr, values),
            load_ms: Some(1e3 * load),
            load_mbs: loaded.bytes.map(|bytes| bytes as f64 / load / 1e6),
            from_cache: loaded.from_cache,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            duplicates: loaded.facts.as_ref().map_or(0, |facts| facts.duplicates),
            ..MatrixReport::default()
        }
    }

    /// Returns the reason why a matrix, including the memory to measure it, does not fit into memory.
    fn too_large(&self, opened: &Opened) -> Option<String> {
        let available = Available::now(self.plan.run.settings.max_memory, opened.stream_bytes());
        let refusal = |need| {
            let refusal = memory::refusal("to load and run", need, available)?;
            Some(format!("{refusal}; {}", available.advice()))
        };
        if let Some(reason) = refusal(opened.bytes_for_size_hint()) {
            return Some(reason);
        }
        let SizeHint { rows, cols, nnz, scratch } = opened.size_hint()?;
        let extent = Extent::announced(rows, cols, nnz, self.team.len());
        let need = |cell: &Cell| {
            let (cache, order) = (cell.key.cache, cell.key.order.unwrap_or(Order::Natural));
            let cache = cache.unwrap_or(self.plan.run.settings.cache);
            let settings = Settings { cache, ..self.plan.run.settings.clone() };
            need::all(&extent, &settings, cell.key.precision, order)
        };
        let all = self.cells.iter().map(need).max().unwrap_or_default();
        refusal(all.max(extent.csr() + scratch))
    }
}

/// Returns the rows that each matrix gets, grouped by order, precision, cache state and device. Methods of the GPU run
/// on `gpu`, parallel ones of the CPU on `threads` threads.
pub fn cells(choices: &[Choice<'static>], run: &RunSettings, gpu: Device, threads: usize) -> Vec<Cell<'static>> {
    let mut cells = Vec::new();
    for &order in &run.orders {
        for &precision in &run.precisions {
            for &cache in &run.caches {
                for device in [Device::Cpu, gpu] {
                    let here = choices.iter().filter(|it| it.method.runs_on(gpu) == device);
                    cells.extend(here.map(|choice| Cell {
                        key: RowKey {
                            precision,
                            device,
                            method: choice.name(),
                            threads: choice.method.threads(threads),
                            cache: Some(cache),
                            order: Some(order),
                        },
                        choice: choice.clone(),
                        duels: false,
                    }));
                }
            }
        }
    }
    cells
}

/// Starts the threads, each bound to its own CPU.
fn team(threads: Option<usize>, env: &Env) -> Result<Team> {
    let cpus = &env.system.cpus;
    let threads = threads.unwrap_or_else(|| env.system.threads());
    ensure!(threads > 0, "--threads 0: at least one thread is needed");
    if threads > cpus.len() {
        bail!("--threads {threads}: this process may run on only {} CPUs", cpus.len());
    }
    // The pool is built before this thread is bound, because its threads would inherit the single CPU. A second
    // session in the same process keeps the pool of the first one.
    let started = start_pool(threads).and_then(|()| Team::pinned(&cpus[..threads]));
    started.with_context(|| format!("cannot start {threads} threads"))
}
