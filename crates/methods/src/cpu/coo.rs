//! COO: every nonzero with its row and column, sorted by row.
//!
//! Each thread owns an equal number of consecutive nonzeros, its piece. It scales the y of the rows that begin in its
//! piece and adds their products. The sum of a row that began in an earlier piece is the thread's carry, which the
//! leader adds afterwards. If many more rows begin in one piece than in others, all threads scale y first. Transposed,
//! y is scaled first, then each product is added to the y of its column, atomically if there is more than one thread.
//!
//! Memory: a row index per nonzero (columns and values are those of CSR), and a carry per thread.
//! Departure: SIMD within the nonzeros of a row.

use super::atomic::{AtomicAdd, SharedSums};
use super::placement::{place, span};
use super::prelude::*;
use super::row_kernels::{Entries, dot};
use super::rows::{part, scale, scale_if, scale_on, scales_first};
use crate::formats::coordinates::row_indices;

pub const METHOD: Method = Method {
    name: "coo",
    source: "Bell & Garland 2009, COO, on threads",
    summary: "nonzeros with row indices, split evenly; transposed with atomic additions",
    operations: Operations::Both,
    setup: Setup::Conversion,
    memory: |extent| 3 * extent.indices(),
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

fn prepare<'a, T: AtomicAdd + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let team = request.team;
    let row_indices = row_indices(csr.row_offsets());
    let bytes = size_of_val(&row_indices[..]);
    let owned = |rank| vec![span(&row_indices[part(csr.nnz(), rank, team.len())])];
    let placed = place(team, owned);
    if request.transpose {
        let product = move |Operands { alpha, x, beta }: Operands<T>, y: &mut [T]| {
            scale_on(team, beta, y);
            let (threads, y) = (team.len(), SharedSums::new(team, y));
            team.run(|rank| {
                let piece = part(csr.nnz(), rank, threads);
                scatter(csr, rows_of(&row_indices, piece), alpha, x, &y);
            });
        };
        return Ok(multiplying(csr, bytes, product)
            .transposing(true)
            .with_csr_bytes(csr.entry_bytes())
            .with_notes(placed));
    }
    let mut carries = Carries::new(request);
    let begun = (0..team.len()).map(|rank| rows_begun(&row_indices, csr.rows(), rank, team.len()));
    let first = scales_first(csr, begun);
    Ok(multiplying(csr, bytes + carries.bytes(), move |operands, y| {
        let beta = scale_if(first, team, operands.beta, y);
        carries.add_product(&row_indices, Entries::of(csr), Operands { beta, ..operands }, y);
    })
    .with_csr_bytes(csr.entry_bytes())
    .with_notes(placed))
}

/// Computes y += αAᵀx for some rows of A, or pieces of them.
fn scatter<T: AtomicAdd>(
    csr: &Csr<T>,
    rows: impl Iterator<Item = (usize, Range<usize>)>,
    alpha: T,
    x: &[T],
    y: &SharedSums<T>,
) {
    for (row, entries) in rows {
        let factor = alpha * x[row];
        let values = &csr.values()[entries.clone()];
        for (&column, &value) in csr.column_indices()[entries].iter().zip(values) {
            // SAFETY: in a valid matrix every column index is within y.
            unsafe { y.add(column as usize, value * factor) };
        }
    }
}

/// Returns the rows of a piece of the entries, each with its entries in this piece.
#[inline(always)]
fn rows_of(row_indices: &[u32], piece: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    let Range { mut start, end } = piece;
    std::iter::from_fn(move || {
        let rest = &row_indices[start..end];
        let row = *rest.first()?;
        let entries = start..start + rest.iter().take_while(|&&other| other == row).count();
        start = entries.end;
        Some((row as usize, entries))
    })
}

/// Returns the rows that begin in the piece of thread `rank`, which writes them.
pub fn rows_begun(row_indices: &[u32], rows: usize, rank: usize, threads: usize) -> Range<usize> {
    let piece = part(row_indices.len(), rank, threads);
    let first_row_from = |entry: usize| if entry == 0 { 0 } else { row_indices[entry - 1] as usize + 1 };
    let end = if rank + 1 == threads { rows } else { first_row_from(piece.end) };
    first_row_from(piece.start)..end
}

/// The carry of each thread: the sum of the row that began before the thread's piece.
pub struct Carries<'a, T> {
    team: &'a Team,
    isa: Isa,
    carries: Vec<CachePadded<T>>,
}

impl<'a, T: Scalar + Lanes> Carries<'a, T> {
    pub fn new(request: &Request<'a>) -> Self {
        let (team, isa) = (request.team, request.isa);
        Self { team, isa, carries: vec![T::zero().into(); team.len()] }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.carries[..])
    }

    /// Adds the product of entries in ascending order of their rows to βy.
    pub fn add_product(&mut self, row_indices: &[u32], entries: Entries<T>, operands: Operands<T>, y: &mut [T]) {
        let (rows, nnz, threads, isa) = (y.len(), row_indices.len(), self.team.len(), self.isa);
        let shared = DisjointMut::new(y);
        self.team.run_with(&mut self.carries, |rank, carry| {
            let piece = part(nnz, rank, threads);
            let begun = rows_begun(row_indices, rows, rank, threads);
            let first_row = begun.start;
            // SAFETY: each row begins in one piece; rows after all entries belong to the last thread.
            let y = unsafe { shared.range(begun) };
            scale(operands.beta, y);
            *carry = isa.run(Rows { row_indices, entries, piece, first_row, operands, y });
        });
        for rank in 1..threads {
            let start = part(nnz, rank, threads).start;
            if start > 0 {
                y[row_indices[start - 1] as usize] += operands.alpha * *self.carries[rank];
            }
        }
    }
}

/// The kernel for a piece: adds the products to the rows from `first_row` on, whose y is given, and returns
/// the sum of the row before them.
struct Rows<'a, T> {
    row_indices: &'a [u32],
    entries: Entries<'a, T>,
    piece: Range<usize>,
    first_row: usize,
    operands: Operands<'a, T>,
    y: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for Rows<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run<V: Vector<T>>(self) -> T {
        let Self { row_indices, entries, piece, first_row, operands, y } = self;
        let mut carry = T::zero();
        for (row, of_row) in rows_of(row_indices, piece) {
            // SAFETY: the entries are those of a matrix, whose columns are within x.
            let sum = unsafe { dot::<T, V>(entries, of_row, operands.x) };
            match row.checked_sub(first_row) {
                Some(index) => y[index] += operands.alpha * sum,
                None => carry = sum,
            }
        }
        carry
    }
}
