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

/// Returns the rows of a super-row and the super-rows of a super-super-row for a mean row length, changed as in `case`, which may differ from the case of that length. The paper
/// measured Volta and Ampere. GPUs after Ampere have its sizes; `spmv-bench tune csr-k --device gpu` fits new formulas.
pub fn sizes(capability: (u32, u32), row_length: f64, case: usize) -> [usize; 2] {
    let size =
        |constant: f64, slope: f64| rounded(constant + slope * row_length.max(1.0).ln()).max(1.0);
    let is_volta = capability.0 < 8;
    let [srs, ssrs] = match is_volta {
        true => [size(10.146, -1.5), size(8.9, -1.25)],
        false => [size(20.5, -3.5), size(9.175, -1.32)],
    };
    let sizes = match (is_volta, case) {
        (_, SERIAL) => [srs, ssrs],
        (true, 1) => [2.0 * srs, 1.5 * ssrs],
        (true, 2) => [0.5 * rounded(4.0 * ssrs), 4.0 * ssrs],
        (true, _) => [0.5 * rounded(5.0 * ssrs), 5.0 * ssrs],
        (false, 1) => [4.0 * srs, ssrs],
        (false, 2) => [3.0 * rounded(2.5 * ssrs), 2.5 * ssrs],
        (false, _) => [2.0 * rounded(2.0 * ssrs), 2.0 * ssrs],
    };
    sizes.map(|size| rounded(size) as usize)
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

    #[test]
    fn bounds_belong_to_the_case_below() {
        let lengths = [0.0, 7.9, 8.0, 8.01, 16.0, 16.01, 32.0, 32.01, 1e6];
        assert_eq!(lengths.map(case), [0, 0, 0, 1, 1, 2, 2, 3, 3]);
    }

    /// The lanes of a row are neighbours, and all rows of a warp belong to one super-row.
    #[test]
    fn shapes_are_what_their_names_say_and_lanes_fill_warps() {
        let shapes = BLOCKS.map(shape).map(|Dim3 { x, y, z }| [x, y, z]);
        assert_eq!(shapes, [[1, 8, 12], [4, 8, 12], [8, 8, 8], [16, 8, 4]]);
        assert!(shapes[1..].iter().all(|[x, y, _]| x.is_power_of_two() && x * y % 32 == 0));
    }

    /// SSRS and SRS by mean row length. The formulas of Volta yield 6.888 and 7.732 for 5; 6.301, 7.027 for 8; 6.022,
    /// 6.692 for 10; 5.434, of which 7.5 is rounded up, 5.987 for 16; 5.155 for 20; 4.568 for 32; 4.010 for 50. Those of
    /// Ampere: 7.051, 14.867; 6.430, 13.222; 6.136, 12.441; 5.515, 10.796; 5.221, of which 12.5 is rounded up; 4.600;
    /// 4.011. For a length of at most 1, 20.5 is rounded up; for 10^4 all formulas are negative.
    #[test]
    fn sizes_by_architecture_and_row_length() {
        let lengths = [0.0, 1.0, 5.0, 8.0, 10.0, 16.0, 20.0, 32.0, 50.0, 1e4];
        let by = |capability| {
            lengths.map(|row_length| {
                let [srs, ssrs] = sizes(capability, row_length, case(row_length));
                (ssrs, srs)
            })
        };
        let [short, of_32] = [(9, 10), (20, 10)];
        let volta = [short, short, (7, 8), (6, 7), (9, 14), (8, 12), of_32, of_32, of_32, (5, 3)];
        let [short, of_32] = [(9, 21), (13, 39)];
        let ampere =
            [short, short, (7, 15), (6, 13), (6, 48), (6, 44), of_32, of_32, (8, 16), (2, 4)];
        assert_eq!([V100, (7, 5)].map(by), [volta; 2]);
        assert_eq!([A100, (8, 9), H200, (10, 0), (12, 0)].map(by), [ampere; 5]);
    }

    /// With one thread per row, the sizes are those of the formulas for every mean row length.
    #[test]
    fn the_case_may_differ_from_that_of_the_row_length() {
        assert_eq!(sizes(V100, 20.0, SERIAL), [6, 5]);
        assert_eq!(sizes(V100, 5.0, 1), [16, 11]);
        assert_eq!(sizes(A100, 1e4, SERIAL), [1, 1]);
    }
}
