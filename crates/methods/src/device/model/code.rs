use std::convert::Infallible;

use ptx_machine::Program as Ptx;

use crate::device::cuda::editions::Target;
use crate::device::cuda::nvrtc::{self, Compiled, Unit};
use crate::device::cuda::usage::Usage;
use crate::device::kernel::Program;
use crate::device::{Failed, Unprepared};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::scalar::Precision;

/// The prefix of the lines of the compiler's log, which are stored after the PTX in the cache.
const LOG: &str = "\n// log: ";

/// Compiles the text `source` of `program` with NVRTC for an architecture, and returns the resource usage of each kernel on
/// it too. `VALUE_T` and the constants are defined. The result is cached. Without a compiler, a cached result of any other
/// compiler is used.
pub fn compile(
    architecture: (u32, u32),
    program: &Program,
    source: &str,
    precision: Precision,
    constants: &[(&'static str, usize)],
) -> Result<(Ptx, Vec<Usage>), Unprepared> {
    let mut unit = Unit::new(architecture, program, precision, constants);
    unit.source = source;
    unit.options.push("--generate-line-info".into());
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
    let text = String::from_utf8(text).map_err(|_| Failed("the PTX is not valid UTF-8".into()))?;
    let log: Vec<_> = text.split(LOG).skip(1).collect();
    let ptx = Ptx::parse(&text)
        .map_err(|error| Failed(format!("{}: error in the PTX: {error}", program.name)))?;
    Ok((ptx, Usage::of(&log.join("\n"))))
}

/// Returns the PTX, followed by the compiler's log as comments.
fn annotated(compiled: &Compiled) -> String {
    let log = compiled.log.lines().map(|line| format!("{LOG}{line}"));
    std::iter::once(compiled.ptx.clone()).chain(log).collect()
}
