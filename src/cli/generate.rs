//! `spmv-bench generate SPEC|FILE -o OUT.mtx`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result};

use super::args::GenerateArgs;
use super::{Verdict, World};
use crate::matrix::market;
use crate::matrix::source::Source;

/// Runs the command.
pub fn run(args: &GenerateArgs, world: &mut World) -> Result<Verdict> {
    let loaded = parse(&args.source)?.load(!args.no_expand)?;
    let name = args.output.display();
    let file = File::create(&args.output).with_context(|| format!("cannot create {name}"))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    market::write(&loaded.csr, &mut out)
        .and_then(|()| out.flush())
        .with_context(|| format!("cannot write {name}"))?;
    if let Some(duplicates) = loaded.market.map(|market| market.duplicates).filter(|&n| n > 0) {
        writeln!(world.stderr, "{}: {duplicates} duplicate entries summed", args.source.display())?;
    }
    let (rows, cols, nnz) = (loaded.csr.rows, loaded.csr.cols, loaded.csr.nnz());
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
