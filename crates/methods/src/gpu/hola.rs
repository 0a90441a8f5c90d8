//! HOLA, globally homogeneous and locally adaptive: hola-spmv-ics17, section 3.
//!
//! A thread block owns a fixed number of consecutive nonzeros. The first kernel, with one thread per row, writes the
//! first row of each block (assignment) and computes y ← βy for the first rows of blocks. In the second kernel the
//! block assigns rows to its threads in the same way; each thread owns 4 or 8 consecutive nonzeros, with a bit for each
//! nonzero that ends a row. Warps load the nonzeros with coalesced accesses, gather x, if requested in the order of
//! sorted columns, and transpose the products so that each thread has its own. A thread sums its products; rows that
//! several threads share are summed by the warp or by atomic operations in shared memory. From there all sums are
//! written to y, those of the first and the last row of the block by atomic operations. There are three special cases:
//! a block within one row computes a single sum; a warp that finds empty rows searches for the next nonempty row; a
//! block with more rows than nonzeros writes to y directly.
//!
//! Memory: 4 bytes per block, plus 4 bytes. Departures from the paper: α and β are supported; the first kernel does not
//! clear rows that a block stores (the paper clears all); the row after the last block is that of the last nonzero, so
//! no block owns empty rows at the end; rows are assigned to threads before x is gathered; columns are sorted before
//! the transpose and the order is restored in registers, as in the paper (the authors' code uses shared memory). The
//! defaults are as published up to Pascal. From Volta on, columns are not sorted (the paper credits the sort with 2 % of
//! the time, but it takes a quarter of the instructions), and products are transposed through shared memory, where
//! threads load one nonzero at a time instead of 16 bytes, so that a warp gathers x for neighbouring nonzeros.

use crate::device::buffer::Value;
use crate::device::{Argument, Buffer, DeviceCsr, Kernel, Module, Program};
use crate::method::{
    Code, Failed, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup,
    Unprepared,
};
use spmv_matrix::memory::extent::Extent;

/// The method `gpu-hola`, which the module documentation describes.
pub const METHOD: Method = Method {
    name: "gpu-hola",
    source: "hola-spmv-ics17, 3.1 to 3.3",
    summary: "HOLA: equal nonzeros per block and thread, rows scattered to both, buffered output",
    parameters: &[
        ITEMS,
        BLOCK,
        SORT,
        Parameter {
            name: "transpose",
            values: &["shuffles", "shared"],
            meaning: "how products reach the thread that sums them: by shuffles, as published (default up to \
                      Pascal), or through shared memory (default on newer GPUs)",
        },
        Parameter {
            name: "empty-rows",
            values: &["count"],
            meaning: "count: an additional product in the setup counts the warps that empty rows divert to \
                      another code path, as in Figure 10",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

/// The parameter for the number of nonzeros per thread.
pub const ITEMS: Parameter = Parameter {
    name: "items",
    values: &["4", "8"],
    meaning: "nonzeros per thread; default 4 if the matrix has fewer than 300,000, else 8",
};

/// The parameter for the number of threads per block.
pub const BLOCK: Parameter = Parameter {
    name: "block",
    values: &["128", "256", "512"],
    meaning: "threads per block; default 256",
};

/// The parameter that controls whether threads sort the columns of their nonzeros.
pub const SORT: Parameter = Parameter {
    name: "sort",
    values: &["on", "off"],
    meaning: "whether each thread sorts the columns of its nonzeros; default on up to Pascal, as published, \
              off on newer GPUs",
};

static PROGRAM: Program =
    Program { name: "hola.cu", source: include_str!("../../../../cuda/hola.cu") };

/// The number of nonzeros from which each thread owns 8 by default.
const LARGE: usize = 300_000;
/// Threads per block of the first kernel.
const ASSIGN_BLOCK: usize = 256;

/// Bounds the bytes of the first rows of blocks of at least 512 nonzeros, and of x and y for a product in the setup.
fn memory(extent: &Extent) -> u64 {
    let vectors = extent.word("empty-rows").map_or(0, |_| extent.vectors());
    extent.nnz / 128 + vectors
}

/// The number of threads per block and of nonzeros per thread.
#[derive(Clone, Copy)]
pub struct Shape {
    block: usize,
    items: usize,
}

impl Shape {
    /// Returns the requested shape; the default depends on the number of nonzeros.
    pub fn of(nnz: usize, request: &Request) -> Self {
        let items = request.number("items").unwrap_or(if nnz < LARGE { 4 } else { 8 });
        Self { block: request.number("block").unwrap_or(256), items }
    }

    /// Returns the compile-time constants of the kernels.
    pub fn constants(self, sort: bool) -> Vec<(&'static str, usize)> {
        vec![("BLOCK", self.block), ("ITEMS", self.items), ("SORT", usize::from(sort))]
    }

    /// Returns the number of blocks for `nnz` nonzeros.
    fn blocks(self, nnz: usize) -> usize {
        nnz.div_ceil(self.block * self.items)
    }
}

/// The first kernel and its output: the row in which each block begins.
pub struct Assignment {
    kernel: Kernel,
    shape: Shape,
    /// The row of each block's first nonzero, followed by the row of the matrix's last nonzero.
    block_rows: Buffer<u32>,
}

impl Assignment {
    /// Allocates the output for `csr`. `module` contains both kernels.
    pub fn new<T: Value>(
        module: &Module,
        csr: &DeviceCsr<T>,
        shape: Shape,
    ) -> Result<Self, Unprepared> {
        let block_rows = csr.gpu.allocate(shape.blocks(csr.host.nnz()) + 1)?;
        Ok(Self { kernel: module.kernel("hola_assign")?, shape, block_rows })
    }

    /// Enqueues the assignment of rows to blocks and y ← βy, unless blocks store the value.
    pub fn run<T: Value>(
        &self,
        csr: &DeviceCsr<T>,
        beta: T,
        y: &mut Buffer<T>,
    ) -> Result<(), Failed> {
        let grid = csr.host.rows().max(y.len()).div_ceil(ASSIGN_BLOCK);
        let (rows, nnz, outputs) = (csr.rows(), csr.nnz(), y.len() as u32);
        let arguments: [&dyn Argument; 7] =
            [&rows, &nnz, &csr.row_offsets, &outputs, y, &beta, &self.block_rows];
        self.kernel.launch(grid, ASSIGN_BLOCK, 0, &arguments)
    }

    /// Enqueues the second kernel. Its arguments are the matrix, `vectors`, the blocks' rows and `last`.
    pub fn launch<T: Value>(
        &self,
        kernel: &Kernel,
        csr: &DeviceCsr<T>,
        vectors: &[&dyn Argument],
        last: &[&dyn Argument],
    ) -> Result<(), Failed> {
        let nnz = csr.nnz();
        let matrix: [&dyn Argument; 4] = [&nnz, &csr.row_offsets, &csr.column_indices, &csr.values];
        let arguments = [&matrix, vectors, &[&self.block_rows], last].concat();
        let Shape { block, .. } = self.shape;
        let grid = self.shape.blocks(csr.host.nnz());
        kernel.launch_after(&self.kernel, grid, block, 0, &arguments)
    }
}

/// HOLA's product for a matrix; other methods may use it.
pub struct Hola {
    assignment: Assignment,
    kernel: Kernel,
}

impl Hola {
    /// Compiles the kernels for `csr` with the requested shape.
    pub fn new<T: Value>(csr: &DeviceCsr<T>, request: &Request) -> Result<Self, Unprepared> {
        let shape = Shape::of(csr.host.nnz(), request);
        // As published up to Pascal, the architecture for which it was published.
        let published = csr.gpu.facts().compute_capability < (7, 0);
        let sort = request.word("sort").map_or(published, |word| word == "on");
        let shuffle = request.word("transpose").map_or(published, |word| word == "shuffles");
        let mut constants = shape.constants(sort);
        constants.push(("SHUFFLE", usize::from(shuffle)));
        let module = csr.compile(&PROGRAM, &constants)?;
        let assignment = Assignment::new(&module, csr, shape)?;
        Ok(Self { assignment, kernel: module.kernel("hola")? })
    }

    /// Enqueues y ← αAx + βy. Unless `altered` is empty, its element counts the warps that empty rows divert.
    pub fn run<T: Value>(
        &self,
        csr: &DeviceCsr<T>,
        (alpha, x, beta): (T, &Buffer<T>, T),
        y: &mut Buffer<T>,
        altered: &Buffer<u32>,
    ) -> Result<(), Failed> {
        self.assignment.run(csr, beta, y)?;
        self.assignment.launch(&self.kernel, csr, &[x, y, &alpha, &beta], &[altered])
    }

    /// Runs one product and returns a note with the share of warps that empty rows divert to another code path.
    fn altered<T: Value>(&self, csr: &DeviceCsr<T>) -> Result<String, Failed> {
        let altered = csr.gpu.upload(&[0])?;
        let x = csr.gpu.upload(&vec![T::zero(); csr.host.cols()])?;
        let mut y = csr.gpu.allocate(csr.host.rows())?;
        self.run(csr, (T::zero(), &x, T::zero()), &mut y, &altered)?;
        let altered = altered.to_vec()?[0] as usize;
        let Shape { block, .. } = self.assignment.shape;
        let warps = self.assignment.shape.blocks(csr.host.nnz()) * block / 32;
        let share = 100.0 * altered as f64 / warps.max(1) as f64;
        Ok(format!("{altered} of {warps} warps ({share:.1} %) take another path for empty rows"))
    }
}

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let hola = Hola::new(csr, request)?;
    let note = request.word("empty-rows").map(|_| hola.altered(csr)).transpose()?;
    let nothing = csr.gpu.allocate(0)?;
    let product = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        hola.run(csr, (alpha, x, beta), y, &nothing)
    });
    Ok(match note {
        Some(note) => product.with_note(note),
        None => product,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(nnz: usize, given: &[(&'static str, &'static str)]) -> (usize, usize, usize) {
        let team = crate::team::Team::floating(1);
        let request = Request { given, ..Request::new(&team) };
        let shape = Shape::of(nnz, &request);
        (shape.block, shape.items, shape.blocks(nnz))
    }

    /// Defaults as in hola-spmv-ics17's programs: blocks of 256 threads, 4 nonzeros per thread below 300,000 nonzeros.
    #[test]
    fn shapes_follow_the_size() {
        assert_eq!(shape(0, &[]), (256, 4, 0));
        assert_eq!(shape(1025, &[]), (256, 4, 2));
        assert_eq!(shape(299_999, &[]), (256, 4, 293));
        assert_eq!(shape(300_000, &[]), (256, 8, 147));
        assert_eq!(shape(2049, &[("items", "8"), ("block", "128")]), (128, 8, 3));
    }
}
