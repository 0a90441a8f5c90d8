//! The command line of `tune`.

use std::ffi::OsString;

use clap::Args;

use crate::cli::args::MeasureArgs;

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// What to tune
    #[arg(value_enum)]
    pub what: Tunable,
    /// Folders, files, matrices of the collection that fetch has brought (GROUP/NAME), generated matrices
    /// (gen:NAME,KEY=VALUE,…), and generated stand-ins of matrices of the collection (stand-in:SET or
    /// stand-in:GROUP/NAME; fetch --list shows them)
    #[arg(required = true, value_name = "DIR|FILE|gen:SPEC|stand-in:SET")]
    pub sources: Vec<OsString>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tunable {
    /// CSR-k: the sizes of super-rows and super-super-rows
    CsrK,
    /// Every combination of the values that --methods names: gpu-merge:block=*:items=*
    Shapes,
}
