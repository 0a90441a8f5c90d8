//! Merge-based CSR for several NUMA nodes: merge-spmv-sc16, III-D.
//!
//! The inspector (setup) runs the merge-path search once, stores each thread's piece of the path, and
//! copies the values and column indices that the thread consumes to the thread's NUMA node. The executor is
//! [`merge`](super::merge) without the search. x and y are not moved.
//!
//! Memory: on several nodes, a second copy of the matrix, in pieces that are small CSR matrices; on one
//! node, only the ends of the pieces and the carries.
//!
//! Departures: the paper migrates the pages of the CSR arrays in place. Here all methods share these
//! arrays, and migration would change their times. Therefore each thread copies its piece, which allocates
//! new pages on its node at the first touch. It then migrates those pages that are on another node because
//! the memory was used before or because a thread on another node shares the page. A note reports how many
//! pages are on the right node. On one node nothing is copied.

use std::borrow::Cow;

use super::merge::{Carry, Coordinate, consume, fix_up, piece};
use super::placement::{place, spans_of};
use super::prelude::*;
use super::row_kernels::prefetching_pays;
use spmv_matrix::system;

pub const METHOD: Method = Method {
    name: "merge-numa",
    source: "merge-spmv-sc16, III-D",
    summary: "merge with the search in setup and each thread's nonzeros on its NUMA node",
    setup: Setup::Inspection,
    memory,
    ..Method::new(Code::Cpu { parallel: true, f64: prepare, f32: prepare })
};

/// Bounds the bytes of the copies, and of the addresses and nodes of their pages, on several nodes.
fn memory(extent: &Extent) -> u64 {
    let copied = system::nodes_of(&[]).is_some();
    if copied { extent.csr() + extent.csr() / 64 } else { 0 }
}

/// A thread's piece of the path.
struct Part<'a, T: Clone> {
    /// The matrix, or the thread's own copy of its rows and nonzeros.
    csr: Cow<'a, Csr<T>>,
    /// The ends of the piece as coordinates in `csr`.
    path: Range<Coordinate>,
    /// The rows that the piece closes, numbered in the whole matrix.
    rows: Range<usize>,
    carry: Carry<T>,
}

fn prepare<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let (team, threads, isa) = (request.team, request.team.len(), request.isa);
    let mut parts: Vec<CachePadded<_>> = (0..threads).map(|rank| Part::new(csr, rank, threads).into()).collect();
    if team.nodes().is_some() {
        team.run_with(&mut parts, |_, part| part.copy());
    }
    let placed = place(team, |rank| spans_of(&parts[rank].csr, 0..parts[rank].csr.nnz()));
    let note = placed.unwrap_or_else(|| "one NUMA node: only the search is moved to the setup".into());
    let extra_bytes = parts.iter().map(|part| part.bytes()).sum();
    let prefetch = prefetching_pays(csr);
    let product = move |operands: Operands<T>, y: &mut [T]| {
        let shared = DisjointMut::new(y);
        team.run_with(&mut parts, |_, part| {
            // SAFETY: each row is closed at one point of the path, so by one thread.
            let y = unsafe { shared.range(part.rows.clone()) };
            part.carry.sum = consume(isa, &part.csr, part.path.clone(), operands, y, prefetch);
        });
        fix_up(parts.iter().map(|part| &part.carry), operands.alpha, y);
    };
    Ok(multiplying(csr, extra_bytes, product).with_note(note))
}

impl<'a, T: Scalar> Part<'a, T> {
    fn new(csr: &'a Csr<T>, rank: usize, threads: usize) -> Self {
        let path = piece(csr, rank, threads);
        let carry = Carry { row: path.end.row, sum: T::zero() };
        let rows = path.start.row..path.end.row;
        Self { csr: Cow::Borrowed(csr), path, rows, carry }
    }

    /// Copies the piece. The thread that owns the piece must call this.
    fn copy(&mut self) {
        let copy = copy(&self.csr, &self.path);
        let end = Coordinate { row: self.rows.len(), nonzero: copy.nnz() };
        self.path = Coordinate { row: 0, nonzero: 0 }..end;
        self.csr = Cow::Owned(copy);
    }

    fn bytes(&self) -> usize {
        let copied = match &self.csr {
            Cow::Borrowed(_) => 0,
            Cow::Owned(csr) => csr.bytes() as usize,
        };
        size_of::<CachePadded<Self>>() + copied
    }
}

/// Copies a piece of the path to a matrix. Its last row is the row that the piece does not close.
fn copy<T: Scalar>(csr: &Csr<T>, path: &Range<Coordinate>) -> Csr<T> {
    let nonzeros = path.start.nonzero..path.end.nonzero;
    let (start, end) = (nonzeros.start as u32, nonzeros.end as u32);
    let offsets = &csr.row_offsets()[path.start.row..=path.end.row];
    let mut row_offsets: Vec<_> = offsets.iter().map(|o| o.clamp(&start, &end) - start).collect();
    row_offsets.push(end - start);
    let columns = csr.column_indices()[nonzeros.clone()].to_vec();
    let values = csr.values()[nonzeros].to_vec();
    // SAFETY: a piece of the path has a part of the nonzeros, in rows whose columns still ascend; its offsets begin
    // with 0, ascend and end with the number of these nonzeros.
    unsafe { Csr::new_unchecked(row_offsets.len() - 1, csr.cols(), row_offsets, columns, values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::Team;
    use spmv_matrix::verify::Reference;

    /// Checks the product of threads on these nodes and returns its note.
    fn note(nodes: Option<Vec<usize>>, threads: usize, triplets: &[(usize, usize, f64)]) -> String {
        let csr = Csr::<f64>::from_triplets(30, 300, triplets);
        let mut team = Team::floating(threads);
        if let Some(nodes) = nodes.clone() {
            team = team.on_nodes(nodes);
        }
        let request = Request { alpha: 2.0, beta: -1.0, ..Request::new(&team) };
        let x: Vec<f64> = (0..300).map(|k| (k as f64).sin()).collect();
        let y0 = [0.5; 30];
        let mut prepared = prepare(&csr, &request).unwrap();
        for _ in 0..2 {
            let mut y = y0;
            prepared.multiply(2.0, &x, -1.0, &mut y).unwrap();
            let verdict = Reference::new(&csr, 2.0, &x, -1.0, &y0).judge(&y);
            assert!(verdict.passes(), "{nodes:?} {threads} threads: {}", verdict.describe());
        }
        let copied = csr.nnz() * 12 + csr.rows() * 4;
        assert_eq!(prepared.extra_bytes.unwrap() as usize >= copied, nodes.is_some());
        prepared.notes.concat()
    }

    /// Tests pieces that end inside rows, at the ends of rows, in empty rows, and several within one row.
    #[test]
    #[cfg_attr(miri, ignore = "needs system calls that Miri does not support")]
    fn several_nodes_compute_the_same_product_as_one() {
        let long_row = (0..300).map(|col| (7, col, 0.1 + col as f64));
        let short = (9..25).flat_map(|row| (0..row % 5).map(move |k| (row, k * 7, row as f64)));
        let triplets: Vec<_> = long_row.chain(short).collect();
        for threads in 1..=7 {
            assert!(note(None, threads, &triplets).starts_with("one NUMA node"));
            // Node 1 need not exist and the system call may be forbidden: the copies are correct anyway.
            for nodes in [vec![0; threads], (0..threads).map(|rank| rank % 2).collect()] {
                let note = note(Some(nodes), threads, &triplets);
                assert!(note.contains("pages"), "{note}");
            }
        }
    }
}
