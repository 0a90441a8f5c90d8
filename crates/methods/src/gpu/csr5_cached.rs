//! CSR5 with x of the most frequent columns in shared memory, for matrices of which few columns have most nonzeros.
//! This is the project's own method. EHYB (Chen 2022, explicit caching HYB) has in shared memory the x of a part of the
//! matrix, whose rows and columns it reorders; here the columns are chosen by their number of nonzeros, and the
//! matrix keeps its order.
//!
//! On other methods each nonzero of a power law loads a sector of 32 bytes for 4 or 8 bytes of x, and the L2 cache is
//! the limit. Setup counts the nonzeros of each column on the device, finds the largest columns that fit in three
//! quarters of the shared memory of a block, and replaces their indices in the tiles of CSR5 by places with a bit set.
//! In a product the first kernel also copies their x to an array. Each multiprocessor has one block of 1024 threads,
//! which copies this array to shared memory and then takes tiles in turn. The nonzeros after the last tile read x as
//! usual.
//!
//! Memory: that of CSR5, 8 bytes per column (in the setup), and x of the chosen columns with their indices.

use super::convert::{Converter, THREADS, compile, launch};
use super::csr5::{self, CACHED_BIT, Csr5};
use super::prelude::*;
use super::start_rows::StartRows;

pub const METHOD: Method = Method {
    name: "gpu-csr5-cached",
    source: "this project, after Liu & Vinter 2015, CSR5, and Chen 2022, EHYB",
    summary: "CSR5, with x of the most frequent columns in shared memory",
    parameters: &[Parameter {
        name: "columns",
        values: &["1024", "4096", "16384"],
        meaning: "columns of which x is in shared memory, at most; default as many as fit in three quarters of it",
    }],
    setup: Setup::Conversion,
    memory: |extent| (csr5::METHOD.memory)(extent) + (extent.value + 12) * (extent.cols + 1),
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// Threads per block of the product.
const BLOCK: usize = 1024;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let gpu = &csr.gpu;
    let program = program!("cuda/csr5_cached.cu");
    let module = compile::<T>(gpu, program, &[("CACHED_BIT", CACHED_BIT)])?;
    let start = module.kernel("start_frequent")?;
    let fit = gpu.facts().most_shared_bytes() as usize / 4 * 3 / size_of::<T>();
    let frequent = Frequent::of(csr, &module, request.number("columns").unwrap_or(fit).min(fit))?;
    let csr5 = Csr5::of(csr, None, Some(BLOCK), frequent.list.len())?;
    frequent.replace_in(&module, &csr5.tiles.columns)?;
    let (tiles, list) = (&csr5.tiles, frequent.list);
    let rows = StartRows::of_pieces(csr, tiles.size, tiles.count * tiles.size)?.rows;
    let note = format!("{} columns with {:.0} % of the nonzeros", list.len(), frequent.percent);
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let [row_count, column_count] = [rows.len(), list.len()].map(|count| count as u32);
        let grid = rows.len().max(list.len()).div_ceil(THREADS);
        let start_rows: [&dyn Argument; 4] = [&row_count, &rows, y, &beta];
        let copy_x: [&dyn Argument; 4] = [&column_count, &list, x, &csr5.frequent_x];
        start.launch(grid, THREADS, 0, &[&start_rows, &copy_x])?;
        csr5.run(csr, &start, [x, y, &alpha, &beta])
    })
    .with_note(note))
}

/// The columns with the most nonzeros.
struct Frequent {
    /// The number of them before each column.
    places: Buffer<u32>,
    list: Buffer<u32>,
    /// Their share of the nonzeros.
    percent: f64,
}

impl Frequent {
    /// Finds all columns with more than some number of nonzeros, at most `most` columns.
    fn of<T: Value>(csr: &DeviceCsr<T>, module: &Module, most: usize) -> Result<Self, Unprepared> {
        let (cols, nnz, converter) = (csr.host.cols(), csr.host.nnz(), Converter::new(csr)?);
        let offsets = csr.gpu.zeros::<u32>(cols + 1)?;
        let count: [&dyn Argument; 3] = [&csr.nnz(), &csr.column_indices, &offsets];
        launch(module, "count_columns", nnz, &count)?;
        converter.scan(&offsets)?;
        let few = converter.width(&offsets, most)?;
        let (places, held) = (csr.gpu.zeros(cols + 1)?, csr.gpu.zeros::<u32>(1)?);
        let mark: [&dyn Argument; 5] = [&csr.cols(), &(few as u32), &offsets, &places, &held];
        launch(module, "mark_frequent", cols, &mark)?;
        let list = csr.gpu.allocate(converter.scan(&places)?)?;
        launch(module, "list_frequent", cols, &[&csr.cols(), &places, &list])?;
        let percent = 100.0 * f64::from(held.to_vec()?[0]) / nnz.max(1) as f64;
        Ok(Self { places, list, percent })
    }

    /// Replaces the frequent columns by their places in the list.
    fn replace_in(&self, module: &Module, columns: &Buffer<u32>) -> Result<(), Failed> {
        let count = columns.len() as u32;
        launch(module, "replace_frequent", columns.len(), &[&count, &self.places, columns])
    }
}
