//! `spmv-bench cache list|clear`: lists or removes the parsed matrices in the cache.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use clap::Args;

use super::verb::{CommandStatus, Verb};
use crate::campaign::env::Env;
use spmv_matrix::cache::Contents;
use spmv_matrix::cached::{self, Listed, VARIABLE, limit};

/// Lists or clears the cache of parsed matrix files
///
/// It is in the folder spmv-bench of the user's cache folder, or in that of SPMV_BENCH_CACHE.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// What to do
    #[arg(value_enum)]
    pub what: CacheVerb,
    /// Only those whose files have changed or no longer exist
    #[arg(long)]
    pub stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CacheVerb {
    /// List the parsed matrices in the cache, the largest first
    List,
    /// Remove the parsed matrices from the cache
    Clear,
}

impl Verb for CacheArgs {
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let Some(kept) = &env.matrices else {
            bail!("there is no cache folder: neither SPMV_BENCH_CACHE nor HOME is set")
        };
        let contents = kept.contents().with_context(|| format!("cannot read {kept}"))?;
        let mut listed = cached::list(kept).with_context(|| format!("cannot read {kept}"))?;
        listed.retain(|entry| entry.stale || !self.stale);
        let (count, bytes) = (listed.len(), listed.iter().map(|entry| entry.bytes).sum::<u64>());
        let done = match self.what {
            CacheVerb::List => {
                list(&listed, env.stdout)?;
                "stored"
            }
            CacheVerb::Clear => {
                listed.iter().try_for_each(|entry| remove(&entry.path))?;
                contents.left_over.iter().try_for_each(|(path, _)| remove(path))?;
                "cleared"
            }
        };
        writeln!(env.stderr, "{count} entries, {:.1} MB {done} in {kept}", bytes as f64 / 1e6)?;
        if self.what == CacheVerb::List {
            let limit = limit().map_err(Error::msg)?;
            let what = "those that were not used for the longest time make room for others";
            writeln!(env.stderr, "limit of all entries: {limit} ({VARIABLE}); {what}")?;
        }
        let Contents { left_over, others, .. } = &contents;
        if !left_over.is_empty() {
            let megabytes = left_over.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>() / 1e6;
            let what = "unfinished files of interrupted processes";
            writeln!(env.stderr, "{} {what}, {megabytes:.1} MB {done}", left_over.len())?;
        }
        if *others > 0 {
            let what = "other files or folders do not belong to this program and are not changed";
            writeln!(env.stderr, "{others} {what}")?;
        }
        Ok(CommandStatus::Ok)
    }
}

fn list(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    for entry in listed {
        let source = entry.source.as_deref().unwrap_or("a damaged entry, or one of another version or user");
        let is_stale = entry.stale && entry.source.is_some();
        let stale = if is_stale { " (has changed or no longer exists)" } else { "" };
        writeln!(out, "{:>10.1} MB  {source}{stale}", entry.bytes as f64 / 1e6)?;
    }
    Ok(())
}

/// Removes a file, which another process may have removed already.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("cannot remove {}", path.display())),
    }
}
