//! `spmv-bench merge`: merges the result files of a corpus' shards, and reports what is missing.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use super::output::is_same_file;
use super::{CommandStatus, Env};
use spmv_results::files::cells::to_csv;
use spmv_results::files::output::{self, Output};
use spmv_results::files::rows::is_not_regular_file;
use spmv_results::files::run_record::{record_of, write_record};
use spmv_results::files::shards::Merged;

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Files that corpus --shard --output has written, each with its FILE.run.json in the same folder
    #[arg(required = true, value_name = "CSV")]
    pub files: Vec<PathBuf>,
    /// Write the rows to this file instead of stdout, and the run record to FILE.run.json
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace files that already exist
    #[arg(long)]
    pub force: bool,
}

pub fn run(args: &MergeArgs, env: &mut Env) -> Result<CommandStatus> {
    let Merged { record, rows, missing } = Merged::read(&args.files)?;
    match &args.output {
        Some(path) if !is_not_regular_file(path) => {
            let shown = path.display();
            let is_part = args.files.iter().any(|part| is_same_file(path, part));
            ensure!(!is_part, "{shown} is one of the files to merge: use another output file");
            let text = to_csv(&rows, true)?;
            output::check(path, args.force)?;
            output::check(&record_of(path), args.force)?;
            output::write_whole(path, args.force, |out| out.write_all(&text))?;
            let recorded = write_record(&record_of(path), &record);
            recorded.inspect_err(|_| drop(fs::remove_file(path)))?;
        }
        stream => {
            let mut to = Output::open(stream.as_deref(), args.force, env.stdout)?;
            to.write_all(&to_csv(&rows, true)?)?;
            to.finish()?;
        }
    }
    for line in &missing {
        writeln!(env.stderr, "missing: {line}")?;
    }
    Ok(if missing.is_empty() { CommandStatus::Ok } else { CommandStatus::Bad })
}
