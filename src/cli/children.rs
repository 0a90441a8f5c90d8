//! The hidden commands that the program runs in child processes.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Subcommand;

use super::measure::PrecisionChoice;
use super::verb::{CommandStatus, Needs, Verb, ok};
use crate::campaign::env::Env;
use crate::campaign::isolate::worker;
use crate::campaign::libraries::Vendor;
use crate::campaign::{gpus, libraries, plugins};

#[derive(Debug, Subcommand)]
pub enum Child {
    /// Runs measurements for the parent process
    #[command(hide = true)]
    Worker,
    /// Searches for a vendor's library and reports the result to the parent process
    #[command(hide = true)]
    Library {
        /// The vendor of the library
        vendor: Vendor,
    },
    /// Opens a GPU and sends its facts to the parent process
    #[command(hide = true)]
    GpuWorker {
        /// The number of the GPU; without one: the first
        number: Option<usize>,
    },
    /// Runs the checks of a method of a plug-in for the parent process
    #[command(hide = true)]
    CheckWorker {
        /// The shared object
        file: PathBuf,
        /// The name of the method
        method: String,
        /// The precision of the checked products
        precision: PrecisionChoice,
        /// The number of the first check
        from: usize,
    },
    /// Describes the methods of a plug-in to the parent process
    #[command(hide = true)]
    Plugin {
        /// The shared object
        file: PathBuf,
    },
}

impl Verb for Child {
    fn needs(&self) -> Needs {
        if matches!(self, Self::Worker) { Needs::ORDER } else { Needs::NOTHING }
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        match self {
            Self::Worker => ok(worker::carry_out_tasks(env)),
            Self::Library { vendor } => ok(libraries::send_to_parent(*vendor)),
            Self::GpuWorker { number } => ok(gpus::answer(*number, env)),
            Self::CheckWorker { file, method, precision, from } => {
                let precision = precision.single().context("choose one precision")?;
                ok(plugins::check_here(file, method, precision, *from))
            }
            Self::Plugin { file } => ok(plugins::send_to_parent(file)),
        }
    }
}
