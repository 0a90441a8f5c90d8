use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Result, anyhow, bail, ensure};
use clap::{Args, ValueEnum};

use super::verb::{CommandStatus, ok};
use spmv_results::files::output::{self, Output};
use spmv_results::files::write::{Format, Reporter};

/// Options for writing to a file instead of stdout.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it already exists
    #[arg(long)]
    pub force: bool,
}

impl OutputArgs {
    /// Checks that the output file does not exist or `--force` is given, and that it is not an input file.
    pub fn check(&self, read: &[&Path]) -> Result<()> {
        let Some(path) = &self.output else { return Ok(()) };
        read.iter().try_for_each(|read| check_not_read(path, read))?;
        output::check(path, self.force)
    }

    /// Writes the whole output of a command. Returns its status.
    pub fn write(&self, text: &[u8], stdout: &mut dyn Write) -> Result<CommandStatus> {
        let mut output = Output::open(self.output.as_deref(), self.force, stdout)?;
        output.write_all(text)?;
        ok(output.finish())
    }

    /// Returns the format that the command writes: the given one, that of the file's extension, or the usual one.
    pub fn form<F: ValueEnum>(&self, given: Option<F>, usual: F) -> Result<F> {
        form(given, self.output.as_deref(), usual)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    Text,
    Json,
}

/// Completes all outputs and renames the files to their final names.
pub fn finish<'a>(reporters: impl IntoIterator<Item = Reporter<Output<'a>>>) -> Result<()> {
    reporters.into_iter().try_for_each(|reporter| reporter.finish()?.finish())
}

pub fn check_not_read(written: &Path, read: &Path) -> Result<()> {
    let name = written.display();
    ensure!(!is_same_file(read, written), "{name} is an input file: use another output file");
    Ok(())
}

/// Returns the format that a command writes: the given one, that of the file's extension, or the usual one.
pub fn form<F: ValueEnum>(given: Option<F>, output: Option<&Path>, usual: F) -> Result<F> {
    let forms = F::value_variants().iter().map(name).collect::<Vec<_>>().join(", ");
    let named = output.and_then(|path| Some((path.display(), Format::of_name(path)?)));
    let Some((path, named)) = named else {
        let other = output.filter(|path| given.is_none() && path.extension().is_some());
        if let Some(other) = other {
            bail!("{}: the extension stands for no format; choose one with --format: {forms}", other.display());
        }
        return Ok(given.unwrap_or(usual));
    };
    let extension = name(&named);
    let Some(given) = given else {
        return F::from_str(&extension, false).map_err(|_| {
            anyhow!("{path} has the extension of {extension}, but this command writes {forms}; use another extension")
        });
    };
    let name = name(&given);
    let is_alike = Format::from_str(&name, false).is_ok_and(|given| given.may_end_as(named));
    let why = format!("has the extension of {extension}, but --format is {name}: change one of them");
    ensure!(is_alike, "{path} {why}");
    Ok(given)
}

fn name(form: &impl ValueEnum) -> String {
    form.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns whether two paths are the same file, or would be if they existed.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    match (place(a), place(b)) {
        (Some(a), Some(b)) => a == b,
        _ => absolute(a).ok() == absolute(b).ok(),
    }
}
