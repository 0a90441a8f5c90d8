//! The output of `tune`: rows in a file, and the evaluation of all results.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::cli::measure::MeasureArgs;
use crate::record::cells::to_csv;
use crate::record::file::{RowFile, is_not_regular_file};
use crate::record::output;
use crate::record::row::Row;
use crate::record::{Group, MatrixReport};

/// A kind of tuning: which methods to measure and how to evaluate the results.
pub trait Tuning {
    /// Removes methods that are not measured, because there is no GPU.
    fn keep(&mut self, is_measured: &dyn Fn(&str) -> bool);
    /// Adds the results of a matrix and writes their rows.
    fn take(&mut self, report: &MatrixReport, rows: &mut Rows) -> Result<()>;
    /// Writes the evaluation of all results.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Returns the rows of the methods with these names, in their order, if the group has all of them.
pub fn rows_of<'g>(group: &'g Group, names: &[String]) -> Option<Vec<&'g Row>> {
    let row = |name: &String| group.rows.iter().find(|row| row.method_name.as_ref() == Some(name));
    names.iter().map(row).collect()
}

/// The output of rows, if there is one. The rows of a matrix are written as soon as it is measured.
pub struct Rows(Option<Place>);

/// The kind of the output file.
enum Place {
    File(RowFile),
    Device { device: File, has_header: bool },
}

impl Rows {
    /// Opens the file of `--output`, if there is one.
    pub fn open(measure: &MeasureArgs) -> Result<Self> {
        let Some(path) = &measure.output else { return Ok(Self(None)) };
        output::check(path, measure.force)?;
        Ok(Self(Some(match is_not_regular_file(path) {
            true => {
                let device = OpenOptions::new().write(true).open(path);
                let device = device.with_context(|| format!("cannot write {}", path.display()))?;
                Place::Device { device, has_header: false }
            }
            false => Place::File(RowFile::replace(path)?),
        })))
    }

    /// Writes a row.
    pub fn write(&mut self, row: impl Serialize) -> Result<()> {
        match &mut self.0 {
            None => Ok(()),
            Some(Place::File(file)) => Ok(file.add(&[row])?),
            Some(Place::Device { device, has_header }) => {
                let text = to_csv(&[row], !std::mem::replace(has_header, true))?;
                Ok(device.write_all(&text)?)
            }
        }
    }
}
