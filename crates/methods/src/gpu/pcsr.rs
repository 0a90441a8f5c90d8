//! PCSR: five-gpu-algorithms, section IV-D, after He and Gao.
//!
//! Two kernels. The first computes every product a·x with one thread per nonzero and writes it to global memory. The
//! second has one thread per row in blocks of 64 rows: the block loads the products of its rows into shared memory in
//! pieces of 1024, and each thread sums the part of its row that lies in the piece. All accesses except those of x are
//! coalesced, but the products are written and read once more.
//!
//! Memory: one value per nonzero. Departures from the source: a thread computes one product, whereas the listing allows
//! a smaller grid whose threads stride over them; y is stored once after the last piece, and only for existing rows
//! (the listing stores y in every piece and writes past the last row).

use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-pcsr",
    source: "five-gpu-algorithms, IV-D; He and Gao 2016",
    summary: "all products to memory, then sums of rows through shared memory; two kernels",
    parameters: &[
        Parameter {
            name: "block",
            values: &["128", "256", "512", "1024"],
            meaning: "threads per block of the products; default 256 (1024 in five-gpu-algorithms)",
        },
        Parameter {
            name: "rows",
            values: &["64", "128", "256"],
            meaning: "rows and threads per block of the sums; default 64, as in five-gpu-algorithms",
        },
    ],
    memory: |extent| extent.nnz * extent.value,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// The number of products in shared memory at the same time.
const PIECE: usize = 1024;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = request.number("block").unwrap_or(256);
    let rows = request.number("rows").unwrap_or(64);
    let constants = [("BLOCK", block), ("ROWS", rows), ("PIECE", PIECE)];
    let module = csr.gpu.compile::<T>(program!("cuda/pcsr.cu"), &constants)?;
    let (multiply, sum) = (module.kernel("pcsr_products")?, module.kernel("pcsr_sums")?);
    let (multiply_grid, sum_grid) = (csr.host.nnz().div_ceil(block), csr.host.rows().div_ceil(rows));
    let products = csr.gpu.allocate::<T>(csr.host.nnz())?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let factors: [&dyn Argument; 5] = [&csr.nnz(), &csr.column_indices, &csr.values, x, &products];
        multiply.launch(multiply_grid, block, 0, &factors)?;
        let sums: [&dyn Argument; 6] = [&csr.rows(), &csr.row_offsets, &products, y, &alpha, &beta];
        sum.launch_after(&multiply, sum_grid, rows, 0, &sums)
    }))
}
