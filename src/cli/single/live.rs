//! Writes the results of a matrix while it is being measured.

use std::io::{self, Write};
use std::mem::replace;

use crate::campaign::progress::Progress;
use crate::campaign::task::Event;
use crate::record::write::Reporter;
use crate::record::{Group, MatrixReport};

/// The report of a matrix that is being measured.
pub struct Live<'p, W> {
    pub report: MatrixReport,
    reporter: Reporter<W>,
    progress: &'p Progress,
    /// Whether each part is written as soon as it is complete; otherwise everything is written at the end.
    at_once: bool,
    /// Whether the description of the matrix is written.
    begun: bool,
    partial: Option<Group>,
    /// The first write error.
    lost: Option<io::Error>,
}

impl<'p, W: Write> Live<'p, W> {
    /// Creates an empty report.
    pub fn new(reporter: Reporter<W>, at_once: bool, progress: &'p Progress) -> Self {
        let report = MatrixReport::default();
        Self { report, reporter, progress, at_once, begun: false, partial: None, lost: None }
    }

    /// Adds an event to the report and writes what is complete.
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
            // A new child process that reads the matrix again sends this event again.
            Event::Matrix(matrix) if matrix.ended.is_none() && !replace(begun, true) => {
                progress.suspend(|| reporter.begin(matrix))
            }
            Event::Group(group) => progress.suspend(|| reporter.group(group)),
            _ => Ok(()),
        }
    }

    /// Adds the interrupted group to the report.
    pub fn keep_partial(&mut self) {
        if let Some(group) = self.partial.take() {
            self.take(Event::Group(Box::new(group)));
        }
    }

    /// Writes what is not written yet, and returns the reporter.
    ///
    /// # Errors
    /// Returns an error if the output could not be written.
    pub fn end(mut self) -> io::Result<Reporter<W>> {
        match self.lost {
            Some(error) => Err(error),
            None if self.begun => self.reporter.end(&self.report),
            None => self.reporter.report(&self.report),
        }?;
        Ok(self.reporter)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, SeekFrom};

    use super::*;
    use crate::bench::plan::{Protocol, Settings};
    use crate::matrix::source::Source;
    use crate::record::row::{Row, Status};
    use crate::record::sort::Sort;
    use crate::record::write::Format;

    fn matrix() -> Event {
        let mut report = MatrixReport::default();
        report.facts.file = "a.mtx".into();
        Event::Matrix(Box::new(report))
    }

    fn group(reason: Option<&str>) -> Box<Group> {
        let row = Row {
            method_name: Some("seq".into()),
            status: Some(Status::Skipped),
            reason: reason.map(String::from),
            ..Row::default()
        };
        Box::new(Group::of(vec![row]))
    }

    /// Returns the text that is written for these events before the end, and after it.
    fn written(events: Vec<Event>, at_once: bool) -> [String; 2] {
        let source = Source::parse("gen:dense,rows=3,cols=4".as_ref()).unwrap();
        let settings = Settings::new(Protocol::MergeSpmv);
        let progress = Progress::of_one((&source, 0, 1), &settings, false);
        let mut file = tempfile::tempfile().unwrap();
        let mut same = file.try_clone().unwrap();
        let mut text = || {
            let mut text = String::new();
            same.seek(SeekFrom::Start(0)).unwrap();
            same.read_to_string(&mut text).unwrap();
            text
        };
        let mut live =
            Live::new(Reporter::new(Format::Text, Sort::Command, &mut file), at_once, &progress);
        events.into_iter().for_each(|event| live.take(event));
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
        assert_eq!(after, before.clone() + "\n");
        assert_eq!(written(events(), false), [String::new(), after]);
        assert_eq!(written(vec![matrix()], true), ["a.mtx\n", "a.mtx\n\n"]);
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
