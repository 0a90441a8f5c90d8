//! Which files commands write, and in which form. All of them are checked before anything is measured.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Result, anyhow, bail, ensure};
use clap::{Args, ValueEnum};

use super::args::MeasureArgs;
use crate::matrix::source::Source;
use crate::record::file::is_no_file;
use crate::record::output::{self, Output, OutputError};
use crate::record::write::{Format, Reporter};

/// The same results in further forms.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Write the results to a file as CSV, too; corpus cannot do so with --resume, nor can it for the other two
    /// forms, as the files would lack the earlier rows
    #[arg(long, value_name = "FILE")]
    pub export_csv: Option<PathBuf>,
    /// Write the results to a file as JSON, too
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write the results to a file as Markdown tables, too
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
}

impl ExportArgs {
    /// The files that are asked for: the option, the form and the name.
    fn all(&self) -> impl Iterator<Item = (&'static str, Format, &Path)> {
        let Self { export_csv, export_json, export_markdown } = self;
        let all = [
            ("--export-csv", Format::Csv, export_csv),
            ("--export-json", Format::Json, export_json),
            ("--export-markdown", Format::Md, export_markdown),
        ];
        all.into_iter().filter_map(|(option, form, path)| Some((option, form, path.as_deref()?)))
    }

    /// Refuses them where a command cannot write them.
    ///
    /// # Errors
    /// Which option it was, and why it is refused.
    pub fn refuse(&self, why: &str) -> Result<()> {
        self.all().try_for_each(|(option, ..)| Err(anyhow!("{option}: {why}")))
    }
}

impl MeasureArgs {
    /// The form of the results: the one given, that of the output's name, or `usual`.
    ///
    /// # Errors
    /// When the name says another form than `--format`.
    pub fn format(&self, usual: Format) -> Result<Format> {
        let counts = [
            ("precision", self.precisions().len()),
            ("threads", self.threads().len()),
            ("cache", self.caches().len()),
            ("order", self.orders().len()),
        ];
        let several = counts.into_iter().find(|&(_, count)| count > 1);
        if let Some((option, _)) = several.filter(|_| self.format == Some(Format::Ginkgo)) {
            bail!(
                "--format ginkgo has one time for a matrix and method: choose one --{option}, or another form"
            );
        }
        form(self.format, self.output.as_deref(), usual)
    }

    /// The same where one matrix is measured: text, or with `--quiet` lines for scripts.
    ///
    /// # Errors
    /// The same.
    pub fn format_of_one(&self) -> Result<Format> {
        self.format(if self.quiet { Format::Lines } else { Format::Text })
    }

    /// Where the facts of the run are asked for: as named, or beside the output.
    pub fn record_path(&self) -> Option<PathBuf> {
        let output = self.output.as_deref().filter(|path| !is_no_file(path));
        self.run_record.clone().or_else(|| output.map(beside))
    }

    /// Whether the machine's bandwidth is measured for the record.
    pub fn wants_bandwidth(&self) -> bool {
        !self.no_bandwidth && self.record_path().is_some()
    }

    /// All files that the command line asks for, each with what asks for it.
    fn written(&self) -> Vec<(&'static str, PathBuf)> {
        let facts = if self.run_record.is_some() { "--run-record" } else { "the facts of the run" };
        let named = [("--output", self.output.clone()), (facts, self.record_path())];
        let named = named.into_iter().filter_map(|(what, path)| Some((what, path?)));
        let exports = self.exports.all().map(|(option, _, path)| (option, path.to_owned()));
        named.chain(exports).collect()
    }

    /// Refuses to replace results and facts of a run that are there, unless told to.
    ///
    /// # Errors
    /// Which file that is.
    pub fn check_new(&self) -> Result<()> {
        self.written().iter().try_for_each(|(_, path)| Ok(output::check(path, self.force)?))
    }

    /// Refuses to write two things into one file, or anything into one that is measured.
    ///
    /// # Errors
    /// Which file that is.
    pub fn check_files<'s>(&self, measured: impl Iterator<Item = &'s Source>) -> Result<()> {
        let mut written = self.written();
        written.retain(|(_, path)| !is_no_file(path));
        for (place, (what, path)) in written.iter().enumerate() {
            let other = written[..place].iter().find(|(_, other)| is_same_file(path, other));
            if let Some((other, _)) = other {
                return Err(anyhow!("{}: {what} and {other} need different files", path.display()));
            }
        }
        for source in measured {
            let Source::File(path) = source else { continue };
            let is_written = written.iter().any(|(_, written)| is_same_file(written, path));
            let shown = path.display();
            ensure!(
                !is_written,
                "{shown} is a matrix that is measured; write the results to another file"
            );
        }
        Ok(())
    }

    /// Who writes the results in that form, to the file of `--output` or to stdout.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn reporter<'a>(
        &self,
        format: Format,
        stdout: &'a mut dyn Write,
    ) -> Result<Reporter<Output<'a>>, OutputError> {
        let output = Output::open(self.output.as_deref(), self.force, stdout)?;
        Ok(Reporter::new(format, self.sort, output))
    }

    /// Who writes them in the further forms that are asked for.
    ///
    /// # Errors
    /// When nothing can be written to one of the files.
    pub fn exporters<'a>(&self) -> Result<Vec<Reporter<Output<'a>>>, OutputError> {
        let exporter = |(_, format, path): (_, _, &Path)| {
            Ok(Reporter::new(format, self.sort, Output::file(path, self.force)?))
        };
        self.exports.all().map(exporter).collect()
    }
}

/// Ends all outputs and gives files their names.
///
/// # Errors
/// When one of the places does not take its end.
pub fn finish<'a>(reporters: impl IntoIterator<Item = Reporter<Output<'a>>>) -> Result<()> {
    reporters.into_iter().try_for_each(|reporter| Ok(reporter.finish()?.finish()?))
}

/// Where a command writes what it would print.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write to a file, not to stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

impl OutputArgs {
    /// Refuses a file that is there already, unless told to replace it, and always one that is read.
    ///
    /// # Errors
    /// Which file that is.
    pub fn check(&self, read: &[&Path]) -> Result<()> {
        let Some(path) = &self.output else { return Ok(()) };
        read.iter().try_for_each(|read| check_not_read(path, read))?;
        Ok(output::check(path, self.force)?)
    }

    /// Writes a text whole.
    ///
    /// # Errors
    /// When it is not taken.
    pub fn write(&self, text: &[u8], stdout: &mut dyn Write) -> Result<()> {
        match &self.output {
            Some(path) => Ok(output::write_whole(path, self.force, |out| out.write_all(text))?),
            None => Ok(stdout.write_all(text)?),
        }
    }
}

/// Refuses to write to a file that is read.
///
/// # Errors
/// When it is the same.
pub fn check_not_read(written: &Path, read: &Path) -> Result<()> {
    let name = written.display();
    ensure!(!is_same_file(read, written), "{name} is the file that is read: name another");
    Ok(())
}

/// The form that a command writes: the one given, that of the file's name, or the usual one.
///
/// # Errors
/// When the name is of another form than the one given, or of none that the command has.
pub fn form<F: ValueEnum>(given: Option<F>, output: Option<&Path>, usual: F) -> Result<F> {
    let named = output.and_then(|path| Some((path.display(), Format::of_name(path)?)));
    let Some((path, named)) = named else { return Ok(given.unwrap_or(usual)) };
    let ending = named.name();
    let Some(given) = given else {
        let forms: Vec<_> = F::value_variants().iter().map(name).collect();
        let forms = forms.join(", ");
        return F::from_str(ending, false).map_err(|_| {
            anyhow!("{path} has the ending of {ending}, but this command writes {forms}; name another file")
        });
    };
    let name = name(&given);
    let is_alike = Format::from_str(&name, false).is_ok_and(|given| given.may_end_as(named));
    ensure!(
        is_alike,
        "{path} has the ending of {ending}, but --format is {name}: change one of them"
    );
    Ok(given)
}

/// A form's name on the command line.
fn name(form: &impl ValueEnum) -> String {
    form.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Where the facts of a result file are.
pub fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".run.json");
    name.into()
}

/// Whether two names are of one file, or would be.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    match (place(a), place(b)) {
        (Some(a), Some(b)) => a == b,
        _ => absolute(a).ok() == absolute(b).ok(),
    }
}
