//! The rows that `tune` writes to a file.

use std::fs::{File, OpenOptions};
use std::io::Write;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::cli::measure::MeasureArgs;
use crate::record::cells::to_csv;
use crate::record::file::{RowFile, is_not_regular_file};
use crate::record::output;

/// The output of `--output`, if there is one. The rows of a matrix are written as soon as it is measured.
pub struct Rows(Option<Place>);

enum Place {
    File(RowFile),
    Device { device: File, has_header: bool },
}

impl Rows {
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

    pub fn write(&mut self, row: impl Serialize) -> Result<()> {
        match &mut self.0 {
            None => Ok(()),
            Some(Place::File(file)) => file.add(&[row]),
            Some(Place::Device { device, has_header }) => {
                let text = to_csv(&[row], !std::mem::replace(has_header, true))?;
                Ok(device.write_all(&text)?)
            }
        }
    }
}
