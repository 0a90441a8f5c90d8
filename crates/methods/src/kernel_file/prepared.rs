//! The preparation and the product of a method in a `.cu` file.

use super::KernelFile;
use super::definition::Definition;
use super::step::{Blocks, Grid, Step};
use crate::device::buffer::Value;
use crate::device::{Argument, Buffer, DeviceCsr, Failed, Kernel, Unprepared};

/// A prepared method.
pub struct Running<'a, T: Value> {
    csr: &'a DeviceCsr<'a, T>,
    product: Vec<Launch>,
    workspace: Vec<Buffer<u64>>,
}

/// A kernel with its grid of `blocks` blocks.
struct Launch {
    kernel: Kernel,
    blocks: usize,
    threads: usize,
    shared_bytes: usize,
}

impl KernelFile {
    /// Compiles the file, allocates its workspace, and runs the kernels of its setup. `given` returns the value of a
    /// parameter that the user has set.
    ///
    /// # Errors
    /// Returns the messages of the compiler, or the error of a kernel.
    pub fn prepare<'a, T: Value>(
        &'static self,
        csr: &'a DeviceCsr<'a, T>,
        transpose: bool,
        given: impl Fn(&str) -> Option<usize>,
    ) -> Result<Running<'a, T>, Unprepared> {
        let chosen = self.definition.chosen(given);
        let values = chosen.iter().map(|(_, value)| *value);
        let macros: Vec<_> = self.macros.iter().copied().zip(values).collect();
        let module = csr.gpu.compile::<T>(&self.program, &macros)?;
        let launches = |steps: &'static [Step]| -> Result<Vec<Launch>, Failed> {
            let launch =
                |step: &'static Step| Launch::of(step, &chosen, module.kernel(&step.kernel)?, csr);
            steps.iter().map(launch).collect()
        };
        let Definition { product, transposed, .. } = &self.definition;
        let (rows, cols, nnz) = (csr.host.rows(), csr.host.cols(), csr.host.nnz());
        // Whole words of 8 bytes, to which the buffers of all types are aligned.
        let arrays = self.definition.workspace.iter().map(|array| {
            let bytes =
                array.elements(rows, cols, nnz).saturating_mul(array.element_bytes(size_of::<T>()));
            csr.gpu.allocate::<u64>(bytes.div_ceil(8))
        });
        let running = Running {
            csr,
            product: launches(if transpose { transposed } else { product })?,
            workspace: arrays.collect::<Result<_, _>>()?,
        };
        for launch in launches(&self.definition.setup)? {
            running.launch(&launch, &[])?;
        }
        Ok(running)
    }
}

impl Launch {
    fn of<T: Value>(
        step: &Step,
        chosen: &[(&str, usize)],
        kernel: Kernel,
        csr: &DeviceCsr<T>,
    ) -> Result<Self, Failed> {
        let Grid { blocks, threads, shared_bytes } = step.grid(chosen).map_err(Failed)?;
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
    ///
    /// # Errors
    /// Returns the error of a kernel.
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
