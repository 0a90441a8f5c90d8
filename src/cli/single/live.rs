//! Writes the results of a matrix while it is being measured.

use std::io::{self, Write};

use anyhow::Result;

use crate::bench::event::Event;
use crate::campaign::{Sink, Work};
use spmv_results::files::write::Reporter;
use spmv_results::matrix::{Group, MatrixReport};

pub struct Live<W> {
    pub report: MatrixReport,
    /// The results so far of the group whose measurement was interrupted.
    partial: Option<Box<Group>>,
    reporter: Reporter<W>,
    /// Whether each part is written as soon as it is complete; otherwise everything is written at the end.
    at_once: bool,
    /// Whether the description of the matrix is written.
    begun: bool,
    lost: Option<io::Error>,
}

impl<W: Write> Live<W> {
    pub fn new(reporter: Reporter<W>, at_once: bool) -> Self {
        let (report, partial) = (MatrixReport::default(), None);
        Self { report, partial, reporter, at_once, begun: false, lost: None }
    }

    /// Adds the interrupted group to the report, if there is one.
    pub fn keep_partial(&mut self) {
        if let Some(group) = self.partial.take() {
            self.write(|reporter| reporter.group(&group));
            self.report.groups.push(*group);
        }
    }

    fn write(&mut self, part: impl FnOnce(&mut Reporter<W>) -> io::Result<()>) {
        if self.at_once && self.lost.is_none() {
            self.lost = part(&mut self.reporter).err();
        }
    }

    pub fn end(mut self) -> io::Result<Reporter<W>> {
        let report = &self.report;
        match self.lost {
            Some(error) => Err(error),
            None if self.begun => self.reporter.end(report),
            None => self.reporter.report(report),
        }?;
        Ok(self.reporter)
    }
}

impl<W: Write> Sink for Live<W> {
    fn event(&mut self, event: &Event) -> Result<()> {
        match event {
            // A new child process that reads the matrix again sends this event again.
            Event::Matrix(matrix) if self.at_once && matrix.ended.is_none() && !self.begun => {
                self.begun = true;
                self.write(|reporter| reporter.begin(matrix));
            }
            Event::Group(group) => {
                self.partial = None;
                self.write(|reporter| reporter.group(group));
            }
            Event::Partial(group) => self.partial = Some(group.clone()),
            _ => (),
        }
        Ok(())
    }

    fn matrix(&mut self, _: &Work, report: MatrixReport, _: bool) -> Result<()> {
        self.report = report;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::add;
    use spmv_results::files::write::Format;
    use spmv_results::row::{Row, Status};
    use spmv_results::text::Show;

    fn matrix() -> Event {
        let mut report = MatrixReport::default();
        report.facts.file = "a.mtx".into();
        Event::Matrix(Box::new(report))
    }

    fn group(reason: Option<&str>) -> Box<Group> {
        let row = Row {
            method_name: Some("seq".into()),
            status: Some(Status::Skipped),
            reason: reason.unwrap_or_default().into(),
            ..Row::default()
        };
        Box::new(Group::of(vec![row]))
    }

    /// Returns the text that is written for these events before the end, and after it.
    fn written(events: Vec<Event>, at_once: bool) -> [String; 2] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = || std::fs::read_to_string(file.path()).unwrap();
        let reporter = Reporter::new(Format::Text, Show::default(), file.as_file());
        let mut live = Live::new(reporter, at_once);
        for event in events {
            live.event(&event).unwrap();
            add(&mut live.report, event);
        }
        let before = text();
        live.keep_partial();
        live.end().unwrap();
        [before, text()]
    }

    const TABLE: &str = "\nf64, CPU, 1 thread, hot cache\nmethod                result ";

    #[test]
    fn what_is_complete_is_written_at_once() {
        let events = || vec![matrix(), Event::Group(group(None))];
        let [before, after] = written(events(), true);
        assert!(before.starts_with(&format!("a.mtx\n{TABLE}")), "{before}");
        assert_eq!(after, before);
        assert_eq!(written(events(), false), [String::new(), after]);
        assert_eq!(written(vec![matrix()], true), ["a.mtx\n", "a.mtx\n"]);
    }

    /// A child process that was replaced has already sent the matrix, and perhaps a part of a group that is
    /// complete now.
    #[test]
    fn nothing_is_written_twice() {
        let part = || Event::Partial(group(Some("a part")));
        let events = vec![matrix(), part(), matrix(), Event::Group(group(Some("all")))];
        let [_, text] = written(events, true);
        assert_eq!((text.matches("a.mtx").count(), text.matches(TABLE).count()), (1, 1), "{text}");
        assert!(text.contains("all") && !text.contains("a part"), "{text}");
        let [before, after] = written(vec![matrix(), part()], true);
        assert!(!before.contains("a part") && after.contains("a part"), "{after}");
    }
}
