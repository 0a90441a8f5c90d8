//! `spmv-bench gpu-file`: measures a GPU and writes a device file for its performance model.

use anyhow::{Result, bail};
use clap::Args;

use super::output::OutputArgs;
use super::values::device;
use super::verb::{CommandStatus, Verb};
use crate::campaign::choice::modelled;
use crate::campaign::env::Env;
use crate::campaign::gpus;
use spmv_methods::device::gauge::measure;
use spmv_methods::device::model::written;
use spmv_results::settings::DeviceChoice;

/// Measures a GPU so that it can be modelled on other machines
///
/// Writes a device file for --device model:FILE.toml. Measures the clock, the latencies, the bandwidths of the
/// second-level cache and of memory, the throughput of double precision and atomic operations, and the launch
/// times. The other values are from the driver or from published descriptions of the architecture. The file states
/// the source of each value.
///
/// Exit status: 0 if the file was written, 2 if it could not be written.
#[derive(Debug, Args)]
pub struct GpuFileArgs {
    /// The GPU: gpu, its number, or model:NAME, which measures a modelled GPU as a test of the model
    #[arg(long, value_name = "gpu|N|model:NAME", default_value = "gpu", value_parser = device)]
    pub device: DeviceChoice,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl Verb for GpuFileArgs {
    fn run(&self, env: &mut Env) -> Result<CommandStatus> {
        self.output.check(&[])?;
        let gpu = match &self.device {
            DeviceChoice::Gpu(number) => gpus::open(*number, gpus::LIMIT, env)?,
            DeviceChoice::Models(names) if names.len() == 1 => modelled(&names[0])?,
            other => bail!("--device {other}: choose one GPU: gpu, its number, or model:NAME"),
        };
        let facts = gpu.facts();
        let measured = measure(&gpu, written::l2_kib_per_copy(facts))?;
        let day = env.date.get(..10).unwrap_or(&env.date);
        let text = written::text(facts, &measured, day);
        self.output.write(text.as_bytes(), env.stdout)
    }
}
