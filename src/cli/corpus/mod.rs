//! `spmv-bench corpus`: measures every matrix below a folder, or several named ones.

pub mod results;
pub mod share;
mod tally;

use anyhow::{Error, Result, ensure};

use super::args::CorpusArgs;
use super::isolate::Runner;
use super::progress::Progress;
use super::run_facts::Recording;
use super::sources::sources;
use super::task::{Event, MatrixTask};
use super::written::finish;
use super::{CommandStatus, Env};
use crate::record::MatrixReport;
use crate::record::file::RowFile;
use crate::record::row::Row;
use crate::record::run::{RunRecord, open_cells};
use crate::record::write::Format;
use share::Share;
use tally::Tally;

/// The error message of a run without any correct result.
pub const NOTHING: &str =
    "nothing was measured: no method has a correct result; the reason is in each row";

/// Runs the command.
pub fn run(args: &CorpusArgs, command: Vec<String>, env: &mut Env) -> Result<CommandStatus> {
    let measure = &args.measure;
    let found = sources(&args.sources, measure.datasets.as_deref(), env.stderr)?;
    measure.check_files(found.iter().map(|(source, _)| source))?;
    let share = Share::of(found, args.shard, &measure.settings());
    let format = measure.format(Format::Csv)?;
    let (mut file, mut begun) = results::open(args, format)?;
    if let Some(record) = &begun.record {
        env.run_id.clone_from(&record.run_id);
    }
    let path = measure.record_path();
    let bandwidth = measure.wants_bandwidth() && begun.record.is_none();
    let (mut runner, now) =
        Runner::start(&measure.run_settings(), !args.no_isolate, bandwidth, command, env)?;
    let now = RunRecord { corpus: Some(share.corpus), ..now };
    let facts = begun.continue_run(now, measure.output.as_ref())?;
    let cells = facts.cells.clone();
    let mut reporters = measure.exporters()?;
    match &mut file {
        Some(file) => file.cut()?,
        None => reporters.insert(0, measure.reporter(format, env.stdout)?),
    }
    let mut recording = Recording::begin(path, facts, env.readings, measure.quiet, env.stderr)?;
    recording.write()?;
    let open = |source| open_cells(begun.rows_of(source), &cells).len();
    let works = share.sources.iter().map(|(source, bytes)| (source, *bytes, open(source)));
    let visible = env.terminal && !measure.quiet;
    let progress = Progress::of_many(&works.collect::<Vec<_>>(), &measure.settings(), visible);
    let (mut tally, mut interrupted) = (Tally::of(&cells), false);
    for (source, bytes) in &share.sources {
        let existing = begun.rows_of(source);
        let open = open_cells(existing, &cells);
        if open.is_empty() {
            tally.take(existing.iter());
            progress.end();
            continue;
        }
        progress.begin(source, *bytes, open);
        let done = existing.iter().filter_map(Row::timed).collect();
        let sizes = existing.iter().find_map(Row::sizes);
        let task = MatrixTask { sizes, done, ..MatrixTask::whole(source, true) };
        let (rows, recording) = (file.as_mut(), &mut recording);
        let report = MatrixReport::default();
        let mut matrix = Matrix { report, file: rows, recording, lost: None };
        interrupted = runner.run(task, &mut |event| {
            progress.note(&event);
            matrix.take(event);
        })?;
        let report = matrix.end()?;
        if !measure.quiet {
            let mut warnings = report.warnings().into_iter();
            progress.suspend(|| warnings.try_for_each(|line| writeln!(env.stderr, "{line}")))?;
        }
        let has_rows = report.rows().next().is_some();
        if has_rows {
            reporters.iter_mut().try_for_each(|reporter| reporter.report(&report))?;
        }
        if has_rows || !existing.is_empty() {
            tally.take(existing.iter().chain(report.rows()));
        }
        if interrupted {
            break;
        }
        progress.end();
    }
    progress.finish();
    finish(reporters)?;
    recording.finish(measure.quiet, env.stderr)?;
    if !measure.quiet {
        tally.write(env.stderr, interrupted)?;
    }
    ensure!(interrupted || !tally.is_without_result(), NOTHING);
    Ok(if tally.bad || interrupted { CommandStatus::Bad } else { CommandStatus::Ok })
}

/// A matrix that is being measured. Its rows are written to the file, if there is one, as soon as they exist.
struct Matrix<'f> {
    report: MatrixReport,
    file: Option<&'f mut RowFile>,
    recording: &'f mut Recording,
    /// The first error while storing results.
    lost: Option<Error>,
}

impl Matrix<'_> {
    fn take(&mut self, event: Event) {
        if self.lost.is_none() {
            self.lost = self.store(&event).err();
        }
        event.add_to(&mut self.report);
    }

    fn store(&mut self, event: &Event) -> Result<()> {
        let rows: &[Row] = match event {
            Event::Group(group) => {
                self.recording.take_group(group)?;
                &group.rows
            }
            Event::Matrix(report) => report.ended.as_slice(),
            Event::Step(_) | Event::Final(_) | Event::Partial(_) => &[],
        };
        Ok(self.file.as_mut().map_or(Ok(()), |file| file.add(rows))?)
    }

    fn end(self) -> Result<MatrixReport> {
        self.lost.map_or(Ok(self.report), Err)
    }
}
