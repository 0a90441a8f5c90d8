//! Measures matrices one after the other, in this process or in child processes, and records the run.
//!
//! A command makes a `Plan`, starts a [`Campaign`], and runs it over its matrices with a [`Sink`] that writes the
//! results. Everything else is here: the child processes and their ends, the cells that are still open, progress,
//! interrupts, and the run record.

mod answers;
pub(crate) mod bandwidth;
pub(crate) mod choice;
pub(crate) mod collect;
pub(crate) mod corpus;
pub(crate) mod env;
pub(crate) mod gpus;
pub(crate) mod idle;
mod install;
pub(crate) mod isolate;
pub(crate) mod libraries;
mod plan;
pub(crate) mod plugins;
pub(crate) mod progress;
pub(crate) mod recording;
pub(crate) mod resume;
pub(crate) mod session;
pub(crate) mod shard;
mod version;
mod work;

use std::io::Write;

use anyhow::{Error, Result};

use crate::bench::event::Event;
use crate::bench::samples::Sample;
use env::Env;
use isolate::Runner;
pub(crate) use plan::Plan;
use progress::estimate::entries;
use progress::{Display, Progress};
use recording::Recording;
use spmv_results::files::samples::{SampleFile, SampleLine};
use spmv_results::matrix::MatrixReport;
use spmv_results::row::{RowKey, open_cells};
use spmv_results::run::RunRecord;
pub(crate) use version::{REVISION, VERSION};
pub(crate) use work::{Part, Work};

pub struct Campaign<'a> {
    runner: Runner<'a>,
    pub recording: Recording,
    /// The file of all samples, if they are asked for.
    pub samples: Option<SampleFile>,
    /// Whether a progress bar may be displayed.
    is_visible: bool,
}

/// What a command does with the results. The progress bar is hidden during each call.
pub trait Sink {
    /// Called before a matrix is measured.
    fn begin(&mut self, _work: &Work) -> Result<()> {
        Ok(())
    }

    /// Takes the description of the matrix, a group as soon as it is complete, or a part of it after an interrupt.
    fn event(&mut self, _event: &Event) -> Result<()> {
        Ok(())
    }

    /// Takes the complete groups of a matrix. The report is empty if nothing was left to measure.
    fn matrix(&mut self, work: &Work, report: MatrixReport, interrupted: bool) -> Result<()>;
}

impl<'a> Campaign<'a> {
    /// Prepares a campaign, in child processes if `isolate`. `command` is the command line for the run record.
    pub fn start(plan: &Plan, isolate: bool, command: Vec<String>, env: &mut Env<'a>) -> Result<Self> {
        let (runner, record) = Runner::start(plan, isolate, env)?;
        let record = RunRecord { command, ..record };
        Ok(Self {
            runner,
            recording: Recording::new(record, env, plan.run.quiet),
            samples: None,
            is_visible: env.terminal && !plan.run.quiet,
        })
    }

    /// Ends the child processes, completes the files of the run, and says what may have changed times.
    pub fn finish(self, stderr: &mut dyn Write) -> Result<()> {
        // What its children used is known when they have ended.
        drop(self.runner);
        self.samples.map_or(Ok(()), SampleFile::finish)?;
        self.recording.finish(stderr)
    }

    /// Measures the open cells of matrices one after the other. Returns whether the campaign was interrupted.
    pub fn run(&mut self, works: &[Work], display: Display, sink: &mut dyn Sink) -> Result<bool> {
        let cells = self.recording.record.cells.clone();
        let open: Vec<_> = works.iter().map(|work| open_cells(&work.existing, &cells)).collect();
        let sizes: Vec<_> = works
            .iter()
            .zip(&open)
            .map(|(work, open)| (entries(&work.source, work.bytes), open.len()))
            .collect();
        let display = if self.is_visible { display } else { Display::Hidden };
        let progress = Progress::new(&sizes, &self.recording.record.settings, display);
        let mut interrupted = false;
        for (work, open) in works.iter().zip(open) {
            let mut report = MatrixReport::default();
            interrupted = self.measure(work, open, &progress, sink, &mut report)?;
            progress.suspend(|| sink.matrix(work, report, interrupted))?;
            if interrupted {
                break;
            }
            progress.end();
        }
        progress.finish();
        Ok(interrupted)
    }

    /// Measures the open cells of a matrix and adds them to its report. Returns whether it was interrupted.
    fn measure(
        &mut self,
        work: &Work,
        open: Vec<RowKey>,
        progress: &Progress,
        sink: &mut dyn Sink,
        report: &mut MatrixReport,
    ) -> Result<bool> {
        if open.is_empty() {
            return Ok(false);
        }
        progress.suspend(|| sink.begin(work))?;
        progress.begin(work.name.clone(), entries(&work.source, work.bytes), open);
        let (recording, mut lost) = (&mut self.recording, None::<Error>);
        let samples = &mut self.samples;
        let interrupted = self.runner.run(work, &mut |mut event| {
            set_name(&mut event, &work.name);
            progress.note(&event);
            if let (Event::Samples { .. }, Some(file), None) = (&event, samples.as_mut(), &lost) {
                lost = file.add(&lines(&work.name, &event)).err();
            }
            let is_shown = matches!(event, Event::Matrix(_) | Event::Group(_) | Event::Partial(_));
            if lost.is_none() && is_shown {
                let keep = || {
                    if let Event::Group(group) = &event {
                        recording.take_group(group)?;
                    }
                    sink.event(&event)
                };
                lost = progress.suspend(keep).err();
            }
            add(report, event);
        })?;
        lost.map_or(Ok(interrupted), Err)
    }
}

/// Gives the rows and the description of a matrix its name.
fn set_name(event: &mut Event, name: &str) {
    let rows = match event {
        Event::Group(group) | Event::Partial(group) => &mut group.rows[..],
        Event::Matrix(report) => {
            name.clone_into(&mut report.facts.file);
            report.ended.as_mut_slice()
        }
        _ => return,
    };
    rows.iter_mut().for_each(|row| name.clone_into(&mut row.file));
}

/// Returns the lines of the samples of an event.
fn lines<'a>(file: &'a str, event: &'a Event) -> Vec<SampleLine<'a>> {
    let Event::Samples { cell, process, samples } = event else { return Vec::new() };
    let line = |sample: &Sample| SampleLine {
        file,
        method_name: &cell.method,
        precision: cell.precision,
        device: cell.device,
        threads: cell.threads,
        cache: cell.cache,
        order: cell.order.as_ref(),
        process: *process,
        round: sample.round,
        pair: sample.pair,
        products: sample.products,
        ms: sample.product_ms(),
        waited_ms: 1e3 * sample.waited.as_secs_f64(),
        changed_x: sample.is_changed,
        counts: sample.counts,
    };
    samples.iter().map(line).collect()
}

/// Adds a complete group or the description of the matrix to its report.
pub(crate) fn add(report: &mut MatrixReport, event: Event) {
    match event {
        Event::Group(group) => report.groups.push(*group),
        // Sent again if a new child process has read the matrix again.
        Event::Matrix(matrix) => {
            let groups = std::mem::take(&mut report.groups);
            *report = MatrixReport { groups, ..*matrix };
        }
        _ => (),
    }
}

/// Keeps the results of the last matrix.
impl Sink for MatrixReport {
    fn matrix(&mut self, _work: &Work, report: MatrixReport, _interrupted: bool) -> Result<()> {
        *self = report;
        Ok(())
    }
}
