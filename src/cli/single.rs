//! `spmv-bench --mtx FILE`: one matrix, every method.

use anyhow::{Result, bail};

use super::args::SingleArgs;
use super::session::{Session, output};
use super::sources::source;
use super::{Verdict, World};
use crate::record::write::{Format, Reporter};

/// Runs the command.
pub fn run(args: &SingleArgs, command: Vec<String>, world: &mut World) -> Result<Verdict> {
    let measure = &args.measure;
    let source = source(&args.mtx, measure.datasets.as_deref())?;
    let mut session = Session::start(measure, world)?;
    let mut out = output(measure, world.stdout)?;
    session.record(measure, command, world.stderr, &world.date, &world.system)?;
    let run = session.run(&source, false);
    if let Some(reason) = run.report.unreadable() {
        bail!("{reason}");
    }
    if !measure.quiet {
        run.report.warnings().iter().try_for_each(|line| writeln!(world.stderr, "{line}"))?;
    }
    let format = measure.format.unwrap_or(Format::Text);
    Reporter::new(format, &mut *out).report(&run.report)?;
    session.finish(measure.quiet, world.stderr)?;
    if run.interrupted {
        writeln!(world.stderr, "interrupted: the results of {source} are incomplete")?;
    }
    Ok(if run.interrupted || run.report.is_bad() { Verdict::Bad } else { Verdict::Ok })
}
