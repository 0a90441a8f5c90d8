//! Reports in each of their forms, flushed after each row, table or matrix.

use std::io::{self, Write};
use std::mem::replace;
use std::path::Path;

use super::cells::to_csv;
use super::row::Row;
use super::sort::Sort;
use super::{Group, MatrixReport, ginkgo, lines, markdown, text};
use crate::terminal::Shown;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One line of `key=value` per row, for scripts.
    Lines,
    /// One row per matrix × method × precision.
    Csv,
    /// One object per matrix, one per line.
    Json,
    /// The tables of the text in Markdown.
    Md,
    /// As the benchmarks of Ginkgo write it: one array with an object per matrix.
    Ginkgo,
}

impl Format {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Lines => "lines",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Md => "md",
            Self::Ginkgo => "ginkgo",
        }
    }

    /// Whether a file in this form may have the ending of the other: both are JSON, or both are text.
    pub fn may_end_as(self, named: Self) -> bool {
        let alike = [(Self::Ginkgo, Self::Json), (Self::Lines, Self::Text)];
        self == named || alike.contains(&(self, named))
    }

    /// Whether each part of it is worth showing before the next is there.
    pub fn is_written_at_once(self) -> bool {
        matches!(self, Self::Text | Self::Lines)
    }

    /// The form that a file's name tells by its ending.
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "txt" => Some(Self::Text),
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "md" => Some(Self::Md),
            _ => None,
        }
    }
}

/// Writes reports in one form.
pub struct Reporter<W> {
    format: Format,
    /// Of the rows of tables.
    sort: Sort,
    to: W,
    /// Whether the header of the CSV is there, or the beginning of the array.
    begun: bool,
}

impl<W: Write> Reporter<W> {
    /// A writer of that form.
    pub fn new(format: Format, sort: Sort, to: W) -> Self {
        Self { format, sort, to, begun: false }
    }

    /// Writes one matrix.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn report(&mut self, report: &MatrixReport) -> io::Result<()> {
        self.begin(report)?;
        report.groups.iter().try_for_each(|group| self.group(group))?;
        self.end(report)
    }

    /// Writes what can be said of a matrix before anything is measured on it.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn begin(&mut self, report: &MatrixReport) -> io::Result<()> {
        let out = &mut Shown::new(&mut self.to);
        match self.format {
            Format::Text => text::write_matrix(out, report)?,
            Format::Md => markdown::write_matrix(out, report)?,
            Format::Lines | Format::Csv | Format::Json | Format::Ginkgo => (),
        }
        self.to.flush()
    }

    /// Writes a group of the matrix that was begun.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn group(&mut self, group: &Group) -> io::Result<()> {
        let out = &mut Shown::new(&mut self.to);
        match self.format {
            Format::Text => text::write_group(out, &self.sort.of(group))?,
            Format::Md => markdown::write_group(out, &self.sort.of(group))?,
            Format::Lines | Format::Csv => self.rows(&group.rows)?,
            Format::Json | Format::Ginkgo => (),
        }
        self.to.flush()
    }

    /// Writes what remains of the matrix that was begun.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn end(&mut self, report: &MatrixReport) -> io::Result<()> {
        let out = &mut Shown::new(&mut self.to);
        match self.format {
            Format::Text => text::write_end(out, report)?,
            Format::Md => markdown::write_end(out, report)?,
            Format::Lines | Format::Csv => self.rows(report.ended.as_slice())?,
            Format::Json => {
                serde_json::to_writer(&mut self.to, report)?;
                writeln!(self.to)?;
            }
            Format::Ginkgo => {
                self.to.write_all(if replace(&mut self.begun, true) { b",\n" } else { b"[\n" })?;
                serde_json::to_writer(&mut self.to, &ginkgo::Matrix::from(report))?;
            }
        }
        self.to.flush()
    }

    /// Each row is whole before the next.
    fn rows(&mut self, rows: &[Row]) -> io::Result<()> {
        for row in rows {
            let text = match self.format {
                Format::Lines => lines::line(row).into_bytes(),
                _ => to_csv(&[row], !replace(&mut self.begun, true))?,
            };
            self.to.write_all(&text)?;
            self.to.flush()?;
        }
        Ok(())
    }

    /// Writes what comes after the last matrix, and gives back where everything went. An array has its end only
    /// then: what a run had written when it was killed, or ended with an error, lacks `]`.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn finish(mut self) -> io::Result<W> {
        if self.format == Format::Ginkgo {
            self.to.write_all(if self.begun { b"\n]\n" } else { b"[\n]\n" })?;
        }
        self.to.flush()?;
        Ok(self.to)
    }
}
