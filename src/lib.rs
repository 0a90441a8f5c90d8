//! `spmv-bench`: the reference benchmark for sparse matrix-vector multiplication.
//!
//! A program can [`read`] a matrix and [`measure`] methods on it; `examples/measure.rs` measures a method of its own
//! beside those of this project. The parts can also be used alone: [`spmv_matrix`] reads and generates matrices,
//! [`spmv_methods`] multiplies, [`spmv_results`] reads and shows results.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@bench`] | one matrix: plan, turns of the methods, verification, statistics; the battery for plug-ins; MPI |
//! | [`campaign`] | many matrices: tasks, child processes, limits, resume, progress |
//! | [`collection`] | the matrices of the collection: facts, named sets, downloads |
//! | [`cli`] | the command line, one file per verb |
//!
//! A module uses only modules above it, and these use the packages `spmv-matrix`, `spmv-results`,
//! `spmv-methods` and `ptx-machine`. A test compares this with the imports.

pub mod bench;
pub mod campaign;
pub mod cli;
pub mod collection;

use std::ffi::OsStr;
use std::io;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::bench::clock::SystemClock;
use crate::bench::event::Event;
use crate::bench::inputs::with_values;
use crate::campaign::choice;
use crate::campaign::collect::{Collector, completing};
use crate::campaign::env::Env;
use crate::campaign::session::Session;
use crate::campaign::{Part, Plan};
use crate::cli::run_settings;
use spmv_matrix::memory::ReadBounds;
use spmv_matrix::reader;
use spmv_matrix::source::Source;
use spmv_matrix::stats::pattern_symmetry;
use spmv_matrix::system::System;
use spmv_methods::method::{Choice, Method};
use spmv_methods::vendor::mkl;
use spmv_results::row::MatrixFacts;
use spmv_results::settings::{Pages, Protocol, RunSettings, Settings};

pub use spmv_matrix::{Csr, source::LoadError};
pub use spmv_results::row::{Row, Status};

/// Reads a matrix: a file of any format that [`reader`] reads, compressed or not, or a generated matrix
/// (`gen:grid2d,n=100,points=5`). Both triangles of a symmetric file are stored. An error names the file, the line and
/// the reason.
///
/// ```
/// let csr = spmv_bench::read("gen:grid2d,n=100,points=5")?;
/// assert_eq!((csr.rows(), csr.nnz()), (10_000, 49_600));
/// # Ok::<(), spmv_bench::LoadError>(())
/// ```
pub fn read(source: impl AsRef<OsStr>) -> Result<Csr<f64>, LoadError> {
    let source = Source::parse(source.as_ref())?;
    Ok(source.open(reader::Options::default(), ReadBounds::NONE)?.load(None)?.csr)
}

/// What [`measure`] measures, and how.
pub struct Measurement<'a> {
    /// The settings of the command line: methods, device, precisions, number of threads, rounds and more.
    pub run: RunSettings,
    /// Methods of the caller, which are measured beside those of `run`.
    pub own: Vec<&'static Method>,
    /// The name of the matrix in the results.
    pub name: &'a str,
    /// Set by another thread to end the measurement early.
    pub interrupted: &'a AtomicBool,
}

impl Measurement<'_> {
    /// Returns the default measurement of the methods that the option `--methods` would select
    /// (`"merge,mkl-*,csr5:sigma=8"`): in double precision, with one thread per core. An empty text selects no method
    /// of this program.
    pub fn new(methods: &str) -> Self {
        let words = methods.split(',').map(str::trim).filter(|word| !word.is_empty());
        let mut run = RunSettings::new(Settings::new(Protocol::MergeSpmv));
        run.methods = Some(words.map(String::from).collect());
        Self::of(run)
    }

    /// Returns the measurement that the options of the command line describe, such as `["--methods=merge",
    /// "--rounds=3"]`. An unknown option or a value that is not valid is an error.
    pub fn with_options(options: &[String]) -> Result<Self, clap::Error> {
        run_settings(options).map(Self::of)
    }

    fn of(mut run: RunSettings) -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        (run.quiet, run.settings.pages) = (true, Pages::System);
        Self { run, own: Vec::new(), name: "matrix in memory", interrupted: &NEVER }
    }
}

/// Measures methods on a matrix, with the clock, the rounds and the checks of the command line, but in this process: a
/// method that crashes ends the program. Every product is verified. Returns a [`Row`] for each method, precision, order
/// and cache state, in which the status and the reason show why a method has no time.
///
/// ```
/// use std::time::Duration;
/// use spmv_bench::{Measurement, Status};
///
/// let csr = spmv_bench::read("gen:grid2d,n=20,points=5")?;
/// let mut measurement = Measurement::new("seq,merge");
/// measurement.run.settings.max_time = Duration::from_millis(20); // of the products of each method; otherwise 2 s
/// for row in spmv_bench::measure(&csr, &measurement)? {
///     assert_eq!(row.status, Some(Status::Ok), "{:?}", row.reason);
///     println!("{}: {} ms", row.method_name.unwrap(), row.median_ms.unwrap());
/// }
/// # Ok::<(), anyhow::Error>(())
/// ```
///
/// Arrays are in the pages that the program has, whatever the option `--pages` says. Where the system gives huge pages
/// only on request, start the program with the variable of [`huge`](spmv_matrix::system::huge).
///
/// The measurement runs on a thread of its own, so that the CPUs of the calling thread do not change. It is an error if
/// a setting is not possible on this machine, if the measurement is interrupted, or if MKL is to be measured and
/// [`place_threads`](mkl::place_threads) was not called at the beginning of the program: all threads of MKL would run
/// on one CPU.
pub fn measure(csr: &Csr<f64>, measurement: &Measurement) -> Result<Vec<Row>> {
    let system = System::detect();
    thread::scope(|scope| {
        let thread = scope.spawn(|| measure_here(csr, measurement, system));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn measure_here(csr: &Csr<f64>, measurement: &Measurement, system: System) -> Result<Vec<Row>> {
    let Measurement { run, own, name, interrupted } = measurement;
    let (mut stdout, mut stderr, clock) = (io::sink(), io::sink(), SystemClock::default());
    let mut env = Env::new(&mut stdout, &mut stderr, &clock, interrupted, system);
    let (mut choices, gpu) = match run.methods.as_deref() {
        Some([]) => (Vec::new(), None),
        _ => choice::methods(run, &mut env)?,
    };
    choices.extend(own.iter().copied().map(Choice::from));
    let names: Vec<_> = choices.iter().map(Choice::name).collect();
    if let Some(twice) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        bail!("there are two methods '{}': give one of them another name", twice.1);
    }
    ensure!(
        mkl::threads_are_placed() || !choices.iter().any(|it| it.method.name.starts_with("mkl-")),
        "the threads of MKL would all run on one CPU: call mkl::place_threads when the program begins"
    );
    let session = Session::of(choices, gpu, &Plan::new(run.clone()), &mut env)?;

    let csr = with_values(&run.settings, csr);
    let symmetry = pattern_symmetry(&csr);
    let facts = MatrixFacts::of((*name).into(), None, symmetry, &csr, run.settings.values);
    let record = session.record(&env);
    let part = Part::all(record.cells.clone());
    let mut rows = Vec::new();
    let mut keep = |event| {
        if let Event::Group(group) = event {
            rows.extend(group.rows);
        }
    };
    let emit = completing(Collector::new(&record, &[], &[]), &[], &mut keep);
    let measured = session.carry_out_on(&csr, &facts, &part, &emit);
    drop(emit);
    measured.context("the measurement ended early")?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use spmv_methods::cpu::seq;
    use spmv_results::settings::Values;

    fn csr() -> Csr<f64> {
        Csr::from_triplets(2, 2, &[(0, 0, 3.0), (1, 0, 4.0)])
    }

    fn refused(measurement: &Measurement) -> String {
        measure(&csr(), measurement).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_an_error() {
        assert!(refused(&Measurement::new("merg")).contains("merg"));
        let twice = Measurement { own: vec![&seq::METHOD], ..Measurement::new("seq") };
        assert!(refused(&twice).contains("two methods 'seq'"));
        let stop = AtomicBool::new(true);
        let interrupted = Measurement { interrupted: &stop, ..Measurement::new("seq") };
        assert_eq!(refused(&interrupted), "the measurement ended early");
        if !mkl::threads_are_placed() {
            assert!(refused(&Measurement::new("mkl-ie")).contains("place_threads"));
        }
    }

    #[test]
    fn values_are_replaced_only_for_the_measurement() {
        let csr = csr();
        let mut measurement = Measurement::new("seq");
        measurement.run.settings.values = Values::Ones;
        measurement.run.settings.max_time = Duration::from_millis(1);
        let rows = measure(&csr, &measurement).unwrap();
        assert_eq!((rows.len(), rows[0].distinct_values), (1, Some(1)));
        assert_eq!(csr.values(), [3.0, 4.0]);
    }
}
