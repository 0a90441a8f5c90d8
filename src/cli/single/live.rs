//! What is shown of a matrix while it is measured.

use std::io;
use std::mem::replace;

use crate::cli::progress::Progress;
use crate::cli::task::Event;
use crate::record::write::Reporter;
use crate::record::{Group, MatrixReport};

/// The report of a matrix as it grows.
pub struct Live<'r, 'p> {
    pub report: MatrixReport,
    reporter: Reporter<'r>,
    progress: &'p Progress,
    /// Whether each part is written as soon as it is known, not all at the end.
    at_once: bool,
    /// Whether the matrix itself is written.
    begun: bool,
    partial: Option<Group>,
    /// Why something could not be written.
    lost: Option<io::Error>,
}

impl<'r, 'p> Live<'r, 'p> {
    /// Nothing is known yet.
    pub fn new(reporter: Reporter<'r>, at_once: bool, progress: &'p Progress) -> Self {
        let report = MatrixReport::default();
        Self { report, reporter, progress, at_once, begun: false, partial: None, lost: None }
    }

    /// Takes what is told, and writes what is complete.
    pub fn take(&mut self, event: Event) {
        self.progress.note(&event);
        if self.at_once && self.lost.is_none() {
            self.lost = self.write(&event).err();
        }
        match event {
            Event::Partial(group) => self.partial = Some(*group),
            event => {
                if matches!(event, Event::Group(_)) {
                    self.partial = None;
                }
                event.add_to(&mut self.report);
            }
        }
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        let Self { reporter, progress, begun, .. } = self;
        match event {
            // A fresh process that reads the matrix again tells it again.
            Event::Matrix(matrix) if matrix.ended.is_none() && !replace(begun, true) => {
                progress.suspend(|| reporter.begin(matrix))
            }
            Event::Group(group) => progress.suspend(|| reporter.group(group)),
            _ => Ok(()),
        }
    }

    /// Takes the group that was interrupted into the report.
    pub fn keep_partial(&mut self) {
        if let Some(group) = self.partial.take() {
            self.take(Event::Group(Box::new(group)));
        }
    }

    /// Writes what is not written yet.
    ///
    /// # Errors
    /// When the output did not take something.
    pub fn end(mut self) -> io::Result<()> {
        match self.lost {
            Some(error) => Err(error),
            None if self.begun => self.reporter.end(&self.report),
            None => self.reporter.report(&self.report),
        }
    }
}
