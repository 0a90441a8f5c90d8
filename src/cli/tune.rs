//! `spmv-bench tune`: finds the best parameter values over many matrices.

pub mod args;
mod shapes;
mod sizes;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::args::{DeviceChoice, MeasureArgs};
use super::single::of_matrix;
use super::sources::sources;
use super::{CommandStatus, Env};
use crate::campaign::progress::Progress;
use crate::campaign::session::Session;
use crate::method::Choice;
use crate::record::MatrixReport;
use crate::record::cells::to_csv;
use crate::record::file::{RowFile, is_not_regular_file};
use crate::record::output;
use crate::record::sort::Sort;
use args::{Tunable, TuneArgs};

/// A kind of tuning: which methods to measure and how to evaluate the results.
trait Tuning {
    /// Returns the methods that run on each matrix.
    fn choices(&self) -> Vec<Choice<'static>>;
    /// Adds the results of a matrix and writes their rows.
    fn take(&mut self, report: &MatrixReport, rows: &mut Rows) -> Result<()>;
    /// Writes the evaluation of all results.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// The output of rows, if there is one. The rows of a matrix are written as soon as it is measured.
struct Rows(Option<Place>);

/// The kind of the output file.
enum Place {
    File(RowFile),
    Device { device: File, has_header: bool },
}

impl Rows {
    fn open(measure: &MeasureArgs) -> Result<Self> {
        let Some(path) = &measure.output else { return Ok(Self(None)) };
        output::check(path, measure.force)?;
        Ok(Self(Some(match is_not_regular_file(path) {
            true => {
                let device = OpenOptions::new().write(true).open(path);
                let device = device.with_context(|| format!("cannot write {}", path.display()))?;
                Place::Device { device, has_header: false }
            }
            false => Place::File(RowFile::replace(path)?),
        })))
    }

    fn write(&mut self, row: impl Serialize) -> Result<()> {
        match &mut self.0 {
            None => Ok(()),
            Some(Place::File(file)) => Ok(file.add(&[row])?),
            Some(Place::Device { device, has_header }) => {
                let text = to_csv(&[row], !std::mem::replace(has_header, true))?;
                Ok(device.write_all(&text)?)
            }
        }
    }
}

/// Runs the command.
pub fn run(args: TuneArgs, command: Vec<String>, env: &mut Env) -> Result<CommandStatus> {
    let measure = with_defaults(args.measure, args.what)?;
    let sources = sources(&args.sources, measure.datasets.as_deref(), env.stderr)?;
    measure.check_files(sources.iter().map(|(source, _)| source))?;
    measure.check_new()?;
    let mut session = Session::start(&measure, env)?;
    let (choices, precisions) = (&session.choices, measure.precisions());
    let mut tuning: Box<dyn Tuning> = match args.what {
        Tunable::CsrK => Box::new(sizes::Sizes::of(choices, precisions)?),
        Tunable::Shapes => Box::new(shapes::Shapes::of(choices, precisions)),
    };
    session.choices = tuning.choices();
    let mut rows = Rows::open(&measure)?;
    let mut recording = session.record(&measure, command, env.stderr, &env.date, &env.system)?;
    recording.write()?;
    let cells: Vec<_> = session.cells().collect();
    let works = sources.iter().map(|(source, bytes)| (source, *bytes, cells.len()));
    let visible = env.terminal && !measure.quiet;
    let progress = Progress::of_many(&works.collect::<Vec<_>>(), &measure.settings(), visible);
    let mut verdict = CommandStatus::Ok;
    for (source, bytes) in &sources {
        progress.begin(source, *bytes, cells.clone());
        let run = session.run(source, true, &progress);
        recording.take(&run.report)?;
        if let Some(reason) = run.report.unreadable() {
            progress.suspend(|| writeln!(env.stderr, "{}", of_matrix(source, reason)))?;
        }
        if run.interrupted || run.report.is_bad() {
            verdict = CommandStatus::Bad;
        }
        tuning.take(&run.report, &mut rows)?;
        if run.interrupted {
            writeln!(
                env.stderr,
                "interrupted: the results contain only the matrices measured so far"
            )?;
            break;
        }
        progress.end();
    }
    progress.finish();
    recording.finish(measure.quiet, env.stderr)?;
    tuning.write(env.stdout)?;
    Ok(verdict)
}

/// Checks the arguments and sets the defaults of `tune`: its methods and one round.
fn with_defaults(mut measure: MeasureArgs, what: Tunable) -> Result<MeasureArgs> {
    ensure!(
        measure.format.is_none(),
        "--format: tune prints text, and writes CSV to the file of --output"
    );
    let counts = [measure.threads().len(), measure.caches().len(), measure.orders().len()];
    ensure!(
        counts.iter().all(|&count| count <= 1),
        "tune measures with one number of --threads, one --cache and one --order at a time"
    );
    let why = "tune writes its rows as CSV to the file of --output, and no other files";
    measure.exports.refuse(why)?;
    ensure!(measure.sort == Sort::Command, "--sort: tune prints no table of methods");
    let methods = match (what, &measure.device) {
        (Tunable::Shapes, _) => shapes::DEFAULT,
        (Tunable::CsrK, DeviceChoice::Gpu(_) | DeviceChoice::Models(_)) => {
            &["gpu-csrk-3", "gpu-csrk-3.5"]
        }
        (Tunable::CsrK, DeviceChoice::Cpu | DeviceChoice::All) => &["csr2", "csr3"],
    };
    measure.methods.get_or_insert_with(|| methods.iter().copied().map(String::from).collect());
    measure.rounds.get_or_insert(1);
    Ok(measure)
}
