//! `spmv-bench gpu-file`: measures a GPU and writes a device file for its performance model.

use anyhow::{Result, bail};
use clap::Args;

use super::output::OutputArgs;
use super::values::device;
use super::{CommandStatus, Env};
use crate::campaign::choice::modelled;
use crate::campaign::gpus;
use spmv_methods::device::gauge::measure;
use spmv_methods::device::model::written;
use spmv_results::settings::DeviceChoice;

#[derive(Debug, Args)]
pub struct GpuFileArgs {
    /// The GPU: gpu, its number, or model:NAME, which measures a modelled GPU as a test of the model
    #[arg(long, value_name = "gpu|N|model:NAME", default_value = "gpu", value_parser = device)]
    pub device: DeviceChoice,
    #[command(flatten)]
    pub output: OutputArgs,
}

pub fn run(args: &GpuFileArgs, env: &mut Env) -> Result<CommandStatus> {
    args.output.check(&[])?;
    let gpu = match &args.device {
        DeviceChoice::Gpu(number) => gpus::open(*number, gpus::LIMIT, env)?,
        DeviceChoice::Models(names) if names.len() == 1 => modelled(&names[0])?,
        other => bail!("--device {other}: choose one GPU: gpu, its number, or model:NAME"),
    };
    let facts = gpu.facts();
    let measured = measure(&gpu, written::l2_kib_per_copy(facts))?;
    let day = env.date.get(..10).unwrap_or(&env.date);
    let text = written::text(facts, &measured, day);
    args.output.write(text.as_bytes(), env.stdout).map(|()| CommandStatus::Ok)
}
