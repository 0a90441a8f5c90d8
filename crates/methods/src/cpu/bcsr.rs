//! BCSR: the matrix in dense r × c blocks, aligned to multiples of r and c. Im & Yelick, Optimizing sparse matrix
//! computations for register reuse in SPARSITY (2001).
//!
//! A thread owns contiguous block rows with about an equal share of the rows and nonzeros. If no shape is given, the
//! listed shape with the fewest bytes, estimated from a fiftieth of the block rows, is taken.
//!
//! Memory: the blocks with a column index each, and an offset per block row.

use super::prelude::*;
use super::register_blocks::prepared;
use super::rows::balanced;
use crate::formats::block_fill::fewest_bytes;
use crate::formats::register_blocks::{self, shape};

pub const METHOD: Method = Method {
    name: "bcsr",
    source: "Im & Yelick 2001, register blocking",
    summary: "aligned dense blocks of r x c; the default shape has the fewest estimated bytes",
    parameters: &[Parameter {
        name: "block",
        values: BLOCKS,
        meaning: "rows x columns of a block; default: the shape with the fewest estimated bytes",
    }],
    setup: Setup::Conversion,
    memory: register_blocks::memory,
    may_refuse: register_blocks::may_refuse,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

pub const BLOCKS: &[&str] = &["1x4", "2x1", "4x1", "8x1", "2x2", "3x3", "4x4", "6x6", "8x8"];

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let threads = request.team.len();
    let shape = request.word("block").map_or_else(|| fewest_bytes(csr, BLOCKS), shape);
    let shapes = (0..threads).map(|rank| (balanced(csr, rank, threads, shape.rows), shape));
    prepared(csr, request, shapes.collect(), format!("blocks of {shape}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::examples::of_blocks;
    use crate::formats::register_blocks::Shape;

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn the_default_is_the_shape_of_dense_blocks() {
        let default = |csr: &Csr<f64>| fewest_bytes(csr, BLOCKS);
        for word in BLOCKS {
            let Shape { rows, cols } = shape(word);
            assert_eq!(default(&of_blocks(rows, cols)), shape(word));
        }
        let column: Vec<_> = (0..80).map(|row| (row, 0, 1.0)).collect();
        assert_eq!(default(&Csr::from_triplets(80, 1, &column)), shape("8x1"));
        let full_rows: Vec<_> = (0..150).map(|k| (k / 3 * 4, k % 3, 1.0)).collect();
        // 1x4 would need fewer bytes, but has too many columns.
        assert_eq!(default(&Csr::from_triplets(200, 3, &full_rows)), shape("2x1"));
        let single = Csr::from_triplets(200, 8, &[(0, 0, 1.0)]);
        assert_eq!(default(&single), shape("8x1"), "each empty block row costs an offset");
    }
}
