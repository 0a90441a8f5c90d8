//! `mpirun -n N spmv-bench MATRIX --methods mpi-merge`: measures one product that is distributed over all
//! MPI processes.

use std::io::{self, Write};

use anyhow::{Error, Result, ensure};

use super::measure::MeasureArgs;
use super::output::finish;
use super::single::SingleArgs;
use super::sources::source;
use super::{CommandStatus, Env};
use crate::bench::execute::Stopped;
use crate::bench::mpi::{Distributed, Ranks, launched, load, measure_on_ranks};
use crate::bench::outcome::{Outcome, Results};
use crate::bench::problem::narrowed;
use crate::campaign::choice::select;
use crate::campaign::recording::Recording;
use crate::campaign::session::{Cell, Session};
use spmv_matrix::Csr;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;
use spmv_matrix::source::Source;
use spmv_methods::cpu::mpi_merge;
use spmv_results::files::output::Output;
use spmv_results::files::write::Reporter;
use spmv_results::matrix::{Group, MatrixReport};
use spmv_results::row::MatrixFacts;
use spmv_results::row::key::RowKey;
use spmv_results::run::RunRecord;
use spmv_results::settings::{CacheState, Values};

/// Runs the command if it selects the MPI method. `single` are its arguments unless it is another command.
/// Returns `None` if this is an ordinary command in a single process.
pub fn run(
    single: Option<&SingleArgs>,
    command: &[String],
    env: &mut Env,
) -> Result<Option<CommandStatus>> {
    if let Some(args) = single.filter(|args| is_only_method(&args.measure)) {
        return start(args, command, env).map(Some);
    }
    let (rank, ranks) = launched();
    let name = mpi_merge::NAME;
    if rank > 0 {
        return Ok(Some(CommandStatus::Ok));
    }
    let only = format!("which can only run MATRIX --methods {name}");
    ensure!(ranks == 1, "{ranks} MPI processes were started, {only}");
    Ok(None)
}

fn is_only_method(args: &MeasureArgs) -> bool {
    let words = args.methods.as_deref().unwrap_or_default();
    let chosen = select(words).unwrap_or_default();
    !chosen.is_empty() && chosen.iter().all(|choice| choice.method.name == mpi_merge::NAME)
}

/// Runs the measurement. Only rank 0 prints anything and determines the exit status.
fn start(args: &SingleArgs, command: &[String], env: &mut Env) -> Result<CommandStatus> {
    let ranks = Ranks::start()?;
    let threads = args.measure.threads.clone();
    let mut args = args.clone();
    args.measure.threads = vec![1];
    // If the launcher does not bind the processes to CPUs, each rank starts with a different CPU.
    let cpus = &mut env.system.cpus;
    let places = cpus.len();
    cpus.rotate_left(ranks.on_machine().0 % places);
    let leader = ranks.rank() == 0;
    if !leader {
        env.stdout = Box::leak(Box::new(io::sink()));
        env.stderr = Box::leak(Box::new(io::sink()));
    }
    let verdict = check(&args, &threads).and_then(|()| measure(&ranks, &args, command, env));
    if leader { verdict } else { Ok(CommandStatus::Ok) }
}

fn check(args: &SingleArgs, threads: &[usize]) -> Result<()> {
    let (name, run) = (mpi_merge::NAME, args.measure.run_settings());
    let why = format!("each process of {name} has one thread; mpirun -n N starts N");
    ensure!(threads.iter().all(|&n| n == 1), "--threads: {why}");
    ensure!(run.orders == [Order::Natural], "--order: {name} has only the natural order");
    ensure!(
        run.settings.chain() == 1,
        "--protocol power: {name} multiplies the same x in every product"
    );
    let is_hot = run.caches == [CacheState::Hot];
    ensure!(is_hot, "--cache cold: {name} is measured with hot caches only");
    ensure!(run.settings.values == Values::Stored, "--values: {name} has only the stored values");
    Ok(())
}

fn measure(
    ranks: &Ranks,
    args: &SingleArgs,
    command: &[String],
    env: &mut Env,
) -> Result<CommandStatus> {
    let (measure, leader) = (&args.measure, ranks.rank() == 0);
    let source = ranks.agree(source(args.word(), measure.datasets.as_deref()))?;
    ranks.agree(measure.check_files([&source].into_iter()))?;
    ranks.agree(measure.check_new())?;
    let session = ranks.agree(Session::start(&measure.plan(), env))?;
    let record = leader.then(|| RunRecord { command: command.into(), ..session.record(env) });
    let reporters = leader.then(|| reporters(measure, env.stdout)).transpose();
    let mut reporters = ranks.agree(reporters)?.unwrap_or_default();
    let begin = |record| -> Result<Recording> {
        let mut recording = Recording::new(record, env.readings, measure.quiet);
        recording.begin(measure.record_path(), env.stderr)?;
        Ok(recording)
    };
    let recording = ranks.agree(record.map(begin).transpose())?;
    let (matrix, share) = load(ranks, &source, &session.plan.run, session.clock)?;
    let mut report = report_of(&source, &matrix);
    let ended = groups(ranks, &session, &matrix, &share, &mut report);
    if let Some(mut recording) = recording {
        report.groups.iter().try_for_each(|group| recording.take_group(group))?;
        measure.warn(&report, env.stderr)?;
        reporters.iter_mut().try_for_each(|reporter| reporter.report(&report))?;
        finish(reporters)?;
        recording.finish(env.stderr)?;
    }
    if ended.is_err() {
        writeln!(env.stderr, "interrupted: the results of {source} are incomplete")?;
    }
    Ok(if ended.is_err() || report.is_bad() { CommandStatus::Bad } else { CommandStatus::Ok })
}

fn reporters<'a>(
    args: &MeasureArgs,
    stdout: &'a mut dyn Write,
) -> Result<Vec<Reporter<Output<'a>>>> {
    let mut reporters = args.exporters()?;
    reporters.insert(0, args.reporter(args.format_of_one()?, stdout, None)?);
    Ok(reporters)
}

fn report_of(source: &Source, matrix: &Distributed) -> MatrixReport {
    let read = matrix.read.as_secs_f64();
    MatrixReport {
        facts: MatrixFacts {
            file: source.to_string(),
            shape: Some(matrix.shape.clone()),
            kind: source.generator_kind().or_else(|| matrix.kind.clone()),
            ..MatrixFacts::default()
        },
        load_ms: Some(1e3 * read),
        load_mbs: matrix.bytes.map(|bytes| bytes as f64 / read / 1e6),
        duplicates: matrix.duplicates,
        ..MatrixReport::default()
    }
}

/// Measures one group per precision. The report is the same on every rank.
fn groups(
    ranks: &Ranks,
    session: &Session,
    matrix: &Distributed,
    share: &Csr<f64>,
    report: &mut MatrixReport,
) -> Result<(), Stopped> {
    for cells in session.cells.chunk_by(|a, b| a.key.precision == b.key.precision) {
        let choices: Vec<_> = cells.iter().map(|cell| cell.choice.clone()).collect();
        let precision = cells[0].key.precision;
        let bench = session.bench(precision, &session.plan.run.settings, &|_| ());
        let results = match precision {
            Precision::F64 => measure_on_ranks(&bench, ranks, matrix, share, &choices),
            Precision::F32 => match ranks.agree(narrowed::<f32>(share).map_err(Error::msg)) {
                Ok(share) => measure_on_ranks(&bench, ranks, matrix, &share, &choices),
                Err(reason) => {
                    Ok(Results::of_all(&bench, &choices, &Outcome::Skipped(reason.to_string())))
                }
            },
        }?;
        if results.interrupted {
            return Err(Stopped::Interrupted);
        }
        let row = |(cell, outcome): (&Cell, &Outcome)| {
            let threads = Some(ranks.count());
            session.row(&RowKey { threads, ..cell.key.clone() }, &report.facts, outcome)
        };
        let rows: Vec<_> = cells.iter().zip(&results.outcomes).map(row).collect();
        let stages = results.outcomes.iter().map(Outcome::stages).collect();
        let group = session.group(&cells[0].key, &report.facts, results);
        let mut group = Group { threads: ranks.count(), rows, stages, ..group };
        group.complete(&[]);
        report.groups.push(group);
    }
    Ok(())
}
