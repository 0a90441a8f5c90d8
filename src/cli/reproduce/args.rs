//! The arguments of `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::bench::run::DeviceChoice;
use crate::cli::args::AddedArgs;
use crate::cli::values::{device, finite, seconds};
use crate::collection::fetch::folder::DATA;

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments, or files with your own definitions in the format of experiments/*.toml
    #[arg(value_name = "ID|FILE.toml")]
    pub ids: Vec<String>,
    /// Run all experiments
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// The folder of the matrices; the corpus consists of all files in it
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub data: PathBuf,
    /// Use generated surrogates for missing matrices; claims about them are not judged
    #[arg(long)]
    pub surrogates: bool,
    /// Make a short trial run with the smallest matrices of each set and 0.05 s per method; claims are not
    /// judged
    #[arg(long)]
    pub quick: bool,
    /// Write the parts of README.md and docs/*.md in a folder that state what was measured, from the newest runs in
    /// its folder results
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", conflicts_with = "ids")]
    pub documents: Option<PathBuf>,
    /// Change no document, but name each part that differs from the newest runs
    #[arg(long, requires = "documents")]
    pub check: bool,
    /// Measure nothing: judge and show the rows in the folder of a run, wherever they were measured
    #[arg(
        long,
        value_name = "DIR",
        requires = "ids",
        conflicts_with_all = ["all", "surrogates", "max_nonzeros", "dry_run", "device", "max_time", "output"]
    )]
    pub recorded: Option<PathBuf>,
    /// Skip matrices with more nonzeros, if their number is known before they are read
    #[arg(long, value_name = "N", value_parser = entries)]
    pub max_nonzeros: Option<u64>,
    /// Only print what would be measured, what is missing, and how long it would take approximately
    #[arg(long)]
    pub dry_run: bool,
    /// Where to run: cpu, gpu, all, the number of a GPU, a modelled GPU (model:NAME), or model for the
    /// modelled GPUs of each experiment's source
    #[arg(long, value_name = "cpu|gpu|all|N|model[:NAME]", default_value = "all", value_parser = place)]
    pub device: DeviceChoice,
    /// Start no further product of a method on a matrix after this many seconds [default: from the protocol]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,
    /// The folder for the results; with several experiments, each one gets a subfolder in it [default:
    /// results/ID/DATE-MACHINE]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub added: AddedArgs,
}

/// Parses `--device`: as for other commands, or `model` for the GPUs that each experiment's source measured on.
fn place(text: &str) -> Result<DeviceChoice, String> {
    if text == "model" {
        return Ok(DeviceChoice::Models(Vec::new()));
    }
    let choice = device(text)?;
    match &choice {
        DeviceChoice::Models(names) if names.len() > 1 => {
            Err("only one modelled GPU is allowed, because claims compare rows of one GPU".into())
        }
        _ => Ok(choice),
    }
}

/// Parses a number of nonzeros such as `12000000` or `12e6`.
fn entries(text: &str) -> Result<u64, String> {
    let number = finite(text)?;
    if number >= 1.0 { Ok(number as u64) } else { Err("it must be 1 or more".into()) }
}
