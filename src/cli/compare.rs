//! `spmv-bench compare`: compares two result files, and their run records if these exist.

mod gate;

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};
use clap::Args;
use rayon::prelude::*;
use serde_json::Value;

use super::output::OutputArgs;
use super::report::GinkgoArgs;
use super::verb::{AddedArgs, CommandStatus, Needs, Verb};
use crate::campaign::env::Env;
use spmv_results::files::read::{self, RecordedRow};
use spmv_results::files::run_record::{record_beside, record_to_read};
use spmv_results::report::compare::{Compared, Comparison, check_once, of_runs, relative};
use spmv_results::report::identity::name_matrices;
use spmv_results::report::names::join;
use spmv_results::report::select::{Select, check_met};
use spmv_results::run::facts::differences_to_compare;
use spmv_results::table::terminal::shown;

/// Compares two result files: what is faster, slower, or now wrong
///
/// Pairs the rows of A and B by matrix, method, precision, device, threads and transpose. B is faster or
/// slower than A if the 95 % confidence interval of the ratio of the two times does not contain 1; otherwise
/// the two are the same. Files with different cache states (hot or cold), orders or matrices are refused. If
/// both files have a FILE.run.json, different alpha, beta or expansion of symmetric matrices are refused too,
/// and other differences in the settings, or different machines, cause a warning. The intervals of one run of
/// each side do not describe the drift between the two; those of as many runs of A as of B, in turns, do.
///
/// Exit status: 0 if the files were compared, 1 if B is worse than --fail-above allows, 2 if they could
/// not be compared, 3 if the intervals are too wide to say whether B is worse.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The baseline A and the result file B that is compared with it: written with --format csv or json, or by the
    /// benchmarks of Ginkgo. Several runs of each are given as A1.csv A2.csv -- B1.csv B2.csv
    #[arg(value_name = "FILE", required = true)]
    pub a: Vec<PathBuf>,
    /// The files of B if there are several
    #[arg(value_name = "B.csv", last = true)]
    pub b: Vec<PathBuf>,
    /// Compare only methods with these names or patterns, separated by commas, optionally with conditions:
    /// 'merge,mkl*', '* where cache = hot && num_nonzeros > 1e6'
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub methods: Vec<Select>,
    /// Exit with status 1 if a row that is ok in A is not ok in B, or if the mean of a method or of all methods
    /// is slower in B by more than this, with its entire 95 % confidence interval; with status 3 if the interval of
    /// one contains this limit, so that nothing is decided
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_above: Option<f64>,
    /// Exit with status 1 if a row of a single matrix is slower in B by more than this, with its entire interval,
    /// and with status 3 if the interval contains this limit
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_pair_above: Option<f64>,
    /// Compare times relative to those of a method in the same process, so that drift of the machine cancels
    #[arg(long, value_name = "METHOD")]
    pub relative_to: Option<Select>,
    /// Show means over matrices whose values repeat and over others apart
    #[arg(long)]
    pub by_values: bool,
    /// Format of the output [default: from the extension of --output (.csv, .tex or .txt), else text]
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
    /// The tables for LaTeX with the package booktabs
    Latex,
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

impl Verb for CompareArgs {
    fn needs(&self) -> Needs {
        Needs { added: Some(AddedArgs::default()), ..Needs::NOTHING }
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let format = self.output.form(self.format, CompareFormat::Text)?;
        let sides = self.sides()?;
        let paths: Vec<_> = sides.iter().flat_map(|side| side.iter().map(PathBuf::as_path)).collect();
        self.output.check(&paths)?;
        let files = read(self, sides)?;
        for note in files.iter().flatten().filter_map(|file| file.note.as_ref()) {
            writeln!(env.stderr, "note: {note}")?;
        }
        check_records(&files.iter().flatten().collect::<Vec<_>>(), env)?;
        let lines = files.iter().flatten().flat_map(|file| &file.lines);
        check_met(self.relative_to.as_slice(), lines).context("--relative-to")?;
        let [runs_a, runs_b] = files.each_ref().map(Vec::len);
        let are_turns = runs_a == runs_b && runs_a > 1;
        let [mut a, mut b] = files.map(|files| one(files, self.relative_to.as_ref()));
        choose(&self.methods, [&mut a, &mut b])?;
        // The process ends soon, and to free so many rows takes a tenth of the time.
        let [a, b] = [a, b].map(ManuallyDrop::new);
        let names = sides.map(|side| join(side.iter().map(|path| path.display().to_string()), ", "));
        let [a, b] = [(&names[0], &a), (&names[1], &b)].map(|(name, lines)| Compared { name, lines });
        let mut comparison = Comparison::of(a, b, are_turns)?;
        comparison.by_values = self.by_values;
        let width = env.width.filter(|_| self.output.output.is_none());
        let text = match format {
            CompareFormat::Text => shown(&comparison.to_text(width)).into_owned(),
            CompareFormat::Csv => comparison.to_csv(),
            CompareFormat::Latex => comparison.to_latex(),
        };
        self.output.write(text.as_bytes(), env.stdout)?;
        if let Some(to) = &self.relative_to {
            writeln!(env.stderr, "times are relative to {to} in the same run")?;
        }
        let counted = if runs_a.max(runs_b) > 1 { "runs of each side" } else { "processes in each run" };
        gate::judge(self.fail_above, self.fail_pair_above, &comparison, counted, env)
    }
}

/// A result file, and a note about it if there is one.
struct Results<'a> {
    path: &'a Path,
    lines: Vec<RecordedRow>,
    note: Option<String>,
}

impl CompareArgs {
    fn sides(&self) -> Result<[&[PathBuf]; 2]> {
        match (&self.a[..], &self.b[..]) {
            ([a, b], []) => Ok([std::slice::from_ref(a), std::slice::from_ref(b)]),
            (_, []) => bail!(
                "which files are A, and which B? Two files are A.csv B.csv; several runs of each are A1.csv A2.csv -- \
                 B1.csv B2.csv"
            ),
            (a, b) => Ok([a, b]),
        }
    }
}

/// Reads the files of both sides, with the names of their matrices.
fn read<'a>(args: &CompareArgs, sides: [&'a [PathBuf]; 2]) -> Result<[Vec<Results<'a>>; 2]> {
    let read = |path: &'a PathBuf| {
        let (lines, note) = read::read_any(path, args.ginkgo.ginkgo_times)?;
        Ok(Results { path, lines, note })
    };
    // The errors of earlier files come first.
    let of_side = |side: &'a [PathBuf]| side.par_iter().map(read).collect::<Vec<_>>().into_iter().collect();
    let of_both: (Result<Vec<_>>, Result<Vec<_>>) = rayon::join(|| of_side(sides[0]), || of_side(sides[1]));
    let mut files = [of_both.0?, of_both.1?];
    let lines = files.iter_mut().flatten().map(|file| file.lines.iter_mut().collect());
    name_matrices(lines.collect());
    for file in files.iter().filter(|side| side.len() > 1).flatten() {
        check_once(&file.path.display().to_string(), &file.lines).map_err(Error::msg)?;
    }
    args.ginkgo.check(files.iter().flatten().any(|file| file.note.is_some()))?;
    Ok(files)
}

/// Returns the rows of a side: of its only file, or the means over several.
fn one(mut files: Vec<Results>, relative_to: Option<&Select>) -> Vec<RecordedRow> {
    for file in &mut files {
        relative_to.iter().for_each(|to| relative(&mut file.lines, to));
    }
    let several = files.len() > 1;
    let lines: Vec<_> = files.into_iter().flat_map(|file| file.lines).collect();
    if several { of_runs(&lines) } else { lines }
}

/// Keeps the rows of these methods, and those of a whole matrix, which explain why others are missing.
fn choose(methods: &[Select], both: [&mut Vec<RecordedRow>; 2]) -> Result<()> {
    check_met(methods, both.iter().flat_map(|lines| lines.iter())).context("--methods")?;
    let meant = |line: &RecordedRow| {
        let any = methods.is_empty() || methods.iter().any(|select| select.meets(line));
        any || line.method().is_empty()
    };
    both.into_iter().for_each(|lines| lines.retain(meant));
    Ok(())
}

/// Compares the run records with the first: warns about different conditions, and returns an error if products differ.
fn check_records(files: &[&Results], env: &mut Env) -> Result<()> {
    let first = record(files[0], env)?;
    for file in &files[1..] {
        let (Some(of_a), Some(of_b)) = (&first, record(file, env)?) else { continue };
        for difference in differences_to_compare(of_a, &of_b) {
            let (fact, in_a, in_b) = (difference.fact, difference.in_a, difference.in_b);
            let (a, b) = (files[0].path.display(), file.path.display());
            let message = format!("{fact} is {in_a} in the run of {a} and {in_b} in that of {b}");
            if let Some(option) = difference.option {
                bail!("{message}; run one of them again with {option} as in the other");
            }
            writeln!(env.stderr, "warning: {message}")?;
        }
    }
    Ok(())
}

/// Reads the run record of a result file. Returns `None` if it does not exist or belongs to another run.
fn record(file: &Results, env: &mut Env) -> Result<Option<Value>> {
    let Results { path, lines, .. } = file;
    let Some(record) = record_beside(path)? else { return Ok(None) };
    let of_rows = |id: &Value| lines.iter().any(|line| id == &line.row.run_id[..]);
    if !record.get("run_id").is_some_and(of_rows) {
        let (beside, path) = (record_to_read(path), path.display());
        let beside = beside.display();
        let why = format!("belongs to another run than the rows of {path}, and is ignored");
        writeln!(env.stderr, "warning: {beside} {why}")?;
        return Ok(None);
    }
    Ok(Some(record))
}
