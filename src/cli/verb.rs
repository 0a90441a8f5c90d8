//! What all commands have in common.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::help::WHAT;
use crate::campaign::env::Env;
use spmv_results::settings::Pages;

/// A command. It is implemented by the struct of its arguments, whose documentation is the help text: so the file of a
/// command says everything about it.
pub trait Verb {
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus>;
}

/// What a command needs of its process.
pub struct Needs {
    /// Whether the command checks [`Env::interrupted`] and then ends in an orderly way. The first signal may end the
    /// others at once, because they leave no unfinished files.
    pub ends_in_order: bool,
    /// The pages that the arrays of this process itself shall have; `None` if it does not measure, or child processes
    /// do, which get their pages when they start.
    pub own_pages: Option<Pages>,
    /// The user's methods if the command uses the list of methods. Those of the environment are further ones.
    pub added: Option<AddedArgs>,
}

impl Needs {
    pub const NOTHING: Self = Self { ends_in_order: false, own_pages: None, added: None };
    pub const ORDER: Self = Self { ends_in_order: true, ..Self::NOTHING };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStatus {
    /// Everything succeeded: exit status 0.
    Ok,
    /// A result is wrong, missing or slower than allowed: exit status 1.
    Bad,
    /// The measurements do not decide whether a result is slower than allowed: exit status 3.
    Undecided,
}

impl CommandStatus {
    pub fn bad_if(is_bad: bool) -> Self {
        if is_bad { Self::Bad } else { Self::Ok }
    }
}

/// Returns the status of a command that succeeds if it does not fail.
pub fn ok<E: Into<anyhow::Error>>(done: Result<(), E>) -> Result<CommandStatus> {
    done.map(|()| CommandStatus::Ok).map_err(E::into)
}

/// The methods of the user.
#[derive(Clone, Debug, Default, Args)]
pub struct AddedArgs {
    /// Add the methods of a plug-in (`new-method` writes one) or of a folder of them; may be given several times, and
    /// in SPMV_BENCH_PLUGINS
    #[arg(help_heading = WHAT, hide_short_help = true, long = "plugin", value_name = "FILE|DIR")]
    pub plugins: Vec<PathBuf>,
    /// Add a method that is a single .cu file, and measure it alone unless --methods names others; without a GPU it
    /// runs on a modelled one
    #[arg(help_heading = WHAT, hide_short_help = true, long = "kernel", value_name = "FILE.cu")]
    pub kernels: Vec<PathBuf>,
}
