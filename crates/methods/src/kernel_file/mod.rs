//! Methods that are a single `.cu` file: CUDA kernels, and in the comment at its beginning how they are launched.

mod definition;
mod step;

use std::path::Path;

use anyhow::{Result, anyhow, ensure};

use crate::device::buffer::Value;
use crate::device::{Argument, Buffer, DeviceCsr, Failed, Kernel, Program, Unprepared};
pub use definition::{Choosable, Definition};
use step::{Blocks, Grid, Step};

/// The words of the first line that begin the definition in a file.
const BEGIN: &str = "// spmv-bench";

#[derive(Debug)]
pub struct KernelFile {
    pub name: String,
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
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let definition = Definition::of(path, &text)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = definition.name.clone().unwrap_or_else(|| stem.replace('_', "-").to_lowercase());
        ensure!(
            !name.is_empty() && has_plain_characters(&name),
            "{}: '{name}' cannot be the name of a method, which has small letters, digits, - . and _ only: set name = \
             \"...\" in the definition",
            path.display()
        );
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = text + &definition.checks();
        let program = Program { name: file.leak(), source: source.leak() };
        let parameters = definition.parameters.iter();
        let macros = parameters.map(|parameter| &*parameter.name.to_uppercase().leak()).collect();
        Ok(Self { name, definition, macros, program })
    }

    /// Compiles the file, allocates its workspace, and runs the kernels of its setup. `given` returns the value of a
    /// parameter that the user has set. An error has the messages of the compiler, or is that of a kernel.
    pub fn prepare<'a, T: Value>(
        &'static self,
        csr: &'a DeviceCsr<'a, T>,
        transpose: bool,
        given: impl Fn(&str) -> Option<usize>,
    ) -> Result<Running<'a, T>, Unprepared> {
        let Definition { setup, product, transposed, workspace, .. } = &self.definition;
        let chosen = self.definition.chosen(given);
        let values = chosen.iter().map(|(_, value)| *value);
        let macros: Vec<_> = self.macros.iter().copied().zip(values).collect();
        let module = csr.gpu.compile::<T>(&self.program, &macros)?;
        let launches = |steps: &'static [Step]| -> Result<Vec<Launch>, Failed> {
            let launch =
                |step: &'static Step| Launch::of(step, &chosen, module.kernel(&step.kernel)?, csr);
            steps.iter().map(launch).collect()
        };
        let (rows, cols, nnz) = (csr.host.rows(), csr.host.cols(), csr.host.nnz());
        // Whole words of 8 bytes, to which the buffers of all types are aligned.
        let arrays = workspace.iter().map(|array| {
            let bytes =
                array.elements(rows, cols, nnz).saturating_mul(array.element_bytes(size_of::<T>()));
            csr.gpu.allocate::<u64>(bytes.div_ceil(8))
        });
        let running = Running {
            csr,
            product: launches(if transpose { transposed } else { product })?,
            workspace: arrays.collect::<Result<_, _>>()?,
        };
        for launch in launches(setup)? {
            running.launch(&launch, &[])?;
        }
        Ok(running)
    }
}

/// Returns whether a name has only characters that names of methods may have.
pub fn has_plain_characters(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c))
}

pub struct Running<'a, T: Value> {
    csr: &'a DeviceCsr<'a, T>,
    product: Vec<Launch>,
    workspace: Vec<Buffer<u64>>,
}

struct Launch {
    kernel: Kernel,
    blocks: usize,
    threads: usize,
    shared_bytes: usize,
}

impl Launch {
    fn of<T: Value>(
        step: &Step,
        chosen: &[(&str, usize)],
        kernel: Kernel,
        csr: &DeviceCsr<T>,
    ) -> Result<Self, Failed> {
        let grid = step.grid(chosen).map_err(|wrong| Failed(wrong.to_string()))?;
        let Grid { blocks, threads, shared_bytes } = grid;
        let blocks = match blocks {
            Blocks::Rows(rows) => csr.host.rows().div_ceil(rows),
            Blocks::Columns(columns) => csr.host.cols().div_ceil(columns),
            Blocks::Nonzeros(nonzeros) => csr.host.nnz().div_ceil(nonzeros),
            Blocks::Fixed(blocks) => blocks,
            Blocks::Resident => kernel.resident_blocks(threads, shared_bytes)?,
        };
        Ok(Self { kernel, blocks, threads, shared_bytes })
    }
}

impl<T: Value> Running<'_, T> {
    /// Enqueues y ← αAx + βy, or that of Aᵀ if it was prepared.
    pub fn multiply(
        &self,
        alpha: T,
        x: &Buffer<T>,
        beta: T,
        y: &mut Buffer<T>,
    ) -> Result<(), Failed> {
        self.product.iter().try_for_each(|launch| self.launch(launch, &[x, y, &alpha, &beta]))
    }

    fn launch(&self, launch: &Launch, vectors: &[&dyn Argument]) -> Result<(), Failed> {
        let DeviceCsr { row_offsets, column_indices, values, host, .. } = self.csr;
        let (rows, cols, nnz) = (self.csr.rows(), host.cols() as u32, self.csr.nnz());
        let matrix: [&dyn Argument; 6] = [&rows, &cols, &nnz, row_offsets, column_indices, values];
        let workspace: Vec<_> = self.workspace.iter().map(|array| array as &dyn Argument).collect();
        let arguments = [&matrix, vectors, &workspace].concat();
        launch.kernel.launch(launch.blocks, launch.threads, launch.shared_bytes, &arguments)
    }
}
