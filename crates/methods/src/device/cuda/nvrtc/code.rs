//! A program object of NVRTC.

use std::ffi::{CString, c_char, c_int};
use std::ptr::null_mut;

use cudarc::nvrtc::sys::nvrtcProgram;

use super::{Compiled, Functions, Nvrtc, Unit};
use crate::device::{Failed, sources};

/// A program of NVRTC, which is destroyed when this is dropped.
pub struct Code<'a> {
    nvrtc: &'a Nvrtc,
    program: nvrtcProgram,
}

impl<'a> Code<'a> {
    pub fn new(nvrtc: &'a Nvrtc, unit: &Unit) -> Result<Self, Failed> {
        let (name, source) = (c_string(unit.name)?, c_string(unit.source)?);
        let headers = sources::headers()
            .map(|(name, text)| Ok((c_string(name)?, c_string(text)?)))
            .collect::<Result<Vec<_>, Failed>>()?;
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<_> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
        let (count, texts, names) = (headers.len() as c_int, texts.as_ptr(), names.as_ptr());
        let mut program = null_mut();
        let create = nvrtc.functions.nvrtcCreateProgram;
        // SAFETY: all texts are C strings, which NVRTC copies.
        let status =
            unsafe { create(&mut program, source.as_ptr(), name.as_ptr(), count, texts, names) };
        nvrtc.check("nvrtcCreateProgram", status)?;
        Ok(Self { nvrtc, program })
    }

    /// Compiles the program with the options of `unit`, from which it was created.
    pub fn compile(&self, unit: &Unit) -> Result<Compiled, Failed> {
        let options =
            unit.options.iter().map(|option| c_string(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let compile = self.nvrtc.functions.nvrtcCompileProgram;
        // SAFETY: the program and the options are alive.
        let status = unsafe { compile(self.program, pointers.len() as c_int, pointers.as_ptr()) };
        let log = self.log()?;
        match status {
            0 => Ok(Compiled { cubin: self.cubin()?, ptx: self.ptx()?, log }),
            _ => {
                let (name, words) = (unit.name, self.nvrtc.words(status));
                Err(Failed(format!("{name} does not compile: {words}\n{log}")))
            }
        }
    }

    fn log(&self) -> Result<String, Failed> {
        let Functions { nvrtcGetProgramLogSize, nvrtcGetProgramLog, .. } = self.nvrtc.functions;
        Ok(text(&self.read("nvrtcGetProgramLog", nvrtcGetProgramLogSize, nvrtcGetProgramLog)?))
    }

    fn ptx(&self) -> Result<String, Failed> {
        let Functions { nvrtcGetPTXSize, nvrtcGetPTX, .. } = self.nvrtc.functions;
        Ok(text(&self.read("nvrtcGetPTX", nvrtcGetPTXSize, nvrtcGetPTX)?))
    }

    fn cubin(&self) -> Result<Vec<u8>, Failed> {
        let Functions { nvrtcGetCUBINSize, nvrtcGetCUBIN, .. } = self.nvrtc.functions;
        self.read("nvrtcGetCUBIN", nvrtcGetCUBINSize, nvrtcGetCUBIN)
    }

    fn read(
        &self,
        call: &str,
        size: unsafe extern "C" fn(nvrtcProgram, *mut usize) -> u32,
        get: unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> u32,
    ) -> Result<Vec<u8>, Failed> {
        let mut bytes = 0;
        // SAFETY: the program is alive.
        self.nvrtc.check(call, unsafe { size(self.program, &mut bytes) })?;
        let mut read = vec![0u8; bytes];
        // SAFETY: the buffer has the size that the library returned.
        self.nvrtc.check(call, unsafe { get(self.program, read.as_mut_ptr().cast()) })?;
        Ok(read)
    }
}

impl Drop for Code<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created with this value and is destroyed once. The status is ignored: nothing can be
        // done.
        unsafe { (self.nvrtc.functions.nvrtcDestroyProgram)(&mut self.program) };
    }
}

/// Converts a C string with its terminating zero.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}

fn c_string(text: &str) -> Result<CString, Failed> {
    CString::new(text).map_err(|_| Failed("the text of a program contains a zero byte".into()))
}
