//! HOLA, globally homogeneous and locally adaptive: hola-spmv-ics17, section 3.
//!
//! A thread block owns a fixed number of consecutive nonzeros. The first kernel, with one thread per row, computes
//! y ← βy and writes the first row of each block (assignment). In the second kernel the block assigns rows to its
//! threads in the same way; each thread owns 4 or 8 consecutive nonzeros, with a bit for each nonzero that ends a row.
//! Warps load the nonzeros with coalesced accesses, gather x, if requested in the order of sorted columns, and
//! transpose the products so that each thread has its own. A thread sums its products; rows that several threads share
//! are summed by the warp or by atomic operations in shared memory. From there all sums are written to y, those of the
//! first and the last row of the block by atomic operations. There are three special cases. A block within one row
//! computes a single sum. A warp that finds empty rows clears the sums of all of its rows, and its threads look up the
//! next nonempty row in the row offsets. In a block with more rows than nonzeros, each thread has the row of each of
//! its nonzeros and adds to y directly.
//!
//! Memory: 4 bytes per block, plus 4 bytes. The paper does not say how rows are looked up: here by binary search, up to
//! the row of the next thread. Departures from the paper: the row after the last block is that of the last nonzero, so
//! no block owns empty rows at the end; rows are assigned to threads before x is gathered; columns are sorted before
//! the transpose and the order is restored in registers, as in the paper (the authors' code uses shared memory); the
//! rows of a block with many are searched into registers, not spread to shared memory, because a block may have a
//! hundred thousand. The defaults are as published up to Pascal. From Volta on, columns are not sorted (the paper
//! credits the sort with 2 % of the time, but it takes a quarter of the instructions), and products are transposed
//! through shared memory, where threads load one nonzero at a time instead of 16 bytes, so that a warp gathers x for
//! neighbouring nonzeros.

use super::prelude::*;

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
    memory,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

pub const ITEMS: Parameter = Parameter {
    name: "items",
    values: &["4", "8"],
    meaning: "nonzeros per thread; default 4 if the matrix has fewer than 300,000, else 8",
};

pub const BLOCK: Parameter =
    Parameter { name: "block", values: &["128", "256", "512"], meaning: "threads per block; default 256" };

pub const SORT: Parameter = Parameter {
    name: "sort",
    values: &["on", "off"],
    meaning: "whether each thread sorts the columns of its nonzeros; default on up to Pascal, as published, \
              off on newer GPUs",
};

/// The number of nonzeros from which each thread owns 8 by default.
const EIGHT_PER_THREAD_FROM: usize = 300_000;
const ASSIGN_BLOCK: usize = 256;

/// Bounds the bytes of the first rows of blocks of at least 512 nonzeros, and of x and y for a product in the setup.
fn memory(extent: &Extent) -> u64 {
    let vectors = extent.word("empty-rows").map_or(0, |_| extent.vectors());
    extent.nnz / 128 + vectors
}

/// The kernels of a product with their shape, and the output of the first kernel.
pub struct Hola {
    assign: Kernel,
    multiply: Kernel,
    /// Threads per block of the second kernel.
    block: usize,
    /// The row of each block's first nonzero, followed by the row of the matrix's last nonzero.
    block_rows: Buffer<u32>,
}

impl Hola {
    /// Compiles the kernels of `gpu-hola`.
    pub fn new<T: Value>(csr: &DeviceCsr<T>, request: &Request) -> Result<Self, Unprepared> {
        // As published up to Pascal, the architecture for which it was published.
        let published = csr.gpu.facts().compute_capability < (7, 0);
        let sort = request.word("sort").map_or(published, |word| word == "on");
        let shuffle = request.word("transpose").map_or(published, |word| word == "shuffles");
        Self::of(csr, request, (program!("cuda/hola.cu"), "hola"), [("SORT", sort), ("SHUFFLE", shuffle)])
    }

    /// Compiles the kernels of a program, of which the second is named, with the requested shape and these options.
    pub fn of<T: Value>(
        csr: &DeviceCsr<T>,
        request: &Request,
        (program, multiply): (&'static Program, &'static str),
        options: [(&'static str, bool); 2],
    ) -> Result<Self, Unprepared> {
        let block = request.number("block").unwrap_or(256);
        let items = request.number("items").unwrap_or_else(|| items(csr.host.nnz()));
        let [sort, other] = options.map(|(name, is_on)| (name, usize::from(is_on)));
        let constants = [("BLOCK", block), ("ASSIGN_BLOCK", ASSIGN_BLOCK), ("ITEMS", items), sort, other];
        let module = csr.compile(program, &constants)?;
        let block_rows = csr.gpu.allocate(csr.host.nnz().div_ceil(block * items) + 1)?;
        let (assign, multiply) = (module.kernel("hola_assign")?, module.kernel(multiply)?);
        Ok(Self { assign, multiply, block, block_rows })
    }

    fn blocks(&self) -> usize {
        self.block_rows.len() - 1
    }

    /// Enqueues the assignment of rows to blocks and y ← βy, then the second kernel, whose arguments are the matrix,
    /// `vectors`, the blocks' rows and `last`.
    pub fn run<T: Value>(
        &self,
        csr: &DeviceCsr<T>,
        (beta, y): (T, &Buffer<T>),
        vectors: &[&dyn Argument],
        last: &[&dyn Argument],
    ) -> Result<(), Failed> {
        let (rows, nnz, outputs) = (csr.rows(), csr.nnz(), y.len() as u32);
        let grid = csr.host.rows().max(y.len()).div_ceil(ASSIGN_BLOCK);
        let assigned: [&dyn Argument; 7] = [&rows, &nnz, &csr.row_offsets, &outputs, y, &beta, &self.block_rows];
        self.assign.launch(grid, ASSIGN_BLOCK, 0, &assigned)?;
        let arguments = [&[&nnz as &dyn Argument, csr], vectors, &[&self.block_rows], last].concat();
        self.multiply.launch_after(&self.assign, self.blocks(), self.block, 0, &arguments)
    }

    /// Runs one product and returns a note with the share of warps that empty rows divert to another code path.
    fn altered<T: Value>(&self, csr: &DeviceCsr<T>) -> Result<String, Failed> {
        let altered = csr.gpu.upload(&[0u32])?;
        let x = csr.gpu.upload(&vec![T::zero(); csr.host.cols()])?;
        let (y, zero) = (csr.gpu.allocate(csr.host.rows())?, T::zero());
        self.run(csr, (zero, &y), &[&x, &y, &zero, &zero], &[&altered])?;
        let altered = altered.to_vec()?[0] as usize;
        let warps = self.blocks() * self.block / 32;
        let share = 100.0 * altered as f64 / warps.max(1) as f64;
        Ok(format!("{altered} of {warps} warps ({share:.1} %) take another path for empty rows"))
    }
}

/// Returns the nonzeros per thread as in the programs of hola-spmv-ics17.
fn items(nnz: usize) -> usize {
    if nnz < EIGHT_PER_THREAD_FROM { 4 } else { 8 }
}

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let hola = Hola::new(csr, request)?;
    let note = request.word("empty-rows").map(|_| hola.altered(csr)).transpose()?;
    // The kernel counts nothing if the array for the count is empty.
    let nothing = csr.gpu.allocate::<u32>(0)?;
    let product =
        Prepared::on_gpu(csr, move |alpha, x, beta, y| hola.run(csr, (beta, y), &[x, y, &alpha, &beta], &[&nothing]));
    Ok(product.with_notes(note))
}

#[cfg(test)]
#[test]
fn threads_own_more_nonzeros_of_larger_matrices() {
    assert_eq!([0, 299_999, 300_000].map(items), [4, 4, 8]);
}
