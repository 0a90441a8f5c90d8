//! PCSR: five-gpu-algorithms, section IV-D, after He and Gao.
//!
//! Two kernels. The first writes every product a·x to global memory, a thread per nonzero. The second
//! has a thread per row in blocks of 64 rows: the block loads the products of its rows into shared
//! memory in pieces of 1024 and each thread adds up what of its row lies in the piece. All accesses
//! but those of x coalesce, at the price of writing and reading the products.
//!
//! Memory: a value per nonzero. Departures: α and β; a thread has one product, where the listing lets a
//! smaller grid stride over them; the store of y stands after the pieces and is guarded (the listing
//! stores in every piece, and past the last row).

use crate::device::buffer::Value;
use crate::device::{Argument, DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-pcsr",
    source: "five-gpu-algorithms, IV-D; He and Gao 2016",
    summary: "all products to memory, then sums of rows through shared memory; two kernels",
    parameters: &[
        Parameter {
            name: "block",
            values: &["128", "256", "512", "1024"],
            meaning: "threads per block of the products; 256 unless given, 1024 in \
                      five-gpu-algorithms",
        },
        Parameter {
            name: "rows",
            values: &["64", "128", "256"],
            meaning: "rows and threads per block of the sums; 64 unless given, as in \
                      five-gpu-algorithms",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Nothing,
    memory: |extent| extent.nnz * extent.value,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "pcsr.cu", source: include_str!("../../../cuda/pcsr.cu") };

/// Products in shared memory at once.
const PIECE: usize = 1024;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let block = request.number("block").unwrap_or(256);
    let rows = request.number("rows").unwrap_or(64);
    let constants = [("BLOCK", block), ("ROWS", rows), ("PIECE", PIECE)];
    let module = csr.gpu.compile::<T>(&PROGRAM, &constants)?;
    let (multiply, sum) = (module.kernel("pcsr_products")?, module.kernel("pcsr_sums")?);
    let (multiply_grid, sum_grid) =
        (csr.host.nnz().div_ceil(block), csr.host.rows().div_ceil(rows));
    let products = csr.gpu.allocate::<T>(csr.host.nnz())?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
        let factors: [&dyn Argument; 5] = [&csr.nnz(), column_indices, values, x, &products];
        multiply.launch(multiply_grid, block, 0, &factors)?;
        sum.launch(sum_grid, rows, 0, &[&csr.rows(), row_offsets, &products, y, &alpha, &beta])
    }))
}
