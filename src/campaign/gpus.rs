//! The GPUs of this machine. A driver that hangs, or that ends its process, would take the whole program along.
//! Therefore a child process opens a GPU first, within a time limit, and this process loads the driver only if that was
//! successful.

use std::time::Duration;

use anyhow::Result;

use super::answers::Answers;
use super::env::Env;
use super::isolate::{listen, send_to_parent};
use spmv_methods::device::Gpu;
use spmv_methods::device::cuda::DRIVER;
use spmv_methods::device::facts::Facts;
use spmv_methods::library;
use spmv_methods::method::Unavailable;

/// The longest time to open a GPU: the first initialisation of a machine with eight may take half a minute.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Opens a GPU in this process, after a child process has opened it in at most `timeout` or [`LIMIT`].
pub fn open(number: Option<usize>, timeout: Duration, env: &mut Env) -> Result<Gpu, Unavailable> {
    if env.program.is_some() {
        facts(number, timeout, env)?;
    }
    (env.open_gpu)(number)
}

/// Returns the facts of a GPU from a child process, which is started once for each GPU, if there may be a driver.
pub fn facts(number: Option<usize>, timeout: Duration, env: &mut Env) -> Result<Facts, Unavailable> {
    let Env { program, open_gpu, interrupted, gpus: Answers(known), .. } = env;
    let ask = || {
        let Some(program) = program.as_deref().filter(|_| library::may_exist(DRIVER)) else {
            return open_gpu(number).map(|gpu| gpu.facts().clone());
        };
        let number = number.map(|number| number.to_string());
        let words: Vec<_> = ["gpu-worker"].into_iter().chain(number.as_deref()).collect();
        let facts = listen(program, &words, timeout.min(LIMIT), interrupted, Some);
        facts.unwrap_or_else(|end| {
            Err(Unavailable(format!(
                "the CUDA driver ({DRIVER}), or a library that is loaded with it, failed while it opened the GPU: \
                 {end:#}; `nvidia-smi` may show the cause"
            )))
        })
    };
    known.entry(number).or_insert_with(ask).clone()
}

/// Opens a GPU in this process, a child, and sends its facts to the parent process.
pub fn answer(number: Option<usize>, env: &Env) -> Result<()> {
    send_to_parent(&(env.open_gpu)(number).map(|gpu| gpu.facts().clone()))
}
