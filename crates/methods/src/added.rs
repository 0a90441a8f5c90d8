//! What is added to the list of methods when a command begins: the methods of the user, in plug-ins and `.cu` files,
//! and one that the program has only with MPI.

use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Result, ensure};

use crate::kernel_file::{Definition, KernelFile};
use crate::list::METHODS;
use crate::method::{Code, Method, Operations, Parameter, Setup, custom, custom_on_gpu, memory_of_custom};
use crate::plugin::{self, Description, Entry, abi};

pub struct MethodFile {
    /// The file: a plug-in or a `.cu` file.
    pub path: PathBuf,
    pub methods: Vec<Method>,
}

/// The method of a program with MPI.
static OWN: OnceLock<&'static Method> = OnceLock::new();
/// The files and their methods.
static ADDED: OnceLock<(Vec<PathBuf>, Vec<Method>)> = OnceLock::new();

/// Adds methods to the list. Only the first call in a process has an effect, because the list must not change while a
/// command uses it. A name that exists already is an error.
pub fn add(files: Vec<MethodFile>) -> Result<()> {
    let (mut paths, mut added) = (Vec::new(), Vec::new());
    for MethodFile { path, methods } in files {
        for method in methods {
            let name = method.name;
            let others = METHODS.iter().chain(own()).chain(&added);
            ensure!(
                !others.into_iter().any(|other| other.name == name),
                "{}: there is another method '{name}': give its method another name",
                path.display()
            );
            added.push(method);
        }
        paths.push(path);
    }
    ADDED.get_or_init(|| (paths, added));
    Ok(())
}

/// Adds a method that only some builds of the program have. It is listed before those of the user.
pub fn add_own(method: &'static Method) {
    OWN.get_or_init(|| method);
}

pub fn own() -> Option<&'static Method> {
    OWN.get().copied()
}

pub fn methods() -> &'static [Method] {
    ADDED.get().map_or(&[], |(_, methods)| methods)
}

pub fn paths() -> &'static [PathBuf] {
    ADDED.get().map_or(&[], |(paths, _)| paths)
}

/// Returns the names of the methods in `.cu` files.
pub fn kernel_names() -> Vec<String> {
    let kernels = methods().iter().filter(|method| method.is_kernel_file());
    kernels.map(|method| method.name.into()).collect()
}

/// Methods live until the process ends, and so does what they refer to.
fn leaked<T>(all: impl Iterator<Item = T>) -> &'static [T] {
    Vec::from_iter(all).leak()
}

pub fn of_kernels(file: &'static KernelFile) -> Method {
    let Definition { setup, workspace, product, transposed, parameters, .. } = &file.definition;
    let has_setup = !setup.is_empty() || !workspace.is_empty();
    let parameters = parameters.iter().map(|parameter| Parameter {
        name: &parameter.name,
        values: leaked(parameter.values.iter().map(|value| &*value.to_string().leak())),
        meaning: format!("{} [default: {}]", parameter.meaning, parameter.default).leak(),
    });
    Method {
        name: &file.name,
        source: &file.definition.source,
        summary: &file.definition.summary,
        parameters: leaked(parameters),
        operations: match (product.is_empty(), transposed.is_empty()) {
            (_, true) => Operations::Plain,
            (true, false) => Operations::Transposed,
            (false, false) => Operations::Both,
        },
        setup: if has_setup { Setup::Inspection } else { Setup::Nothing },
        memory: memory_of_custom,
        ..Method::new(Code::CustomGpu {
            modelled: true,
            f64: custom_on_gpu(move |csr, request| file.prepare(csr, request)),
            f32: custom_on_gpu(move |csr, request| file.prepare(csr, request)),
        })
    }
}

/// Returns the method of a plug-in, with its code if the plug-in is open in this process.
pub fn of_plugin(description: Description, entry: Option<&'static Entry>) -> Method {
    let has = |flags| description.has(flags);
    let setup = if has(abi::ORDERING) {
        Setup::Ordering
    } else if has(abi::CONVERSION) {
        Setup::Conversion
    } else if has(abi::INSPECTION) {
        Setup::Inspection
    } else {
        Setup::Nothing
    };
    let operations = if has(abi::TRANSPOSED) { Operations::Both } else { Operations::Plain };
    let code = if has(abi::GPU) {
        Code::CustomGpu {
            modelled: false,
            f64: custom_on_gpu(move |csr, request| plugin::prepare_on_gpu(entry, csr, request)),
            f32: custom_on_gpu(move |csr, request| plugin::prepare_on_gpu(entry, csr, request)),
        }
    } else {
        Code::Custom {
            parallel: !has(abi::SEQUENTIAL),
            f64: custom(move |csr, request| plugin::prepare(entry, csr, request)),
            f32: custom(move |csr, request| plugin::prepare(entry, csr, request)),
        }
    };
    let license = description.license.map(|license| format!(" ({license})"));
    let source = description.source + &license.unwrap_or_default();
    let parameters = description.parameters.into_iter().map(|parameter| Parameter {
        name: parameter.name.leak(),
        values: leaked(parameter.values.into_iter().map(|value| &*value.leak())),
        meaning: parameter.meaning.leak(),
    });
    Method {
        name: description.name.leak(),
        source: source.leak(),
        summary: description.summary.leak(),
        parameters: leaked(parameters),
        operations,
        setup,
        memory: memory_of_custom,
        may_refuse: |_| true,
        code,
    }
}
