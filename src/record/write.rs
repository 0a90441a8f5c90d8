//! Where reports go: CSV, JSON lines or text, flushed after each row or matrix.

use std::io::{self, Write};

use super::cells::to_csv;
use super::row::Row;
use super::{MatrixReport, text};
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
}

impl<'a> Reporter<'a> {
    /// A writer of that form.
    pub fn new(format: Format, out: &'a mut dyn Write) -> Self {
        match format {
            Format::Text => Self::Text(Shown::new(out)),
            Format::Csv => Self::Csv { to: out, begun: false },
            Format::Json => Self::Json(out),
        }
    }

    /// Writes one matrix.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn report(&mut self, report: &MatrixReport) -> io::Result<()> {
        match self {
            Self::Text(out) => write_text(out, report)?,
            Self::Csv { to, begun } => {
                for row in report.rows() {
                    let text = to_csv(&[row], !std::mem::replace(begun, true))?;
                    to.write_all(&text)?;
                    to.flush()?;
                }
            }
            Self::Json(out) => {
                serde_json::to_writer(&mut **out, report)?;
                writeln!(out)?;
                out.flush()?;
            }
        }
        Ok(())
    }
}

fn write_text(out: &mut dyn Write, report: &MatrixReport) -> io::Result<()> {
    text::write_matrix(out, report)?;
    if let Some(Row { status: Some(status), reason: Some(reason), .. }) = &report.ended {
        writeln!(out, "{}: {reason}", status.name())?;
    }
    report.groups.iter().try_for_each(|group| text::write_group(out, group))?;
    writeln!(out)?;
    out.flush()
}
