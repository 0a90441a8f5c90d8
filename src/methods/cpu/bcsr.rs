//! BCSR: the matrix in dense blocks of r × c, aligned to multiples of r and c. Im & Yelick, Optimizing
//! sparse matrix computations for register reuse in SPARSITY (2001).
//!
//! A thread owns contiguous rows of blocks with about an equal share of the nonzeros. Without a shape
//! given, it is the one of those listed that is estimated, from a fiftieth of the rows, to take the fewest
//! bytes.
//!
//! Memory: the blocks with a column each, an offset per row of blocks. Departure: a matrix whose blocks
//! would be mostly fill is refused.

use std::ops::Range;

use super::fill_estimate::FillEstimate;
use super::register_blocks::{BlockRows, RegisterBlocks, Shape, block_offsets};
use super::rows::{Operands, balanced};
use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
use crate::methods::fill;
use crate::scalar::Scalar;
use crate::simd::{Isa, Lanes};
use crate::team::{DisjointMut, Team};

/// See the file's head.
pub const METHOD: Method = Method {
    name: "bcsr",
    source: "Im & Yelick 2001, register blocking",
    summary: "dense blocks of r x c, aligned; the shape by estimated bytes",
    parameters: &[Parameter {
        name: "block",
        values: BLOCKS,
        meaning: "rows x columns of a block; default the fewest bytes",
    }],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

const BLOCKS: &[&str] = &["1x4", "2x1", "4x1", "8x1", "2x2", "3x3", "4x4", "6x6", "8x8"];

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let (team, isa) = (request.team, request.isa);
    let shape = request.word("block").map_or_else(|| fewest_bytes(csr), shape);
    let shapes = balanced(csr, team.len(), shape.rows).into_iter().map(|rows| (rows, shape));
    let pieces = pieces(csr, shapes.collect())?;
    let bytes = pieces.iter().map(RegisterBlocks::bytes).sum();
    Ok(Prepared::new(csr, bytes, move |alpha, x, beta, y| {
        multiply(csr, &pieces, team, isa, Operands { alpha, x, beta }, y);
        Ok(())
    })
    .noting(format!("blocks of {shape}")))
}

/// The shape of a word of the list.
fn shape(word: &str) -> Shape {
    let (rows, cols) = word.split_once('x').expect("the list's words have one");
    Shape { rows: rows.parse().expect("a number"), cols: cols.parse().expect("a number") }
}

/// The listed shape in which the matrix is estimated to take the fewest bytes.
fn fewest_bytes<T: Scalar>(csr: &Csr<T>) -> Shape {
    let estimate = FillEstimate::of(csr, 0..csr.rows);
    let bytes = |shape: &Shape| {
        let places = estimate.of_shape(*shape) * csr.nnz() as f64;
        let per_place = size_of::<T>() as f64 + size_of::<u32>() as f64 / shape.area() as f64;
        places * per_place + (size_of::<u32>() * csr.rows.div_ceil(shape.rows)) as f64
    };
    let shapes = BLOCKS.iter().map(|word| shape(word));
    let fit = shapes.filter(|shape| shape.cols <= csr.cols.max(1));
    fit.min_by(|a, b| bytes(a).total_cmp(&bytes(b))).expect("some have one column")
}

/// Blocks of a shape for each piece of the rows.
pub fn pieces<T: Scalar>(
    csr: &Csr<T>,
    shapes: Vec<(Range<usize>, Shape)>,
) -> Result<Vec<RegisterBlocks<T>>, Unavailable> {
    let too_wide = |(_, shape): &&(_, Shape)| shape.cols > csr.cols && csr.nnz() > 0;
    if let Some((_, shape)) = shapes.iter().find(too_wide) {
        return Err(Unavailable(format!("blocks of {shape} in a matrix of {} columns", csr.cols)));
    }
    let of = |(rows, shape): &(Range<usize>, Shape)| block_offsets(csr, rows, *shape);
    let offsets: Vec<_> = shapes.iter().map(of).collect();
    let places = offsets
        .iter()
        .zip(&shapes)
        .map(|(offsets, (_, shape))| u64::from(offsets[offsets.len() - 1]) * shape.area() as u64);
    fill::check(places.sum(), csr.nnz())?;
    let blocks = shapes.into_iter().zip(offsets);
    Ok(blocks
        .map(|((rows, shape), offsets)| RegisterBlocks::new(csr, rows, shape, offsets))
        .collect())
}

/// y ← αAx + βy, a piece per thread.
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
        // SAFETY: the pieces' rows do not overlap.
        let y = unsafe { y.range(blocks.rows()) };
        isa.run(BlockRows { csr, blocks, operands, y });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dense blocks of `rows` × `cols` along the diagonal.
    fn blocks_of(rows: usize, cols: usize) -> Csr<f64> {
        let cell = |block: usize| (0..rows * cols).map(move |k| (block, k / cols, k % cols));
        let entry = |(block, i, j)| (block * rows + i, block * cols + j, 1.0);
        let triplets: Vec<_> = (0..24).flat_map(cell).map(entry).collect();
        Csr::from_triplets(24 * rows, 24 * cols, &triplets)
    }

    #[test]
    fn the_default_is_the_shape_of_dense_blocks() {
        for word in BLOCKS {
            let Shape { rows, cols } = shape(word);
            assert_eq!(fewest_bytes(&blocks_of(rows, cols)), shape(word));
        }
        let column: Vec<_> = (0..80).map(|row| (row, 0, 1.0)).collect();
        assert_eq!(fewest_bytes(&Csr::<f64>::from_triplets(80, 1, &column)), shape("8x1"));
        let full_rows: Vec<_> = (0..150).map(|k| (k / 3 * 4, k % 3, 1.0)).collect();
        let narrow = Csr::<f64>::from_triplets(200, 3, &full_rows);
        assert_eq!(fewest_bytes(&narrow), shape("2x1"), "1x4 would be less, but does not fit");
        let lone = Csr::<f64>::from_triplets(200, 8, &[(0, 0, 1.0)]);
        assert_eq!(fewest_bytes(&lone), shape("8x1"), "empty rows of blocks cost an offset");
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused_with_their_numbers() {
        let refused = |csr: &Csr<f64>, word| {
            let pieces = pieces(csr, vec![(0..csr.rows, shape(word))]);
            pieces.err().expect("refused").0
        };
        let scattered: Vec<_> = (0..80).map(|k| (k, k * 27 % 80, 1.0)).collect();
        let reason = refused(&Csr::from_triplets(80, 80, &scattered), "8x8");
        assert!(reason.starts_with("stores 24.0 times"), "{reason}");
        let narrow = Csr::from_triplets(1, 3, &[(0, 0, 1.0)]);
        assert_eq!(refused(&narrow, "4x4"), "blocks of 4x4 in a matrix of 3 columns");
    }
}
