//! `spmv-bench corpus`: measures every matrix below a folder, or several named ones.

mod tally;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use console::Term;

use super::help::{MORE, shared};
use super::measure::{MeasureArgs, NOTHING};
use super::output::finish;
use super::sources::sources;
use super::verb::{CommandStatus, Needs, Verb};
use crate::bench::event::Event;
use crate::campaign::env::Env;
use crate::campaign::progress::Display;
use crate::campaign::resume::Begun;
use crate::campaign::shard::ShardMatrices;
use crate::campaign::{Campaign, Plan, Sink, Work};
use spmv_results::files::output::Output;
use spmv_results::files::rows::{RowFile, is_not_regular_file};
use spmv_results::files::write::{Format, Reporter};
use spmv_results::matrix::MatrixReport;
use spmv_results::report::names::{count, listed};
use spmv_results::row::{Row, Status};
use spmv_results::run::{Corpus, RunRecord, Shard};
use tally::{NAMED, Tally};

/// Measures many matrices: all below a folder, the smallest first
#[derive(Debug, Args)]
#[command(mut_args = shared, after_help = MORE)]
pub struct CorpusArgs {
    /// Folders, files, GROUP/NAME, gen:SPEC or surrogate:SET
    ///
    /// As the MATRIX of `spmv-bench --help`, and folders, and surrogate:SET for a set of `fetch --list`.
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<OsString>,
    /// Measure only what is missing or failed in the file of --output
    ///
    /// Settings, methods and machine must be the same as in FILE.run.json.
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Measure only shard K of N, all of about the same time
    ///
    /// The split is the same on every machine. `spmv-bench merge` merges the result files.
    #[arg(long, value_name = "K/N", default_value = "1/1", hide_default_value = true)]
    pub shard: Shard,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

impl Verb for CorpusArgs {
    fn needs(&self) -> Needs {
        self.measure.needs()
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let (tally, interrupted) = self.measure_all(env)?;
        if !self.measure.quiet {
            let width = Term::stderr().size_checked().filter(|_| env.terminal).map(|size| size.1);
            tally.write(env.stderr, width, interrupted)?;
            write_next(self, &env.words, interrupted, tally.failed, env.stderr)?;
        }
        let is_measured = tally.matrices == 0 || tally.rows.contains_key(&Status::Ok);
        ensure!(interrupted || is_measured || !tally.faults.is_empty(), NOTHING);
        Ok(CommandStatus::bad_if(tally.bad || interrupted))
    }
}

impl CorpusArgs {
    /// Measures the matrices. Returns what was measured, and whether the run was interrupted.
    fn measure_all(&self, env: &mut Env) -> Result<(Tally, bool)> {
        let measure = &self.measure;
        let found = sources(&self.sources, measure.datasets.as_deref(), env.stderr)?;
        measure.check_files(found.iter().map(|(source, _)| source))?;
        let plan = measure.plan().of(found.iter().map(|(source, _)| source));
        let format = measure.format(Format::Csv)?;
        let (mut file, mut begun) = open(self, format)?;
        let folders: Vec<_> = self.sources.iter().map(PathBuf::from).filter(|it| it.is_dir()).collect();
        let shard = ShardMatrices::of(found, &folders, self.shard, &measure.settings(), &mut begun);
        write_changes(&shard, env.stderr)?;
        if let Some(record) = &begun.record {
            env.run_id.clone_from(&record.run_id);
        }
        let bandwidth = measure.wants_bandwidth() && begun.record.is_none();
        let plan = Plan { bandwidth, ..plan };
        let mut campaign = Campaign::start(&plan, !measure.no_isolate, env.words.clone(), env)?;
        let now = RunRecord { corpus: Some(shard.corpus), ..campaign.recording.record };
        campaign.recording.record = begun.continue_run(now, measure.output.as_deref())?;
        let mut reporters = measure.exporters()?;
        match &mut file {
            Some(file) => {
                file.cut()?;
                begun.remove_forgotten(file)?;
            }
            None => reporters.insert(0, measure.reporter(format, env.stdout, env.width)?),
        }
        campaign.recording.begin(measure.record_path(), env.stderr)?;
        campaign.samples = measure.sample_file()?;
        campaign.recording.write()?;
        let threads = campaign.recording.record.cells.iter().filter_map(|cell| cell.threads).max();
        let tally = Tally::new(threads, measure.products);
        let mut results = Results { file, reporters, tally, measure, stderr: env.stderr };
        let ran = campaign.run(&shard.matrices, Display::Matrices, &mut results);
        let Results { file, reporters, tally, .. } = results;
        // What was written before an error gets its end too, such as that of a list in JSON.
        let ended = if ran.is_ok() || tally.matrices > 0 { finish(reporters) } else { Ok(()) };
        let interrupted = ran?;
        file.into_iter().for_each(RowFile::keep);
        ended?;
        campaign.finish(env.stderr)?;
        Ok((tally, interrupted))
    }
}

/// Writes what has changed in the matrices of a run that is continued.
fn write_changes(shard: &ShardMatrices, err: &mut dyn Write) -> io::Result<()> {
    let changed = shard.matrices.iter().filter(|matrix| matrix.is_changed());
    let changed: Vec<_> = changed.map(|matrix| &matrix.name).collect();
    if !changed.is_empty() {
        let (files, names) = (count(changed.len(), "file"), listed(changed.iter(), NAMED));
        writeln!(
            err,
            "warning: {files} changed (size or time) after the rows were measured: {names}; these rows stay: remove \
             them to measure the present files"
        )?;
    }
    if let Some(now) = shard.others {
        let Corpus { shard, matrices, .. } = &shard.corpus;
        let (number, of) = (shard.number, shard.of);
        writeln!(
            err,
            "warning: the sources have other matrices or sizes than when shard {number} of {of} began ({matrices} \
             then, {now} now): it keeps its matrices; measure new ones in a run of their own"
        )?;
    }
    Ok(())
}

/// Writes the command that continues an interrupted run, or the one that shows the results of a finished one.
fn write_next(
    args: &CorpusArgs,
    words: &[String],
    interrupted: bool,
    failed: bool,
    err: &mut dyn Write,
) -> io::Result<()> {
    let output = args.measure.output.as_deref().filter(|path| !is_not_regular_file(path));
    let csv = output.filter(|path| Format::of_name(path) == Some(Format::Csv));
    let Some(csv) = csv else { return Ok(()) };
    if !interrupted {
        let csv = quoted(&csv.to_string_lossy());
        writeln!(err, "\nfor a report: spmv-bench report {csv} --output DIR")?;
    }
    if !interrupted && !failed {
        return Ok(());
    }
    let purpose = if interrupted { "to continue" } else { "to measure again what failed" };
    let given = words.iter().skip(1).filter(|word| !["--force", "--resume"].contains(&&word[..]));
    let given: Vec<_> = given.map(|word| quoted(word)).collect();
    writeln!(err, "\n{purpose}: spmv-bench {} --resume", given.join(" "))
}

/// Returns a word as it is written in a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

struct Results<'o, 'e> {
    /// The file to which rows are written as soon as they exist.
    file: Option<RowFile>,
    /// The outputs to which each matrix is written when it is complete.
    reporters: Vec<Reporter<Output<'o>>>,
    tally: Tally,
    measure: &'e MeasureArgs,
    stderr: &'e mut dyn Write,
}

impl Sink for Results<'_, '_> {
    fn event(&mut self, event: &Event) -> Result<()> {
        let rows: &[Row] = match event {
            Event::Group(group) => &group.rows,
            Event::Matrix(report) => report.ended.as_slice(),
            _ => &[],
        };
        self.file.as_mut().map_or(Ok(()), |file| file.add(rows))
    }

    fn matrix(&mut self, work: &Work, report: MatrixReport, _: bool) -> Result<()> {
        self.measure.warn(&report, self.stderr)?;
        let has_rows = report.rows().next().is_some();
        if has_rows {
            self.reporters.iter_mut().try_for_each(|reporter| reporter.report(&report))?;
        }
        if has_rows || !work.existing.is_empty() {
            self.tally.take(work.existing.iter().chain(report.rows()));
        }
        Ok(())
    }
}

/// Opens the result file of the command line for exclusive use, and reads its existing rows.
fn open(args: &CorpusArgs, format: Format) -> Result<(Option<RowFile>, Begun)> {
    let measure = &args.measure;
    if args.resume {
        ensure!(measure.output.is_some(), "--resume needs --output FILE, the file to continue");
        ensure!(format == Format::Csv, "--resume can continue files of --format csv only");
        let why = "with --resume the file would not contain the existing rows; use report or compare with the file \
                   of --output";
        ensure!(measure.exports.is_empty(), "--export: {why}");
    }
    let nothing = Begun::default();
    let file = measure.output.as_ref().filter(|path| !is_not_regular_file(path));
    let Some(path) = file.filter(|_| format == Format::Csv) else {
        return measure.check_new().map(|()| (None, nothing));
    };
    if measure.force {
        measure.check_new()?;
        return Ok((Some(RowFile::replace(path)?), nothing));
    }
    if !args.resume && path.metadata().map_or(0, |file| file.len()) == 0 {
        measure.check_new()?;
    }
    let file = RowFile::open::<Row>(path)?;
    if file.is_empty() {
        return Ok((Some(file), nothing));
    }
    let choices = "already has results: continue with --resume, use another file, or replace it with --force";
    ensure!(args.resume, "{} {choices}", path.display());
    let record = measure.record_path().expect("every output file has a run record");
    Ok((Some(file), Begun::read(path, &record)?))
}
