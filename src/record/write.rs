//! Where reports go: CSV, JSON lines or text, flushed after each row or matrix.

use std::io::{self, Write};
use std::path::Path;

use super::cells::to_csv;
use super::row::Row;
use super::{Group, MatrixReport, ginkgo, markdown, text};
use crate::terminal::Shown;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
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
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Md => "md",
            Self::Ginkgo => "ginkgo",
        }
    }

    /// Whether a file in this form may have the ending of the other: both are JSON.
    pub fn may_end_as(self, named: Self) -> bool {
        self == named || (self, named) == (Self::Ginkgo, Self::Json)
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
pub enum Reporter<'a> {
    /// See [`Format::Text`].
    Text(Shown<&'a mut dyn Write>),
    /// See [`Format::Csv`].
    Csv {
        /// Where it goes.
        to: &'a mut dyn Write,
        /// Whether the header is there.
        begun: bool,
    },
    /// See [`Format::Json`].
    Json(&'a mut dyn Write),
    /// See [`Format::Md`].
    Md(Shown<&'a mut dyn Write>),
    /// See [`Format::Ginkgo`].
    Ginkgo {
        /// Where it goes.
        to: &'a mut dyn Write,
        /// What separates the next matrix from what is there.
        before: &'static str,
    },
}

impl<'a> Reporter<'a> {
    /// A writer of that form.
    pub fn new(format: Format, out: &'a mut dyn Write) -> Self {
        match format {
            Format::Text => Self::Text(Shown::new(out)),
            Format::Csv => Self::Csv { to: out, begun: false },
            Format::Json => Self::Json(out),
            Format::Md => Self::Md(Shown::new(out)),
            Format::Ginkgo => Self::Ginkgo { to: out, before: "[\n" },
        }
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
        match self {
            Self::Text(out) => text::write_matrix(out, report).and_then(|()| out.flush()),
            Self::Md(out) => markdown::write_matrix(out, report).and_then(|()| out.flush()),
            Self::Csv { .. } | Self::Json(_) | Self::Ginkgo { .. } => Ok(()),
        }
    }

    /// Writes a group of the matrix that was begun.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn group(&mut self, group: &Group) -> io::Result<()> {
        match self {
            Self::Text(out) => {
                text::write_group(out, group)?;
                out.flush()
            }
            Self::Md(out) => markdown::write_group(out, group).and_then(|()| out.flush()),
            Self::Csv { to, begun } => write_rows(to, begun, &group.rows),
            Self::Json(_) | Self::Ginkgo { .. } => Ok(()),
        }
    }

    /// Writes what remains of the matrix that was begun.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn end(&mut self, report: &MatrixReport) -> io::Result<()> {
        match self {
            Self::Text(out) => {
                if let Some(Row { status: Some(status), reason: Some(reason), .. }) = &report.ended
                {
                    writeln!(out, "{}: {reason}", status.name())?;
                }
                writeln!(out)?;
                out.flush()
            }
            Self::Md(out) => markdown::write_end(out, report).and_then(|()| out.flush()),
            Self::Csv { to, begun } => write_rows(to, begun, report.ended.as_slice()),
            Self::Json(out) => {
                serde_json::to_writer(&mut **out, report)?;
                writeln!(out)?;
                out.flush()
            }
            Self::Ginkgo { to, before } => {
                to.write_all(std::mem::replace(before, ",\n").as_bytes())?;
                serde_json::to_writer(&mut **to, &ginkgo::Matrix::from(report))?;
                to.flush()
            }
        }
    }

    /// Writes what comes after the last matrix.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn finish(self) -> io::Result<()> {
        let Self::Ginkgo { to, before } = self else { return Ok(()) };
        let begin = if before == "[\n" { before } else { "\n" };
        writeln!(to, "{begin}]")?;
        to.flush()
    }
}

/// Each row is whole before the next.
fn write_rows(to: &mut dyn Write, begun: &mut bool, rows: &[Row]) -> io::Result<()> {
    for row in rows {
        let text = to_csv(&[row], !std::mem::replace(begun, true))?;
        to.write_all(&text)?;
        to.flush()?;
    }
    Ok(())
}
