//! All samples of a run as a table, from which anybody can compute its times and intervals again.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Error, Result};
use serde::Serialize;
use zstd::stream::write::Encoder;

use super::cells::to_csv;
use super::output::{Output, failed};
use crate::settings::CacheState;
use spmv_matrix::device::Device;
use spmv_matrix::order::Order;
use spmv_matrix::scalar::Precision;

/// A line of the file: a timed batch of products.
#[derive(Debug, Serialize)]
pub struct SampleLine<'a> {
    pub file: &'a str,
    pub method_name: &'a str,
    pub precision: Precision,
    pub device: Device,
    pub threads: Option<usize>,
    pub cache: Option<CacheState>,
    pub order: Option<&'a Order>,
    pub process: usize,
    /// The round in which the method had its turn; 0 in the duel.
    pub round: usize,
    /// The pair of samples in the duel; 0 in a turn.
    pub pair: usize,
    pub products: usize,
    /// The time of a product.
    pub ms: f64,
    /// The longest time that a thread waited for a CPU meanwhile.
    pub waited_ms: f64,
    /// Whether x had changed before.
    pub changed_x: bool,
    /// Whether it counts: usually if no thread waited.
    pub counts: bool,
}

/// A file of samples, compressed if its name ends with `.zst`. It exists when it is complete.
pub struct SampleFile {
    to: To,
    is_empty: bool,
}

enum To {
    Plain(Output<'static>),
    Compressed(Encoder<'static, Output<'static>>),
}

impl SampleFile {
    /// Opens a new file. An existing one is replaced only if `force` is set.
    pub fn open(path: &Path, force: bool) -> Result<Self> {
        let output = Output::whole(path, force)?;
        let to = if path.extension().is_some_and(|end| end == "zst") {
            To::Compressed(Encoder::new(output, 0).map_err(failed(path))?)
        } else {
            To::Plain(output)
        };
        Ok(Self { to, is_empty: true })
    }

    pub fn add(&mut self, lines: &[SampleLine]) -> Result<()> {
        let text = to_csv(lines, self.is_empty)?;
        self.is_empty = false;
        let written: io::Result<()> = match &mut self.to {
            To::Plain(output) => output.write_all(&text),
            To::Compressed(encoder) => encoder.write_all(&text),
        };
        written.map_err(|error| Error::new(error).context("cannot write the file of --samples"))
    }

    pub fn finish(self) -> Result<()> {
        match self.to {
            To::Plain(output) => output.finish(),
            To::Compressed(encoder) => encoder.finish()?.finish(),
        }
    }
}
