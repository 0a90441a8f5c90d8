//! `spmv-bench cache list|clear`: the matrices kept from earlier readings.

use std::fs;

use anyhow::{Context, Result, bail};

use super::args::{CacheArgs, CacheVerb};
use super::{Verdict, World};

/// Runs the command.
pub fn run(args: &CacheArgs, world: &mut World) -> Result<Verdict> {
    let Some(kept) = &world.matrices else { bail!("this user has no folder for caches") };
    let mut listed = kept.list().with_context(|| format!("cannot read {kept}"))?;
    listed.retain(|entry| entry.stale || !args.stale);
    let (count, bytes) = (listed.len(), listed.iter().map(|entry| entry.bytes).sum::<u64>());
    for entry in &listed {
        if args.what == CacheVerb::Clear {
            let path = &entry.path;
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
            continue;
        }
        let source = entry.source.as_deref().unwrap_or("damaged, or of another version");
        let stale = if entry.stale && entry.source.is_some() { " (changed or gone)" } else { "" };
        writeln!(world.stdout, "{:>10.1} MB  {source}{stale}", entry.bytes as f64 / 1e6)?;
    }
    let done = if args.what == CacheVerb::Clear { "cleared" } else { "kept" };
    writeln!(world.stderr, "{count} entries, {:.1} MB {done} in {kept}", bytes as f64 / 1e6)?;
    Ok(Verdict::Ok)
}
