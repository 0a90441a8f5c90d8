//! CSR-Adaptive: five-gpu-algorithms, section IV-C, after Greathouse and Daga.
//!
//! Setup copies the row offsets to the host and divides the rows into row blocks: consecutive rows with at most 1024
//! nonzeros together, or one longer row. A thread block owns one row block. For several rows it uses CSR-Stream: it
//! writes all products to shared memory with coalesced loads, then one thread per row sums them. For a single row it
//! uses CSR-Vector with all threads of the block.
//!
//! Memory: 4 bytes per row block. Departures from the source: α and β are supported; a row block also has at most 1024
//! rows, so that a long run of empty rows is divided; 256 threads load four products each, as in Greathouse and Daga,
//! whereas five-gpu-algorithms uses 1024 threads that load one each.

use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};

/// The method `gpu-csr-adaptive`, which the module documentation describes.
pub const METHOD: Method = Method {
    name: "gpu-csr-adaptive",
    source: "five-gpu-algorithms, IV-C; Greathouse and Daga 2014",
    summary: "row blocks of 1024 nonzeros through shared memory, long rows by a whole block",
    parameters: &[
        Parameter {
            name: "block",
            values: &["128", "256", "512", "1024"],
            meaning: "threads per block; default 256 (1024 in five-gpu-algorithms)",
        },
        Parameter {
            name: "long-row",
            values: &["block", "warp"],
            meaning: "which threads process a single row: the block (default) or one warp of it \
                      (five-gpu-algorithms, Table III)",
        },
    ],
    operations: Operations::Plain,
    setup: Setup::Inspection,
    memory: |extent| extent.nnz / 64 + extent.rows / 128,
    code: Code::Gpu { f64: prepare, f32: prepare },
};

static PROGRAM: Program =
    Program { name: "csr_adaptive.cu", source: include_str!("../../../cuda/csr_adaptive.cu") };

/// The largest number of nonzeros, and of rows, in a row block of several rows.
const CAPACITY: usize = 1024;

fn prepare<'a, T: Value>(
    csr: &'a DeviceCsr<'a, T>,
    request: &Request<'a>,
) -> Result<PreparedOnGpu<'a, T>, Unprepared> {
    let block = request.number("block").unwrap_or(256);
    let by_warp = usize::from(request.word("long-row") == Some("warp"));
    let constants = [("BLOCK", block), ("CAPACITY", CAPACITY), ("LONG_ROW_WARP", by_warp)];
    let kernel = csr.gpu.compile::<T>(&PROGRAM, &constants)?.kernel("csr_adaptive")?;
    let row_blocks = row_blocks(&csr.row_offsets.to_vec()?, CAPACITY);
    let grid = row_blocks.len() - 1;
    let row_blocks = csr.gpu.upload(&row_blocks)?;
    Ok(Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let DeviceCsr { row_offsets, column_indices, values, .. } = csr;
        kernel.launch(
            grid,
            block,
            0,
            &[&row_blocks, row_offsets, column_indices, values, x, y, &alpha, &beta],
        )
    }))
}

/// Returns the first row of each row block, followed by the number of rows. Each row block is a single row, or at most
/// `capacity` rows with at most `capacity` nonzeros.
fn row_blocks(row_offsets: &[u32], capacity: usize) -> Vec<u32> {
    let rows = row_offsets.len() - 1;
    let mut blocks = vec![0];
    let mut first = 0;
    for row in 0..rows {
        let nonzeros = (row_offsets[row + 1] - row_offsets[first]) as usize;
        if row > first && (nonzeros > capacity || row - first == capacity) {
            blocks.push(row as u32);
            first = row;
        }
    }
    if rows > 0 {
        blocks.push(rows as u32);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::row_blocks;

    /// five-gpu-algorithms, IV-C: of rows with 20, 21 and 44 nonzeros, a row block of 64 contains the first two.
    #[test]
    fn the_papers_example() {
        assert_eq!(row_blocks(&[0, 20, 41, 85], 64), [0, 2, 3]);
    }

    #[test]
    fn long_rows_are_single_and_runs_of_empty_rows_are_divided() {
        assert_eq!(row_blocks(&[0], 4), [0]);
        assert_eq!(row_blocks(&[0, 9], 4), [0, 1]);
        assert_eq!(row_blocks(&[0, 1, 10, 11, 12], 4), [0, 1, 2, 4]);
        assert_eq!(row_blocks(&[0, 2, 4, 5], 4), [0, 2, 3]);
        assert_eq!(row_blocks(&[0; 10], 4), [0, 4, 8, 9]);
    }
}
