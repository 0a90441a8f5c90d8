//! Merge-based CSR: merge-spmv-sc16, Algorithms 2 and 3.
//!
//! The product is a merge of two lists: the row ends, and the indices 0, 1, … of the nonzeros. Each step of
//! the merge path consumes a nonzero or closes a row. The path of rows + nnz steps is cut into equal
//! pieces, one per thread, so neither long rows nor runs of empty rows cause imbalance. A thread finds the
//! ends of its piece by two binary searches and stores the rows that end in it. The sum of the last row,
//! which it does not close, is its carry-out. The leader adds the carries afterwards (fix-up). There is no
//! setup: search and fix-up are part of each product.
//!
//! Memory: a carry per thread, padded to a cache line. Departures: SIMD over four rows at a time, which the paper
//! deliberately omits but today's libraries use, and prefetching for matrices that the caches do not hold.
//! `as=published` leaves both out.

use super::prelude::*;
use super::row_kernels::{Piece, WholeRows, prefetching_pays};

pub const METHOD: Method = Method {
    name: "merge",
    source: "merge-spmv-sc16, Algorithms 2 and 3",
    summary: "one equal piece of the merge path per thread, no setup; SIMD, four rows at a time",
    parameters: &[Parameter {
        name: "as",
        values: &["published"],
        meaning: "scalar code without prefetching, as in the paper; default: SIMD, four rows at a time",
    }],
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

/// A point of the merge path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinate {
    /// The number of rows closed before this point.
    pub row: usize,
    /// The number of nonzeros consumed before this point.
    pub nonzero: usize,
}

/// The carry-out of a thread: the partial sum of the row that it did not close.
#[derive(Clone, Copy)]
pub struct Carry<T> {
    /// The row; the number of rows of the matrix if there is no such row.
    pub row: usize,
    /// The sum of the thread's nonzeros in this row.
    pub sum: T,
}

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let mut path = MergePath::new(csr, request);
    Ok(multiplying(csr, path.bytes(), move |operands, y| path.multiply(csr, operands, y)))
}

pub struct MergePath<'a, T> {
    team: &'a Team,
    /// The instructions of the product; `None` for scalar code as published.
    isa: Option<Isa>,
    carries: Vec<CachePadded<Carry<T>>>,
    prefetch: bool,
}

impl<'a, T: Scalar + Lanes> MergePath<'a, T> {
    pub fn new(csr: &Csr<T>, request: &Request<'a>) -> Self {
        let carry = CachePadded::new(Carry { row: csr.rows(), sum: T::zero() });
        let isa = request.word("as").is_none().then_some(request.isa);
        let (team, prefetch) = (request.team, prefetching_pays(csr));
        Self { team, isa, carries: vec![carry; team.len()], prefetch }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.carries[..])
    }

    pub fn multiply(&mut self, csr: &Csr<T>, operands: Operands<T>, y: &mut [T]) {
        let (threads, isa, prefetch) = (self.team.len(), self.isa, self.prefetch);
        let shared = DisjointMut::new(y);
        self.team.run_with(&mut self.carries, move |rank, carry| {
            let path = piece(csr, rank, threads);
            // SAFETY: each row is closed at one point of the path, so by one thread.
            let y = unsafe { shared.range(path.start.row..path.end.row) };
            let row = path.end.row;
            let sum = match isa {
                Some(isa) => consume(isa, csr, path, operands, y, prefetch),
                None => consume_scalar(csr, path, operands, y),
            };
            *carry = Carry { row, sum };
        });
        fix_up(self.carries.iter().map(|carry| &**carry), operands.alpha, y);
    }
}

/// Consumes a piece of the path: stores the rows that end in it to `y`, and returns the partial sum of the open row.
#[inline(always)]
pub fn consume<T: Scalar + Lanes>(
    isa: Isa,
    csr: &Csr<T>,
    Range { start, end }: Range<Coordinate>,
    operands: Operands<T>,
    y: &mut [T],
    prefetch: bool,
) -> T {
    let rows = start.row..end.row;
    isa.run(WholeRows { csr, rows, start: start.nonzero, operands, y, prefetch });
    let open = start.nonzero.max(csr.row_offsets()[end.row] as usize);
    isa.run(Piece { csr, range: open..end.nonzero, x: operands.x })
}

/// Does the same as Algorithm 2 of the paper: one nonzero after the other.
fn consume_scalar<T: Scalar>(
    csr: &Csr<T>,
    Range { start, end }: Range<Coordinate>,
    operands: Operands<T>,
    y: &mut [T],
) -> T {
    let sum_of = |range: Range<usize>| {
        let mut sum = T::zero();
        for (&value, &column) in csr.values()[range.clone()].iter().zip(&csr.column_indices()[range]) {
            sum += value * operands.x[column as usize];
        }
        sum
    };
    let mut nonzero = start.nonzero;
    for (y, &row_end) in y.iter_mut().zip(&csr.row_offsets()[start.row + 1..]) {
        operands.store(sum_of(nonzero..row_end as usize), y);
        nonzero = row_end as usize;
    }
    sum_of(nonzero..end.nonzero)
}

/// Adds the carries of all threads to y (fix-up). All rows have been stored before.
pub fn fix_up<'c, T: Scalar>(carries: impl IntoIterator<Item = &'c Carry<T>>, alpha: T, y: &mut [T]) {
    for carry in carries {
        if let Some(y) = y.get_mut(carry.row) {
            *y += alpha * carry.sum;
        }
    }
}

pub fn piece<T>(csr: &Csr<T>, rank: usize, threads: usize) -> Range<Coordinate> {
    let items = csr.rows() + csr.nnz();
    let items_per_thread = items.div_ceil(threads);
    let diagonal = |rank: usize| (items_per_thread * rank).min(items);
    let row_ends = &csr.row_offsets()[1..];
    let search = |rank| search(diagonal(rank), row_ends, csr.nnz());
    search(rank)..search(rank + 1)
}

/// Returns the point at which the path crosses a diagonal (Algorithm 3). If a row end equals the index of
/// the next nonzero, the row is closed before that nonzero is consumed.
pub fn search<O: Copy + Into<u64>>(diagonal: usize, row_ends: &[O], nnz: usize) -> Coordinate {
    let mut low = diagonal.saturating_sub(nnz);
    let mut high = diagonal.min(row_ends.len());
    while low < high {
        let pivot = (low + high) / 2;
        if row_ends[pivot].into() < (diagonal - pivot) as u64 {
            low = pivot + 1;
        } else {
            high = pivot;
        }
    }
    Coordinate { row: low, nonzero: diagonal - low }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every diagonal of paths with empty rows, as in Figure 8 of merge-spmv-sc16, with single steps.
    #[test]
    fn search_equals_a_walk_along_the_path() {
        for row_ends in [&[2u32, 2, 4, 8][..], &[0, 0, 3], &[5], &[]] {
            let nnz = row_ends.last().copied().unwrap_or(0) as usize;
            let mut at = Coordinate { row: 0, nonzero: 0 };
            for diagonal in 0..=row_ends.len() + nnz {
                assert_eq!(search(diagonal, row_ends, nnz), at, "{row_ends:?} at {diagonal}");
                if at.row < row_ends.len() && row_ends[at.row] as usize <= at.nonzero {
                    at.row += 1;
                } else {
                    at.nonzero += 1;
                }
            }
        }
    }
}
