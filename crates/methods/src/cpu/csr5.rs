//! CSR5: Liu & Vinter, ICS'15, in its form for CPUs (their CSR5_avx2 and CSR5_avx512).
//!
//! The nonzeros are cut into tiles of ω × σ: ω is the number of lanes of the widest register, and each lane has σ
//! consecutive nonzeros. A tile is stored column-major, so a register loads one nonzero of each lane. The descriptor
//! of a tile contains where rows start in it. The product of a tile is a segmented sum, whose cost does not depend
//! on the rows. Every thread owns an equal number of consecutive tiles and the rows that start in them. The thread's
//! sum for the row in which its first tile starts is its calibrator, which the leader adds to y afterwards. The
//! leader also multiplies the tail, the nonzeros after the last whole tile, row by row.
//!
//! Memory: a second copy of the matrix in the tiles (the original rewrites CSR in place; here all methods share it),
//! and a bit per nonzero and about 2ω + 8 bytes per tile.
//!
//! Departures:
//! - α and β.
//! - The cross-lane sum is a segmented scan. The original uses differences of prefix sums, whose error depends on
//!   other rows. `scansum_offset` is therefore not needed.
//! - The bit flags are stored step by step, as the masks that each step needs.
//! - Rows are stored by a scalar loop over the flags of several steps, mostly without a branch at each step.
//! - y is scaled by β just before the tiles that add to it are multiplied, or by all threads first if many more rows
//!   start in the tiles of one thread than in those of others. The original's driver clears y outside the timed
//!   product.

pub mod format;
mod kernel;
pub mod shape;

use format::Chunk;
use kernel::Tiles;
use shape::Shape;

use super::prelude::*;
use super::row_kernels::Piece;
use super::rows::{part, scale_if, scales_first};

pub const METHOD: Method = Method {
    name: "csr5",
    source: "Liu & Vinter, CSR5, ICS 2015",
    summary: "column-major tiles of lanes × σ nonzeros, segmented sums; converts the matrix in setup",
    parameters: &[Parameter {
        name: "sigma",
        values: &["4", "8", "12", "16"],
        meaning: "nonzeros per lane of a tile; default 12 with AVX-512 in f64, otherwise 16",
    }],
    setup: Setup::Conversion,
    memory: format::memory,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, threads, isa) = (request.team, request.team.len(), request.isa);
    let shape = Shape::new::<T>(isa, request.number("sigma"));
    let mut chunks: Vec<CachePadded<Chunk<T>>> = (0..threads).map(|_| Default::default()).collect();
    let tiles = csr.nnz() / shape.nonzeros();
    team.run_with(&mut chunks, |rank, chunk| {
        chunk.fill(csr, shape, part(tiles, rank, threads));
    });
    chunks[0].rows.start = 0;
    chunks[threads - 1].rows.end = csr.rows();
    let first = scales_first(csr, chunks.iter().map(|chunk| chunk.rows.clone()));
    let tail = tiles * shape.nonzeros();
    let tail_rows = rows_from(csr, tail);
    let extra_bytes = chunks.iter().map(|chunk| chunk.bytes()).sum::<usize>() + size_of_val(&tail_rows[..]);
    Ok(multiplying(csr, extra_bytes, move |Operands { alpha, x, beta }, y| {
        let beta = scale_if(first, team, beta, y);
        let operands = Operands { alpha, x, beta };
        let shared = DisjointMut::new(y);
        team.run_with(&mut chunks, |_, chunk| {
            // SAFETY: each row starts in one chunk.
            let y = unsafe { shared.range(chunk.rows.clone()) };
            chunk.calibrator = isa.run_wide(Tiles { chunk, shape, operands, y });
        });
        for chunk in chunks.iter().filter(|chunk| chunk.tiles() > 0) {
            y[chunk.row(0)] += alpha * chunk.calibrator;
        }
        for row in tail_rows.iter().map(|&row| row as usize) {
            let range = csr.row(row).start.max(tail)..csr.row(row).end;
            y[row] += alpha * isa.run(Piece { csr, range, x });
        }
    }))
}

/// Returns the rows that have nonzeros from index `start` on.
fn rows_from<T>(csr: &Csr<T>, start: usize) -> Vec<u32> {
    let first = csr.row_offsets().partition_point(|&offset| offset as usize <= start) - 1;
    let has_some = |&row: &usize| csr.row(row).end > start.max(csr.row(row).start);
    (first..csr.rows()).filter(has_some).map(|row| row as u32).collect()
}
