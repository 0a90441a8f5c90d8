//! Machine code for a device: precompiled on another machine, cached by an earlier run, or compiled now.

use std::path::Path;

use super::editions::Target;
use super::nvrtc::{self, Nvrtc, Unit};
use super::precompiled::Precompiled;
use crate::device::{Program, Unavailable, Unprepared, sources};
use spmv_matrix::cache::CacheFolder;
use spmv_matrix::scalar::Precision;

pub struct MachineCode {
    target: Target,
    precompiled: Option<Precompiled>,
    compiler: Result<&'static Nvrtc, Unavailable>,
    cache: CacheFolder,
}

impl MachineCode {
    /// Prepares the sources of machine code for a device: the folder in `SPMV_BENCH_KERNELS`, if it is set, then the
    /// user's cache, then NVRTC.
    pub fn new(target: Target) -> Self {
        let folder = std::env::var_os("SPMV_BENCH_KERNELS").filter(|name| !name.is_empty());
        Self {
            precompiled: folder.map(|folder| Precompiled::open(Path::new(&folder), &target)),
            compiler: nvrtc::compiler(&target),
            cache: CacheFolder::of_user("kernels"),
            target,
        }
    }

    /// Returns the machine code of `program` with `VALUE_T` and the constants defined. An error states how to get NVRTC,
    /// or its messages.
    pub fn of(
        &self,
        program: &Program,
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Result<Vec<u8>, Unprepared> {
        let unit = Unit::new(self.target.architecture, program, precision, constants);
        match self.precompiled.as_ref().and_then(|precompiled| precompiled.get(&unit)) {
            Some(cubin) => Ok(cubin),
            None => Ok(self.compiler.clone()?.compile_cached(&self.cache, &unit)?),
        }
    }

    pub fn origin(&self) -> String {
        let precompiled = self.precompiled.as_ref().map(|of| format!("{of}; all others by"));
        let compiler = match &self.compiler {
            Ok(nvrtc) => nvrtc.to_string(),
            Err(Unavailable(reason)) => reason.clone(),
        };
        let parts = [precompiled, Some(compiler), Some(sources::origin())].into_iter().flatten();
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
