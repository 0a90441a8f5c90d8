//! `spmv-bench tune`: finds the best parameter values over many matrices.

mod rows;
mod sweeps;

use std::ffi::OsString;
use std::io::Write;

use anyhow::{Result, ensure};
use clap::Args;

use super::help::{MORE, shared};
use super::measure::{MeasureArgs, NOTHING};
use super::sources::{of_matrix, sources};
use super::verb::{CommandStatus, Needs, Verb};
use crate::campaign::choice::chosen;
use crate::campaign::env::Env;
use crate::campaign::progress::Display;
use crate::campaign::{Campaign, Plan, Sink, Work};
use rows::Rows;
use spmv_results::matrix::MatrixReport;
use spmv_results::row::Row;
use spmv_results::settings::DeviceChoice;
use spmv_results::text::Sort;
use spmv_results::text::modelled;
use sweeps::{SHAPES, SIZES, Sweeps};

/// Finds the best parameter values of a method over many matrices
///
/// csr-k: measures every value of the parameter srs, and of ssrs if the method has it, unless --methods
/// sets a value. The default methods are csr2 and csr3, or gpu-csrk-3 and gpu-csrk-3.5 on a GPU or a modelled one.
/// Prints the best sizes, their logarithmic regression over the mean row length, their geometric mean, and the
/// constant size with the smallest slowdown. With --output, writes one CSV row per matrix and size.
///
/// shapes: measures the parameter combinations that --methods names, by default the launch shapes of the
/// main GPU methods. Prints the speed of each combination as a percentage of the best one, as the
/// geometric mean over the matrices. With --output, writes the same rows as corpus.
///
/// Unless --rounds is given, there is one round, so that only one size is in memory at a time.
#[derive(Debug, Args)]
#[command(mut_args = shared, after_help = MORE)]
#[command(mut_arg("format", |it| it.hide(true)), mut_arg("products", |it| it.hide(true)))]
#[command(mut_arg("output", |it| it.help("Write the rows to this file, as CSV").long_help(None)))]
pub struct TuneArgs {
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// The parameters to tune
    #[arg(value_enum)]
    pub what: Tunable,
    /// Folders, files, GROUP/NAME, gen:SPEC or surrogate:SET, as for corpus
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tunable {
    /// The sizes of super-rows and super-super-rows of CSR-k
    CsrK,
    /// Every combination of the parameter values that --methods names, such as gpu-merge:block=*:items=*
    Shapes,
}

impl Verb for TuneArgs {
    fn needs(&self) -> Needs {
        self.measure.needs()
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let measure = with_defaults(self.measure.clone(), self.what)?;
        let sources = sources(&self.sources, measure.datasets.as_deref(), env.stderr)?;
        measure.check_files(sources.iter().map(|(source, _)| source))?;
        measure.check_new()?;
        let plan = measure.plan();
        let (choices, precisions) = (chosen(&plan.run)?, &plan.run.precisions);
        let (mut sweeps, varied) = match self.what {
            Tunable::CsrK => (Sweeps::of_sizes(&choices, precisions)?, &SIZES[..]),
            Tunable::Shapes => (Sweeps::of_shapes(&choices, precisions), &[][..]),
        };
        let plan = Plan { sweep: varied.iter().map(|&name| name.into()).collect(), ..plan };
        let mut campaign = Campaign::start(&plan, !measure.no_isolate, env.words.clone(), env)?;
        let cells = &campaign.recording.record.cells;
        sweeps.keep(|method| cells.iter().any(|cell| cell.method == method));
        let modelled = cells.first().and_then(|cell| modelled(cell.device));
        let rows = Rows::open(&measure)?;
        campaign.recording.begin(measure.record_path(), env.stderr)?;
        campaign.samples = measure.sample_file()?;
        campaign.recording.write()?;
        let works: Vec<_> = sources.iter().map(|(source, bytes)| Work::new(source.clone(), *bytes)).collect();
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
            writeln!(self.stderr, "{}", of_matrix(&work.source, reason))?;
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
        (Tunable::CsrK, DeviceChoice::Gpu(_) | DeviceChoice::Models(_)) => &["gpu-csrk-3", "gpu-csrk-3.5"],
        (Tunable::CsrK, DeviceChoice::Cpu | DeviceChoice::All) => &["csr2", "csr3"],
    };
    measure.methods.get_or_insert_with(|| methods.iter().copied().map(String::from).collect());
    measure.rounds.get_or_insert(1);
    Ok(measure)
}
