//! The algorithm of [`csr2`](super::csr2) and [`csr3`](super::csr3): csr-k, sections 2.2 and 4.2, Listing 1.
//!
//! CSR-k is CSR with k − 1 additional arrays: `sr_ptr` contains the first row of each super-row, and `ssr_ptr` the
//! first super-row of each super-super-row. The rows are in Band-k order. Thread t owns an equal number of
//! consecutive outermost groups (OpenMP's static schedule). Inside them, plain loops run over the levels down to the
//! rows. Consecutive super-super-rows contain consecutive super-rows, so the outer loop reduces to computing the
//! bounds of the inner one.
//!
//! With `order=band-k` the whole cost is counted: ordering and permuting A in the setup, and permuting x and
//! un-permuting y in each product. The published figures count neither, because there x and y are in Band-k order
//! before the first product. That variant is `order=natural`, which keeps the order of the rows, on matrices that the
//! program itself has reordered: `--order band-k --methods csr2:order=natural` and `--order band-3 --methods
//! csr3:order=natural`. It has the groups of that order unless other sizes are requested.
//!
//! The paper has two rules for the sizes on CPUs: 96 rows for all matrices, the default, or the fastest of a list for
//! each matrix. `srs=tuned` (and `ssrs=tuned`) is the second one: the setup measures a few products with each size, in
//! the order of the rows with `order=natural`, and else in Band-k order with the default sizes, which it then computes
//! anew with the sizes found. As in the authors' code, the size of a group is that of the given number of rows of mean
//! length, so a group has fewer long rows or more short ones.
//!
//! Memory: the pointer arrays. With `order=band-k` also the permuted matrix, the permuted x and y, and the permutation
//! and its inverse. Departures: SIMD, four rows at a time, which the authors leave to the compiler; and natural order
//! for matrices that are not square.

use std::borrow::Cow;

use super::auto::fastest_products;
use super::placement::{place, spans_of};
use super::prelude::*;
use super::row_kernels::{WholeRows, prefetching_pays};
use super::rows::part;
use crate::formats::csr_k::{LARGE_SIZES, RowOrder, SMALL_SIZES, groups};
use spmv_matrix::order::band_k::{BandK, Coarsening, band_k, grouped};
use spmv_matrix::order::sizes;

/// The word for the size with which products are the fastest.
const TUNED: &str = "tuned";
static LARGE_OR_TUNED: [&str; 19] = or_tuned(LARGE_SIZES);
static SMALL_OR_TUNED: [&str; 9] = or_tuned(SMALL_SIZES);

const fn or_tuned<const N: usize>(sizes: &[&'static str]) -> [&'static str; N] {
    let mut words = [TUNED; N];
    let mut k = 0;
    while k < sizes.len() {
        words[k] = sizes[k];
        k += 1;
    }
    words
}

pub const SRS: Parameter = Parameter {
    name: "srs",
    values: &LARGE_OR_TUNED,
    meaning: "the number of rows in a super-row, or tuned: the fastest of the others; default 96",
};

pub const SSRS: Parameter = Parameter {
    name: "ssrs",
    values: &SMALL_OR_TUNED,
    meaning: "the number of super-rows in a super-super-row, or tuned: the fastest of the others; default 8",
};

/// Returns an upper bound of the bytes of the pointer arrays and, with Band-k order, of either the ordering
/// or the permuted matrix and vectors, whichever is larger.
pub fn memory(extent: &Extent) -> u64 {
    // Sizes are searched with an x and a y, beside the matrix in the order of the rows or of Band-k.
    let is_tuned = [SRS, SSRS].iter().any(|size| extent.word(size.name) == Some(TUNED));
    let pointers = 16 * extent.rows + if is_tuned { extent.vectors() } else { 0 };
    if extent.rows != extent.cols || extent.word("order") == Some("natural") {
        return pointers;
    }
    let is_small = |word: &str| word == TUNED || word.parse().is_ok_and(|rows: usize| rows < sizes::CPU[0]);
    let small = extent.word("srs").is_some_and(is_small);
    let ordering = if small || extent.word("coarsening") == Some("heavy-edge") {
        extent.ordering_in_small_groups()
    } else {
        extent.ordering()
    };
    ordering.max(extent.csr() + extent.vectors()) + pointers
}

pub struct CsrK<'a, T: Scalar> {
    csr: Cow<'a, Csr<T>>,
    /// The pointer array of each level, `sr_ptr` first.
    pointers: Vec<Vec<u32>>,
    prefetch: bool,
}

pub fn prepare<'a, T: Scalar + Lanes, const K: usize>(csr: &'a Csr<T>, request: &Request<'a>) -> Outcome<'a, T> {
    let lists = &sizes_to_try(request)[..K - 1];
    let order = RowOrder::of(csr, request);
    let (sizes, tuned) = match &order {
        RowOrder::BandK(coarsening) if lists.iter().any(|sizes| sizes.len() > 1) => {
            let BandK { permutation, .. } = band_k(csr, *coarsening, &sizes::CPU[..K - 1]);
            fastest_sizes(&csr.permuted(&permutation), lists, request)
        }
        _ => fastest_sizes(csr, lists, request),
    };
    let prepared = match order {
        RowOrder::BandK(coarsening) => permuted(csr, coarsening, &sizes, request),
        RowOrder::Natural(note) => in_order(csr, groups(csr, request, &sizes).into_owned(), request).with_notes(note),
    };
    Ok(prepared.with_notes(tuned))
}

/// Returns the rows of a super-row and the super-rows of a super-super-row to choose from.
fn sizes_to_try(request: &Request) -> [Vec<usize>; 2] {
    let parameters = [(SRS, sizes::CPU[0]), (SSRS, sizes::CPU[1])];
    parameters.map(|(parameter, default)| match request.word(parameter.name) {
        Some(TUNED) => parameter.values.iter().filter_map(|size| size.parse().ok()).collect(),
        _ => vec![request.number(parameter.name).unwrap_or(default)],
    })
}

/// Returns the sizes, one of each list, with which the product in the order of the rows is the fastest, and a note with
/// them if there is a choice.
fn fastest_sizes<T: Scalar + Lanes>(
    csr: &Csr<T>,
    lists: &[Vec<usize>],
    request: &Request,
) -> (Vec<usize>, Option<String>) {
    let last = lists.get(1).map_or(&[][..], |list| list);
    let longer = |&size: &usize| match last {
        [] => vec![vec![size]],
        _ => last.iter().map(|&outer| vec![size, outer]).collect(),
    };
    let all: Vec<_> = lists[0].iter().flat_map(longer).collect();
    if all.len() == 1 {
        return (all[0].clone(), None);
    }
    let x = vec![T::one(); csr.cols()];
    let time = |sizes: &Vec<usize>| {
        let mut prepared = in_order(csr, grouped(csr.row_lengths(), sizes), request);
        fastest_products([&mut prepared], &x, csr.rows(), request.now)[0]
    };
    let timed = all.iter().map(|sizes| (time(sizes), sizes));
    let (_, fastest) = timed.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are sizes");
    let words: Vec<_> = fastest.iter().map(usize::to_string).collect();
    (fastest.clone(), Some(format!("tuned to groups of {}", words.join(" x "))))
}

/// Prepares the product in the order of the rows, with these groups.
fn in_order<'a, T: Scalar + Lanes>(csr: &'a Csr<T>, groups: Vec<Vec<u32>>, request: &Request<'a>) -> Prepared<'a, T> {
    let (team, isa) = (request.team, request.isa);
    let matrix = CsrK::new(Cow::Borrowed(csr), groups);
    multiplying(csr, matrix.pointer_bytes(), move |operands, y| {
        matrix.multiply(operands, y, team, isa);
    })
    .with_csr_bytes(csr.bytes())
}

/// Prepares the product in Band-k order: each product permutes x, computes Listing 1, and un-permutes y.
fn permuted<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    coarsening: Coarsening,
    sizes: &[usize],
    request: &Request<'a>,
) -> Prepared<'a, T> {
    let (team, isa) = (request.team, request.isa);
    let BandK { permutation, levels } = band_k(csr, coarsening, sizes);
    let matrix = CsrK::new(Cow::Owned(csr.permuted(&permutation)), levels);
    let placed = place(team, |rank| {
        let pointers = matrix.share(rank, team.len());
        let offset = |row: u32| matrix.csr.row_offsets()[row as usize] as usize;
        spans_of(&matrix.csr, offset(pointers[0])..offset(pointers[pointers.len() - 1]))
    });
    let mut permuted_x = vec![T::zero(); csr.cols()];
    let mut permuted_y = vec![T::zero(); csr.rows()];
    let permutations = 2 * size_of_val(permutation.old());
    let vectors = 2 * size_of_val(&permuted_x[..]);
    let extra_bytes = matrix.pointer_bytes() + csr.bytes() as usize + permutations + vectors;
    multiplying(csr, extra_bytes, move |Operands { alpha, x, beta }, y| {
        gather(x, permutation.old(), &mut permuted_x, team, |value, slot| *slot = value);
        let operands = Operands { alpha, x: &permuted_x, beta: T::zero() };
        matrix.multiply(operands, &mut permuted_y, team, isa);
        let scaled = Operands { alpha: T::one(), x: &[], beta };
        gather(&permuted_y, permutation.new_of_old(), y, team, |sum, y| scaled.store(sum, y));
    })
    .with_notes(placed)
}

/// Calls `store` for each slot with the value at the slot's index in `from`. Scattering y instead would
/// save a vector, but several threads would write to the same cache lines.
fn gather<T: Scalar>(values: &[T], from: &[u32], slots: &mut [T], team: &Team, store: impl Fn(T, &mut T) + Sync) {
    let (slots, threads) = (DisjointMut::new(slots), team.len());
    team.run(|rank| {
        let share = part(from.len(), rank, threads);
        // SAFETY: the shares of different threads do not overlap.
        let slots = unsafe { slots.range(share.clone()) };
        for (slot, &from) in slots.iter_mut().zip(&from[share]) {
            // SAFETY: `from` is part of a `Permutation`, which contains each number below its length once,
            // and there are as many values: `permuted` compared the lengths.
            store(unsafe { *values.get_unchecked(from as usize) }, slot);
        }
    });
}

impl<'a, T: Scalar + Lanes> CsrK<'a, T> {
    pub fn new(csr: Cow<'a, Csr<T>>, pointers: Vec<Vec<u32>>) -> Self {
        let prefetch = prefetching_pays(&csr);
        Self { csr, pointers, prefetch }
    }

    fn pointer_bytes(&self) -> usize {
        self.pointers.iter().map(|level| size_of_val(&level[..])).sum()
    }

    /// Returns the first row of each super-row of a thread, and the end of its last super-row.
    pub fn share(&self, rank: usize, threads: usize) -> &[u32] {
        let outermost = self.pointers.last().expect("k is at least 2");
        let mut groups = part(outermost.len() - 1, rank, threads);
        for pointers in self.pointers[1..].iter().rev() {
            groups = pointers[groups.start] as usize..pointers[groups.end] as usize;
        }
        &self.pointers[0][groups.start..=groups.end]
    }

    fn multiply(&self, operands: Operands<T>, y: &mut [T], team: &Team, isa: Isa) {
        let (csr, prefetch, threads) = (&*self.csr, self.prefetch, team.len());
        let y = DisjointMut::new(y);
        team.run(|rank| {
            let pointers = self.share(rank, threads);
            let rows = pointers[0] as usize..pointers[pointers.len() - 1] as usize;
            // SAFETY: `part` assigns different outermost groups to different threads, which contain different rows.
            let y = unsafe { y.range(rows) };
            isa.run(SuperRows { csr, pointers, operands, y, prefetch });
        });
    }
}

struct SuperRows<'t, T> {
    csr: &'t Csr<T>,
    /// The first row of each super-row, and the end of the last one.
    pointers: &'t [u32],
    operands: Operands<'t, T>,
    y: &'t mut [T],
    prefetch: bool,
}

impl<T: Scalar> Kernel<T> for SuperRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        let Self { csr, pointers, operands, y: mut rest, prefetch } = self;
        for bounds in pointers.windows(2) {
            let rows = bounds[0] as usize..bounds[1] as usize;
            let start = csr.row_offsets()[rows.start] as usize;
            let y = rest.split_off_mut(..rows.len()).expect("y has all rows");
            WholeRows { csr, rows, start, operands, y, prefetch }.run::<V>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{csr2, csr3};
    use super::*;
    use crate::method::Method;
    use spmv_matrix::generate::Generator;

    fn prepared<'a>(
        method: &Method,
        csr: &'a Csr<f64>,
        team: &'a Team,
        given: &'a [(&'static str, &'static str)],
    ) -> Prepared<'a, f64> {
        let request = Request { given, ..Request::new(team) };
        method.prepare_on_host(csr, &request).unwrap()
    }

    /// In natural order only the pointer arrays are stored: 961 rows in 121 super-rows in 31 groups of 4. By default
    /// super-rows have 96 rows, and super-super-rows 8 super-rows.
    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in Miri")]
    fn memory_is_that_of_the_pointers_and_of_the_permuted_matrix() {
        let csr = Generator::parse("grid2d,n=31,points=5").unwrap().generate().unwrap();
        let team = Team::floating(2);
        let bytes = |method: &Method, csr: &Csr<f64>, given| prepared(method, csr, &team, given).extra_bytes.unwrap();
        let diagonal = Csr::from_triplets(961, 961, &Vec::from_iter((0..961).map(|k| (k, k, 1.0))));
        let of_natural = |given| [csr2::METHOD, csr3::METHOD].map(|method| bytes(&method, &diagonal, given));
        let natural = [("order", "natural"), ("srs", "8"), ("ssrs", "4")];
        assert_eq!(of_natural(&natural), [4 * 122, 4 * (122 + 32)]);
        assert_eq!(of_natural(&natural[..1]), [4 * 12, 4 * (12 + 3)]);
        let fixed = csr.bytes() + 961 * (2 * 4 + 2 * 8);
        let coarsenings = [
            (Coarsening::Hand, [("coarsening", "hand")]),
            (Coarsening::HeavyEdge, [("coarsening", "heavy-edge")]),
        ];
        for (coarsening, given) in &coarsenings {
            let pointers = &band_k(&csr, *coarsening, &sizes::CPU[..1]).levels[0];
            assert_eq!(bytes(&csr2::METHOD, &csr, given), fixed + 4 * pointers.len() as u64);
        }
    }

    #[test]
    fn a_note_reports_natural_order_if_the_matrix_is_not_square() {
        let csr = Csr::<f64>::from_triplets(2, 3, &[(1, 2, 1.0)]);
        let team = Team::floating(1);
        let note = |given| prepared(&csr2::METHOD, &csr, &team, given).notes;
        assert_eq!(note(&[]), ["natural order: 2 x 3 is not square"]);
        assert!(note(&[("order", "natural")]).is_empty());
    }
}
