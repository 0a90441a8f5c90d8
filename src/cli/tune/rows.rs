//! The rows that `tune` writes.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use crate::cli::measure::MeasureArgs;
use spmv_results::files::cells::to_csv;
use spmv_results::files::output::{self, Output};
use spmv_results::files::rows::{RowFile, is_not_regular_file};

/// The output of `--output`, if there is one. The rows of a matrix are written as soon as it is measured.
pub enum Rows {
    Nowhere,
    File(RowFile),
    Device { device: Output<'static>, has_header: bool },
}

impl Rows {
    pub fn open(measure: &MeasureArgs) -> Result<Self> {
        let Some(path) = &measure.output else { return Ok(Self::Nowhere) };
        output::check(path, measure.force)?;
        if !is_not_regular_file(path) {
            return Ok(Self::File(RowFile::replace(path)?));
        }
        Ok(Self::Device { device: Output::file(path, measure.force)?, has_header: false })
    }

    pub fn write(&mut self, row: impl Serialize) -> Result<()> {
        match self {
            Self::Nowhere => Ok(()),
            Self::File(file) => file.add(&[row]),
            Self::Device { device, has_header } => {
                let text = to_csv(&[row], !std::mem::replace(has_header, true))?;
                Ok(device.write_all(&text)?)
            }
        }
    }
}
