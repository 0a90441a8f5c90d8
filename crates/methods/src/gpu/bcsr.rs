//! BCSR: the matrix in dense square blocks, aligned to multiples of their size. Im & Yelick, Optimizing
//! sparse matrix computations for register reuse in SPARSITY (2001), on a GPU.
//!
//! Blocks are stored column by column. A group of 8 to 32 neighbouring threads owns a row of blocks; the size of the
//! group follows the mean number of values in a row of blocks. The threads load neighbouring values, each thread always
//! in the same row of the blocks, and add their sums by shuffles. A block that would exceed the last column is moved
//! left until it ends at that column. The default block size is the listed one with the fewest bytes; of large
//! matrices the numbers of blocks are estimated from an eighth of the nonzeros.
//!
//! Setup converts on the device: a thread per nonzero finds out by binary searches in the rows above whether it is the
//! first one of its block, sums give the blocks their places, and a thread per row of a block fills it.
//!
//! Memory: the blocks with one column index each, and one offset per row of blocks; before the values are allocated, 4
//! bytes per nonzero. Departures from the source: a stored zero counts as padding, and its x (which may be NaN or
//! infinite) is ignored; a matrix that is narrower than a block is refused.

use super::convert_blocks::{Blocks, Conversion};
use super::prelude::*;
use crate::formats::fill;
use crate::formats::register_blocks::{self, Shape, bytes, check_width, fitting, shape};

pub const METHOD: Method = Method {
    name: "gpu-bcsr",
    source: "Im & Yelick 2001, register blocking",
    summary: "dense square blocks, aligned; a vector of threads per row of blocks",
    parameters: &[
        Parameter {
            name: "block",
            values: BLOCKS,
            meaning: "rows x columns of a block; default: the shape with the fewest estimated bytes",
        },
        Parameter {
            name: "lanes",
            values: &["8", "16", "32"],
            meaning: "threads per row of blocks; default by its mean number of values",
        },
    ],
    setup: Setup::Conversion,
    memory: |extent| fill::most_places(extent) * extent.value + extent.indices() + 4 * extent.rows,
    may_refuse: register_blocks::may_refuse,
    ..Method::new(Code::Gpu { f64: prepare, f32: prepare })
};

const BLOCKS: &[&str] = &["2x2", "3x3", "4x4", "8x8"];

const BLOCK: usize = 256;

fn prepare<'a, T: Value>(csr: &'a DeviceCsr<'a, T>, request: &Request<'a>) -> Preparation<'a, T> {
    let shape = match request.word("block") {
        Some(word) => shape(word),
        None => fewest_bytes(csr)?,
    };
    check_width(&csr.host, shape)?;
    let conversion = Conversion::new(csr, shape.rows)?;
    let blocks = conversion.blocks()?;
    fill::check((blocks.columns.len() * shape.area()) as u64, csr.host.nnz())?;
    let values = conversion.values(&blocks)?;
    let block_rows = blocks.offsets.len() - 1;
    let lanes = request.number("lanes").unwrap_or_else(|| lanes(values.len(), block_rows));
    let constants = [("SIZE", shape.rows), ("LANES", lanes), ("BLOCK", BLOCK)];
    let kernel = csr.gpu.compile::<T>(program!("cuda/bcsr.cu"), &constants)?.kernel("bcsr")?;
    let product = Prepared::on_gpu(csr, move |alpha, x, beta, y| {
        let grid = block_rows.div_ceil(BLOCK / lanes);
        let Blocks { offsets, columns } = &blocks;
        let matrix: [&dyn Argument; 4] = [&csr.rows(), offsets, columns, &values];
        kernel.launch(grid, BLOCK, 0, &[&matrix, x, y, &alpha, &beta])
    });
    Ok(product.with_note(format!("blocks of {shape}, {lanes} threads per row of blocks")))
}

/// Returns the listed shape with the fewest bytes.
fn fewest_bytes<T: Value>(csr: &DeviceCsr<T>) -> Result<Shape, Unprepared> {
    let shapes = fitting(&csr.host, BLOCKS);
    let bytes = |shape: &Shape| {
        let blocks = Conversion::new(csr, shape.rows)?.estimate()?;
        Ok(bytes(&csr.host, *shape, blocks))
    };
    let estimates = shapes.iter().map(bytes).collect::<Result<Vec<_>, Unprepared>>()?;
    let best = shapes.iter().zip(estimates).min_by(|(_, a), (_, b)| a.total_cmp(b));
    Ok(best.map_or_else(|| shape(BLOCKS[0]), |(shape, _)| *shape))
}

/// The number of values per thread, on average, from which the threads of a row of blocks are chosen. With fewer, the
/// threads would execute more instructions to find their values and to add their sums than to multiply.
const EACH: usize = 8;

/// Returns the threads per row of blocks for its mean number of values.
fn lanes(places: usize, block_rows: usize) -> usize {
    places.div_ceil(EACH * block_rows.max(1)).next_power_of_two().clamp(8, 32)
}

#[cfg(test)]
#[test]
fn lanes_follow_the_mean_number_of_values() {
    let of_ten_rows = |places| lanes(places, 10);
    assert_eq!([0, 640, 641, 1280, 1281, 9000].map(of_ten_rows), [8, 8, 16, 16, 32, 32]);
    assert_eq!(lanes(0, 0), 8);
}
