//! `spmv-bench merge`: merges the result files of a corpus' shards, and reports what is missing.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use super::output::is_same_file;
use super::verb::{CommandStatus, Verb};
use crate::campaign::env::Env;
use spmv_results::files::cells::to_csv;
use spmv_results::files::output::{self, Output};
use spmv_results::files::rows::is_not_regular_file;
use spmv_results::files::run_record::{record_of, write_record};
use spmv_results::files::shards::Merged;

/// Merges the result files that `corpus --shard` wrote
///
/// The rows are in the order of a run without --shard. Files that are not shards of the same corpus, or
/// were measured with different settings or on different machines, are refused.
///
/// Exit status: 0 if the result is complete, 1 if something is missing (the missing parts are listed), 2
/// if the files could not be merged.
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

impl Verb for MergeArgs {
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let Merged { record, rows, missing } = Merged::read(&self.files)?;
        match &self.output {
            Some(path) if !is_not_regular_file(path) => {
                let shown = path.display();
                let is_part = self.files.iter().any(|part| is_same_file(path, part));
                ensure!(!is_part, "{shown} is one of the files to merge: use another output file");
                let text = to_csv(&rows, true)?;
                output::check(path, self.force)?;
                output::check(&record_of(path), self.force)?;
                output::write_whole(path, self.force, |out| out.write_all(&text))?;
                let recorded = write_record(&record_of(path), &record);
                recorded.inspect_err(|_| drop(fs::remove_file(path)))?;
            }
            stream => {
                let mut to = Output::open(stream.as_deref(), self.force, env.stdout)?;
                to.write_all(&to_csv(&rows, true)?)?;
                to.finish()?;
            }
        }
        for line in &missing {
            writeln!(env.stderr, "missing: {line}")?;
        }
        Ok(CommandStatus::bad_if(!missing.is_empty()))
    }
}
