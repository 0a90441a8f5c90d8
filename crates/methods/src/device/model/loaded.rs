//! The PTX of a program, and the resource usage of its kernels.

use std::convert::Infallible;

use ptx_machine::{Kernel, Program as Ptx};

use crate::device::cuda::editions::Target;
use crate::device::cuda::nvrtc::{self, Compiled, Unit};
use crate::device::cuda::usage::Usage;
use crate::device::launch::Address;
use crate::device::{Failed, Unprepared};
use spmv_matrix::cache::CacheFolder;

/// A program that was compiled and loaded.
pub struct Loaded {
    pub name: &'static str,
    pub source: String,
    pub ptx: Ptx,
    /// The resource usage of each kernel on the GPU that it was compiled for; empty if times are not modelled.
    pub usage: Vec<Usage>,
    /// The addresses of its variables; 0 for unused ones.
    pub variables: Vec<Address>,
}

impl Loaded {
    pub fn kernel(&self, number: usize) -> &Kernel {
        &self.ptx.kernels[number]
    }

    pub fn usage(&self, kernel: &Kernel) -> Usage {
        let usage = self.usage.iter().find(|usage| usage.kernel == kernel.name);
        usage.cloned().unwrap_or_default()
    }
}

/// The prefix of the lines of the compiler's log, which are stored after the PTX in the cache.
const LOG: &str = "\n// log: ";

/// Compiles a unit with NVRTC for an architecture, and returns the resource usage of each kernel too, if machine code
/// is made of it. The result is cached. Without a compiler, a cached result of any other compiler is used.
pub fn compile(architecture: (u32, u32), mut unit: Unit) -> Result<(Ptx, Vec<Usage>), Unprepared> {
    unit.options.push("--generate-line-info".into());
    let cache = CacheFolder::of_user("kernels");
    let of_any = unit.key().and(["ptx"]);
    let text = match nvrtc::compiler(&Target { architecture, driver: None }) {
        Ok(compiler) => {
            // The PTX, followed by the compiler's log as comments.
            let annotated =
                |Compiled { ptx, log, .. }| log.lines().fold(ptx, |ptx, line| ptx + LOG + line).into_bytes();
            let compile = || compiler.compile(&unit).map(annotated);
            let key = unit.key().and([compiler.name(), "ptx".into()]);
            let text = cache.get_or(&key, compile)?;
            let Ok(_) = cache.get_or(&of_any, || Ok::<_, Infallible>(text.clone()));
            text
        }
        Err(refusal) => cache.get_or(&of_any, || Err(refusal))?,
    };
    let text = String::from_utf8(text).map_err(|_| Failed("the PTX is not valid UTF-8".into()))?;
    let log: Vec<_> = text.split(LOG).skip(1).collect();
    let ptx = Ptx::parse(&text).map_err(|error| Failed(format!("{}: error in the PTX: {error}", unit.name)))?;
    Ok((ptx, Usage::of(&log.join("\n"))))
}
