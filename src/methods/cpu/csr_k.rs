//! What [`csr2`](super::csr2) and [`csr3`](super::csr3) share: csr-k, sections 2.2 and 4.2, Listing 1.
//!
//! CSR-k is CSR with k − 1 more arrays: `sr_ptr` says where each super-row begins in the rows, `ssr_ptr`
//! where each super-super-row begins in the super-rows. The rows are in Band-k order. Thread t owns an
//! equal number of consecutive outermost groups (OpenMP's static schedule); within them plain loops lead
//! down to the rows. Consecutive super-super-rows hold consecutive super-rows, so that their loop comes
//! down to its bounds.
//!
//! With `order=band-k` the whole cost is counted: ordering and permuting A in the setup, and in each
//! product x is permuted and y un-permuted. The published figures count neither:
//! there x and y are in Band-k order before the first product. That variant is `order=natural`, which
//! leaves the rows as they come and only groups them, on matrices that the program itself has brought
//! into the order: `--order band-k --methods csr2:order=natural`. There the groups are swept anew from the
//! ordered rows.
//!
//! Memory: the pointers; with Band-k order also the permuted matrix, x and y, and the permutation. Departures: α and β, SIMD within a row, which the authors leave to the compiler, and
//! natural order for matrices that are not square.

use std::borrow::Cow;

use anyhow::ensure;

use super::rows::{Operands, Prefetch, WholeRows, part, prefetch_for};
use crate::matrix::Csr;
use crate::matrix::order::band_k::{BandK, Coarsening, SUPER_ROW, band_k, grouped};
use crate::memory::extent::Extent;
use crate::method::{Parameter, Prepared, Request};
use crate::methods::csr_k::{LARGE_SIZES, RowOrder, SMALL_SIZES};
use crate::methods::debug_check;
use crate::scalar::Scalar;
use crate::simd::{Isa, Kernel, Lanes, Vector};
use crate::team::{DisjointMut, Team};

/// Super-rows in a super-super-row. The paper gives no size for CPUs.
const SUPER_SUPER_ROW: usize = 8;

/// Rows in a super-row.
pub const SRS: Parameter =
    Parameter { name: "srs", values: LARGE_SIZES, meaning: "rows in a super-row, default 96" };

/// Super-rows in a super-super-row; the paper sweeps these sizes on GPUs.
pub const SSRS: Parameter = Parameter {
    name: "ssrs",
    values: SMALL_SIZES,
    meaning: "super-rows in a super-super-row, default 8",
};

/// The pointers, and with Band-k order the order while it is found, or the permuted matrix.
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

/// A matrix in CSR-k.
struct CsrK<'a, T: Scalar> {
    csr: Cow<'a, Csr<T>>,
    /// Level by level, `sr_ptr` first.
    pointers: Vec<Vec<u32>>,
    prefetch: Prefetch,
}

/// Makes csr2 (k = 2) or csr3 ready.
pub fn prepare<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    request: &Request<'a>,
    k: usize,
) -> Prepared<'a, T> {
    let sizes = [("srs", SUPER_ROW), ("ssrs", SUPER_SUPER_ROW)];
    let sizes = sizes.map(|(name, default)| request.number(name).unwrap_or(default));
    let sizes = &sizes[..k - 1];
    match RowOrder::of(csr, request) {
        RowOrder::BandK(coarsening) => permuted_product(csr, coarsening, sizes, request),
        RowOrder::Natural(None) => natural_product(csr, sizes, request),
        RowOrder::Natural(Some(note)) => natural_product(csr, sizes, request).noting(note),
    }
}

/// Listing 1, where x and y are in the order of the rows.
fn natural_product<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    sizes: &[usize],
    request: &Request<'a>,
) -> Prepared<'a, T> {
    let (team, isa, prefetch) = (request.team, request.isa, prefetch_for(csr));
    let matrix =
        CsrK { csr: Cow::Borrowed(csr), pointers: grouped(csr.row_lengths(), sizes), prefetch };
    debug_check(|| matrix.check());
    Prepared::new(csr, matrix.pointer_bytes(), move |alpha, x, beta, y| {
        matrix.multiply(Operands { alpha, x, beta }, y, team, isa);
        Ok(())
    })
    .reading_csr(csr.bytes())
}

/// The same for a matrix that is brought into Band-k order, between x and y in natural order.
fn permuted_product<'a, T: Scalar + Lanes>(
    csr: &'a Csr<T>,
    coarsening: Coarsening,
    sizes: &[usize],
    request: &Request<'a>,
) -> Prepared<'a, T> {
    let (team, isa, prefetch) = (request.team, request.isa, prefetch_for(csr));
    let BandK { permutation, levels: pointers } = band_k(csr, coarsening, sizes);
    let matrix = CsrK { csr: Cow::Owned(csr.permuted(&permutation)), pointers, prefetch };
    debug_check(|| matrix.check());
    let (mut permuted_x, mut permuted_y) = (vec![T::zero(); csr.cols], vec![T::zero(); csr.rows]);
    let extra_bytes = matrix.pointer_bytes()
        + size_of_val(&matrix.csr.row_offsets[..])
        + size_of_val(&matrix.csr.column_indices[..])
        + size_of_val(&matrix.csr.values[..])
        + 2 * size_of_val(permutation.old())
        + 2 * size_of_val(&permuted_x[..]);
    Prepared::new(csr, extra_bytes, move |alpha, x, beta, y| {
        gather(x, permutation.old(), &mut permuted_x, team, |value, slot| *slot = value);
        let operands = Operands { alpha, x: &permuted_x, beta: T::zero() };
        matrix.multiply(operands, &mut permuted_y, team, isa);
        let scaled = Operands { alpha: T::one(), x: &[], beta };
        gather(&permuted_y, permutation.new_of_old(), y, team, |sum, y| scaled.store(sum, y));
        Ok(())
    })
}

/// Gives `store` for each position the value that `from` names, with its slot. Scattering y instead
/// would save a vector, but threads would write to the same cache lines.
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
            // SAFETY: `from` is a `Permutation`'s, which holds each number below its length once, and there are
            // as many values: `permuted` compared the lengths.
            store(unsafe { *values.get_unchecked(from as usize) }, slot);
        }
    });
}

impl<T: Scalar + Lanes> CsrK<'_, T> {
    /// Checks the invariants that the product relies on: MATRIX, the matrix is valid; POINTERS, the groups of a level
    /// follow each other from the first of the level below, or of the rows, to the last.
    ///
    /// # Errors
    /// The first invariant that does not hold, by its name.
    fn check(&self) -> anyhow::Result<()> {
        ensure!(self.csr.is_valid(), "MATRIX: not valid");
        let mut groups = self.csr.rows;
        for level in &self.pointers {
            let ends = (level.first(), level.last().map(|&end| end as usize));
            let right = ends == (Some(&0), Some(groups)) && level.is_sorted();
            ensure!(right, "POINTERS: {level:?} to {groups}");
            groups = level.len() - 1;
        }
        Ok(())
    }

    fn pointer_bytes(&self) -> usize {
        self.pointers.iter().map(|level| size_of_val(&level[..])).sum()
    }

    /// Where the super-rows of a thread begin in the rows, and its last one ends.
    fn share(&self, rank: usize, threads: usize) -> &[u32] {
        let outermost = self.pointers.last().expect("k is 2 at least");
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
            // SAFETY: `part` gives threads different outermost groups, which by POINTERS hold different rows.
            let y = unsafe { y.range(rows) };
            isa.run(SuperRows { csr, pointers, operands, y, prefetch });
        });
    }
}

/// The product of consecutive super-rows.
struct SuperRows<'t, T> {
    csr: &'t Csr<T>,
    /// Where they begin in the rows, and the last one ends.
    pointers: &'t [u32],
    operands: Operands<'t, T>,
    y: &'t mut [T],
    prefetch: Prefetch,
}

impl<T: Scalar> Kernel<T> for SuperRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<T>>(self) {
        let Self { csr, pointers, operands, y: mut rest, prefetch } = self;
        for bounds in pointers.windows(2) {
            let rows = bounds[0] as usize..bounds[1] as usize;
            let start = csr.row_offsets[rows.start] as usize;
            let y;
            (y, rest) = rest.split_at_mut(rows.len());
            WholeRows { csr, rows, start, operands, y, prefetch }.run::<V>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{csr2, csr3};
    use super::*;
    use crate::matrix::generate::Generator;
    use crate::method::Method;
    use crate::verify::Reference;

    fn prepared<'a>(
        method: &Method,
        csr: &'a Csr<f64>,
        team: &'a Team,
        given: &'a [(&'static str, &'static str)],
    ) -> Prepared<'a, f64> {
        let (alpha, beta, isa) = (1.5, -0.5, Isa::detect());
        let request = Request {
            team,
            isa,
            transpose: false,
            alpha,
            beta,
            expected_products: 1,
            profile: None,
            given,
        };
        method.prepare::<f64>().unwrap()(csr, &request).unwrap()
    }

    /// Many groups on each level, and more threads than super-super-rows.
    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
    fn every_order_coarsening_and_level_gives_the_product() {
        let csr = Generator::parse("grid2d,n=31,points=5").unwrap().generate().unwrap();
        let x: Vec<f64> = (0..csr.rows).map(|k| (k as f64).sin()).collect();
        let y0: Vec<f64> = (0..csr.rows).map(|k| (k as f64).cos()).collect();
        let reference = Reference::new(&csr, 1.5, &x, -0.5, &y0);
        let small = [("srs", "8"), ("ssrs", "4")];
        let orders = [&[][..], &[("order", "natural")], &[("coarsening", "heavy-edge")]];
        for threads in [1, 2, 3, 40] {
            let team = Team::floating(threads);
            for (method, order) in [csr2::METHOD, csr3::METHOD]
                .iter()
                .zip([&orders; 2])
                .flat_map(|(method, orders)| orders.iter().map(move |order| (method, order)))
            {
                let given = [&small, *order].concat();
                let mut product = prepared(method, &csr, &team, &given);
                for _ in 0..2 {
                    let mut y = y0.clone();
                    product.multiply(1.5, &x, -0.5, &mut y).unwrap();
                    let verdict = reference.judge(&y);
                    assert!(verdict.passes(), "{} {given:?} {}", method.name, verdict.describe());
                }
            }
        }
    }

    /// In natural order only the pointers are kept: 961 rows in 121 super-rows in 31 groups of 4.
    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
    fn memory_is_that_of_the_pointers_and_of_the_order() {
        let csr = Generator::parse("grid2d,n=31,points=5").unwrap().generate().unwrap();
        let diagonal: Vec<_> = (0..961).map(|k| (k, k, 1.0)).collect();
        let diagonal = Csr::from_triplets(961, 961, &diagonal);
        let team = Team::floating(2);
        let natural = [("order", "natural"), ("srs", "8"), ("ssrs", "4")];
        let bytes = |method: &Method, csr, given| prepared(method, csr, &team, given).extra_bytes;
        assert_eq!(bytes(&csr2::METHOD, &diagonal, &natural), Some(4 * 122));
        assert_eq!(bytes(&csr3::METHOD, &diagonal, &natural), Some(4 * (122 + 32)));
        let by_default = &natural[..1];
        assert_eq!(bytes(&csr2::METHOD, &diagonal, by_default), Some(4 * 12), "of 96 rows");
        assert_eq!(bytes(&csr3::METHOD, &diagonal, by_default), Some(4 * (12 + 3)), "8 of those");
        let matrix = 4 * 962 + 12 * csr.nnz() as u64;
        let order = 961 * (2 * 4 + 2 * 8);
        let pointers = 4 * 962 / 96;
        let kept = bytes(&csr2::METHOD, &csr, &[]).unwrap() - matrix - order;
        assert!((pointers - 4..pointers + 16).contains(&kept), "{kept} of {pointers}");
        let matched = &band_k(&csr, Coarsening::HeavyEdge, &[SUPER_ROW]).levels[0];
        let coarsening = [("coarsening", "heavy-edge")];
        let kept_matched = bytes(&csr2::METHOD, &csr, &coarsening).unwrap() - matrix - order;
        assert_eq!(kept_matched, 4 * matched.len() as u64);
        assert_ne!(kept_matched, kept, "the two cannot be told apart");
    }

    #[test]
    fn broken_pointers_are_named() {
        for pointers in [vec![vec![0, 4]], vec![vec![1, 5]], vec![vec![0, 3, 2, 5]], vec![vec![]]] {
            let csr = Cow::Owned(Csr::<f64>::from_triplets(5, 5, &[]));
            let matrix = CsrK { csr, pointers, prefetch: Prefetch::Nothing };
            assert!(matrix.check().unwrap_err().to_string().starts_with("POINTERS"));
        }
    }

    #[test]
    fn a_matrix_that_is_not_square_says_that_it_stays_in_its_order() {
        let csr = Csr::<f64>::from_triplets(2, 3, &[(1, 2, 1.0)]);
        let team = Team::floating(1);
        let note = |given| prepared(&csr2::METHOD, &csr, &team, given).note;
        assert_eq!(note(&[]).as_deref(), Some("natural order: 2 x 3 is not square"));
        assert_eq!(note(&[("order", "natural")]), None);
    }
}
