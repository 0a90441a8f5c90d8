//! `spmv-bench report`: writes a report of result files, or prints their main tables.

mod pdf;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail, ensure};
use clap::Args;
use glob::Pattern;

use super::output::OutputArgs;
use super::values::whole_from;
use super::verb::{AddedArgs, CommandStatus, Needs, Verb};
use crate::campaign::env::Env;
use spmv_results::files::ginkgo::Unit;
use spmv_results::files::output;
use spmv_results::files::read::RecordedRow;
use spmv_results::report::overview::{self, CHARTS, Question};
use spmv_results::report::select::{Conditions, Select, check_met};
use spmv_results::table::terminal::shown;

/// Shows results as tables and charts, errors first
///
/// The results are CSV files of this program or JSON files of Ginkgo's benchmarks. With --output, writes two
/// reports into a folder: report.html, which is self-contained, and report.md with its charts as .svg files.
/// Without --output, prints the main tables. Rows are compared only if precision, device, number of threads, cache
/// state, order and direction are the same; several runs of the same measurement are shown separately. The machine
/// and the settings are read from FILE.csv.run.json.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Result files, written with --format csv or json, by corpus, or by the benchmarks of Ginkgo
    #[arg(required = true, value_name = "FILE")]
    pub results: Vec<PathBuf>,
    /// The folder for the report; or one file: a page (.html), the tables in LaTeX (.tex) or Markdown (.md), or the
    /// chart of --chart (.svg or .pdf; .pdf needs rsvg-convert, from Debian's package librsvg2-bin, inkscape or
    /// cairosvg)
    #[arg(short, long, value_name = "DIR|FILE")]
    pub output: Option<PathBuf>,
    /// Show only these methods: names or patterns such as 'mkl-*', separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub methods: Vec<Select>,
    /// Show only rows that meet conditions on their columns: 'precision = f64 && num_nonzeros > 1e6'
    #[arg(long = "where", value_name = "CONDITIONS")]
    pub conditions: Option<Conditions>,
    /// The chart that is written to a .svg or .pdf file
    #[arg(long, value_name = "KIND", requires = "output", value_parser = CHARTS)]
    pub chart: Option<String>,
    /// Spread the setup of each method over N products: times, rates and rankings are then those of a product with its
    /// share of the setup
    #[arg(long, value_name = "N", value_parser = whole_from(1, u32::MAX))]
    pub products: Option<u32>,
    /// Show speed-ups over this method, with its parameters [default: the first baseline with a time]
    #[arg(long, value_name = "METHOD")]
    pub baseline: Option<String>,
    /// Show means over matrices whose values repeat and over others apart
    #[arg(long)]
    pub by_values: bool,
    /// Replace an earlier report or page; other files in the folder are never changed
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub ginkgo: GinkgoArgs,
}

/// Options for result files of Ginkgo's benchmarks.
#[derive(Debug, Args)]
pub struct GinkgoArgs {
    /// The unit of times in files of Ginkgo's benchmarks [default: the unit in which all times are plausible]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub ginkgo_times: Option<Unit>,
}

impl GinkgoArgs {
    pub fn check(&self, is_needed: bool) -> Result<()> {
        let why = "--ginkgo-times: no file is in the format of Ginkgo's benchmarks";
        ensure!(is_needed || self.ginkgo_times.is_none(), why);
        Ok(())
    }
}

impl Verb for ReportArgs {
    fn needs(&self) -> Needs {
        Needs { added: Some(AddedArgs::default()), ..Needs::NOTHING }
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let form = Form::of(self)?;
        let mut files = overview::read(&self.results, self.ginkgo.ginkgo_times)?;
        self.ginkgo.check(files.iter().any(|file| file.note.is_some()))?;
        let lines = files.iter().flat_map(|file| &file.lines);
        check_met(&self.methods, lines.clone()).context("--methods")?;
        if let Some(name) = &self.baseline {
            let exact: Select = Pattern::escape(name).parse().map_err(Error::msg)?;
            check_met(&[exact], lines).context("--baseline")?;
        }
        for file in &mut files {
            file.lines.retain(|line| self.wants(line));
        }
        if let Some(conditions) = &self.conditions {
            let is_any = files.iter().any(|file| !file.lines.is_empty());
            ensure!(is_any, "--where {conditions}: no row meets this");
        }
        let question =
            Question { planned: self.products, by_values: self.by_values, baseline: self.baseline.as_deref() };
        let written = match form {
            Form::Folder(folder) => {
                for path in overview::page(&files, question).write(folder)? {
                    writeln!(env.stderr, "{}", path.display())?;
                }
                return Ok(CommandStatus::Ok);
            }
            Form::Terminal => {
                let text = overview::main_tables(&files, question).to_text(env.width);
                shown(&text).into_owned().into_bytes()
            }
            Form::Html => overview::page(&files, question).to_html().into_bytes(),
            Form::Markdown => overview::tables(&files, question).to_markdown().into_bytes(),
            Form::Latex => overview::tables(&files, question).to_latex().into_bytes(),
            Form::Svg(kind) => overview::chart(&files, question, kind)?.into_bytes(),
            Form::Pdf(kind) => pdf::of_svg(&overview::chart(&files, question, kind)?)?,
        };
        let output = OutputArgs { output: self.output.clone(), force: self.force };
        output.write(&written, env.stdout)
    }
}

/// The form in which a report is written.
enum Form<'a> {
    Terminal,
    Folder(&'a Path),
    Html,
    Markdown,
    Latex,
    Svg(&'a str),
    Pdf(&'a str),
}

impl<'a> Form<'a> {
    /// Returns the form that the name of the output asks for. An existing file is replaced only by --force.
    fn of(args: &'a ReportArgs) -> Result<Self> {
        let Some(path) = &args.output else { return Ok(Self::Terminal) };
        let extension = path.extension().filter(|_| !path.is_dir()).and_then(OsStr::to_str);
        let form = match (extension, &args.chart) {
            (Some("svg"), Some(kind)) => Self::Svg(kind),
            (Some("pdf"), Some(kind)) => Self::Pdf(kind),
            (Some("html"), None) => Self::Html,
            (Some("md"), None) => Self::Markdown,
            (Some("tex"), None) => Self::Latex,
            (None, None) => Self::Folder(path),
            (Some("svg" | "pdf"), None) => {
                bail!("{}: choose the chart with --chart: {}", path.display(), CHARTS.join(", "))
            }
            (_, Some(_)) => bail!("--chart is written to one file that ends in .svg or .pdf"),
            (Some(extension), None) => bail!(
                "{}: a report is not written as .{extension}; use a folder, or a file that ends in .html, .md, .tex \
                 or, with --chart, .svg or .pdf",
                path.display()
            ),
        };
        let read: Vec<_> = args.results.iter().map(PathBuf::as_path).collect();
        let page = path.join("report.html");
        match form {
            Self::Folder(_) if page.exists() => output::check(&page, args.force)?,
            Self::Folder(_) => {}
            _ => OutputArgs { output: Some(path.clone()), force: args.force }.check(&read)?,
        }
        Ok(form)
    }
}

impl ReportArgs {
    fn wants(&self, line: &RecordedRow) -> bool {
        let is_baseline = self.baseline.as_deref() == Some(line.method());
        let is_named = self.methods.is_empty() || is_baseline || self.methods.iter().any(|select| select.meets(line));
        is_named && self.conditions.as_ref().is_none_or(|conditions| conditions.passes(line))
    }
}
