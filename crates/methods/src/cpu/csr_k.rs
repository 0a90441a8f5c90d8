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
//! before the first product. That variant is `order=natural`, which keeps the order of the rows and only groups
//! them, on matrices that the program itself has reordered: `--order band-k --methods csr2:order=natural`. The
//! groups are then computed anew from the ordered rows.
//!
//! Memory: the pointer arrays. With `order=band-k` also the permuted matrix, the permuted x and y, and the permutation
//! and its inverse. Departures: SIMD, four rows at a time, which the authors leave to the compiler; and natural order
//! for matrices that are not square.

use std::borrow::Cow;

use super::placement::{place, spans_of};
use super::prelude::*;
use super::row_kernels::{WholeRows, prefetching_pays};
use super::rows::part;
use crate::formats::csr_k::{LARGE_SIZES, RowOrder, SMALL_SIZES};
use spmv_matrix::order::band_k::{BandK, Coarsening, SUPER_ROW, band_k, grouped};

/// The default number of super-rows in a super-super-row. The paper gives no size for CPUs.
const SUPER_SUPER_ROW: usize = 8;

pub const SRS: Parameter = Parameter {
    name: "srs",
    values: LARGE_SIZES,
    meaning: "the number of rows in a super-row; default 96",
};

pub const SSRS: Parameter = Parameter {
    name: "ssrs",
    values: SMALL_SIZES,
    meaning: "the number of super-rows in a super-super-row; default 8",
};

/// Returns an upper bound of the bytes of the pointer arrays and, with Band-k order, of either the ordering
/// or the permuted matrix and vectors, whichever is larger.
pub fn memory(extent: &Extent) -> u64 {
    let pointers = 16 * extent.rows;
    if extent.rows != extent.cols || extent.word("order") == Some("natural") {
        return pointers;
    }
    let small = extent.number("srs").is_some_and(|rows| rows < SUPER_ROW as u64);
    let ordering = match small || extent.word("coarsening") == Some("heavy-edge") {
        true => extent.ordering_in_small_groups(),
        false => extent.ordering(),
    };
    ordering.max(extent.csr() + extent.vectors()) + pointers
}

struct CsrK<'a, T: Scalar> {
    csr: Cow<'a, Csr<T>>,
    /// The pointer array of each level, `sr_ptr` first.
    pointers: Vec<Vec<u32>>,
    prefetch: bool,
}

pub fn prepare<'a, T: Scalar + Lanes, const K: usize>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
) -> Outcome<'a, T> {
    let sizes = [("srs", SUPER_ROW), ("ssrs", SUPER_SUPER_ROW)];
    let sizes = sizes.map(|(name, default)| request.number(name).unwrap_or(default));
    let sizes = &sizes[..K - 1];
    let note = match RowOrder::of(csr, request) {
        RowOrder::BandK(coarsening) => return Ok(permuted(csr, coarsening, sizes, request)),
        RowOrder::Natural(note) => note,
    };
    let (team, isa) = (request.team, request.isa);
    let matrix = CsrK::new(Cow::Borrowed(csr), grouped(csr.row_lengths(), sizes));
    Ok(multiplying(csr, matrix.pointer_bytes(), move |operands, y| {
        matrix.multiply(operands, y, team, isa);
    })
    .with_csr_bytes(csr.bytes())
    .with_added_note(note))
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
    .with_added_note(placed)
}

/// Calls `store` for each slot with the value at the slot's index in `from`. Scattering y instead would
/// save a vector, but several threads would write to the same cache lines.
fn gather<T: Scalar>(
    values: &[T],
    from: &[u32],
    slots: &mut [T],
    team: &Team,
    store: impl Fn(T, &mut T) + Sync,
) {
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
    fn new(csr: Cow<'a, Csr<T>>, pointers: Vec<Vec<u32>>) -> Self {
        let prefetch = prefetching_pays(&csr);
        Self { csr, pointers, prefetch }
    }

    fn pointer_bytes(&self) -> usize {
        self.pointers.iter().map(|level| size_of_val(&level[..])).sum()
    }

    /// Returns the first row of each super-row of a thread, and the end of its last super-row.
    fn share(&self, rank: usize, threads: usize) -> &[u32] {
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
        let bytes = |method: &Method, csr: &Csr<f64>, given| {
            prepared(method, csr, &team, given).extra_bytes.unwrap()
        };
        let diagonal = Csr::from_triplets(961, 961, &Vec::from_iter((0..961).map(|k| (k, k, 1.0))));
        let of_natural =
            |given| [csr2::METHOD, csr3::METHOD].map(|method| bytes(&method, &diagonal, given));
        let natural = [("order", "natural"), ("srs", "8"), ("ssrs", "4")];
        assert_eq!(of_natural(&natural), [4 * 122, 4 * (122 + 32)]);
        assert_eq!(of_natural(&natural[..1]), [4 * 12, 4 * (12 + 3)]);
        let fixed = csr.bytes() + 961 * (2 * 4 + 2 * 8);
        let coarsenings = [
            (Coarsening::Hand, [("coarsening", "hand")]),
            (Coarsening::HeavyEdge, [("coarsening", "heavy-edge")]),
        ];
        for (coarsening, given) in &coarsenings {
            let pointers = &band_k(&csr, *coarsening, &[SUPER_ROW]).levels[0];
            assert_eq!(bytes(&csr2::METHOD, &csr, given), fixed + 4 * pointers.len() as u64);
        }
    }

    #[test]
    fn a_note_reports_natural_order_if_the_matrix_is_not_square() {
        let csr = Csr::<f64>::from_triplets(2, 3, &[(1, 2, 1.0)]);
        let team = Team::floating(1);
        let note = |given| prepared(&csr2::METHOD, &csr, &team, given).note;
        assert_eq!(note(&[]).as_deref(), Some("natural order: 2 x 3 is not square"));
        assert_eq!(note(&[("order", "natural")]), None);
    }
}
