//! CSR-Adaptive: five-gpu-algorithms, section IV-C, after Greathouse and Daga.
//!
//! Setup reads the row offsets back and cuts the rows into row blocks: as many rows as have at most
//! 1024 nonzeros together, or one longer row. A thread block owns a row block. Several rows go by
//! CSR-Stream: all products to shared memory, coalesced, then a thread per row sums them up. A single
//! row goes by CSR-Vector with the whole block.
//!
//! Memory: 4 bytes per row block. Departures: α and β; a row block has at most 1024 rows too, so that
//! a long run of empty rows is shared out; 256 threads that load four products each, as in Greathouse
//! and Daga, where five-gpu-algorithms has 1024 that load one.

use crate::device::buffer::Value;
use crate::device::{DeviceCsr, Program};
use crate::method::{
    Code, Method, Operations, Parameter, Prepared, PreparedOnGpu, Request, Setup, Unprepared,
};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "gpu-csr-adaptive",
    source: "five-gpu-algorithms, IV-C; Greathouse and Daga 2014",
    summary: "row blocks of 1024 nonzeros through shared memory, long rows by a whole block",
    parameters: &[
        Parameter {
            name: "block",
            values: &["128", "256", "512", "1024"],
            meaning: "threads per block; 256 unless given, 1024 in five-gpu-algorithms",
        },
        Parameter {
            name: "long-row",
            values: &["block", "warp"],
            meaning: "what takes a single row: the block unless given, or one warp of it \
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

/// Nonzeros, and rows, of a row block of several rows.
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

/// The first row of each row block, and the number of rows: each block is a single row, or at most
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

    /// five-gpu-algorithms, IV-C: of rows of 20, 21 and 44 nonzeros, 64 hold the first two.
    #[test]
    fn the_papers_example() {
        assert_eq!(row_blocks(&[0, 20, 41, 85], 64), [0, 2, 3]);
    }

    #[test]
    fn long_rows_stand_alone_and_empty_rows_are_shared_out() {
        assert_eq!(row_blocks(&[0], 4), [0]);
        assert_eq!(row_blocks(&[0, 9], 4), [0, 1]);
        assert_eq!(row_blocks(&[0, 1, 10, 11, 12], 4), [0, 1, 2, 4]);
        assert_eq!(row_blocks(&[0, 2, 4, 5], 4), [0, 2, 3]);
        assert_eq!(row_blocks(&[0; 10], 4), [0, 4, 8, 9]);
    }
}
