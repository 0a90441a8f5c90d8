//! `spmv-bench corpus`: every matrix below a folder, or several named ones.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use super::args::CorpusArgs;
use super::session::{Session, output};
use super::sources::sources;
use super::{Verdict, World};
use crate::matrix::source::Source;
use crate::record::MatrixReport;
use crate::record::row::{Row, Status};
use crate::record::write::{Format, Reporter};

/// The methods that speeds are given over: the first on the same device that has a time.
const BASELINES: [&str; 4] = ["mkl-csrmv", "seq", "cusparse-csr", "gpu-csr-vector"];

/// Runs the command.
pub fn run(args: &CorpusArgs, command: Vec<String>, world: &mut World) -> Result<Verdict> {
    let measure = &args.measure;
    let sources = sources(&args.sources, measure.datasets.as_deref(), world.stderr)?;
    let mut session = Session::start(measure, world)?;
    let mut out = output(measure, world.stdout)?;
    session.record(measure, command, world.stderr, &world.date, &world.system)?;
    let mut reporter = Reporter::new(measure.format.unwrap_or(Format::Csv), &mut *out);
    let progress = progress(&sources, world.terminal && !measure.quiet);
    let mut tally = Tally::default();
    let mut interrupted = false;
    for (source, bytes) in &sources {
        progress.set_message(source.to_string());
        let run = session.run(source, true);
        interrupted = run.interrupted;
        let report = &run.report;
        if !measure.quiet {
            let mut warnings = report.warnings().into_iter();
            progress.suspend(|| warnings.try_for_each(|line| writeln!(world.stderr, "{line}")))?;
        }
        if report.is_trivial() {
            tally.trivial += 1;
        } else if report.rows().next().is_some() {
            tally.take(report);
            reporter.report(report)?;
        }
        if interrupted {
            break;
        }
        progress.inc(*bytes);
    }
    progress.finish_and_clear();
    session.finish(measure.quiet, world.stderr)?;
    if !measure.quiet {
        tally.write(world.stderr, interrupted)?;
    }
    Ok(if tally.bad || interrupted { Verdict::Bad } else { Verdict::Ok })
}

/// A bar by the files' bytes, on stderr; none when that is no terminal.
pub fn progress(sources: &[(Source, u64)], visible: bool) -> ProgressBar {
    if !visible {
        return ProgressBar::hidden();
    }
    let template = "{bar:24} {percent}% of {total_bytes}, {eta} left: {wide_msg}";
    let style = ProgressStyle::with_template(template).expect("a valid template");
    let bar = ProgressBar::new(sources.iter().map(|(_, bytes)| bytes).sum()).with_style(style);
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}

/// What the summary counts.
#[derive(Default)]
struct Tally {
    matrices: usize,
    trivial: usize,
    unreadable: usize,
    rows: BTreeMap<Status, usize>,
    /// Method → baseline → (Σ ln speed, matrices).
    speeds: BTreeMap<(String, &'static str), (f64, usize)>,
    bad: bool,
}

impl Tally {
    /// Counts a report.
    fn take(&mut self, report: &MatrixReport) {
        self.matrices += 1;
        self.unreadable += usize::from(report.ended.is_some());
        self.bad |= report.is_bad();
        for row in report.rows() {
            *self.rows.entry(row.status.expect("every row has one")).or_default() += 1;
        }
        for group in &report.groups {
            self.take_speeds(&group.rows);
        }
    }

    fn take_speeds(&mut self, rows: &[Row]) {
        let time_of = |name: &str| {
            let named = |row: &&Row| row.method_name.as_deref() == Some(name);
            rows.iter().find(named).and_then(|row| row.avg_spmv_ms)
        };
        let baseline = BASELINES.iter().find_map(|&name| Some((name, time_of(name)?)));
        let Some((baseline, baseline_ms)) = baseline else { return };
        for row in rows {
            if let (Some(name), Some(ms)) = (&row.method_name, row.avg_spmv_ms) {
                let (sum, count) = self.speeds.entry((name.clone(), baseline)).or_default();
                *sum += (baseline_ms / ms).ln();
                *count += 1;
            }
        }
    }

    fn write(&self, err: &mut dyn Write, interrupted: bool) -> std::io::Result<()> {
        let of = |status| self.rows.get(&status).copied().unwrap_or(0);
        let Self { matrices, trivial, unreadable, .. } = self;
        let stopped = if interrupted { "interrupted after " } else { "" };
        writeln!(
            err,
            "{stopped}{matrices} matrices ({unreadable} not measured; {trivial} trivial ones \
             skipped); rows: {} ok, {} skipped, {} wrong, {} failed",
            of(Status::Ok),
            of(Status::Skipped),
            of(Status::Wrong),
            of(Status::Failed)
        )?;
        for ((method, baseline), (sum, count)) in &self.speeds {
            let mean = (sum / *count as f64).exp();
            writeln!(err, "  {method:<16} {mean:.3} x {baseline} (geometric mean of {count})")?;
        }
        Ok(())
    }
}
