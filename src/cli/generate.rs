//! `spmv-bench generate SPEC|FILE -o OUT.mtx`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result};

use super::args::GenerateArgs;
use super::{Verdict, World};
use crate::matrix::market;
use crate::matrix::source::{Loaded, Source};

/// Runs the command.
pub fn run(args: &GenerateArgs, world: &mut World) -> Result<Verdict> {
    let source = parse(&args.source)?;
    let name = args.output.display();
    let create = || File::create(&args.output).with_context(|| format!("cannot create {name}"));
    let (rows, cols, nnz) = match &source {
        Source::File(path) => {
            let loaded = Loaded::read(path, !args.no_expand)?;
            let mut out = BufWriter::with_capacity(1 << 20, create()?);
            market::write(&loaded.csr, &mut out)
                .and_then(|()| out.flush())
                .with_context(|| format!("cannot write {name}"))?;
            if let Some(duplicates) = loaded.market.map(|facts| facts.duplicates).filter(|&n| n > 0)
            {
                writeln!(world.stderr, "{source}: {duplicates} duplicate entries summed")?;
            }
            (loaded.csr.rows, loaded.csr.cols, loaded.csr.nnz())
        }
        Source::Generated(generator) | Source::StandIn(_, generator) => {
            let mut out = BufWriter::with_capacity(1 << 20, create()?);
            let kind = source.made_kind().unwrap_or_default();
            let written = generator.write(&kind, &mut out).and_then(|size| {
                out.flush()?;
                Ok(size)
            });
            written.with_context(|| format!("cannot write {name}"))?
        }
    };
    writeln!(world.stderr, "{name}: {rows} rows, {cols} columns, {nnz} entries")?;
    Ok(Verdict::Ok)
}

/// Here `gen:` may be left out where no file bears the name.
fn parse(text: &OsString) -> Result<Source> {
    if std::path::Path::new(text).exists() {
        return Ok(Source::parse(text)?);
    }
    match Source::parse(text)? {
        Source::File(path) if path.extension().is_none() => {
            let mut spec = OsString::from("gen:");
            spec.push(text);
            Ok(Source::parse(&spec)?)
        }
        source => Ok(source),
    }
}
