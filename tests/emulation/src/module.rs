//! Compiled programs and the signatures of their kernels.

use std::ffi::c_void;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;

use libloading::Library;
use spmv_bench::device::driver::{ArgumentKind, RawArgument};
use spmv_bench::method::Failed;

/// A parameter of a kernel. Same order as `emu::Parameter` in entry.hpp.
#[repr(C)]
#[derive(Clone, Copy)]
struct Parameter {
    bytes: u32,
    kind: u8,
}

/// What a module says of a kernel. Same order as `emu::Entry` in entry.hpp.
#[repr(C)]
struct Entry {
    run: Run,
    parameters: *const Parameter,
    count: u32,
    begin: *const u8,
    end: *const u8,
    threads: u32,
}

/// Calls a kernel with the arguments to which the pointers lead.
type Run = unsafe extern "C" fn(*const *const c_void);

/// A kernel of a loaded program.
pub struct Kernel {
    /// As in the source.
    pub name: String,
    /// See the type.
    pub run: Run,
    /// Where the module lies: its constants may be read.
    pub constants: Range<usize>,
    /// The most threads per block that it is compiled for.
    pub threads: u32,
    parameters: Vec<Parameter>,
    /// Where it was found.
    module: Rc<Module>,
}

/// A loaded program.
pub struct Module {
    library: Library,
    object: PathBuf,
}

impl Module {
    /// Loads a compiled program.
    pub fn load(object: PathBuf) -> Result<Self, Failed> {
        // SAFETY: what the emulation compiled runs nothing when it is loaded.
        match unsafe { Library::new(&object) } {
            Ok(library) => Ok(Self { library, object }),
            Err(error) => Err(Failed(format!("{}: {error}", object.display()))),
        }
    }

    /// The line of the source from which the code at `offset` comes, as the compiler's companion
    /// addr2line tells it: the innermost that is not the emulation's own.
    fn line(&self, offset: usize) -> Option<String> {
        let mut command = Command::new("addr2line");
        command.arg("-i").arg("-e").arg(&self.object).arg(format!("{offset:#x}"));
        let output = String::from_utf8(command.output().ok()?.stdout).ok()?;
        let place = output.lines().find(|line| !line.contains("emulation.hpp"))?;
        let place = place.rsplit('/').next()?.split(' ').next()?;
        (!place.starts_with('?')).then(|| place.to_owned())
    }
}

impl Kernel {
    /// The kernel of that name.
    pub fn find(module: &Rc<Module>, name: &str) -> Result<Self, Failed> {
        // SAFETY: symbols of that form are entries.
        let entry =
            unsafe { module.library.get::<*const Entry>(format!("emu_entry_{name}").as_bytes()) };
        let entry = entry.map_err(|_| Failed(format!("{name}: no such kernel in the program")))?;
        // SAFETY: the entry is a constant of the module, with as many parameters as it says.
        let (entry, parameters) = unsafe {
            let entry = &**entry;
            (entry, std::slice::from_raw_parts(entry.parameters, entry.count as usize).to_vec())
        };
        Ok(Self {
            name: name.into(),
            run: entry.run,
            constants: entry.begin as usize..entry.end as usize,
            threads: entry.threads,
            parameters,
            module: module.clone(),
        })
    }

    /// The line of the source to which a call at this place in the code belongs.
    pub fn line(&self, returns_to: usize) -> Option<String> {
        self.module.line(returns_to - 1 - self.constants.start)
    }

    /// Whether the arguments are those of the signature.
    pub fn check(&self, arguments: &[RawArgument]) -> Result<(), Failed> {
        if arguments.len() != self.parameters.len() {
            let (given, wanted) = (arguments.len(), self.parameters.len());
            return Err(Failed(format!("{given} arguments for {wanted} parameters")));
        }
        for (number, (given, wanted)) in arguments.iter().zip(&self.parameters).enumerate() {
            if (given.kind as u8, given.bytes) != (wanted.kind, wanted.bytes as usize) {
                let given = describe(given.kind as u8, given.bytes);
                let wanted = describe(wanted.kind, wanted.bytes as usize);
                return Err(Failed(format!("argument {number} is {given}, not {wanted}")));
            }
        }
        Ok(())
    }
}

fn describe(kind: u8, bytes: usize) -> String {
    const POINTER: u8 = ArgumentKind::Pointer as u8;
    const INTEGER: u8 = ArgumentKind::Integer as u8;
    let kind = match kind {
        POINTER => "a pointer",
        INTEGER => "an integer",
        _ => "a floating-point number",
    };
    format!("{kind} of {bytes} bytes")
}
