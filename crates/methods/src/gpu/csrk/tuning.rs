//! The block shapes and the sizes of super-rows by mean row length and architecture: csr-k, section 4.1.
//!
//! The text assigns one thread to each row if rows have fewer than 8 nonzeros, but the list of cases does so up to 8.
//! This file follows the list, because its bounds also choose the sizes. Departures from the paper: the mean row length
//! counts as at least 1, and sizes are at least 1 (the formulas fall below 1 for a few hundred nonzeros per row).

use crate::device::Dim3;

/// The upper bounds of the cases, in nonzeros per row. The last case has none.
const BOUNDS: [f64; 3] = [8.0, 16.0, 32.0];

/// The case in which each row is processed by one thread.
pub const SERIAL: usize = 0;

/// Threads of a block by case: over rows × super-rows, or over lanes of a row × rows × super-rows.
pub const BLOCKS: [&str; 4] = ["8x12", "4x8x12", "8x8x8", "16x8x4"];

/// Returns the case of a mean row length.
pub fn case(row_length: f64) -> usize {
    BOUNDS.iter().filter(|&&bound| row_length > bound).count()
}

/// Parses the shape of a block; two numbers mean one lane per row.
pub fn shape(block: &str) -> Dim3 {
    let mut numbers: Vec<u32> =
        block.split('x').map(|word| word.parse().expect("its parts are numbers")).collect();
    if numbers.len() == 2 {
        numbers.insert(0, 1);
    }
    Dim3 { x: numbers[0], y: numbers[1], z: numbers[2] }
}

/// The sizes of super-rows and super-super-rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Rows in a super-row.
    pub srs: usize,
    /// Super-rows in a super-super-row.
    pub ssrs: usize,
}

/// The formula size = round(constant + slope · ln(mean row length)).
struct Formula {
    constant: f64,
    slope: f64,
}

/// How a case changes the sizes that the formulas yield.
struct Change {
    /// The factor of SSRS; the product is rounded.
    ssrs: f64,
    srs: NewSrs,
}

/// How the new SRS is computed: from the old SRS or from the new SSRS, times a factor.
enum NewSrs {
    Times(f64),
    TimesSsrs(f64),
}
use NewSrs::{Times, TimesSsrs};

/// The formulas and changes for an architecture.
struct Tuning {
    ssrs: Formula,
    srs: Formula,
    /// The changes by case.
    changes: [Change; 4],
}

const NO_CHANGE: Change = Change { ssrs: 1.0, srs: Times(1.0) };

const VOLTA: Tuning = Tuning {
    ssrs: Formula { constant: 8.9, slope: -1.25 },
    srs: Formula { constant: 10.146, slope: -1.5 },
    changes: [
        NO_CHANGE,
        Change { ssrs: 1.5, srs: Times(2.0) },
        Change { ssrs: 4.0, srs: TimesSsrs(0.5) },
        Change { ssrs: 5.0, srs: TimesSsrs(0.5) },
    ],
};

const AMPERE: Tuning = Tuning {
    ssrs: Formula { constant: 9.175, slope: -1.32 },
    srs: Formula { constant: 20.5, slope: -3.5 },
    changes: [
        NO_CHANGE,
        Change { ssrs: 1.0, srs: Times(4.0) },
        Change { ssrs: 2.5, srs: TimesSsrs(3.0) },
        Change { ssrs: 2.0, srs: TimesSsrs(2.0) },
    ],
};

/// Those of Ampere, because the paper measured no Hopper GPU. `spmv-bench tune csr-k --device gpu` fits new formulas.
const HOPPER: Tuning = AMPERE;

/// Returns the sizes for a mean row length, changed as in `case`, which may differ from the case of that length.
pub fn sizes(capability: (u32, u32), row_length: f64, case: usize) -> Sizes {
    let Tuning { ssrs, srs, changes } = match capability {
        (9.., _) => HOPPER,
        (8, _) => AMPERE,
        _ => VOLTA,
    };
    let change = &changes[case];
    let new_ssrs = rounded(ssrs.size(row_length) * change.ssrs);
    let new_srs = match change.srs {
        Times(factor) => srs.size(row_length) * factor,
        TimesSsrs(factor) => new_ssrs * factor,
    };
    Sizes { srs: rounded(new_srs) as usize, ssrs: new_ssrs as usize }
}

impl Formula {
    fn size(&self, row_length: f64) -> f64 {
        rounded(self.constant + self.slope * row_length.max(1.0).ln()).max(1.0)
    }
}

/// Rounds to the nearest integer, halves upwards.
fn rounded(size: f64) -> f64 {
    (size + 0.5).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    const V100: (u32, u32) = (7, 0);
    const A100: (u32, u32) = (8, 0);
    const H200: (u32, u32) = (9, 0);

    /// Returns SSRS and SRS in the case of the row length.
    fn by(capability: (u32, u32), row_length: f64) -> (usize, usize) {
        let Sizes { srs, ssrs } = sizes(capability, row_length, case(row_length));
        (ssrs, srs)
    }

    #[test]
    fn bounds_belong_to_the_case_below() {
        let lengths = [0.0, 7.9, 8.0, 8.01, 16.0, 16.01, 32.0, 32.01, 1e6];
        assert_eq!(lengths.map(case), [0, 0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn shapes_are_what_their_names_say() {
        assert_eq!(shape(BLOCKS[0]), Dim3 { x: 1, y: 8, z: 12 });
        assert_eq!(shape(BLOCKS[1]), Dim3 { x: 4, y: 8, z: 12 });
        assert_eq!(shape(BLOCKS[2]), Dim3 { x: 8, y: 8, z: 8 });
        assert_eq!(shape(BLOCKS[3]), Dim3 { x: 16, y: 8, z: 4 });
    }

    /// The lanes of a row are neighbours, and all rows of a warp belong to one super-row.
    #[test]
    fn lanes_fill_warps() {
        for Dim3 { x, y, .. } in BLOCKS[1..].iter().map(|block| shape(block)) {
            assert!(x.is_power_of_two() && x * y % 32 == 0);
        }
    }

    /// ln 5 = 1.609: 6.888 and 7.732; ln 10 = 2.303: 6.022 and 6.692; ln 20 = 2.996: 5.155;
    /// ln 50 = 3.912: 4.010.
    #[test]
    fn volta_by_case() {
        assert_eq!(by(V100, 5.0), (7, 8));
        assert_eq!(by(V100, 10.0), (9, 14));
        assert_eq!(by(V100, 20.0), (20, 10));
        assert_eq!(by(V100, 50.0), (20, 10));
    }

    /// The formulas yield 7.051 and 14.867; 6.136 and 12.441; 5.221, of which 12.5 is rounded up; 4.011.
    #[test]
    fn ampere_by_case() {
        assert_eq!(by(A100, 5.0), (7, 15));
        assert_eq!(by(A100, 10.0), (6, 48));
        assert_eq!(by(A100, 20.0), (13, 39));
        assert_eq!(by(A100, 50.0), (8, 16));
    }

    /// ln 8 = 2.079: 6.301, 7.027; 6.430, 13.222. ln 16 = 2.773: 5.434, of which 7.5 is rounded up,
    /// 5.987; 5.515, 10.796. ln 32 = 3.466: 4.568; 4.600.
    #[test]
    fn sizes_at_the_bounds_are_of_the_case_below() {
        assert_eq!([8.0, 16.0, 32.0].map(|r| by(V100, r)), [(6, 7), (8, 12), (20, 10)]);
        assert_eq!([8.0, 16.0, 32.0].map(|r| by(A100, r)), [(6, 13), (6, 44), (13, 39)]);
    }

    /// 20.5 is rounded up; for ln 10^4 = 9.2 all formulas are negative.
    #[test]
    fn very_short_and_very_long_rows_have_sizes() {
        for row_length in [0.0, 0.5, 1.0] {
            assert_eq!(by(V100, row_length), (9, 10));
            assert_eq!(by(A100, row_length), (9, 21));
        }
        assert_eq!((by(V100, 1e4), by(A100, 1e4)), ((5, 3), (2, 4)));
        assert_eq!(sizes(A100, 1e4, SERIAL), Sizes { srs: 1, ssrs: 1 });
    }

    /// With one thread per row, the sizes are those of the formulas for every mean row length.
    #[test]
    fn the_case_may_differ_from_that_of_the_row_length() {
        assert_eq!(sizes(V100, 20.0, SERIAL), Sizes { srs: 6, ssrs: 5 });
        assert_eq!(sizes(V100, 5.0, 1), Sizes { srs: 16, ssrs: 11 });
    }

    #[test]
    fn sizes_depend_on_the_architecture() {
        assert_eq!(by((7, 5), 5.0), by(V100, 5.0));
        assert_eq!(by((8, 9), 5.0), by(A100, 5.0));
        assert_eq!([H200, (10, 0), (12, 0)].map(|of| by(of, 5.0)), [by(A100, 5.0); 3]);
    }
}
