//! `spmv-bench MATRIX`: measures every method on one matrix.

mod live;

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;

use super::folder::bytes_of;
use super::measure::{MeasureArgs, NOTHING};
use super::output::finish;
use super::sources::{of_matrix, source};
use super::verb::{CommandStatus, Needs, Verb};
use crate::campaign::env::Env;
use crate::campaign::progress::Display;
use crate::campaign::{Campaign, Plan, Work};
use live::Live;
use spmv_matrix::memory::ReadBounds;
use spmv_matrix::reader::is_archive;
use spmv_matrix::source::Source;
use spmv_results::files::write::Format;
use spmv_results::row::Row;
use spmv_results::settings::Protocol;

/// The matrix that is measured if the command line names none.
const DEFAULT_MATRIX: &str = "gen:grid2d,n=1000,points=5,random=1";
/// How long the products of a method are then timed: less than usual, to show the program soon.
const DEFAULT_TIME: Duration = Duration::from_millis(150);

#[derive(Clone, Debug, Args)]
pub struct SingleArgs {
    /// A file, GROUP/NAME or gen:SPEC [default: a generated grid]
    ///
    /// A file in a format of docs/matrices.md, compressed or not; GROUP/NAME, a matrix of the collection that `fetch`
    /// has downloaded into ufl_mtx; gen:NAME,KEY=VALUE,…, a generator of `generate --help`; or surrogate:GROUP/NAME,
    /// the generated surrogate for a matrix of the collection. `--mtx MATRIX` is the same. Write ./corpus for a file
    /// with the name of a command.
    pub matrix: Option<OsString>,
    /// Further arguments, which are accepted only to report them in a helpful error message.
    #[arg(hide = true)]
    pub further: Vec<OsString>,
    /// The same as MATRIX
    #[arg(hide = true, long, value_name = "MATRIX", conflicts_with = "matrix")]
    pub mtx: Option<OsString>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

impl SingleArgs {
    pub fn word(&self) -> &OsStr {
        self.named().unwrap_or(OsStr::new(DEFAULT_MATRIX))
    }

    fn named(&self) -> Option<&OsStr> {
        self.matrix.as_deref().or(self.mtx.as_deref())
    }

    /// Returns how the matrix is measured: the default matrix for a shorter time.
    fn measure(&self) -> MeasureArgs {
        let mut measure = self.measure.clone();
        if self.named().is_none() && measure.protocol == Protocol::MergeSpmv {
            measure.max_time.get_or_insert(DEFAULT_TIME);
        }
        measure
    }
}

/// Reports a defect of the first lines of a file before anything else is printed. Archives and streams are read only
/// once.
fn check_header(source: &Source, measure: &MeasureArgs) -> Result<()> {
    let Source::File(path) = source else { return Ok(()) };
    let is_results = path.extension().is_some_and(|extension| extension == "csv" || extension == "json");
    let shown = path.display();
    ensure!(
        !is_results || measure.edges.is_some(),
        "{shown} has results, not a matrix: `spmv-bench report {shown}` shows them; an edge list needs --edges"
    );
    if path.is_file() && !is_archive(path) {
        let file = source.open(measure.reading(), ReadBounds::NONE);
        let checked = file.and_then(|file| file.check());
        checked.map_err(|error| anyhow!("{}", of_matrix(source, &error.to_string())))?;
    }
    Ok(())
}

/// Returns the matrix and the format of the results, if the arguments and the files that they name allow it.
fn checked(args: &SingleArgs, measure: &MeasureArgs) -> Result<(Source, Format)> {
    let count = 1 + args.further.len();
    ensure!(count == 1, "{count} matrices are given; `spmv-bench corpus` measures several");
    let source = source(args.word(), measure.datasets.as_deref())?;
    check_header(&source, measure)?;
    measure.check_files([&source].into_iter())?;
    measure.check_new()?;
    Ok((source, measure.format_of_one()?))
}

impl Verb for SingleArgs {
    fn needs(&self) -> Needs {
        self.measure.needs()
    }

    /// Runs the command. With MPI, each rank takes every step, and an error of one of them ends all.
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let measure = &self.measure();
        let (source, format) = env.together.agree(checked(self, measure))?;
        let plan = Plan { skip_trivial: false, ..measure.plan().of([&source].into_iter()) };
        let started = Campaign::start(&plan, !measure.no_isolate, env.words.clone(), env);
        let mut campaign = env.together.agree(started)?;
        let opened = measure
            .reporter(format, env.stdout, env.width)
            .and_then(|reporter| Ok((reporter, measure.exporters()?)))
            .and_then(|outputs| {
                campaign.recording.begin(measure.record_path(), env.stderr)?;
                campaign.samples = measure.sample_file()?;
                Ok(outputs)
            });
        let (reporter, mut exporters) = env.together.agree(opened)?;
        let mut live = Live::new(reporter, format.is_written_at_once() && measure.output.is_none());
        let work = Work::new(source.clone(), bytes_of(&source));
        let interrupted = campaign.run(&[work], Display::Methods, &mut live)?;
        let complete = live.report.clone();
        if interrupted && format == Format::Text {
            live.keep_partial();
        }
        let report = live.report.clone();
        if let Some((_, reason)) = report.end().filter(|_| report.groups.is_empty()) {
            bail!("{}", of_matrix(&source, reason));
        }
        measure.warn(&report, env.stderr)?;
        // A run that is interrupted before the matrix is read has no results and leaves earlier files unchanged.
        if !report.facts.file.is_empty() {
            exporters.iter_mut().try_for_each(|exporter| exporter.report(&complete))?;
            finish(exporters.into_iter().chain([live.end()?]))?;
        }
        campaign.finish(env.stderr)?;
        if interrupted {
            writeln!(env.stderr, "interrupted: the results of {source} are incomplete")?;
        }
        let has_result = |row: &Row| row.is_ok() || row.is_bad() && row.method_name.is_some();
        let is_alone = env.together.count().is_none();
        ensure!(interrupted || !is_alone || report.rows().any(has_result), NOTHING);
        Ok(CommandStatus::bad_if(interrupted || report.is_bad()))
    }
}
