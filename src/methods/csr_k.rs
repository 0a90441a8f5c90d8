//! What CSR-k's methods of CPUs and GPUs share: their parameters, and how the rows are ordered.
//! csr-k, sections 2.2 and 4.

use crate::matrix::Csr;
use crate::matrix::order::band_k::Coarsening;
use crate::method::{Parameter, Request};

/// How the rows are ordered.
pub const ORDER: Parameter = Parameter {
    name: "order",
    values: &["band-k", "natural"],
    meaning: "band-k: ordered in the setup, x permuted and y un-permuted in each product; natural: rows \
              as they come, the published variant after --order band-k; default band-k, for matrices \
              that are not square natural",
};

/// How Band-k makes graphs coarser.
pub const COARSENING: Parameter = Parameter {
    name: "coarsening",
    values: &["hand", "heavy-edge"],
    meaning: "of Band-k: hand, groups of consecutive rows as in the authors' programs, or heavy-edge, \
              repeated matching; default hand",
};

/// {2^i, 1.5·2^i}, i = 2 … 5: the sizes that the paper sweeps on GPUs.
pub const SMALL_SIZES: &[&str] = &["4", "6", "8", "12", "16", "24", "32", "48"];

/// The same for i = 3 … 11: the rows of a super-row that it sweeps in CSR-2, on CPUs.
pub const LARGE_SIZES: &[&str] = &[
    "8", "12", "16", "24", "32", "48", "64", "96", "128", "192", "256", "384", "512", "768",
    "1024", "1536", "2048", "3072",
];

/// The order that a matrix is to be brought into.
#[derive(Debug, PartialEq)]
pub enum RowOrder {
    /// Band-k.
    BandK(Coarsening),
    /// The one it has; and why, when nobody asked for that.
    Natural(Option<String>),
}

impl RowOrder {
    /// What the request says of the matrix.
    pub fn of<T>(csr: &Csr<T>, request: &Request) -> Self {
        let (rows, cols) = (csr.rows, csr.cols);
        match (request.word("order"), request.word("coarsening")) {
            (Some("natural"), _) => Self::Natural(None),
            _ if rows != cols => {
                Self::Natural(Some(format!("natural order: {rows} x {cols} is not square")))
            }
            (_, Some("heavy-edge")) => Self::BandK(Coarsening::HeavyEdge),
            _ => Self::BandK(Coarsening::Hand),
        }
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
}
