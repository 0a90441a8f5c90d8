//! `spmv-bench MATRIX`: one matrix, every method.

use anyhow::{Result, bail, ensure};

use super::args::SingleArgs;
use super::corpus::NOTHING;
use super::isolate::Runner;
use super::run_facts::Recording;
use super::session::output;
use super::sources::source;
use super::task::Task;
use super::{Verdict, World};
use crate::matrix::source::Source;
use crate::record::MatrixReport;
use crate::record::row::Row;
use crate::record::write::{Format, Reporter};

/// A reason with the matrix that it is about, unless it begins with it as those of reading a file do.
pub fn of_matrix(source: &Source, reason: &str) -> String {
    let name = source.to_string();
    if reason.starts_with(&name) { reason.to_owned() } else { format!("{name}: {reason}") }
}

/// Runs the command.
pub fn run(args: &SingleArgs, command: Vec<String>, world: &mut World) -> Result<Verdict> {
    let (measure, further) = (&args.measure, args.further.len());
    ensure!(
        further == 0,
        "{} matrices are named; `spmv-bench corpus` measures several",
        1 + further
    );
    let source = source(args.word(), measure.datasets.as_deref())?;
    measure.check_files([&source].into_iter())?;
    let path = measure.record_path();
    let bandwidth = measure.wants_bandwidth();
    let (mut runner, facts) = Runner::start(measure, !args.no_isolate, bandwidth, command, world)?;
    let mut out = output(measure.output.as_deref(), world.stdout)?;
    let mut recording = Recording::begin(path, facts, world.readings, measure.quiet, world.stderr)?;
    let mut report = MatrixReport::default();
    let task = Task::whole(&source, false);
    let interrupted = runner.run(task, &mut |event| event.add_to(&mut report))?;
    if let Some(reason) = report.unreadable().filter(|_| report.groups.is_empty()) {
        bail!("{}", of_matrix(&source, reason));
    }
    recording.take(&report)?;
    if !measure.quiet {
        report.warnings().iter().try_for_each(|line| writeln!(world.stderr, "{line}"))?;
    }
    Reporter::new(measure.format.unwrap_or(Format::Text), &mut *out).report(&report)?;
    recording.finish(measure.quiet, world.stderr)?;
    if interrupted {
        writeln!(world.stderr, "interrupted: the results of {source} are incomplete")?;
    }
    ensure!(interrupted || report.rows().any(Row::is_ok), NOTHING);
    Ok(if interrupted || report.is_bad() { Verdict::Bad } else { Verdict::Ok })
}
