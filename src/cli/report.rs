//! `spmv-bench report`: result files as a page, or their main tables on the terminal.

use anyhow::Result;

use super::args::ReportArgs;
use super::{Verdict, World};
use crate::report::overview;

/// Runs the command.
pub fn run(args: &ReportArgs, world: &mut World) -> Result<Verdict> {
    let files = overview::read(&args.results)?;
    match &args.output {
        Some(folder) => {
            for path in overview::page(&files).write(folder)? {
                writeln!(world.stderr, "{}", path.display())?;
            }
        }
        None => write!(world.stdout, "{}", overview::glance(&files).to_text(world.width))?,
    }
    Ok(Verdict::Ok)
}
