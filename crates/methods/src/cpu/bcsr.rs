//! BCSR: the matrix in dense r × c blocks, aligned to multiples of r and c. Im & Yelick, Optimizing sparse matrix
//! computations for register reuse in SPARSITY (2001).
//!
//! A thread owns contiguous block rows with about an equal share of the rows and nonzeros. If no shape is given, the
//! shape is the one of the listed shapes with the fewest estimated bytes. The estimate samples a fiftieth of the
//! block rows.
//!
//! Memory: the blocks with a column index each, and an offset per block row. Departure: a matrix whose blocks would
//! be mostly fill is refused.

use super::placement::place;
use super::register_blocks::{BlockRows, spans};
use super::rows::{Operands, balanced};
use crate::formats::register_blocks::{self, RegisterBlocks, fewest_bytes, pieces, shape};
use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
use crate::simd::{Isa, Lanes};
use crate::team::Team;
use spmv_matrix::Csr;
use spmv_matrix::disjoint::DisjointMut;
use spmv_matrix::scalar::Scalar;

/// The method `bcsr`.
pub const METHOD: Method = Method {
    name: "bcsr",
    source: "Im & Yelick 2001, register blocking",
    summary: "aligned dense blocks of r x c; the default shape has the fewest estimated bytes",
    parameters: &[Parameter {
        name: "block",
        values: BLOCKS,
        meaning: "rows x columns of a block; default: the shape with the fewest estimated bytes",
    }],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: register_blocks::memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

const BLOCKS: &[&str] = &["1x4", "2x1", "4x1", "8x1", "2x2", "3x3", "4x4", "6x6", "8x8"];

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let (team, isa) = (request.team, request.isa);
    let shape = request.word("block").map_or_else(|| fewest_bytes(csr, BLOCKS), shape);
    let shapes = (0..team.len()).map(|rank| (balanced(csr, rank, team.len(), shape.rows), shape));
    let pieces = pieces(csr, shapes.collect())?;
    let placed = place(team, |rank| spans(&pieces[rank]));
    let bytes = pieces.iter().map(RegisterBlocks::bytes).sum();
    Ok(Prepared::new(csr, bytes, move |alpha, x, beta, y| {
        multiply(csr, &pieces, team, isa, Operands { alpha, x, beta }, y);
        Ok(())
    })
    .with_note(format!("blocks of {shape}"))
    .with_added_note(placed))
}

/// Computes y ← αAx + βy, with one piece of the rows per thread.
pub fn multiply<T: Scalar + Lanes>(
    csr: &Csr<T>,
    pieces: &[RegisterBlocks<T>],
    team: &Team,
    isa: Isa,
    operands: Operands<T>,
    y: &mut [T],
) {
    let y = DisjointMut::new(y);
    team.run(|rank| {
        let blocks = &pieces[rank];
        // SAFETY: the rows of different pieces do not overlap.
        let y = unsafe { y.range(blocks.rows.clone()) };
        isa.run(BlockRows { csr, blocks, operands, y });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::register_blocks::Shape;

    /// Returns a matrix of dense `rows` × `cols` blocks along the diagonal.
    fn blocks_of(rows: usize, cols: usize) -> Csr<f64> {
        let cell = |block: usize| (0..rows * cols).map(move |k| (block, k / cols, k % cols));
        let entry = |(block, i, j)| (block * rows + i, block * cols + j, 1.0);
        let triplets: Vec<_> = (0..24).flat_map(cell).map(entry).collect();
        Csr::from_triplets(24 * rows, 24 * cols, &triplets)
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn the_default_is_the_shape_of_dense_blocks() {
        let default = |csr: &Csr<f64>| fewest_bytes(csr, BLOCKS);
        for word in BLOCKS {
            let Shape { rows, cols } = shape(word);
            assert_eq!(default(&blocks_of(rows, cols)), shape(word));
        }
        let column: Vec<_> = (0..80).map(|row| (row, 0, 1.0)).collect();
        assert_eq!(default(&Csr::<f64>::from_triplets(80, 1, &column)), shape("8x1"));
        let full_rows: Vec<_> = (0..150).map(|k| (k / 3 * 4, k % 3, 1.0)).collect();
        let narrow = Csr::<f64>::from_triplets(200, 3, &full_rows);
        assert_eq!(
            default(&narrow),
            shape("2x1"),
            "1x4 would need fewer bytes, but has too many columns"
        );
        let single = Csr::<f64>::from_triplets(200, 8, &[(0, 0, 1.0)]);
        assert_eq!(default(&single), shape("8x1"), "each empty block row costs an offset");
    }
}
