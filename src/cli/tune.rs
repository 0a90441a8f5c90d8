//! `spmv-bench tune csr-k`: csr-k, section 4: every size on every matrix, and what follows from the best.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::args::{DeviceChoice, MeasureArgs, TuneArgs};
use super::corpus::progress;
use super::session::Session;
use super::sources::sources;
use super::{Verdict, World};
use crate::method::Choice;
use crate::record::row::Row;
use crate::record::tuning::{SizeRow, Sizes, Sweep};
use crate::record::{Group, MatrixReport};
use crate::scalar::Precision;

/// A method with every size.
struct Swept {
    /// Without sizes.
    name: String,
    sizes: Vec<Sizes>,
    /// One per size.
    choices: Vec<Choice<'static>>,
    /// One per precision.
    results: Vec<Sweep>,
}

/// Runs the command.
pub fn run(args: TuneArgs, command: Vec<String>, world: &mut World) -> Result<Verdict> {
    let measure = with_defaults(args.measure)?;
    let sources = sources(&args.sources, measure.datasets.as_deref(), world.stderr)?;
    let mut session = Session::start(&measure, world)?;
    let bases = session.choices.iter();
    let swept: Result<_> = bases.map(|base| Swept::of(base, measure.precisions())).collect();
    let mut swept: Vec<Swept> = swept?;
    session.choices = swept.iter().flat_map(|swept| swept.choices.clone()).collect();
    let mut out = measure.output.as_ref().map(csv).transpose()?;
    session.record(&measure, command, world.stderr, &world.date, &world.system)?;
    let progress = progress(&sources, world.terminal && !measure.quiet);
    let mut verdict = Verdict::Ok;
    for (source, bytes) in &sources {
        progress.set_message(source.to_string());
        let run = session.run(source, true);
        if let Some(reason) = run.report.unreadable() {
            progress.suspend(|| writeln!(world.stderr, "{reason}"))?;
        }
        if run.interrupted || run.report.is_bad() {
            verdict = Verdict::Bad;
        }
        take(&run.report, &mut swept, out.as_mut())?;
        if run.interrupted {
            writeln!(world.stderr, "interrupted: only the matrices so far")?;
            break;
        }
        progress.inc(*bytes);
    }
    progress.finish_and_clear();
    session.finish(measure.quiet, world.stderr)?;
    let mut results = swept.iter().flat_map(|swept| &swept.results);
    results.try_for_each(|sweep| sweep.write(world.stdout))?;
    Ok(verdict)
}

/// What is measured unless the command line says otherwise.
fn with_defaults(mut measure: MeasureArgs) -> Result<MeasureArgs> {
    ensure!(measure.format.is_none(), "--format: tune prints text, and CSV to --output");
    let methods = match measure.device {
        DeviceChoice::Gpu(_) => ["gpu-csrk-3", "gpu-csrk-3.5"],
        DeviceChoice::Cpu | DeviceChoice::All => ["csr2", "csr3"],
    };
    measure.methods.get_or_insert_with(|| methods.map(String::from).to_vec());
    measure.rounds.get_or_insert(1);
    Ok(measure)
}

fn csv(path: &PathBuf) -> Result<csv::Writer<File>> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(csv::Writer::from_writer(file))
}

impl Swept {
    /// Every combination of the sizes that are not given.
    fn of(base: &Choice<'static>, precisions: &[Precision]) -> Result<Self> {
        let Choice { method, given } = base;
        let srs = values(base, "srs");
        ensure!(!srs.is_empty(), "--methods {}: it has no srs to tune", method.name);
        let mut ssrs: Vec<_> = values(base, "ssrs").into_iter().map(Some).collect();
        if ssrs.is_empty() {
            ssrs.push(None);
        }
        let others = given.iter().copied().filter(|(name, _)| !["srs", "ssrs"].contains(name));
        let others: Vec<_> = others.collect();
        let name = Choice { method, given: others.clone() }.name();
        let (mut sizes, mut choices) = (Vec::new(), Vec::new());
        for (srs, ssrs) in srs.iter().flat_map(|&srs| ssrs.iter().map(move |&ssrs| (srs, ssrs))) {
            sizes.push(Sizes { srs: number(srs), ssrs: ssrs.map(number) });
            let chosen = [Some(("srs", srs)), ssrs.map(|ssrs| ("ssrs", ssrs))];
            let given = others.iter().copied().chain(chosen.into_iter().flatten()).collect();
            choices.push(Choice { method, given });
        }
        let result = |&precision: &Precision| Sweep::new(name.clone(), precision, sizes.clone());
        let results = precisions.iter().map(result).collect();
        Ok(Self { name, sizes, choices, results })
    }
}

/// What a size may be: the value that is given, or all that the method has.
fn values(choice: &Choice<'static>, name: &str) -> Vec<&'static str> {
    match choice.given.iter().find(|(given, _)| *given == name) {
        Some((_, value)) => vec![value],
        None => {
            let parameter = choice.method.parameters.iter().find(|known| known.name == name);
            parameter.map_or(Vec::new(), |parameter| parameter.values.to_vec())
        }
    }
}

fn number(word: &str) -> u32 {
    word.parse().expect("sizes are numbers")
}

/// Writes the rows of a matrix and adds them to the results.
fn take(
    report: &MatrixReport,
    swept: &mut [Swept],
    mut out: Option<&mut csv::Writer<File>>,
) -> Result<()> {
    let mut write = |row: SizeRow| match &mut out {
        Some(out) => out.serialize(row).and_then(|()| Ok(out.flush()?)),
        None => Ok(()),
    };
    report.ended.iter().try_for_each(|row| write(SizeRow::new(row, None)))?;
    for group in &report.groups {
        for (swept, rows) in by_method(group, swept) {
            for (row, &sizes) in rows.iter().zip(&swept.sizes) {
                write(SizeRow::new(row, Some((swept.name.clone(), sizes))))?;
            }
            let result = swept.results.iter_mut().find(|sweep| sweep.precision == group.precision);
            result.expect("one per precision").take(rows);
        }
    }
    Ok(())
}

/// The rows of each method that the group holds, in the order of its sizes.
fn by_method<'a>(
    group: &'a Group,
    swept: &'a mut [Swept],
) -> impl Iterator<Item = (&'a mut Swept, &'a [Row])> {
    let mut rows = &group.rows[..];
    let here = swept.iter_mut().filter(|of| of.choices[0].method.device() == group.device);
    here.map(move |swept| {
        let own;
        (own, rows) = rows.split_at(swept.sizes.len());
        (swept, own)
    })
}
