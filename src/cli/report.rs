//! `spmv-bench report`: result files as a page, or their main tables on the terminal.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use super::{Verdict, World};
use crate::record::ginkgo::Unit;
use crate::report::overview;
use crate::terminal::shown;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Result files, as --format csv, corpus or the benchmarks of Ginkgo wrote them
    #[arg(required = true, value_name = "FILE")]
    pub results: Vec<PathBuf>,
    /// The folder to write into; an earlier report there is overwritten
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub ginkgo: GinkgoArgs,
}

/// For files in the form of Ginkgo's benchmarks.
#[derive(Debug, Args)]
pub struct GinkgoArgs {
    /// The unit of times in files of Ginkgo's benchmarks [default: the one in which all are plausible]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub ginkgo_times: Option<Unit>,
}

impl GinkgoArgs {
    /// Refuses a unit where no file needs one.
    pub fn check(&self, is_needed: bool) -> Result<()> {
        let told = self.ginkgo_times.is_some();
        ensure!(
            is_needed || !told,
            "--ginkgo-times: no file is in the form of Ginkgo's benchmarks"
        );
        Ok(())
    }
}

/// Runs the command.
pub fn run(args: &ReportArgs, world: &mut World) -> Result<Verdict> {
    let files = overview::read(&args.results, args.ginkgo.ginkgo_times)?;
    args.ginkgo.check(files.iter().any(|file| file.note.is_some()))?;
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
