//! `spmv-bench tune`: finds the best parameter values over many matrices.

mod sweeps;

use std::ffi::OsString;
use std::io::Write;

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;

use super::measure::{MORE, MeasureArgs, NOTHING, shared};
use super::sources::{of_matrix, sources};
use super::{CommandStatus, Env};
use crate::campaign::choice::chosen;
use crate::campaign::progress::Display;
use crate::campaign::{Campaign, Plan, Sink, Work};
use spmv_results::files::cells::to_csv;
use spmv_results::files::output::{self, Output};
use spmv_results::files::rows::{RowFile, is_not_regular_file};
use spmv_results::matrix::MatrixReport;
use spmv_results::row::Row;
use spmv_results::settings::DeviceChoice;
use spmv_results::text::Sort;
use spmv_results::text::modelled;
use sweeps::{SHAPES, SIZES, Sweeps};

#[derive(Debug, Args)]
#[command(mut_args = shared, after_help = MORE)]
#[command(mut_arg("format", |it| it.hide(true)), mut_arg("products", |it| it.hide(true)))]
#[command(mut_arg("output", |it| it.help("Write the rows to this file, as CSV").long_help(None)))]
pub struct TuneArgs {
    /// The parameters to tune
    #[arg(value_enum)]
    pub what: Tunable,
    /// Folders, files, GROUP/NAME, gen:SPEC or surrogate:SET, as for corpus
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<OsString>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tunable {
    /// The sizes of super-rows and super-super-rows of CSR-k
    CsrK,
    /// Every combination of the parameter values that --methods names, such as gpu-merge:block=*:items=*
    Shapes,
}

pub fn run(args: TuneArgs, command: Vec<String>, env: &mut Env) -> Result<CommandStatus> {
    let measure = with_defaults(args.measure, args.what)?;
    let sources = sources(&args.sources, measure.datasets.as_deref(), env.stderr)?;
    measure.check_files(sources.iter().map(|(source, _)| source))?;
    measure.check_new()?;
    let plan = measure.plan();
    let (choices, precisions) = (chosen(&plan.run)?, &plan.run.precisions);
    let (mut sweeps, varied) = match args.what {
        Tunable::CsrK => (Sweeps::of_sizes(&choices, precisions)?, &SIZES[..]),
        Tunable::Shapes => (Sweeps::of_shapes(&choices, precisions), &[][..]),
    };
    let plan = Plan { sweep: varied.iter().map(|&name| name.into()).collect(), ..plan };
    let mut campaign = Campaign::start(&plan, !measure.no_isolate, command, env)?;
    let cells = &campaign.recording.record.cells;
    sweeps.keep(|method| cells.iter().any(|cell| cell.method == method));
    let modelled = cells.first().and_then(|cell| modelled(cell.device));
    let rows = Rows::open(&measure)?;
    campaign.recording.begin(measure.record_path(), env.stderr)?;
    campaign.samples = measure.sample_file()?;
    campaign.recording.write()?;
    let works: Vec<_> = sources.iter().map(|(source, bytes)| Work::new(source, *bytes)).collect();
    let status = CommandStatus::Ok;
    let mut results = Results { sweeps, rows, status, any: false, stderr: env.stderr };
    let interrupted = campaign.run(&works, Display::Matrices, &mut results)?;
    let Results { sweeps, status, any, .. } = results;
    if interrupted {
        writeln!(env.stderr, "interrupted: the results contain only the matrices measured so far")?;
    }
    campaign.finish(env.stderr)?;
    sweeps.write(env.stdout)?;
    modelled.map_or(Ok(()), |note| writeln!(env.stdout, "{note}"))?;
    ensure!(interrupted || any, NOTHING);
    Ok(status)
}

struct Results<'o> {
    sweeps: Sweeps,
    rows: Rows,
    status: CommandStatus,
    any: bool,
    stderr: &'o mut dyn Write,
}

impl Sink for Results<'_> {
    fn matrix(&mut self, work: &Work, report: MatrixReport, interrupted: bool) -> Result<()> {
        if let Some((_, reason)) = report.end() {
            writeln!(self.stderr, "{}", of_matrix(work.source, reason))?;
        }
        if interrupted || report.is_bad() {
            self.status = CommandStatus::Bad;
        }
        self.any |= report.rows().any(Row::is_ok);
        self.sweeps.take(&report, &mut self.rows)
    }
}

/// Checks the arguments and sets the defaults of `tune`: its methods and one round.
fn with_defaults(mut measure: MeasureArgs, what: Tunable) -> Result<MeasureArgs> {
    let why = "--format: tune prints text, and writes CSV to the file of --output";
    ensure!(measure.format.is_none(), why);
    let run = measure.run_settings();
    let counts = [run.threads.len(), run.caches.len(), run.orders.len(), run.models().len()];
    ensure!(
        counts.iter().all(|&count| count <= 1),
        "tune measures with one number of --threads, one --cache, one --order and one modelled GPU at a time"
    );
    let why = "--export: tune writes its rows as CSV to the file of --output, and no other files";
    ensure!(measure.exports.is_empty(), why);
    ensure!(measure.sort == Sort::Command, "--sort: tune prints no table of methods");
    let methods = match (what, &measure.device) {
        (Tunable::Shapes, _) => SHAPES,
        (Tunable::CsrK, DeviceChoice::Gpu(_) | DeviceChoice::Models(_)) => {
            &["gpu-csrk-3", "gpu-csrk-3.5"]
        }
        (Tunable::CsrK, DeviceChoice::Cpu | DeviceChoice::All) => &["csr2", "csr3"],
    };
    measure.methods.get_or_insert_with(|| methods.iter().copied().map(String::from).collect());
    measure.rounds.get_or_insert(1);
    Ok(measure)
}

/// The output of `--output`, if there is one. The rows of a matrix are written as soon as it is measured.
enum Rows {
    Nowhere,
    File(RowFile),
    Device { device: Output<'static>, has_header: bool },
}

impl Rows {
    fn open(measure: &MeasureArgs) -> Result<Self> {
        let Some(path) = &measure.output else { return Ok(Self::Nowhere) };
        output::check(path, measure.force)?;
        if !is_not_regular_file(path) {
            return Ok(Self::File(RowFile::replace(path)?));
        }
        Ok(Self::Device { device: Output::file(path, measure.force)?, has_header: false })
    }

    fn write(&mut self, row: impl Serialize) -> Result<()> {
        match self {
            Self::Nowhere => Ok(()),
            Self::File(file) => file.add(&[row]),
            Self::Device { device, has_header } => {
                let text = to_csv(&[row], !std::mem::replace(has_header, true))?;
                Ok(device.write_all(&text)?)
            }
        }
    }
}
