//! Methods that are a single `.cu` file: CUDA kernels, and in the comment at its beginning how they are launched.

mod definition;
mod step;

use std::path::Path;

use anyhow::{Result, anyhow, ensure};

use crate::device::buffer::Value;
use crate::device::{Argument, Buffer, DeviceCsr, Failed, Kernel, Program};
use crate::method::{Preparation, Prepared, Request};
pub use definition::{Choosable, Definition};
use spmv_matrix::limited::read_text;
use step::{Grid, Step};

/// The maximum size of a file in bytes.
const MOST_BYTES: u64 = 16 << 20;

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
    /// Reads a file. The file and its text stay in memory until the process ends.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, MOST_BYTES).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let mut definition = Definition::of(path, &text)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = definition.name.clone().unwrap_or_else(|| stem.replace('_', "-").to_lowercase());
        ensure!(
            !name.is_empty() && has_plain_characters(&name),
            "{}: '{name}' cannot be the name of a method, which has lower-case letters, digits, - . and _ only: set \
             name = \"...\" in the definition",
            path.display()
        );
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if definition.source.is_empty() {
            definition.source.clone_from(&file);
        }
        ensure!(
            text.contains("extern \"C\""),
            "{file}: the compiler changes the names of kernels that are not declared extern \"C\": write extern \"C\" \
             __global__ void NAME(...)"
        );
        let source = text + &definition.checks();
        let program = Program { name: file.leak(), source: source.leak() };
        let parameters = definition.parameters.iter();
        let macros = parameters.map(|parameter| &*parameter.name.to_uppercase().leak()).collect();
        Ok(Self { name, definition, macros, program })
    }

    /// Compiles the file, allocates its workspace, and runs the kernels of its setup. An error has the messages of the
    /// compiler, or is that of a kernel.
    pub fn prepare<'a, T: Value>(
        &'static self,
        csr: &'a DeviceCsr<'a, T>,
        request: &Request<'a>,
    ) -> Preparation<'a, T> {
        let Definition { setup, product, transposed, workspace, .. } = &self.definition;
        let size = [csr.host.rows(), csr.host.cols(), csr.host.nnz()];
        let chosen = self.definition.chosen(|name| request.number(name));
        let values = chosen.iter().map(|(_, value)| *value);
        let macros: Vec<_> = self.macros.iter().copied().zip(values).collect();
        let module = csr.gpu.compile::<T>(&self.program, &macros)?;
        let launch = |step: &'static Step| {
            let kernel = module.kernel(&step.kernel)?;
            let grid = step.grid(&chosen, size).map_err(|wrong| Failed(wrong.to_string()))?;
            let Grid { blocks, threads, shared_bytes } = grid;
            let resident = || kernel.resident_blocks(threads, shared_bytes);
            let blocks = blocks.map_or_else(resident, Ok)?;
            Ok(Launch { kernel, blocks, threads, shared_bytes })
        };
        let launches = |steps: &'static [Step]| -> Result<Vec<Launch>, Failed> { steps.iter().map(launch).collect() };
        let product = launches(if request.transpose { transposed } else { product })?;
        // Whole words of 8 bytes, to which the buffers of all types are aligned.
        let words = workspace.iter().map(|array| array.bytes(size, size_of::<T>()).div_ceil(8));
        let workspace = words.map(|words| csr.gpu.allocate::<u64>(words));
        let workspace = workspace.collect::<Result<Vec<_>, _>>()?;
        for launch in launches(setup)? {
            launch.run(csr, &[], &workspace)?;
        }
        let multiply = move |alpha, x: &Buffer<T>, beta, y: &mut Buffer<T>| {
            product.iter().try_for_each(|it| it.run(csr, &[x, y, &alpha, &beta], &workspace))
        };
        let prepared = Prepared::on_gpu(csr, multiply).transposing(request.transpose);
        Ok(prepared.with_csr_bytes(csr.host.bytes()))
    }
}

/// Returns whether a name has only characters that names of methods may have.
pub fn has_plain_characters(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c))
}

struct Launch {
    kernel: Kernel,
    blocks: usize,
    threads: usize,
    shared_bytes: usize,
}

impl Launch {
    fn run<T: Value>(
        &self,
        csr: &DeviceCsr<T>,
        vectors: &[&dyn Argument],
        workspace: &[Buffer<u64>],
    ) -> Result<(), Failed> {
        let DeviceCsr { row_offsets, column_indices, values, host, .. } = csr;
        let (rows, cols, nnz) = (csr.rows(), host.cols() as u32, csr.nnz());
        let matrix: [&dyn Argument; 6] = [&rows, &cols, &nnz, row_offsets, column_indices, values];
        let workspace: Vec<_> = workspace.iter().map(|array| array as &dyn Argument).collect();
        let arguments = [&matrix, vectors, &workspace].concat();
        self.kernel.launch(self.blocks, self.threads, self.shared_bytes, &arguments)
    }
}
