//! The measurement session that all measuring commands use: prepares threads, methods and devices, and measures
//! one matrix from its source to the report.

mod group;
mod measure;

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};

use super::ordered::Ordered;
use super::progress::Progress;
use super::task::{Event, MatrixTask, Step, Way};
use super::{choice, install};
use crate::bench::clock::Clock;
use crate::bench::execute::Stopped;
use crate::bench::inputs::replace_values;
use crate::bench::plan::{CacheState, Settings};
use crate::cli::Env;
use crate::cli::args::MeasureArgs;
use crate::cli::system::DeviceSpeed;
use crate::device::Gpu;
use crate::matrix::Csr;
use crate::matrix::bounds::ReadBounds;
use crate::matrix::cached::MatrixCache;
use crate::matrix::order::Order;
use crate::matrix::source::{LoadError, Loaded, Opened, SizeHint, Source};
use crate::matrix::stats::distinct_values;
use crate::memory::extent::Extent;
use crate::memory::{self, Available};
use crate::method::{Choice, Device};
use crate::record::MatrixReport;
use crate::record::row::{MatrixFacts, Row, Shape, Status};
use crate::record::run::RowKey;
use crate::scalar::Precision;
use crate::simd::Isa;
use crate::system::noise::Readings;
use crate::team::Team;

/// The reason for skipping a matrix with a single row or column, as the paper merge-spmv does.
const TRIVIAL: &str =
    "it has only one row or column, or none; such matrices are skipped, as in merge-spmv";

/// The reason for not preparing a matrix if all of its methods have ended.
const NONE_LEFT: &str = "no method is left to run";

/// The data that are shared by all matrices of a run.
pub struct Session<'a> {
    pub choices: Vec<Choice<'static>>,
    /// The GPU, if any of the methods runs on it.
    pub gpu: Option<Gpu>,
    /// The speed of the GPU, measured at the start.
    pub device: DeviceSpeed,
    precisions: &'static [Precision],
    pub settings: Settings,
    pub expand: bool,
    kept: Option<MatrixCache>,
    pub orders: Vec<Order>,
    caches: Vec<CacheState>,
    pub team: Team,
    pub clock: &'a dyn Clock,
    interrupted: &'a AtomicBool,
    pub run_id: String,
    pub readings: fn() -> Readings,
    is_worker: bool,
}

/// The report of a matrix. If the run was interrupted, it contains only the completed groups.
pub struct Run {
    pub report: MatrixReport,
    pub interrupted: bool,
}

impl<'a> Session<'a> {
    /// Checks the arguments and starts the threads.
    pub fn start(args: &MeasureArgs, env: &mut Env<'a>) -> Result<Self> {
        let (choices, gpu) = choice::methods(args, env)?;
        let threads = args.threads();
        ensure!(
            threads.len() <= 1,
            "--threads: several numbers are measured in separate child processes, which --no-isolate, tune and \
             mpi-merge do not use: choose one number"
        );
        let team = team(threads.first().copied(), env)?;
        let settings = args.settings();
        ensure!(
            Isa::available().contains(&settings.isa),
            "--isa: this CPU does not support these instructions"
        );
        let precisions = args.precisions();
        let profiles = install::profiles(&choices, precisions, settings.isa, args.quiet, env)?;
        Ok(Self {
            choices,
            gpu,
            device: DeviceSpeed::default(),
            precisions,
            settings: Settings { profiles, ..settings },
            team,
            run_id: env.run_id.clone(),
            readings: env.readings,
            is_worker: false,
            expand: !args.no_expand,
            kept: env.matrices.clone().filter(|_| !args.no_cache),
            orders: args.orders(),
            caches: args.caches(),
            clock: env.clock,
            interrupted: env.interrupted,
        })
    }

    /// Changes the session to that of a child process, which ends if its device is lost.
    pub fn in_child(self) -> Self {
        Self { is_worker: true, ..self }
    }

    /// Reads and measures one matrix. Errors are recorded as rows. `skip_trivial` skips a matrix with a single row
    /// or column.
    pub fn run(&mut self, source: &Source, skip_trivial: bool, progress: &Progress) -> Run {
        let mut report = MatrixReport::default();
        let task = MatrixTask::whole(source, skip_trivial);
        let mut emit = |event: Event| {
            progress.note(&event);
            event.add_to(&mut report);
        };
        let stopped = self.carry_out(&task, &mut emit).is_err();
        Run { report, interrupted: stopped }
    }

    /// Carries out a task and calls `emit` for each result as soon as it is available.
    ///
    /// # Errors
    /// Returns an error if the task is interrupted, or if the device is lost in a child process.
    pub fn carry_out(&self, task: &MatrixTask, emit: &mut dyn FnMut(Event)) -> Result<(), Stopped> {
        emit(Event::Step(Step::Load));
        let available = Available::now(self.settings.max_memory, 0);
        let bounds = ReadBounds::new(self.interrupted, available.bytes, available.by);
        let opened = match task.source.open(self.expand, bounds) {
            Ok(opened) => opened,
            Err(error) => return self.unread(&task.source, &error, emit),
        };
        if let Some(reason) = self.too_large(&opened) {
            emit(Event::Matrix(Box::new(self.ended(&task.source, Status::Skipped, reason))));
            return Ok(());
        }
        let start = self.clock.now();
        let loaded = opened.load(self.kept.as_ref());
        let load = (self.clock.now() - start).as_secs_f64();
        let mut loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return self.unread(&task.source, &error, emit),
        };
        let facts = facts(&task.source, &mut loaded);
        loaded.write_to_cache(bounds);
        replace_values(&self.settings, &mut loaded.csr);
        let (values, distinct) = (self.settings.values, distinct_values(&loaded.csr.values));
        let facts = MatrixFacts { values: Some(values), distinct_values: distinct, ..facts };
        let mut report = MatrixReport {
            facts,
            load_ms: Some(1e3 * load),
            load_mbs: loaded.bytes.map(|bytes| bytes as f64 / load / 1e6),
            from_cache: loaded.from_cache,
            note: loaded.note.take(),
            duplicates: loaded.market.as_ref().map_or(0, |market| market.duplicates),
            ..MatrixReport::default()
        };
        if task.skip_trivial && report.is_trivial() {
            let row = Row::of_matrix(&report.facts, &self.run_id);
            report.ended = Some(row.ended(Status::Skipped, TRIVIAL.into()));
            emit(Event::Matrix(Box::new(report)));
            return Ok(());
        }
        let shape = report.facts.shape.as_ref();
        if let Some(reason) = shape.and_then(|shape| task.differs_from(shape.sizes())) {
            let row = Row::of_matrix(&report.facts, &self.run_id);
            report.ended = Some(row.ended(Status::Failed, reason));
            emit(Event::Matrix(Box::new(report)));
            return Ok(());
        }
        emit(Event::Matrix(Box::new(report.clone())));
        self.orders.iter().try_for_each(|&order| {
            let ordered = self.ordered(&loaded.csr, order, task, emit);
            self.ways().filter(|way| way.order == order).try_for_each(|way| match way.precision {
                Precision::F64 => self.measure::<f64>(way, &ordered, &report, task, emit),
                Precision::F32 => self.measure::<f32>(way, &ordered, &report, task, emit),
            })
        })
    }

    /// Reorders the matrix, unless no method is left to run in this order.
    fn ordered<'m>(
        &self,
        csr: &'m Csr<f64>,
        order: Order,
        task: &MatrixTask,
        emit: &mut dyn FnMut(Event),
    ) -> Result<Ordered<'m>, String> {
        let cells = self.cells().filter(|cell| cell.order == Some(order));
        if !cells.into_iter().any(|cell| task.is_to_run(&cell)) {
            return Err(NONE_LEFT.into());
        }
        if order != Order::Natural {
            emit(Event::Step(Step::Order(order)));
        }
        Ordered::new(csr, order, self.clock)
    }

    /// Reports why the matrix could not be read, unless reading was interrupted.
    fn unread(
        &self,
        source: &Source,
        error: &LoadError,
        emit: &mut dyn FnMut(Event),
    ) -> Result<(), Stopped> {
        if error.is_interrupted() {
            return Err(Stopped::Interrupted);
        }
        let status = if error.is_unsupported() { Status::Skipped } else { Status::Failed };
        emit(Event::Matrix(Box::new(self.ended(source, status, error.to_string()))));
        Ok(())
    }

    /// Returns the reason why a matrix, including the memory to measure it, does not fit into memory.
    fn too_large(&self, opened: &Opened) -> Option<String> {
        let available = Available::now(self.settings.max_memory, opened.stream_bytes());
        let refusal = |need| {
            let refusal = memory::refusal("to load and run", need, available)?;
            Some(format!("{refusal}; {}", available.advice()))
        };
        if let Some(reason) = refusal(opened.bytes_for_size_hint()) {
            return Some(reason);
        }
        let SizeHint { rows, cols, nnz, scratch } = opened.size_hint()?;
        let extent = Extent::announced(rows, cols, nnz, self.team.len());
        let all = |way: Way| {
            let settings = Settings { cache: way.cache, ..self.settings.clone() };
            extent.all(&settings, way.precision, way.order)
        };
        let all = self.ways().map(all).max().unwrap_or_default();
        refusal(all.max(extent.csr() + scratch))
    }

    /// Returns the device on which GPU methods run.
    pub(super) fn gpu_device(&self) -> Device {
        self.gpu.as_ref().map_or(Device::Gpu, Gpu::device)
    }

    /// Returns the combinations of order, precision and cache state in which each matrix is measured.
    fn ways(&self) -> impl Iterator<Item = Way> {
        let orders = self.orders.iter();
        let finer = orders.flat_map(|&order| self.precisions.iter().map(move |&p| (order, p)));
        finer.flat_map(|(order, precision)| {
            self.caches.iter().map(move |&cache| Way { order, precision, cache })
        })
    }

    /// Returns the keys of all rows that each matrix gets.
    pub fn cells(&self) -> impl Iterator<Item = RowKey> {
        let gpu = self.gpu_device();
        let devices = [Device::Cpu, gpu];
        let groups = self.ways().flat_map(move |way| devices.map(|device| (way, device)));
        groups.flat_map(move |(way, device)| {
            let cells =
                self.choices.iter().map(move |choice| way.cell(choice, gpu, self.team.len()));
            cells.filter(move |cell| cell.device == device)
        })
    }

    fn ended(&self, source: &Source, status: Status, reason: String) -> MatrixReport {
        MatrixReport::without_groups(source.to_string(), &self.run_id, status, reason)
    }
}

fn facts(source: &Source, loaded: &mut Loaded) -> MatrixFacts {
    MatrixFacts {
        file: source.to_string(),
        shape: Some(Shape::of(&loaded.csr)),
        pattern_symmetry: loaded.pattern_symmetry(),
        kind: source.kind(loaded),
        ..MatrixFacts::default()
    }
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
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    Team::pinned(&cpus[..threads])
        .with_context(|| format!("cannot bind a thread to CPU {}", cpus[0]))
}
