//! The command line of `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::{DeviceChoice, device, finite, seconds};
use crate::fetch::folder::DATA;

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments, or your own definitions, written like experiments/*.toml
    #[arg(value_name = "ID|FILE.toml")]
    pub ids: Vec<String>,
    /// All experiments of the list
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// The folder of the matrices; all files in it together are the corpus
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub data: PathBuf,
    /// Use generated matrices in place of those that are missing; claims about them are not judged
    #[arg(long)]
    pub stand_ins: bool,
    /// Only try it: the smallest matrices of each set, and 0.05 s per method; claims are not judged
    #[arg(long)]
    pub quick: bool,
    /// Print the claims that the newest run of each experiment in the folder results judged, as Markdown
    #[arg(long, exclusive = true)]
    pub claims: bool,
    /// Skip matrices with more nonzeros, as far as their number is known before they are read
    #[arg(long, value_name = "N", value_parser = entries)]
    pub max_nonzeros: Option<u64>,
    /// Only print what would be measured, what is missing, and about how long it takes
    #[arg(long)]
    pub dry_run: bool,
    /// Where to run: cpu, gpu, all, the number of a GPU, a modelled GPU, or with model alone the modelled
    /// GPUs of each source
    #[arg(long, value_name = "cpu|gpu|all|N|model[:NAME]", default_value = "all", value_parser = place)]
    pub device: DeviceChoice,
    /// Start no further product of a method on a matrix after so many seconds [default: the protocol's]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,
    /// The folder of the results; for several experiments, a folder in which each has its own
    /// [default: results/ID/DATE-MACHINE]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// As for the other commands, and `model` for the GPUs that each experiment's source measured on.
fn place(text: &str) -> Result<DeviceChoice, String> {
    if text == "model" {
        return Ok(DeviceChoice::Models(Vec::new()));
    }
    let choice = device(text)?;
    match &choice {
        DeviceChoice::Models(names) if names.len() > 1 => {
            Err("one modelled GPU at a time: claims compare rows of one GPU".into())
        }
        _ => Ok(choice),
    }
}

/// `12000000` or `12e6`.
fn entries(text: &str) -> Result<u64, String> {
    let number = finite(text)?;
    if number >= 1.0 { Ok(number as u64) } else { Err("it must be 1 or more".into()) }
}
