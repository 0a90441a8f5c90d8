//! `spmv-bench report`: writes a report of result files, or prints their main tables.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;

use super::{CommandStatus, Env};
use crate::record::ginkgo::Unit;
use crate::record::output;
use crate::record::terminal::shown;
use crate::record::write::Format;
use crate::report::overview;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Result files, written with --format csv, by corpus, or by the benchmarks of Ginkgo
    #[arg(required = true, value_name = "FILE")]
    pub results: Vec<PathBuf>,
    /// The folder for the report; or a file name that ends in .html, to write only the page
    #[arg(short, long, value_name = "DIR|FILE.html")]
    pub output: Option<PathBuf>,
    /// Replace an earlier report or page; other files in the folder are never changed
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub ginkgo: GinkgoArgs,
}

/// Options for result files of Ginkgo's benchmarks.
#[derive(Debug, Args)]
pub struct GinkgoArgs {
    /// The unit of times in files of Ginkgo's benchmarks [default: the unit in which all times are plausible]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub ginkgo_times: Option<Unit>,
}

impl GinkgoArgs {
    pub fn check(&self, is_needed: bool) -> Result<()> {
        let why = "--ginkgo-times: no file is in the format of Ginkgo's benchmarks";
        ensure!(is_needed || self.ginkgo_times.is_none(), why);
        Ok(())
    }
}

pub fn run(args: &ReportArgs, env: &mut Env) -> Result<CommandStatus> {
    let ending = args.output.as_deref().filter(|path| !path.is_dir()).and_then(Path::extension);
    let is_page = ending.is_some_and(|ending| ending == "html");
    if let Some(path) = &args.output {
        let shown = path.display();
        ensure!(
            is_page || Format::of_name(path).is_none() || path.is_dir(),
            "{shown}: a report has several files; use a folder, or a page that ends in .html"
        );
        let page = if is_page { path.clone() } else { path.join("report.html") };
        if is_page || page.exists() {
            output::check(&page, args.force)?;
        }
    }
    let files = overview::read(&args.results, args.ginkgo.ginkgo_times)?;
    args.ginkgo.check(files.iter().any(|file| file.note.is_some()))?;
    match &args.output {
        Some(page) if is_page => {
            let html = overview::page(&files).to_html();
            output::write_whole(page, args.force, |out| out.write_all(html.as_bytes()))?;
        }
        Some(folder) => {
            for path in overview::page(&files).write(folder)? {
                writeln!(env.stderr, "{}", path.display())?;
            }
        }
        None => write!(env.stdout, "{}", shown(&overview::main_tables(&files).to_text(env.width)))?,
    }
    Ok(CommandStatus::Ok)
}
