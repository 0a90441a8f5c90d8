//! `spmv-bench explain`: analyses a modelled product on one page, for kernel authors.

mod page;

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use super::measure::PrecisionChoice;
use super::output::{OutputArgs, TextOrJson};
use super::sources::{of_matrix, source};
use super::values::{MethodName, device, seconds, whole};
use super::verb::{AddedArgs, CommandStatus, Needs, Verb};
use crate::campaign::choice::select;
use crate::campaign::env::Env;
use crate::campaign::progress::Display;
use crate::campaign::{Campaign, Plan, Work};
use page::Page;
use spmv_matrix::source::Source;
use spmv_methods::method::Device;
use spmv_results::matrix::MatrixReport;
use spmv_results::settings::{CacheState, DeviceChoice, Protocol, RunSettings, Settings};

/// Explains the modelled time of a GPU method on one page
///
/// Executes one product of METHOD on the CPU, verifies it, and prints for each kernel: its modelled time and
/// bottleneck; the source lines with the most sectors, wasted sectors, idle lanes and bank conflicts; and the
/// time that it would take without each of these problems. Needs NVRTC to compile the kernels, but no GPU.
///
/// Exit status: 0 if the page was printed, 1 if the command was interrupted, 2 if it could not run.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The method, optionally with parameters: gpu-merge:block=256
    #[arg(value_name = "METHOD", value_parser = MethodName, hide_possible_values = true)]
    pub method: String,
    /// A file, GROUP/NAME or gen:SPEC, as MATRIX of `spmv-bench --help`
    pub matrix: OsString,
    /// A modelled GPU: model:NAME or model:FILE.toml
    #[arg(long, value_name = "model:NAME", default_value = "model:h200", value_parser = device)]
    pub device: DeviceChoice,
    /// Precision: f64 or f32
    #[arg(long, value_name = "P", value_enum, default_value = "f64", hide_possible_values = true)]
    pub precision: PrecisionChoice,
    /// The caches before the product: hot or cold
    #[arg(long, value_name = "STATE", value_enum, default_value = "hot", hide_possible_values = true)]
    pub cache: CacheState,
    /// Multiply by the transpose, y = A^T x
    #[arg(long)]
    pub transpose: bool,
    /// Stop a method that takes longer than this
    #[arg(long, value_name = "S", default_value = "900", value_parser = seconds)]
    pub timeout: Duration,
    /// Source lines to show for each kernel and problem
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<usize>)]
    pub lines: usize,
    /// Format: text or json [default: by --output]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub format: Option<TextOrJson>,
    #[command(flatten)]
    pub added: AddedArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl ExplainArgs {
    fn plan(&self) -> Result<Plan> {
        let DeviceChoice::Models(names) = &self.device else {
            bail!("--device {}: explain needs a modelled GPU such as model:h200", self.device)
        };
        ensure!(names.len() == 1, "--device {}: choose one GPU", self.device);
        let methods = select(std::slice::from_ref(&self.method))?;
        let [choice] = &methods[..] else {
            bail!("{} selects {} methods: choose one", self.method, methods.len())
        };
        let (name, device) = (choice.name(), choice.method.device());
        let why = "runs on the CPU, and explain describes kernels of GPUs; its row has the share of the peak bandwidth";
        ensure!(device == Device::Gpu, "{name} {why}");
        let precision = self.precision.single().context("--precision both: choose one precision")?;
        let settings = Settings {
            cache: self.cache,
            transpose: self.transpose,
            stages: true,
            timeout: self.timeout,
            ..Settings::new(Protocol::MergeSpmv)
        };
        let run = RunSettings {
            methods: Some(vec![self.method.clone()]),
            device: self.device.clone(),
            precisions: vec![precision],
            quiet: true,
            ..RunSettings::new(settings)
        };
        Ok(Plan { explains: true, ..Plan::new(run) })
    }
}

impl Verb for ExplainArgs {
    fn needs(&self) -> Needs {
        Needs { added: Some(self.added.clone()), ..Needs::ORDER }
    }

    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        let format = self.output.form(self.format, TextOrJson::Text)?;
        let plan = self.plan()?;
        let source = source(&self.matrix, None)?;
        let read = if let Source::File(path) = &source { vec![path.as_path()] } else { Vec::new() };
        self.output.check(&read)?;
        let mut campaign = Campaign::start(&plan, true, Vec::new(), env)?;
        let mut report = MatrixReport::default();
        if campaign.run(&[Work::new(source.clone(), 0)], Display::Hidden, &mut report)? {
            writeln!(env.stderr, "interrupted: {source} was not explained")?;
            return Ok(CommandStatus::Bad);
        }
        let page = page(&source, &report)?;
        let mut text = Vec::new();
        match format {
            TextOrJson::Text => page.write(self.lines, &mut text)?,
            TextOrJson::Json => writeln!(text, "{}", serde_json::to_string_pretty(&page)?)?,
        }
        self.output.write(&text, env.stdout)
    }
}

fn page<'r>(source: &Source, report: &'r MatrixReport) -> Result<Page<'r>> {
    if let Some((_, reason)) = report.end().filter(|_| report.groups.is_empty()) {
        bail!("{}", of_matrix(source, reason));
    }
    let group = report.groups.first().expect("a method of the GPU has a group");
    let (row, stages) = (&group.rows[0], &group.stages[0]);
    let method = row.method_name.as_deref().unwrap_or_default();
    let reason = row.reason.text().unwrap_or("no reason is known");
    ensure!(row.is_ok(), "{source}: {method}: {reason}");
    Ok(Page::new(row, stages))
}
