//! Methods that are a single `.cu` file: CUDA kernels, and in the comment at its beginning how they are launched.

mod definition;
mod number;
mod prepared;
mod step;

use std::path::Path;

use crate::device::Program;
pub use definition::{Choosable, Definition, DefinitionError};

/// The words of the first line that begin the definition in a file.
const BEGIN: &str = "// spmv-bench";

/// A method in a `.cu` file.
#[derive(Debug)]
pub struct KernelFile {
    /// The name of the method.
    pub name: String,
    /// How its kernels are launched.
    pub definition: Definition,
    /// The names of its parameters as macros.
    macros: Vec<&'static str>,
    /// The text of the file, followed by checks of the kernels' parameters.
    program: Program,
}

impl KernelFile {
    /// Returns the source of the method as it is stated, or the name of the file.
    pub fn source(&self) -> &str {
        match &self.definition.source[..] {
            "" => self.program.name,
            source => source,
        }
    }

    /// Reads a file. The file and its text stay in memory until the process ends.
    ///
    /// # Errors
    /// Returns an error with the line if the definition is missing or wrong.
    pub fn read(path: &Path) -> Result<Self, DefinitionError> {
        let failed = |what: String| DefinitionError { file: path.into(), line: None, what };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let definition = Definition::of(path, &text)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = definition.name.clone().unwrap_or_else(|| stem.replace('_', "-").to_lowercase());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(failed(format!(
                "'{name}' cannot be the name of a method, which has small letters, digits, - . and _ only: set name = \
                 \"...\" in the definition"
            )));
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = text + &definition.checks();
        let program = Program { name: file.leak(), source: source.leak() };
        let parameters = definition.parameters.iter();
        let macros = parameters.map(|parameter| &*parameter.name.to_uppercase().leak()).collect();
        Ok(Self { name, definition, macros, program })
    }
}
