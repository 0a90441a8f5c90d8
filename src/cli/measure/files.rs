//! The output files of a measuring command. All of them are checked before anything is measured.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail, ensure};

use super::MeasureArgs;
use crate::cli::output::{form, is_same_file};
use spmv_matrix::source::Source;
use spmv_results::files::output::{self, Output};
use spmv_results::files::rows::is_not_regular_file;
use spmv_results::files::run_record::record_of;
use spmv_results::files::samples::SampleFile;
use spmv_results::files::write::{Format, Reporter};
use spmv_results::matrix::MatrixReport;
use spmv_results::text::Show;

impl MeasureArgs {
    /// Returns the format of the results: from `--format`, from the extension of the output file, or `usual`.
    pub fn format(&self, usual: Format) -> Result<Format> {
        let run = self.run_settings();
        let counts = [
            ("precision", run.precisions.len()),
            ("threads", run.threads.len()),
            ("cache", run.caches.len()),
            ("order", run.orders.len()),
        ];
        let several = counts.into_iter().find(|&(_, count)| count > 1);
        if let Some((option, _)) = several.filter(|_| self.format == Some(Format::Ginkgo)) {
            let why = "--format ginkgo supports one time per matrix and method";
            bail!("{why}: choose one --{option}, or another format");
        }
        form(self.format, self.output.as_deref(), usual)
    }

    pub fn format_of_one(&self) -> Result<Format> {
        self.format(if self.quiet { Format::Lines } else { Format::Text })
    }

    pub fn record_path(&self) -> Option<PathBuf> {
        let output = self.output.as_deref().filter(|path| !is_not_regular_file(path));
        self.run_record.clone().or_else(|| output.map(record_of))
    }

    pub fn wants_bandwidth(&self) -> bool {
        !self.no_bandwidth && self.record_path().is_some()
    }

    /// Returns all files to be written, each with the option that requests it.
    fn written(&self) -> Vec<(&'static str, PathBuf)> {
        let facts = if self.run_record.is_some() { "--run-record" } else { "the run record" };
        let named =
            [("--output", self.output.clone()), (facts, self.record_path()), ("--samples", self.samples.clone())];
        let named = named.into_iter().filter_map(|(what, path)| Some((what, path?)));
        let exports = self.exports.iter().map(|(_, path)| ("--export", path.clone()));
        named.chain(exports).collect()
    }

    /// Checks that no existing file would be replaced without `--force`.
    pub fn check_new(&self) -> Result<()> {
        self.written().iter().try_for_each(|(_, path)| output::check(path, self.force))
    }

    /// Checks that all output files have possible names and are different, and that none is a matrix to be measured.
    pub fn check_files<'s>(&self, measured: impl Iterator<Item = &'s Source>) -> Result<()> {
        let mut written = self.written();
        written.retain(|(_, path)| !is_not_regular_file(path));
        written.iter().try_for_each(|(_, path)| output::check_name(path))?;
        for (place, (what, path)) in written.iter().enumerate() {
            let other = written[..place].iter().find(|(_, other)| is_same_file(path, other));
            if let Some((other, _)) = other {
                return Err(anyhow!("{}: {what} and {other} need different files", path.display()));
            }
        }
        for source in measured {
            let Source::File(path) = source else { continue };
            let is_written = written.iter().any(|(_, written)| is_same_file(written, path));
            let why = "is a matrix that is measured; write the results to another file";
            ensure!(!is_written, "{} {why}", path.display());
        }
        Ok(())
    }

    pub fn reporter<'a>(
        &self,
        format: Format,
        stdout: &'a mut dyn Write,
        width: Option<u16>,
    ) -> Result<Reporter<Output<'a>>> {
        let output = Output::open(self.output.as_deref(), self.force, stdout)?;
        let show = Show { width: width.filter(|_| self.output.is_none()), ..self.show() };
        Ok(Reporter::new(format, show, output))
    }

    fn show(&self) -> Show {
        Show { sort: self.sort, planned: self.products, width: None }
    }

    pub fn exporters<'a>(&self) -> Result<Vec<Reporter<Output<'a>>>> {
        let exporter = |(format, path): &(Format, PathBuf)| {
            Ok(Reporter::new(*format, self.show(), Output::file(path, self.force)?))
        };
        self.exports.iter().map(exporter).collect()
    }

    pub fn sample_file(&self) -> Result<Option<SampleFile>> {
        self.samples.as_deref().map(|path| SampleFile::open(path, self.force)).transpose()
    }

    pub fn warn(&self, report: &MatrixReport, stderr: &mut dyn Write) -> io::Result<()> {
        let warnings = if self.quiet { Vec::new() } else { report.warnings() };
        warnings.iter().try_for_each(|line| writeln!(stderr, "{line}"))
    }
}
