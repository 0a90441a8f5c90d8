//! Programs compiled by the host's C++ compiler, kept as files from run to run.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs, io};

use spmv_bench::method::Failed;
use spmv_bench::scalar::Precision;

use crate::memory::ARENA;
use crate::source::rewrite;
use crate::thread::{COLOUR, RECORD, STACK};

/// What every program includes first.
const RUNTIME: &[&str] = &[
    include_str!("cuda/runtime.hpp"),
    include_str!("cuda/misuse.hpp"),
    include_str!("cuda/builtins.hpp"),
    include_str!("cuda/warp.hpp"),
    include_str!("cuda/atomics.hpp"),
    include_str!("cuda/entry.hpp"),
];

/// The sanitizers' calls go to hooks in runtime.hpp and misuse.hpp: their libraries are not linked.
/// Whatever would turn accesses into calls or merge them is off, lest they escape the hooks; so are
/// tail calls, since a call's place is known by where it returns to.
const FLAGS: &str = "-x c++ -std=c++20 -O2 -g1 -shared -fPIC -fvisibility=hidden \
    -ffp-contract=off -fno-exceptions -fno-rtti -fno-omit-frame-pointer \
    -fsanitize=thread,alignment,bounds,integer-divide-by-zero \
    --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1 \
    -fno-optimize-sibling-calls -fno-tree-vectorize -fno-tree-loop-distribute-patterns \
    -fno-store-merging \
    -Werror=stack-usage=16384 -fmax-errors=3 \
    -nostdinc -nostdinc++ -Wl,-z,defs -nodefaultlibs -lm -lc -lgcc";

/// A program with all that its compilation depends on.
pub struct Unit {
    /// Its name and text, then those of the headers and the runtime.
    files: Vec<(String, String)>,
    flags: Vec<String>,
}

impl Unit {
    /// The text of that name with the headers that it may include, a type and constants.
    pub fn new(
        (name, source): (&str, &str),
        headers: &[(&str, &str)],
        precision: Precision,
        constants: &[(&'static str, usize)],
    ) -> Self {
        let mut files = vec![(name.to_owned(), rewrite(source, 0))];
        for (number, (name, text)) in headers.iter().enumerate() {
            files.push((name.to_string(), rewrite(text, 1000 * (number + 1))));
        }
        files.push(("emulation.hpp".into(), RUNTIME.concat()));
        let value = match precision {
            Precision::F64 => "double",
            Precision::F32 => "float",
        };
        let mut flags = vec![format!("-DVALUE_T={value}")];
        flags.extend(constants.iter().map(|(name, value)| format!("-D{name}={value}")));
        flags.extend(
            [
                ("EMU_STACK", STACK),
                ("EMU_RECORD", RECORD),
                ("EMU_COLOUR", COLOUR),
                ("EMU_ARENA", ARENA),
            ]
            .map(|(name, value)| format!("-D{name}={value}UL")),
        );
        Self { files, flags }
    }

    /// The shared object; compiled unless a run before did.
    pub fn build(&self) -> Result<PathBuf, Failed> {
        let mut hasher = DefaultHasher::new();
        (&self.files, &self.flags, FLAGS, compiler()?).hash(&mut hasher);
        let object = folder().join(format!("{:016x}.so", hasher.finish()));
        if !object.exists() {
            let room = object.with_extension(format!("{}-{}", std::process::id(), unique()));
            let built = self.write(&room).and_then(|()| self.compile(&room));
            let kept = built.and_then(|object_in_room| {
                fs::rename(object_in_room, &object).map_err(|error| failed(&object, error))
            });
            let _ = fs::remove_dir_all(&room);
            kept?;
        }
        Ok(object)
    }

    fn write(&self, room: &Path) -> Result<(), Failed> {
        fs::create_dir_all(room).map_err(|error| failed(room, error))?;
        for (name, text) in &self.files {
            let file = room.join(name);
            fs::write(&file, text).map_err(|error| failed(&file, error))?;
        }
        Ok(())
    }

    fn compile(&self, room: &Path) -> Result<PathBuf, Failed> {
        let name = &self.files[0].0;
        let (libraries, flags): (Vec<_>, Vec<_>) =
            FLAGS.split_whitespace().partition(|flag| flag.starts_with("-l"));
        let output = Command::new(program())
            .current_dir(room)
            .args(flags)
            .args(&self.flags)
            .args(["-include", "emulation.hpp", "-I.", "-o", "program.so", name])
            .args(["-x", "none"])
            .args(libraries)
            .output()
            .map_err(|error| failed(room, error))?;
        if output.status.success() {
            return Ok(room.join("program.so"));
        }
        Err(Failed(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

fn failed(path: &Path, error: io::Error) -> Failed {
    Failed(format!("{}: {error}", path.display()))
}

fn program() -> String {
    env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// What the compiler says about itself.
fn compiler() -> Result<&'static str, Failed> {
    static VERSION: OnceLock<Result<String, String>> = OnceLock::new();
    let version = VERSION.get_or_init(|| match Command::new(program()).arg("--version").output() {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => Err(format!(
            "the emulation needs a C++ compiler, but {}: {error}; install g++ (12 or later) or set CXX",
            program()
        )),
    });
    version.as_deref().map_err(|error| Failed(error.clone()))
}

/// Beside the running test's profile folder, so that it goes when the build does.
fn folder() -> PathBuf {
    let executable = env::current_exe().unwrap_or_default();
    let profile = executable.ancestors().find(|folder| folder.ends_with("deps"));
    let target = profile.and_then(|deps| deps.parent()?.parent());
    target.map_or_else(env::temp_dir, Path::to_path_buf).join("emulation")
}

/// A number for each compilation of this process.
fn unique() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::module::{Kernel, Module};

    const MAIN: &str = "#include \"part.cuh\"\nextern \"C\" __global__ void main_one(int *p) \
                        { p[0] = twice(WIDTH); }\n";
    const PART: &str = "#pragma once\n__device__ inline int twice(int a) {\n  __shared__ int b;\n  \
                        b = a; return 2 * b; }\nextern \"C\" __global__ void part() {}\n";

    fn build(headers: &[(&str, &str)]) -> Result<PathBuf, Failed> {
        Unit::new(("main.cu", MAIN), headers, Precision::F64, &[("WIDTH", 3)]).build()
    }

    #[test]
    fn headers_are_part_of_the_program() {
        let object = build(&[("part.cuh", PART)]).unwrap();
        let module = Rc::new(Module::load(object.clone()).unwrap());
        assert!(Kernel::find(&module, "main_one").is_ok() && Kernel::find(&module, "part").is_ok());
        assert_eq!(build(&[("part.cuh", PART)]).unwrap(), object);
        let Failed(message) =
            build(&[("part.cuh", &PART.replace("int b;", "int c;"))]).unwrap_err();
        assert!(message.contains("part.cuh:4:"), "{message}");
        let Failed(message) = build(&[]).unwrap_err();
        assert!(message.starts_with("main.cu: main.cu:1:"), "{message}");
    }

    #[test]
    fn the_hosts_headers_are_not_there() {
        let program = ("main.cu", "#include <stdint.h>\n");
        assert!(Unit::new(program, &[], Precision::F32, &[]).build().is_err());
    }
}
