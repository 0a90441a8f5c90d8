//! Writes reports in each format, and flushes the output after each row, table or matrix.

use std::io::{self, Write};
use std::mem::replace;
use std::path::Path;

use super::cells::to_csv;
use super::row::Row;
use super::sort::Sort;
use super::{Group, MatrixReport, ginkgo, lines, markdown, text};
use crate::record::terminal::Shown;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text to read.
    Text,
    /// One line of `key=value` per row, for scripts.
    Lines,
    /// One row per matrix × method × precision.
    Csv,
    /// One object per matrix, one per line.
    Json,
    /// The tables of the text format as Markdown.
    Md,
    /// The format of Ginkgo's benchmarks: one array with an object per matrix.
    Ginkgo,
}

impl Format {
    /// Returns whether a file in this format may have the file extension of the format `named`: both are JSON or both
    /// text.
    pub fn may_end_as(self, named: Self) -> bool {
        let alike = [(Self::Ginkgo, Self::Json), (Self::Lines, Self::Text)];
        self == named || alike.contains(&(self, named))
    }

    /// Returns whether each part is displayed as soon as it is complete.
    pub fn is_written_at_once(self) -> bool {
        matches!(self, Self::Text | Self::Lines)
    }

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

pub struct Reporter<W> {
    format: Format,
    sort: Sort,
    to: W,
    /// Whether the header of the CSV or the beginning of the JSON array has been written.
    begun: bool,
}

impl<W: Write> Reporter<W> {
    pub fn new(format: Format, sort: Sort, to: W) -> Self {
        Self { format, sort, to, begun: false }
    }

    pub fn report(&mut self, report: &MatrixReport) -> io::Result<()> {
        self.begin(report)?;
        report.groups.iter().try_for_each(|group| self.group(group))?;
        self.end(report)
    }

    /// Writes the part of a matrix's report that is known before anything is measured.
    pub fn begin(&mut self, report: &MatrixReport) -> io::Result<()> {
        let out = &mut Shown::new(&mut self.to);
        match self.format {
            Format::Text => text::write_matrix(out, report)?,
            Format::Md => markdown::write_matrix(out, report)?,
            Format::Lines | Format::Csv | Format::Json | Format::Ginkgo => (),
        }
        self.to.flush()
    }

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

    /// Writes and flushes each row separately, so that a killed run leaves complete rows.
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

    /// Writes the end of the output and returns the underlying writer. Only this ends a JSON array: the output of a run
    /// that was killed or ended with an error lacks the `]`.
    pub fn finish(mut self) -> io::Result<W> {
        if self.format == Format::Ginkgo {
            self.to.write_all(if self.begun { b"\n]\n" } else { b"[\n]\n" })?;
        }
        self.to.flush()?;
        Ok(self.to)
    }
}
