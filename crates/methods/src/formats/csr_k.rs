//! The parameters and the row order that the CSR-k methods of CPU and GPU share: csr-k, sections 2.2 and 4.

use std::borrow::Cow;

use crate::method::{Parameter, Request};
use spmv_matrix::Csr;
use spmv_matrix::order::band_k::{Coarsening, grouped};

pub const ORDER: Parameter = Parameter {
    name: "order",
    values: &["band-k", "natural"],
    meaning: "band-k: reorder the matrix in the setup, permute x and un-permute y in each product; natural: \
              keep the order of the rows, which after --order band-k (band-3, band-volta, band-ampere) is the \
              published variant; default band-k, or natural for matrices that are not square",
};

pub const COARSENING: Parameter = Parameter {
    name: "coarsening",
    values: &["hand", "heavy-edge"],
    meaning: "how Band-k coarsens the graph: hand groups consecutive rows in RCM order, \
              heavy-edge repeats matchings; default hand",
};

/// The group sizes that the paper sweeps on GPUs: {2^i, 1.5·2^i}, i = 2 … 5.
pub const SMALL_SIZES: &[&str] = &["4", "6", "8", "12", "16", "24", "32", "48"];

/// The numbers of rows per super-row that the paper sweeps for CSR-2 on CPUs: {2^i, 1.5·2^i}, i = 3 … 11.
pub const LARGE_SIZES: &[&str] = &[
    "8", "12", "16", "24", "32", "48", "64", "96", "128", "192", "256", "384", "512", "768", "1024", "1536", "2048",
    "3072",
];

#[derive(Debug, PartialEq)]
pub enum RowOrder {
    /// Band-k order, with this kind of coarsening.
    BandK(Coarsening),
    /// The natural order of the matrix, with the reason if the user did not request it.
    Natural(Option<String>),
}

impl RowOrder {
    pub fn of<T>(csr: &Csr<T>, request: &Request) -> Self {
        let (rows, cols) = (csr.rows(), csr.cols());
        match (request.word("order"), request.word("coarsening")) {
            (Some("natural"), _) => Self::Natural(None),
            _ if rows != cols => Self::Natural(Some(format!("natural order: {rows} x {cols} is not square"))),
            (_, Some("heavy-edge")) => Self::BandK(Coarsening::HeavyEdge),
            _ => Self::BandK(Coarsening::Hand),
        }
    }
}

/// Returns the groups of a matrix whose rows keep their order, as in [`grouped`]: those of the Band-k order that the
/// program has brought it into, if that has as many levels and no size is requested, otherwise groups of `sizes`.
pub fn groups<'a, T>(csr: &Csr<T>, request: &Request<'a>, sizes: &[usize]) -> Cow<'a, [Vec<u32>]> {
    let ends = request.groups.first().and_then(|finest| finest.last());
    let is_of_matrix = ends.is_some_and(|&rows| rows as usize == csr.rows());
    let is_sized = ["srs", "ssrs"].iter().any(|name| request.word(name).is_some());
    if is_of_matrix && request.groups.len() == sizes.len() && !is_sized {
        request.groups.into()
    } else {
        grouped(csr.row_lengths(), sizes).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two_and_those_halfway_to_the_next() {
        let of = |exponents: std::ops::RangeInclusive<u32>| {
            let sizes = exponents.flat_map(|i| [1 << i, 3 << (i - 1)]);
            sizes.map(|size: u32| size.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(SMALL_SIZES, of(2..=5));
        assert_eq!(LARGE_SIZES, of(3..=11));
    }

    #[test]
    fn the_groups_of_the_order_are_used_unless_sizes_are_requested_or_they_do_not_fit() {
        use crate::team::Team;
        let csr = Csr::<f64>::from_triplets(6, 6, &Vec::from_iter((0..6).map(|k| (k, k, 1.0))));
        let (team, own) = (Team::floating(1), vec![vec![0, 1, 6], vec![0, 2]]);
        let of = |groups, given, sizes: &[usize]| {
            let request = Request { groups, given, ..Request::new(&team) };
            super::groups(&csr, &request, sizes).into_owned()
        };
        assert_eq!(of(&own, &[], &[4, 2]), own);
        let [anew, rows] = [vec![vec![0, 4, 6], vec![0, 2]], vec![vec![0, 4, 6]]];
        assert_eq!(of(&own, &[("srs", "4")], &[4, 2]), anew);
        assert_eq!(of(&[], &[], &[4, 2]), anew);
        assert_eq!(of(&own, &[], &[4]), rows, "two levels are not one");
        assert_eq!(of(&[vec![0, 5], vec![0, 1]], &[], &[4, 2]), anew, "five rows are not six");
    }
}
