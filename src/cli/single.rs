//! `spmv-bench --mtx FILE`: one matrix, every method.

use anyhow::{Result, bail, ensure};

use super::args::SingleArgs;
use super::corpus::NOTHING;
use super::isolate::Runner;
use super::run_facts::Recording;
use super::sources::source;
use super::task::Task;
use super::{Verdict, World};
use crate::record::MatrixReport;
use crate::record::output::Output;
use crate::record::row::Row;
use crate::record::write::{Format, Reporter};

/// Runs the command.
pub fn run(args: &SingleArgs, command: Vec<String>, world: &mut World) -> Result<Verdict> {
    let measure = &args.measure;
    let source = source(&args.mtx, measure.datasets.as_deref())?;
    measure.check_files([&source].into_iter(), false)?;
    let path = measure.record_path();
    let bandwidth = measure.wants_bandwidth();
    let (mut runner, facts) = Runner::start(measure, !args.no_isolate, bandwidth, command, world)?;
    let format = measure.format(Format::Text)?;
    let mut out = Output::open(measure.output.as_deref(), measure.force, world.stdout)?;
    let mut recording = Recording::begin(path, facts, world.readings, measure.quiet, world.stderr)?;
    let mut report = MatrixReport::default();
    let task = Task::whole(&source, false);
    let interrupted = runner.run(task, &mut |event| event.add_to(&mut report))?;
    if let Some(reason) = report.unreadable().filter(|_| report.groups.is_empty()) {
        bail!("{reason}");
    }
    recording.take(&report)?;
    if !measure.quiet {
        report.warnings().iter().try_for_each(|line| writeln!(world.stderr, "{line}"))?;
    }
    Reporter::new(format, &mut out).report(&report)?;
    out.finish()?;
    recording.finish(measure.quiet, world.stderr)?;
    if interrupted {
        writeln!(world.stderr, "interrupted: the results of {source} are incomplete")?;
    }
    ensure!(interrupted || report.rows().any(Row::is_ok), NOTHING);
    Ok(if interrupted || report.is_bad() { Verdict::Bad } else { Verdict::Ok })
}
