//! `spmv-bench check-method`: the battery for the methods of a plug-in.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::values::seconds;
use super::verb::{CommandStatus, Needs, Verb, ok};
use crate::bench::check::{self, Facts, Message, Passed};
use crate::campaign::env::Env;
use crate::campaign::isolate::Interrupted;
use crate::campaign::isolate::listen;
use crate::campaign::plugins::describe;
use spmv_matrix::scalar::Precision;
use spmv_methods::plugin::{Description, abi};
use spmv_results::report::names::count;

/// Checks a method of your own before it is measured
///
/// Each method of a plug-in runs in child processes, in both precisions: every small matrix that is named for a
/// bug, several factors alpha and beta, 1 to 7 threads, arrays at odd addresses, NaN in x, several matrices at the
/// same time, and repeated preparations. It must write only y, leave matrix and threads as they were, and release
/// its memory. A failure names the smallest matrix that shows it.
///
/// Exit status: 0 if all checks passed, 1 if one failed, 2 if the plug-in cannot be used.
#[derive(Debug, Args)]
pub struct CheckMethodArgs {
    /// The plug-in, such as mine/libmine.so of `new-method c mine`
    #[arg(value_name = "FILE.so")]
    pub file: PathBuf,
    /// Check only methods with these names or patterns [default: all]
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Stop a method that takes longer than this on one matrix
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    pub timeout: Duration,
}

impl Verb for CheckMethodArgs {
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let program = env.program.clone().context("the checks run only in child processes")?;
        let file = std::path::absolute(&self.file)?;
        ensure!(file.exists(), "{}: there is no such file", self.file.display());
        let patterns: Result<Vec<_>, _> = self.patterns.iter().map(|p| glob::Pattern::new(p)).collect();
        let patterns = patterns?;
        let is_chosen =
            |method: &&Description| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(&method.name));
        let methods = describe(&file, &program)?;
        let chosen: Vec<_> = methods.iter().filter(is_chosen).collect();
        let names: Vec<_> = methods.iter().map(|method| &*method.name).collect();
        ensure!(!chosen.is_empty(), "the plug-in has no such method; it has {}", names.join(", "));
        let mut failures = 0;
        if let Some(changed) = &methods[0].opening_changed {
            failures += 1;
            writeln!(
                env.stdout,
                "FAILED opening the plug-in has changed {changed}: build it without -Ofast and -ffast-math, or link it \
             without them"
            )?;
        }
        for method in chosen {
            if method.has(abi::GPU) {
                let why = "because it runs on a GPU: measure it with --plugin";
                writeln!(env.stdout, "{}: not checked, {why}", method.edition())?;
                continue;
            }
            for (precision, flag) in [(Precision::F64, abi::F64), (Precision::F32, abi::F32)] {
                if method.has(flag) {
                    writeln!(env.stdout, "{} in {}", method.edition(), precision.name())?;
                    let file = file.to_str().context("the name of the file is not UTF-8")?;
                    let worker = [file, &method.name, precision.name()];
                    failures += checked(&program, worker, self.timeout, env)?;
                }
            }
        }
        if failures > 0 {
            writeln!(env.stdout, "{} failed", count(failures, "check"))?;
            return Ok(CommandStatus::Bad);
        }
        ok(writeln!(env.stdout, "all checks passed"))
    }
}

/// What is measured after the checks, on a matrix that is larger than theirs.
const FACTS: &str = "the facts, on a 7-point grid of 64000 rows";

/// Runs all checks of one method in one precision in as many child processes as necessary, and prints each result.
/// `worker` names the file, the method and the precision. Returns how many failed.
fn checked(program: &Path, worker: [&str; 3], limit: Duration, env: &mut Env) -> Result<usize> {
    let names: Vec<_> = check::names().collect();
    // After the checks the facts have a number too.
    let (mut next, mut failures, done) = (0, 0, names.len() + 1);
    while next < done {
        let (mut current, mut step) = (next, String::new());
        let mut ended = Vec::new();
        let from = next.to_string();
        let [file, method, precision] = worker;
        let words = ["check-worker", file, method, precision, &from];
        let end = listen(program, &words, limit, env.interrupted, |message| match message {
            Message::Step(number, on) => {
                (current, step) = (number, on);
                None
            }
            Message::Ended(number, result) => {
                ended.push((names[number], result));
                None
            }
            Message::Facts(facts) => Some(facts),
        });
        let is_interrupted = env.interrupted.load(Ordering::Relaxed);
        ensure!(!is_interrupted, Interrupted("while a method was checked"));
        if let Err(end) = &end {
            let name = names.get(current).copied().unwrap_or(FACTS);
            ended.push((name, Err(format!("{end:#} with {step}"))));
        }
        for (name, result) in ended {
            failures += usize::from(result.is_err());
            writeln!(env.stdout, "{}", line(name, &result))?;
        }
        next = if end.is_ok() { done } else { current + 1 };
        match end {
            Ok(Ok(Some(facts))) => write!(env.stdout, "{}", shown(&facts))?,
            Ok(Ok(None)) => writeln!(env.stdout, "  no facts: it does not take their matrix")?,
            Ok(Err(reason)) => {
                failures += 1;
                writeln!(env.stdout, "{}", line(FACTS, &Err(reason)))?;
            }
            Err(_) => (),
        }
    }
    Ok(failures)
}

fn line(name: &str, result: &Result<Passed, String>) -> String {
    match result {
        Ok(Passed { products: 0, refusal: None, .. }) => {
            format!("  -      {name}: nothing to check")
        }
        Ok(Passed { products: 0, refusal: Some(reason), .. }) => {
            format!("  -      {name}: refused, because {reason}")
        }
        Ok(Passed { products, refused, refusal }) => {
            let refusal = refusal.as_deref().unwrap_or_default();
            let refused = match refused {
                0 => String::new(),
                _ => format!("; refused {refused} times, first because {refusal}"),
            };
            format!("  ok     {name}: {products} products{refused}")
        }
        Err(reason) => format!("  FAILED {name}: {reason}"),
    }
}

fn shown(facts: &Facts) -> String {
    let Facts { extra_bytes, csr_bytes, setup_products, is_deterministic, error_ratio } = facts;
    let stored = match extra_bytes {
        Some(bytes) => {
            let share = *bytes as f64 / *csr_bytes as f64;
            format!("{bytes} bytes in addition to CSR ({share:.2} times CSR)")
        }
        None => "unknown: use ctx->allocate, or state extra_bytes in info".into(),
    };
    let bits = if *is_deterministic { "equal" } else { "not equal" };
    format!(
        "  facts, on a 7-point grid of 64000 rows with random values:\n    stored: {stored}\n    setup: the time of \
         {setup_products:.1} products\n    repeated products: {bits} bit for bit\n    largest error: {error_ratio:.2} \
         of its bound\n"
    )
}
