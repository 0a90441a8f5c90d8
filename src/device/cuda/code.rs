//! Machine code for a device: compiled elsewhere, kept from an earlier run, or compiled now.

use std::path::Path;

use super::editions::Target;
use super::nvrtc::{self, Nvrtc, Unit};
use super::precompiled::Precompiled;
use crate::cache::CacheFolder;
use crate::device::Program;
use crate::method::{Unavailable, Unprepared};
use crate::scalar::Precision;

/// The machine code of programs for one device.
pub struct MachineCode {
    target: Target,
    precompiled: Option<Precompiled>,
    compiler: Result<&'static Nvrtc, Unavailable>,
    cache: CacheFolder,
}

impl MachineCode {
    /// For a device: from the folder that `SPMV_BENCH_KERNELS` names, if it does, and for what is not
    /// there from the user's cache or NVRTC.
    pub fn new(target: Target) -> Self {
        let folder = std::env::var_os("SPMV_BENCH_KERNELS").filter(|name| !name.is_empty());
        Self {
            precompiled: folder.map(|folder| Precompiled::open(Path::new(&folder), &target)),
            compiler: nvrtc::compiler(&target),
            cache: CacheFolder::of_user("kernels"),
            target,
        }
    }

    /// The machine code of `program` with `VALUE_T` and the constants defined.
    ///
    /// # Errors
    /// How to get NVRTC, or what it says about the program.
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

    /// Where it comes from: compilers with their versions and files.
    pub fn origin(&self) -> String {
        let compiler = match &self.compiler {
            Ok(nvrtc) => nvrtc.to_string(),
            Err(Unavailable(reason)) => reason.clone(),
        };
        match &self.precompiled {
            Some(precompiled) => format!("{precompiled}; for all others {compiler}"),
            None => compiler,
        }
    }
}
