//! CSR5: Liu & Vinter, ICS'15, in its form for CPUs (their CSR5_avx2 and CSR5_avx512).
//!
//! The nonzeros are cut into tiles of ω × σ: ω lanes, those of the widest register, each with σ
//! consecutive nonzeros, stored column-major so that a register holds one nonzero of each lane. A
//! tile's descriptor says where rows start in it; its product is a segmented sum, of equal cost
//! whatever the rows. Every thread owns equally many consecutive tiles and the rows that start in
//! them. What its first row gets is a calibrator, which the leader adds to y afterwards, as it does
//! the tail: the nonzeros after the last whole tile, by rows.
//!
//! Memory: the tiles hold the matrix once more (the original rewrites CSR in place; ours belongs to
//! all methods), with a bit per nonzero and some 2ω + 8 bytes per tile.
//!
//! Departures: α and β; the cross-lane sum is a segmented scan in place of the original's difference
//! of prefix sums, whose error depends on other rows, and so needs no `scansum_offset`; the bit flags
//! lie step by step, as the masks that a step needs; rows are stored from a scalar loop over the
//! flags of several steps, mostly with no branch at each; y is scaled by β just ahead of the tiles
//! that add to it (the original's driver clears it outside the timed product).

mod check;
mod format;
mod kernel;

use format::Chunk;
use kernel::Tiles;

use super::rows::{Operands, Piece};
use crate::matrix::Csr;
use crate::method::{Code, Method, Operations, Parameter, Prepared, Request, Setup, Unavailable};
use crate::methods::debug_check;
use crate::scalar::{Precision, Scalar};
use crate::simd::{Isa, Lanes};
use crate::team::DisjointMut;

/// See the file's head.
pub const METHOD: Method = Method {
    name: "csr5",
    source: "Liu & Vinter, CSR5, ICS 2015",
    summary: "column-major tiles of lanes × σ nonzeros, segmented sums; rewrites the matrix at setup",
    parameters: &[Parameter {
        name: "sigma",
        values: &["4", "8", "12", "16"],
        meaning: "nonzeros per lane of a tile; 12 with AVX-512, otherwise 16",
    }],
    operations: Operations::Plain,
    setup: Setup::Conversion,
    memory: format::memory,
    code: Code::Cpu { parallel: true, f64: prepare, f32: prepare },
};

fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Result<Prepared<'a, T>, Unavailable> {
    let (team, threads, isa) = (request.team, request.team.len(), request.isa);
    let shape = Shape::new::<T>(isa, request.number("sigma"));
    let mut chunks: Vec<Chunk<T>> = (0..threads).map(|_| Chunk::default()).collect();
    let tiles = csr.nnz() / shape.nonzeros();
    team.run_with(&mut chunks, |rank, chunk| {
        let cut = |rank: usize| tiles * rank / threads;
        chunk.fill(csr, shape, cut(rank)..cut(rank + 1));
    });
    chunks[0].rows.start = 0;
    chunks[threads - 1].rows.end = csr.rows;
    debug_check(|| chunks.iter().try_for_each(|chunk| chunk.check(shape, csr.cols)));
    let tail = Tail::new(csr, tiles * shape.nonzeros());
    let extra_bytes = chunks.iter().map(Chunk::bytes).sum::<usize>() + size_of_val(&tail.rows[..]);
    Ok(Prepared::new(csr, extra_bytes, move |alpha, x, beta, y| {
        let operands = Operands { alpha, x, beta };
        let shared = DisjointMut::new(y);
        team.run_with(&mut chunks, |_, chunk| {
            // SAFETY: a row starts in one chunk.
            let y = unsafe { shared.range(chunk.rows.clone()) };
            chunk.calibrator = isa.run_wide(Tiles { chunk, shape, operands, y });
        });
        for chunk in chunks.iter().filter(|chunk| chunk.tiles() > 0) {
            y[chunk.first_row()] += alpha * chunk.calibrator;
        }
        for (row, range) in tail.pieces(csr) {
            y[row] += alpha * isa.run(Piece { csr, range, x });
        }
        Ok(())
    }))
}

/// The shape of a tile.
#[derive(Clone, Copy)]
struct Shape {
    /// ω: lanes of a register; 4, 8 or 16.
    lanes: usize,
    /// Nonzeros per lane, at most 16: the counts of a tile's rows fit bytes.
    sigma: usize,
}

impl Shape {
    /// Unless asked otherwise, the original's σ for its two instruction sets in f64; in f32, which it
    /// lacks, 16 measured best of those that fit.
    fn new<T: Scalar + Lanes>(isa: Isa, sigma: Option<usize>) -> Self {
        let default = match (isa, T::PRECISION) {
            (Isa::Avx512, Precision::F64) => 12,
            _ => 16,
        };
        Self { lanes: isa.wide_lanes::<T>(), sigma: sigma.unwrap_or(default) }
    }

    /// Nonzeros of a tile.
    fn nonzeros(self) -> usize {
        self.lanes * self.sigma
    }

    /// Words of 64 bits that hold a tile's flags.
    fn words(self) -> usize {
        self.nonzeros().div_ceil(u64::BITS as usize)
    }
}

/// The nonzeros after the last whole tile.
struct Tail {
    start: usize,
    /// The rows that have some.
    rows: Vec<u32>,
}

impl Tail {
    fn new<T>(csr: &Csr<T>, start: usize) -> Self {
        let first = csr.row_offsets.partition_point(|&offset| offset as usize <= start) - 1;
        let has_some = |&row: &usize| csr.row(row).end > start.max(csr.row(row).start);
        Self { start, rows: (first..csr.rows).filter(has_some).map(|row| row as u32).collect() }
    }

    fn pieces<T>(&self, csr: &Csr<T>) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        self.rows.iter().map(|&row| {
            let range = csr.row(row as usize);
            (row as usize, range.start.max(self.start)..range.end)
        })
    }
}
