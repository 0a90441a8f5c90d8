use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{self, Write};
use std::mem::replace;
use std::path::Path;

use super::cells::to_csv;
use super::google::{Benchmark, Context};
use super::row::Row;
use super::{Group, MatrixReport, ginkgo, lines, text};
use crate::record::table::Document;
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
        let alike = [
            (Self::Ginkgo, Self::Json),
            (Self::GoogleBenchmark, Self::Json),
            (Self::Lines, Self::Text),
        ];
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

/// The criterion by which the rows of a table are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// The order in which the methods run: that of `spmv-bench methods`
    #[default]
    Command,
    /// The fastest first by the median; methods without a time last
    Speed,
    /// By the names of the methods
    Name,
}

impl Sort {
    /// Returns the group with its rows, and their stages, in this order.
    pub fn of(self, group: &Group) -> Cow<'_, Group> {
        let by: fn(&Row, &Row) -> Ordering = match self {
            Self::Command => return Cow::Borrowed(group),
            Self::Speed => |a, b| {
                let [a, b] = [a, b].map(|row| row.typical_ms().unwrap_or(f64::INFINITY));
                a.total_cmp(&b)
            },
            Self::Name => |a, b| a.method_name.cmp(&b.method_name),
        };
        let mut pairs: Vec<_> = group.rows.iter().cloned().zip(group.stages.clone()).collect();
        pairs.sort_by(|(a, _), (b, _)| by(a, b));
        let (rows, stages) = pairs.into_iter().unzip();
        Cow::Owned(Group { rows, stages, ..group.clone() })
    }
}

/// How tables are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    pub sort: Sort,
    /// The number of products that are planned with a matrix, for their total time with the setup.
    pub planned: Option<u32>,
    /// The width of the terminal to which tables are fitted; `None`: they are not for a terminal.
    pub width: Option<u16>,
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
        let out = &mut Shown::new(&mut self.to);
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
        let out = &mut Shown::new(&mut self.to);
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
        let out = &mut Shown::new(&mut self.to);
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
        match replace(&mut self.begun, true) {
            true => self.to.write_all(b",\n")?,
            false => self.head(&row.run_id)?,
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

#[cfg(test)]
mod tests {
    use super::*;
    use spmv_methods::device::Stage;

    #[test]
    fn rows_are_sorted_with_their_stages() {
        let rows = [("merge", Some(2.0)), ("csr5", None), ("seq", Some(1.0)), ("coo", Some(2.0))];
        let stages = rows.map(|(name, _)| vec![Stage { name: name.into(), ..Stage::default() }]);
        let rows = rows.map(|(name, median_ms)| {
            let method_name = Some(name.into());
            Row { method_name, median_ms, ..Row::default() }
        });
        let group = Group { stages: stages.to_vec(), ..Group::of(rows.to_vec()) };
        for (sort, expected) in [
            (Sort::Command, ["merge", "csr5", "seq", "coo"]),
            (Sort::Speed, ["seq", "merge", "coo", "csr5"]),
            (Sort::Name, ["coo", "csr5", "merge", "seq"]),
        ] {
            let Group { rows, stages, .. } = sort.of(&group).into_owned();
            assert!(rows.iter().map(|row| row.method_name.as_deref().unwrap()).eq(expected));
            assert!(stages.iter().map(|stages| &stages[0].name[..]).eq(expected));
        }
    }
}
