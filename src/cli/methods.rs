//! `spmv-bench methods`: prints the list of methods.

pub mod results;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use super::output::OutputArgs;
use super::values::MethodName;
use super::verb::{AddedArgs, CommandStatus, Needs, Verb};
use crate::campaign::choice::matching;
use crate::campaign::env::Env;
use spmv_methods::all;
use spmv_methods::method::{Device, GRAPH, Method, Operations, Parameter};
use spmv_results::files::cells::to_csv;
use spmv_results::table::Table;

/// Lists the methods with their sources and parameters
#[derive(Debug, Args)]
pub struct MethodsArgs {
    /// List only methods with these names or patterns: merge, 'gpu-*' [default: all]
    #[arg(value_name = "PATTERN", value_parser = MethodName, hide_possible_values = true)]
    pub patterns: Vec<String>,
    /// Format of the list [default: from the extension of --output (.csv, .json, .md, .tex or .txt), else text]
    #[arg(long, value_enum)]
    pub format: Option<MethodsFormat>,
    /// Print a Markdown table of the methods in this result file of a corpus, with their times in f64 relative
    /// to MKL and their memory relative to CSR
    #[arg(long, value_name = "CSV", conflicts_with_all = ["patterns", "format"])]
    pub results: Option<PathBuf>,
    #[command(flatten)]
    pub added: AddedArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MethodsFormat {
    /// A paragraph per method
    Text,
    /// One row per method
    Csv,
    /// An array with one object per method
    Json,
    /// A Markdown table
    Md,
    /// A table for LaTeX with the package booktabs
    Latex,
}

#[derive(Serialize)]
struct MethodSummary {
    name: &'static str,
    device: &'static str,
    /// The number of threads: `all` or `one`, empty for a GPU method.
    threads: &'static str,
    setup: &'static str,
    /// Whether the method multiplies by A, by its transpose, or by both.
    product: &'static str,
    parameters: String,
    summary: &'static str,
    source: &'static str,
}

impl Verb for MethodsArgs {
    fn needs(&self) -> Needs {
        Needs { added: Some(self.added.clone()), ..Needs::NOTHING }
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let results = self.results.as_deref();
        let usual = if results.is_some() { MethodsFormat::Md } else { MethodsFormat::Text };
        let format = self.output.form(self.format, usual)?;
        self.output.check(results.as_slice())?;
        let mut out = Vec::new();
        match results {
            Some(_) if format != MethodsFormat::Md => {
                bail!("--results writes Markdown: use --format md or a file name that ends in .md")
            }
            Some(file) => results::table(file, &mut out)?,
            None => list(&chosen(&self.patterns)?, format, &mut out)?,
        }
        self.output.write(&out, env.stdout)
    }
}

fn list(methods: &[&Method], format: MethodsFormat, out: &mut dyn Write) -> Result<()> {
    let entries: Vec<_> = methods.iter().map(|method| MethodSummary::of(method)).collect();
    match format {
        MethodsFormat::Text => text(methods, out)?,
        MethodsFormat::Csv => out.write_all(&to_csv(&entries, true)?)?,
        MethodsFormat::Json => writeln!(out, "{}", serde_json::to_string_pretty(&entries)?)?,
        MethodsFormat::Md => writeln!(out, "{}", table(&entries).to_markdown())?,
        MethodsFormat::Latex => writeln!(out, "{}", table(&entries).to_latex())?,
    }
    Ok(())
}

fn table(entries: &[MethodSummary]) -> Table {
    Table::of(entries)
        .column("name", |entry| entry.name)
        .column("device", |entry| entry.device)
        .column("product", |entry| entry.product)
        .column("setup", |entry| entry.setup)
        .column("summary", |entry| entry.summary)
        .column("parameters", |entry| &entry.parameters[..])
        .column("source", |entry| entry.source)
        .build()
}

fn chosen(patterns: &[String]) -> Result<Vec<&'static Method>> {
    let mut chosen = Vec::new();
    for pattern in patterns {
        chosen.extend(matching(pattern)?);
    }
    let is_chosen =
        |method: &&Method| patterns.is_empty() || chosen.iter().any(|chosen: &&Method| chosen.name == method.name);
    Ok(all().filter(is_chosen).collect())
}

fn text(methods: &[&Method], out: &mut dyn Write) -> io::Result<()> {
    for method in methods {
        let place = match method.threads(2) {
            Some(2) => "CPU, all threads",
            Some(_) => "CPU, one thread",
            None => "GPU",
        };
        writeln!(out, "{:<18} {place}, setup: {}", method.name, method.setup.name())?;
        writeln!(out, "{:18} {}", "", method.summary)?;
        writeln!(out, "{:18} source: {}", "", method.source)?;
        for parameter in method.parameters {
            writeln!(out, "{:18} :{} {}", "", values(parameter), parameter.meaning)?;
        }
    }
    if methods.iter().any(|method| method.device() == Device::Gpu) {
        writeln!(out, "{:<18} :{} {}", "all GPU methods", values(&GRAPH), GRAPH.meaning)
    } else {
        Ok(())
    }
}

/// Formats a parameter as `level=warp|vector`.
fn values(parameter: &Parameter) -> String {
    format!("{}={}", parameter.name, parameter.values.join("|"))
}

impl MethodSummary {
    fn of(method: &Method) -> Self {
        let threads = match method.threads(2) {
            Some(2) => "all",
            Some(_) => "one",
            None => "",
        };
        let product = match method.operations {
            Operations::Plain => "plain",
            Operations::Both => "plain or transposed",
            Operations::Transposed => "transposed",
        };
        let parameters: Vec<_> = method.all_parameters().map(values).collect();
        Self {
            name: method.name,
            device: method.device().name(),
            threads,
            setup: method.setup.name(),
            product,
            parameters: parameters.join(":"),
            summary: method.summary,
            source: method.source,
        }
    }
}
