//! Tests how equally the work is divided among many threads. They compute the division only, so they need no cores.

use std::ops::Range;

use super::merge::piece;
use super::rows::{balanced, part, shares};
use crate::formats::entries_of;
use crate::formats::examples::of_lengths;
use crate::formats::strips::Strips;
use spmv_matrix::Csr;

/// The numbers of threads of large machines.
const MANY_THREADS: [usize; 2] = [64, 256];

/// Returns matrices with rows of equal and of random lengths, with one very long row, mostly empty, and with few rows.
fn matrices() -> Vec<(&'static str, Csr<f64>)> {
    let hash = |row: usize| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
    let of = |name, rows: usize, length: &dyn Fn(usize) -> usize| (name, of_lengths(20_000, (0..rows).map(length)));
    vec![
        of("equal", 20_000, &|_| 7),
        of("random", 20_000, &hash),
        of("one long row", 5_000, &|row| if row == 1234 { 20_000 } else { 3 }),
        of("nearly empty", 131_072, &|row| usize::from(row % 8192 == 5000)),
        of("few rows", 40, &|row| row * 100),
    ]
}

/// Asserts that the shares follow each other, contain all of `0..len`, and that none has more work than `most`.
fn check(what: &str, shares: &[Range<usize>], len: usize, work: impl Fn(&Range<usize>) -> usize, most: usize) {
    let mut end = 0;
    for share in shares {
        assert_eq!(share.start, end, "{what}");
        end = share.end;
        let work = work(share);
        assert!(work <= most, "{what}: {share:?} has {work} of at most {most}");
    }
    assert_eq!(end, len, "{what}");
}

fn longest(csr: &Csr<f64>) -> usize {
    csr.row_lengths().max().unwrap() as usize
}

/// `csr-rows`, `bcsr` and `oski-style`: at most an equal share of the rows and nonzeros, and one block row more.
#[test]
fn whole_rows_are_divided_by_rows_and_nonzeros() {
    for (name, csr) in matrices() {
        for (threads, step) in MANY_THREADS.into_iter().flat_map(|threads| [(threads, 1), (threads, 8)]) {
            let shares: Vec<_> = (0..threads).map(|rank| balanced(&csr, rank, threads, step)).collect();
            let work = |rows: &Range<usize>| rows.len() + entries_of(&csr, rows).len();
            let most = (csr.rows() + csr.nnz()).div_ceil(threads) + step * (longest(&csr) + 1);
            check(name, &shares, csr.rows(), work, most);
        }
    }
}

/// `merge`, `merge-numa`, `csc`: at most an equal share of the merge path, whatever the rows are.
#[test]
fn the_merge_path_is_divided_equally() {
    for (name, csr) in matrices() {
        for threads in MANY_THREADS {
            let items = csr.rows() + csr.nnz();
            let pieces = (0..threads).map(|rank| piece(&csr, rank, threads));
            let steps = pieces.map(|p| p.start.row + p.start.nonzero..p.end.row + p.end.nonzero);
            check(name, &steps.collect::<Vec<_>>(), items, Range::len, items.div_ceil(threads));
        }
    }
}

/// `coo` and `hyb` (nonzeros), `csr5` (tiles), `kokkos-style` and `dia` (rows), `csr2` and `csr3` (groups of rows):
/// equal numbers.
#[test]
fn equal_parts_differ_by_one_at_most() {
    for (threads, len) in MANY_THREADS.into_iter().flat_map(|threads| [0, 63, 1_000_003].map(|len| (threads, len))) {
        let parts: Vec<_> = (0..threads).map(|rank| part(len, rank, threads)).collect();
        check("part", &parts, len, Range::len, len.div_ceil(threads));
        assert!(parts.iter().all(|part| part.len() >= len / threads), "{len} on {threads}");
    }
}

/// `csb` and `packed` (tasks), `ell`, `hyb` and `sell` (strips): at most an equal share, and one task or strip more.
#[test]
fn tasks_and_strips_are_divided_by_their_work() {
    for (name, csr) in matrices() {
        for threads in MANY_THREADS {
            let sizes: Vec<_> = csr.row_lengths().map(|length| length as usize).collect();
            let work = |tasks: &Range<usize>| sizes[tasks.clone()].iter().sum();
            let most = csr.nnz().div_ceil(threads) + longest(&csr);
            check(name, &shares(&sizes, threads), sizes.len(), work, most);
            let Ok(strips) = Strips::sliced(&csr, 8, 256) else { continue };
            let offsets = strips.offsets();
            let work = |s: &Range<usize>| (offsets[s.end] - offsets[s.start]) as usize + s.len();
            let most = work(&(0..strips.len())).div_ceil(threads) + longest(&csr) + 1;
            check(name, &strips.shares(threads), strips.len(), work, most);
        }
    }
}
