//! The arguments of `tune`.

use std::ffi::OsString;

use clap::Args;

use crate::cli::args::MeasureArgs;

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The parameters to tune
    #[arg(value_enum)]
    pub what: Tunable,
    /// Folders, files, downloaded matrices of the collection (GROUP/NAME), generated matrices
    /// (gen:NAME,KEY=VALUE,…), and generated stand-ins for matrices of the collection (stand-in:SET or
    /// stand-in:GROUP/NAME; fetch --list lists them)
    #[arg(required = true, value_name = "DIR|FILE|gen:SPEC|stand-in:SET")]
    pub sources: Vec<OsString>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tunable {
    /// The sizes of super-rows and super-super-rows of CSR-k
    CsrK,
    /// Every combination of the parameter values that --methods names, such as gpu-merge:block=*:items=*
    Shapes,
}
