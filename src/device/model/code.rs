//! Programs as PTX, with what their kernels use of a multiprocessor.

use std::convert::Infallible;

use ptx_machine::Program as Ptx;

use crate::cache::CacheFolder;
use crate::device::cuda::editions::Target;
use crate::device::cuda::nvrtc::{self, Compiled, Unit};
use crate::device::cuda::usage::Usage;
use crate::device::kernel::Program;
use crate::method::{Failed, Unprepared};
use crate::scalar::Precision;

/// A program that the machine can execute.
pub struct Code {
    /// Its kernels.
    pub ptx: Ptx,
    /// What they use on the GPU that they were compiled for.
    pub usage: Vec<Usage>,
}

/// What separates the PTX from the compiler's log in the cache.
const LOG: &str = "\n// log: ";

impl Code {
    /// `program`, or `source` in its place, with `VALUE_T` and the constants defined, compiled by NVRTC for
    /// that architecture or kept from an earlier run, by whatever compiler where there is none now.
    ///
    /// # Errors
    /// Without a compiler: how to get one. What it says about the program. PTX that the machine does not
    /// know.
    pub fn compile(
        architecture: (u32, u32),
        program: &Program,
        source: Option<&str>,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<Self, Unprepared> {
        let unit = Unit::new(architecture, program, precision, constants)
            .with_source(source.unwrap_or(program.source))
            .with_lines();
        let cache = CacheFolder::of_user("kernels");
        let of_any = unit.key().and(["ptx"]);
        let text = match nvrtc::compiler(&Target { architecture, driver: None }) {
            Ok(compiler) => {
                let compile =
                    || compiler.compile(&unit).map(|compiled| annotated(&compiled).into_bytes());
                let key = unit.key().and([compiler.name(), "ptx".into()]);
                let text = cache.get_or(&key, compile)?;
                let Ok(_) = cache.get_or(&of_any, || Ok::<_, Infallible>(text.clone()));
                text
            }
            Err(refusal) => cache.get_or(&of_any, || Err(refusal))?,
        };
        let text = String::from_utf8(text).map_err(|_| Failed("PTX that is no text".into()))?;
        let log: Vec<_> = text.split(LOG).skip(1).collect();
        let ptx = Ptx::parse(&text)
            .map_err(|error| Failed(format!("{}: the PTX of it: {error}", program.name)))?;
        Ok(Self { ptx, usage: Usage::of(&log.join("\n")) })
    }
}

/// The PTX, followed by the log as comments.
fn annotated(compiled: &Compiled) -> String {
    let log = compiled.log.lines().map(|line| format!("{LOG}{line}"));
    std::iter::once(compiled.ptx.clone()).chain(log).collect()
}
