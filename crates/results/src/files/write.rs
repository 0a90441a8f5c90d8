use std::io::{self, Write};
use std::mem::replace;
use std::path::Path;

use super::{ginkgo, lines};
use crate::files::cells::to_csv;
use crate::files::google::{Benchmark, Context};
use crate::matrix::{Group, MatrixReport};
use crate::row::Row;
use crate::table::Document;
use crate::table::terminal::Shown;
use crate::text::{self, Show};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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
    /// The tables of the text format for LaTeX with the package booktabs.
    Latex,
    /// The format of Ginkgo's benchmarks: one array with an object per matrix.
    Ginkgo,
    /// The JSON of Google Benchmark, for tools that watch benchmarks.
    GoogleBenchmark,
}

impl Format {
    /// Whether a file in this format may have the extension of `named`: both are JSON or both text.
    pub fn may_end_as(self, named: Self) -> bool {
        let alike = [(Self::Ginkgo, Self::Json), (Self::GoogleBenchmark, Self::Json), (Self::Lines, Self::Text)];
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
            "tex" => Some(Self::Latex),
            _ => None,
        }
    }
}

pub struct Reporter<W> {
    format: Format,
    show: Show,
    to: W,
    /// Whether the header of the CSV, the beginning of the JSON array or the text of a matrix has been written.
    begun: bool,
}

impl<W: Write> Reporter<W> {
    pub fn new(format: Format, show: Show, to: W) -> Self {
        Self { format, show, to, begun: false }
    }

    pub fn report(&mut self, report: &MatrixReport) -> io::Result<()> {
        self.begin(report)?;
        report.groups.iter().try_for_each(|group| self.group(group))?;
        self.end(report)
    }

    /// Writes the part of a matrix's report that is known before anything is measured.
    pub fn begin(&mut self, report: &MatrixReport) -> io::Result<()> {
        let out = &mut Shown::new(&mut self.to, None);
        match self.format {
            Format::Text => {
                if replace(&mut self.begun, true) {
                    writeln!(out)?;
                }
                text::write_matrix(out, report, &self.show)?;
            }
            Format::Md => text::document_matrix(out, report, Document::Markdown)?,
            Format::Latex => text::document_matrix(out, report, Document::Latex)?,
            _ => (),
        }
        self.to.flush()
    }

    pub fn group(&mut self, group: &Group) -> io::Result<()> {
        let out = &mut Shown::new(&mut self.to, None);
        let (sorted, show) = (self.show.sort.of(group), &self.show);
        match self.format {
            Format::Text => text::write_group(out, &sorted, show)?,
            Format::Md => text::document_group(out, &sorted, show, Document::Markdown)?,
            Format::Latex => text::document_group(out, &sorted, show, Document::Latex)?,
            Format::Lines | Format::Csv => self.rows(&group.rows)?,
            Format::Json | Format::Ginkgo | Format::GoogleBenchmark => (),
        }
        self.to.flush()
    }

    pub fn end(&mut self, report: &MatrixReport) -> io::Result<()> {
        let out = &mut Shown::new(&mut self.to, None);
        match self.format {
            Format::Text => text::write_end(out, report, &self.show)?,
            Format::Md => text::document_end(out, report, Document::Markdown)?,
            Format::Latex => text::document_end(out, report, Document::Latex)?,
            Format::Lines | Format::Csv => self.rows(report.ended.as_slice())?,
            Format::Json => {
                serde_json::to_writer(&mut self.to, report)?;
                writeln!(self.to)?;
            }
            Format::Ginkgo => {
                self.to.write_all(if replace(&mut self.begun, true) { b",\n" } else { b"[\n" })?;
                serde_json::to_writer(&mut self.to, &ginkgo::Matrix::from(report))?;
            }
            Format::GoogleBenchmark => {
                for row in report.rows() {
                    self.benchmark(row)?;
                }
            }
        }
        self.to.flush()
    }

    fn benchmark(&mut self, row: &Row) -> io::Result<()> {
        let Some(benchmark) = Benchmark::of(row) else { return Ok(()) };
        if replace(&mut self.begun, true) {
            self.to.write_all(b",\n")?;
        } else {
            self.head(&row.run_id)?;
        }
        Ok(serde_json::to_writer(&mut self.to, &benchmark)?)
    }

    /// Writes the part of the format of Google Benchmark before the list of benchmarks.
    fn head(&mut self, run_id: &str) -> io::Result<()> {
        let context = serde_json::to_string(&Context::of(run_id))?;
        write!(self.to, "{{\"context\": {context},\n\"benchmarks\": [\n")
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

    /// Writes the end of the output: the `]` of a JSON array, which the output of a run that was killed lacks.
    pub fn finish(mut self) -> io::Result<W> {
        if self.format == Format::Ginkgo {
            self.to.write_all(if self.begun { b"\n]\n" } else { b"[\n]\n" })?;
        }
        if self.format == Format::GoogleBenchmark {
            if !self.begun {
                self.head("")?;
            }
            self.to.write_all(b"\n]}\n")?;
        }
        self.to.flush()?;
        Ok(self.to)
    }
}
