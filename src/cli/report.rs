//! `spmv-bench report`: result files as a page, or their main tables on the terminal.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::{Verdict, World};
use crate::report::overview;
use crate::terminal::shown;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Result files, as --format csv or corpus wrote them
    #[arg(required = true, value_name = "CSV")]
    pub results: Vec<PathBuf>,
    /// The folder to write into; an earlier report there is overwritten
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &ReportArgs, world: &mut World) -> Result<Verdict> {
    let files = overview::read(&args.results)?;
    match &args.output {
        Some(folder) => {
            for path in overview::page(&files).write(folder)? {
                writeln!(world.stderr, "{}", path.display())?;
            }
        }
        None => write!(world.stdout, "{}", shown(&overview::glance(&files).to_text(world.width)))?,
    }
    Ok(Verdict::Ok)
}
