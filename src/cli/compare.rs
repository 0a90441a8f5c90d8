//! `spmv-bench compare`: compares two result files, and their run records if these exist.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use super::output::{OutputArgs, beside, form};
use super::report::GinkgoArgs;
use super::{CommandStatus, Env};
use crate::record::facts::differences_to_compare;
use crate::record::read::{self, RecordedRow};
use crate::record::terminal::shown;
use crate::report::compare::{Compared, Comparison};
use crate::report::identity::name_matrices;
use crate::report::select::Select;
use spmv_matrix::near::hint;

/// The largest number of methods that are listed in a message.
const FEW: usize = 8;

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The baseline: a result file written with --format csv or by the benchmarks of Ginkgo
    #[arg(value_name = "A.csv")]
    pub a: PathBuf,
    /// The result file that is compared with the baseline
    #[arg(value_name = "B.csv")]
    pub b: PathBuf,
    /// Compare only methods with these names or patterns, separated by commas, optionally with conditions:
    /// 'merge,mkl*', '* where cache = hot && num_nonzeros > 1e6'
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub methods: Vec<Select>,
    /// Exit with status 1 if a row that is ok in A is not ok in B, or if the mean of a method or of all methods
    /// is slower in B by more than this, with its entire 95 % confidence interval
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_above: Option<f64>,
    /// Format of the output [default: from the extension of --output (.csv or .txt), else text]
    #[arg(long, value_enum)]
    pub format: Option<CompareFormat>,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub ginkgo: GinkgoArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CompareFormat {
    /// Tables for reading
    Text,
    /// One row per pair of compared rows
    Csv,
}

/// Parses a percentage such as `5%` or `5`.
fn percent(text: &str) -> Result<f64, String> {
    let (number, marked) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
    let value = number.trim_end().parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0);
    let value = value.ok_or("it must be a percentage such as 5%, and not negative")?;
    if !marked && value > 0.0 && value < 1.0 {
        let meant = 100.0 * value;
        return Err(format!("it could mean {text}% or {meant}%; write the percent sign"));
    }
    Ok(value)
}

pub fn run(args: &CompareArgs, env: &mut Env) -> Result<CommandStatus> {
    let format = form(args.format, args.output.output.as_deref(), CompareFormat::Text)?;
    args.output.check(&[&args.a, &args.b])?;
    let [(mut a, note_a), (mut b, note_b)] = read(args)?;
    for note in [note_a, note_b].iter().flatten() {
        writeln!(env.stderr, "note: {note}")?;
    }
    check_records([(&args.a, &a), (&args.b, &b)], env)?;
    choose(&args.methods, [&mut a, &mut b])?;
    let [name_a, name_b] = [&args.a, &args.b].map(|path| path.display().to_string());
    let [a, b] = [(&name_a, &a), (&name_b, &b)].map(|(name, lines)| Compared { name, lines });
    let comparison = Comparison::of(a, b)?;
    let text = match format {
        CompareFormat::Text => shown(&comparison.to_text()).into_owned(),
        CompareFormat::Csv => comparison.to_csv(),
    };
    args.output.write(text.as_bytes(), env.stdout)?;
    args.fail_above.map_or(Ok(CommandStatus::Ok), |percent| judge(&comparison, percent, env))
}

/// Reads the rows of A and of B, with the names of their matrices, each with a note about the file if there is one.
fn read(args: &CompareArgs) -> Result<[(Vec<RecordedRow>, Option<String>); 2]> {
    let read = |path| read::read_any(path, args.ginkgo.ginkgo_times);
    let mut both = [read(&args.a)?, read(&args.b)?];
    name_matrices(both.iter_mut().map(|(lines, _)| lines.iter_mut().collect()).collect());
    args.ginkgo.check(both.iter().any(|(_, note)| note.is_some()))?;
    Ok(both)
}

/// Keeps the rows of these methods, and those of a whole matrix, which explain why others are missing.
fn choose(methods: &[Select], both: [&mut Vec<RecordedRow>; 2]) -> Result<()> {
    for select in methods {
        let lines = || both.iter().flat_map(|lines| lines.iter());
        let met = lines().any(|line| select.meets(line));
        let names: BTreeSet<_> = lines().map(RecordedRow::method).collect();
        let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let whole = match names.len() {
            ..=FEW => format!("the files have rows of {}", names.join(", ")),
            many => format!("the files have rows of {many} methods"),
        };
        let hint = hint(select.method(), names, &whole);
        ensure!(met, "--methods {select}: neither file has a matching row{hint}");
    }
    let meant = |line: &RecordedRow| {
        let any = methods.is_empty() || methods.iter().any(|select| select.meets(line));
        any || line.method().is_empty()
    };
    both.into_iter().for_each(|lines| lines.retain(meant));
    Ok(())
}

/// Compares the run records: warns about different conditions, and returns an error if the products differ.
fn check_records([a, b]: [(&Path, &[RecordedRow]); 2], env: &mut Env) -> Result<()> {
    let (Some(of_a), Some(of_b)) = (record(a, env)?, record(b, env)?) else { return Ok(()) };
    for difference in differences_to_compare(&of_a, &of_b) {
        let (fact, in_a, in_b) = (difference.fact, difference.in_a, difference.in_b);
        let (a, b) = (a.0.display(), b.0.display());
        let message = format!("{fact} is {in_a} in the run of {a} and {in_b} in that of {b}");
        if let Some(option) = difference.option {
            bail!("{message}; run one of them again with {option} as in the other");
        }
        writeln!(env.stderr, "warning: {message}")?;
    }
    Ok(())
}

/// Reads the run record of a result file. Returns `None` if it does not exist or belongs to another run.
fn record((path, lines): (&Path, &[RecordedRow]), env: &mut Env) -> Result<Option<Value>> {
    let beside = beside(path);
    let problem = || format!("cannot read {}; fix it, or move it away", beside.display());
    let text = match fs::read_to_string(&beside) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.with_context(problem)?,
    };
    let record: Value = serde_json::from_str(&text).with_context(problem)?;
    let of_rows = |id: &Value| lines.iter().any(|line| id == &line.row.run_id[..]);
    if !record.get("run_id").is_some_and(of_rows) {
        let (beside, path) = (beside.display(), path.display());
        let why = format!("belongs to another run than the rows of {path}, and is ignored");
        writeln!(env.stderr, "warning: {beside} {why}")?;
        return Ok(None);
    }
    Ok(Some(record))
}

fn judge(comparison: &Comparison, percent: f64, env: &mut Env) -> Result<CommandStatus> {
    let err = &mut env.stderr;
    let unjudged = comparison.unjudged();
    if !unjudged.is_empty() {
        let why =
            "rows of fewer than six samples have no interval; measure with --rounds 6 or more";
        writeln!(err, "warning: not judged: {} ({why})", unjudged.join(", "))?;
    }
    let lost = comparison.lost().len();
    if lost > 0 {
        writeln!(err, "{lost} rows are ok in A but not in B")?;
    }
    let slower = comparison.slower_by(percent);
    for (label, mean) in &slower {
        let (ratio, (low, high)) = (mean.ratio, mean.interval.expect("judged by it"));
        let mean = format!("{ratio:.3} ({low:.3} to {high:.3})");
        writeln!(err, "slower by more than {percent} %: {label}: {mean}")?;
    }
    Ok(if lost > 0 || !slower.is_empty() { CommandStatus::Bad } else { CommandStatus::Ok })
}
