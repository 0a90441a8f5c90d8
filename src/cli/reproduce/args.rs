//! The arguments of `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::help::{RARE, grouped};
use crate::cli::values::{device, finite, seconds};
use crate::cli::verb::AddedArgs;
use crate::collection::fetch::folder::DATA;
use spmv_results::settings::DeviceChoice;

/// The time per method in a quick run.
const QUICK_TIME: Duration = Duration::from_millis(50);
const QUICK_ROUNDS: u32 = 2;

/// Repeats the papers' experiments and judges their claims
///
/// Without an ID, lists the experiments. With an ID, runs the measurements of the experiment, writes the
/// rows, the claims and a report into a folder, and prints the paper's numbers next to the measured ones,
/// each with a verdict. Nothing is measured twice: rows of an interrupted run are reused, and so are rows
/// that another experiment measured on the same day and machine.
///
/// Exit status: 0 if all results are correct, whatever the verdicts, 1 if a result is wrong or a method
/// failed, 2 if the command or an experiment could not run.
#[derive(Debug, Args)]
#[command(mut_args = grouped)]
pub struct ReproduceArgs {
    /// Experiments, or files of your own like experiments/*.toml
    #[arg(value_name = "ID|FILE.toml")]
    pub ids: Vec<String>,
    /// Run all experiments
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// The folder of the matrices; all in it are the corpus
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub data: PathBuf,
    /// Use generated surrogates for missing matrices
    ///
    /// Claims about them are not judged.
    #[arg(long)]
    pub surrogates: bool,
    /// A short trial: the smallest matrices, 0.05 s per method
    ///
    /// Claims are not judged.
    #[arg(long)]
    pub quick: bool,
    /// Write the parts of README.md and docs/*.md in a folder that state what was measured, from the newest runs in
    /// its folder results
    #[arg(help_heading = RARE, long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".",
          conflicts_with = "ids")]
    pub documents: Option<PathBuf>,
    /// Change no document, but name each part that differs from the newest runs
    #[arg(help_heading = RARE, long, requires = "documents")]
    pub check: bool,
    /// Measure nothing: judge and show the rows in the folder of a run, wherever they were measured
    #[arg(
        help_heading = RARE,
        long,
        value_name = "DIR",
        requires = "ids",
        conflicts_with_all = ["all", "surrogates", "max_nonzeros", "dry_run", "device", "max_time", "output"]
    )]
    pub recorded: Option<PathBuf>,
    /// Skip matrices with more nonzeros, if their number is known before they are read
    #[arg(help_heading = RARE, long, value_name = "N", value_parser = entries)]
    pub max_nonzeros: Option<u64>,
    /// Only print what would run, what it lacks, and the time
    ///
    /// It may lack methods whose library is not installed, matrices that are not downloaded or cannot be read, and a
    /// GPU.
    #[arg(long)]
    pub dry_run: bool,
    /// Where: cpu, gpu, 1 (GPU 1), model:h200, model [default: all]
    ///
    /// model stands for the modelled GPUs of each experiment's source.
    #[arg(long, value_name = "WHERE", default_value = "all", hide_default_value = true, value_parser = place)]
    pub device: DeviceChoice,
    /// Time per method and matrix, such as 300ms [default: from the protocol]
    #[arg(help_heading = RARE, long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,
    /// The folder of results [default: results/ID/DATE-MACHINE]
    ///
    /// With several experiments, each one gets a subfolder in it.
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub added: AddedArgs,
}

impl ReproduceArgs {
    /// Returns the number of rounds of blocks that state none, if it is not that of their protocol.
    pub fn rounds(&self) -> Option<u32> {
        self.quick.then_some(QUICK_ROUNDS)
    }

    /// Returns the limit of the time per method, if it is not that of the protocol.
    pub fn max_time(&self) -> Option<Duration> {
        self.max_time.or(self.quick.then_some(QUICK_TIME))
    }
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
