//! `spmv-bench MATRIX`: measures every method on one matrix.

mod live;

use anyhow::{Result, bail, ensure};

use super::args::SingleArgs;
use super::corpus::NOTHING;
use super::sources::{bytes_of, source};
use super::written::finish;
use super::{CommandStatus, Env};
use crate::campaign::isolate::Runner;
use crate::campaign::progress::Progress;
use crate::campaign::recording::Recording;
use crate::campaign::task::MatrixTask;
use crate::matrix::source::Source;
use crate::record::row::Row;
use crate::record::write::Format;
use live::Live;

/// Prepends the name of the matrix to a reason, unless it already begins with it, as read errors do.
pub fn of_matrix(source: &Source, reason: &str) -> String {
    let name = source.to_string();
    if reason.starts_with(&name) { reason.to_owned() } else { format!("{name}: {reason}") }
}

/// Runs the command.
pub fn run(args: &SingleArgs, command: Vec<String>, env: &mut Env) -> Result<CommandStatus> {
    let (measure, further) = (&args.measure, args.further.len());
    ensure!(
        further == 0,
        "{} matrices are given; `spmv-bench corpus` measures several",
        1 + further
    );
    let source = source(args.word(), measure.datasets.as_deref())?;
    measure.check_files([&source].into_iter())?;
    measure.check_new()?;
    let format = measure.format_of_one()?;
    let path = measure.record_path();
    let bandwidth = measure.wants_bandwidth();
    let (mut runner, facts) = Runner::start(measure, !args.no_isolate, bandwidth, command, env)?;
    let cells = facts.cells.clone();
    let reporter = measure.reporter(format, env.stdout)?;
    let mut exporters = measure.exporters()?;
    let mut recording = Recording::begin(path, facts, env.readings, measure.quiet, env.stderr)?;
    let (bytes, visible) = (bytes_of(&source), env.terminal && !measure.quiet);
    let progress = Progress::of_one((&source, bytes, cells.len()), &measure.settings(), visible);
    progress.begin(&source, bytes, cells);
    let at_once = format.is_written_at_once() && measure.output.is_none();
    let mut live = Live::new(reporter, at_once, &progress);
    let interrupted =
        runner.run(MatrixTask::whole(&source, false), &mut |event| live.take(event))?;
    progress.finish();
    let complete = live.report.clone();
    if interrupted && format == Format::Text {
        live.keep_partial();
    }
    let report = live.report.clone();
    if let Some(reason) = report.unreadable().filter(|_| report.groups.is_empty()) {
        bail!("{}", of_matrix(&source, reason));
    }
    recording.take(&report)?;
    if !measure.quiet {
        report.warnings().iter().try_for_each(|line| writeln!(env.stderr, "{line}"))?;
    }
    // A run that is interrupted before the matrix is read has no results and leaves earlier files unchanged.
    if !report.is_unknown() {
        exporters.iter_mut().try_for_each(|exporter| exporter.report(&complete))?;
        finish(exporters.into_iter().chain([live.end()?]))?;
    }
    recording.finish(measure.quiet, env.stderr)?;
    if interrupted {
        writeln!(env.stderr, "interrupted: the results of {source} are incomplete")?;
    }
    ensure!(interrupted || report.rows().any(Row::is_ok), NOTHING);
    Ok(if interrupted || report.is_bad() { CommandStatus::Bad } else { CommandStatus::Ok })
}
