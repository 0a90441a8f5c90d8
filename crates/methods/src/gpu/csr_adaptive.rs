//! CSR-Adaptive: five-gpu-algorithms, section IV-C, after Greathouse and Daga.
//!
//! Setup copies the row offsets to the host and divides the rows into row blocks: consecutive rows with at most 1024
//! nonzeros together, or one longer row. A thread block owns one row block. For several rows it uses CSR-Stream: it
//! writes all products to shared memory with coalesced loads, then a thread per row sums them, or several (a power of
//! two) if the row block has fewer rows than the block has threads, as in clSPARSE; rows with more than 64 products for
//! each of these threads are summed by their warp. For a single row it uses CSR-Vector
//! with all threads of the block. A row of more than 3072 nonzeros is divided over several blocks (CSR-VectorL of
//! clSPARSE): each block stores the sum of its part, and the block that does so last adds them in their order.
//!
//! Memory: 8 bytes per row block; if a row is divided, 4 bytes and a value more. Departures: a row block also has at
//! most 1024 rows, so that a long run of empty rows is divided; a warp sums the longer rows of a row block; clSPARSE
//! adds the parts of a divided row by atomic operations, in an order that varies. `block=1024` is the method of
//! five-gpu-algorithms: each thread loads one product, one thread sums a row, and a long row is not divided. The
//! default of 256 threads, which load four products each, is that of Greathouse and Daga and of clSPARSE.

use super::prelude::*;

pub const METHOD: Method = Method {
    name: "gpu-csr-adaptive",
    source: "five-gpu-algorithms, IV-C; Greathouse and Daga 2014",
    summary: "row blocks of 1024 nonzeros through shared memory, long rows by whole blocks",
    parameters: &[
        Parameter {
            name: "block",
            values: &["128", "256", "512", "1024"],
            meaning: "threads per block; default 256 (1024: as in five-gpu-algorithms)",
        },
        Parameter {
            name: "long-row",
            values: &["blocks", "block", "warp"],
            meaning: "which threads process a single row: several blocks a longer row (default), the block \
                      (default of block=1024), or one warp of it (five-gpu-algorithms, Table III)",
        },
    ],
    setup: Setup::Inspection,
    memory: |extent| (extent.nnz / 512 + extent.rows / 512 + 2) * (12 + extent.value),
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

/// The largest number of nonzeros, and of rows, in a row block of several rows.
const CAPACITY: usize = 1024;

/// The number of nonzeros of a row that a block processes, if several blocks divide a long row (clSPARSE).
const PART: usize = 3 * CAPACITY;

/// The threads that should be resident on a multiprocessor, with 32 registers each: the most on large GPUs.
const THREADS: usize = 2048;

/// The number of threads per block in five-gpu-algorithms.
const FIVE_GPU_BLOCK: usize = 1024;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let block = request.number("block").unwrap_or(256);
    let newer = block != FIVE_GPU_BLOCK;
    let long_row = request.word("long-row").unwrap_or(if newer { "blocks" } else { "block" });
    let part = if long_row == "blocks" { PART } else { usize::MAX };
    let constants = [
        ("BLOCK", block),
        ("RESIDENT", THREADS / block),
        ("CAPACITY", CAPACITY),
        ("PART", PART),
        ("DIVIDED", usize::from(long_row == "blocks")),
        ("LONG_ROW_WARP", usize::from(long_row == "warp")),
        ("SEVERAL_PER_ROW", usize::from(newer)),
    ];
    let kernel = csr.compile(program!("cuda/csr_adaptive.cu"), &constants)?.kernel("csr_adaptive")?;
    let row_blocks = row_blocks(&csr.row_offsets.to_vec()?, CAPACITY, part);
    let grid = row_blocks.len() - 1;
    let divided = row_blocks.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let parts = csr.gpu.allocate::<T>(if divided { grid } else { 0 })?;
    let arrivals = csr.gpu.zeros::<u32>(if divided { grid } else { 0 })?;
    let row_blocks: Vec<u64> =
        row_blocks.iter().map(|&(row, nonzero)| u64::from(nonzero) << 32 | u64::from(row)).collect();
    let row_blocks = csr.gpu.upload(&row_blocks)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let arguments: [&dyn Argument; 8] = [&row_blocks, csr, x, y, &alpha, &beta, &parts, &arrivals];
        kernel.launch(grid, block, 0, &arguments)
    }))
}

/// Returns the first row and the first nonzero of each row block, followed by the ends of both. Each row block is at
/// most `part` nonzeros of a single row, or at most `capacity` rows with at most `capacity` nonzeros.
fn row_blocks(row_offsets: &[u32], capacity: usize, part: usize) -> Vec<(u32, u32)> {
    let rows = row_offsets.len() - 1;
    let mut blocks = Vec::new();
    let mut first = 0;
    while first < rows {
        let start = row_offsets[first] as usize;
        let most = rows.min(first + capacity);
        let fits = |&end: &usize| row_offsets[end] as usize - start <= capacity;
        let end = (first + 2..=most).take_while(fits).last().unwrap_or(first + 1);
        let nonzeros = (row_offsets[end] as usize - start).max(1);
        blocks.extend((0..nonzeros).step_by(part).map(|k| (first as u32, (start + k) as u32)));
        first = end;
    }
    blocks.push((rows as u32, row_offsets[rows]));
    blocks
}

/// The first case is that of five-gpu-algorithms, IV-C: of rows of 20, 21 and 44, a row block of 64 has the first two.
#[cfg(test)]
#[test]
fn row_blocks_have_few_nonzeros_and_rows_or_a_part_of_a_long_row() {
    assert_eq!(row_blocks(&[0, 20, 41, 85], 64, 192), [(0, 0), (2, 41), (3, 85)]);
    for (offsets, expected) in [
        (vec![0], vec![(0, 0)]),
        (vec![0, 9], vec![(0, 0), (1, 9)]),
        (vec![0, 1, 10, 11, 12], vec![(0, 0), (1, 1), (2, 10), (4, 12)]),
        (vec![0, 2, 4, 5], vec![(0, 0), (2, 4), (3, 5)]),
        (vec![0; 10], vec![(0, 0), (4, 0), (8, 0), (9, 0)]),
        (vec![0, 2, 27, 29], vec![(0, 0), (1, 2), (1, 14), (1, 26), (2, 27), (3, 29)]),
        (vec![0, 12], vec![(0, 0), (1, 12)]),
    ] {
        assert_eq!(row_blocks(&offsets, 4, 12), expected);
    }
}
