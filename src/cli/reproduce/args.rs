//! The command line of `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::{DeviceChoice, device, finite, seconds};
use crate::fetch::folder::DATA;

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments, or files of your own in the form of results/*/experiment.toml
    #[arg(value_name = "ID|FILE.toml")]
    pub ids: Vec<String>,
    /// All of the list
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// Where the matrices are; all of it is the corpus
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub data: PathBuf,
    /// Generated matrices in the place of those that are not there; claims about them are not judged
    #[arg(long)]
    pub stand_ins: bool,
    /// A look only: the smallest matrices of each set, 0.05 s per method; claims are not judged
    #[arg(long)]
    pub quick: bool,
    /// The claims that were judged in the newest run of each experiment below results, as Markdown
    #[arg(long, exclusive = true)]
    pub claims: bool,
    /// Leave out larger matrices, by their entries as far as these are known before reading
    #[arg(long, value_name = "N", value_parser = entries)]
    pub max_nonzeros: Option<u64>,
    /// What would be measured, what is missing, and about how long it takes
    #[arg(long)]
    pub dry_run: bool,
    /// Where to run: cpu, gpu, all, or the number of a GPU
    #[arg(long, value_name = "cpu|gpu|all|N", default_value = "all", value_parser = device)]
    pub device: DeviceChoice,
    /// Begin no product after so many seconds per method and matrix [default: the protocol's]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub max_time: Option<Duration>,
    /// The folder of the results, of several experiments a folder with one for each
    /// [default: results/ID/DATE-MACHINE]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// `12000000` or `12e6`.
fn entries(text: &str) -> Result<u64, String> {
    let number = finite(text)?;
    if number >= 1.0 { Ok(number as u64) } else { Err(format!("{text} leaves nothing")) }
}
