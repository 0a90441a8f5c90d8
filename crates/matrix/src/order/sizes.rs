//! The group sizes of CSR-k: the rows of a super-row, and the super-rows of a super-super-row (csr-k, section 4).
//!
//! On GPUs they follow from the mean row length. The text assigns one thread to each row if rows have fewer than 8
//! nonzeros, but the list of cases does so up to 8. This file follows the list, because its bounds also choose the
//! sizes. Departures from the paper: the mean row length counts as at least 1, and sizes are at least 1 (the formulas
//! fall below 1 for a few hundred nonzeros per row).

/// The sizes on CPUs: the paper's constant, and ours for super-super-rows, for which it gives no size.
pub const CPU: [usize; 2] = [96, 8];

/// The upper bounds of the cases, in nonzeros per row. The last case has none.
const BOUNDS: [f64; 3] = [8.0, 16.0, 32.0];

/// The case in which each row is processed by one thread.
pub const SERIAL: usize = 0;

/// Returns the case of a mean row length, of four.
pub fn case(row_length: f64) -> usize {
    BOUNDS.iter().filter(|&&bound| row_length > bound).count()
}

/// Returns the sizes on a GPU, Volta or Ampere, for a mean row length, changed as in `case`, which may differ from the
/// case of that length.
pub fn gpu(is_volta: bool, row_length: f64, case: usize) -> [usize; 2] {
    let size = |constant: f64, slope: f64| rounded(constant + slope * row_length.max(1.0).ln()).max(1.0);
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

    #[test]
    fn bounds_belong_to_the_case_below() {
        let lengths = [0.0, 7.9, 8.0, 8.01, 16.0, 16.01, 32.0, 32.01, 1e6];
        assert_eq!(lengths.map(case), [0, 0, 0, 1, 1, 2, 2, 3, 3]);
    }

    /// SSRS and SRS by mean row length. The formulas of Volta yield 6.888 and 7.732 for 5; 6.301, 7.027 for 8; 6.022,
    /// 6.692 for 10; 5.434, of which 7.5 is rounded up, 5.987 for 16; 5.155 for 20; 4.568 for 32; 4.010 for 50. Those
    /// of Ampere: 7.051, 14.867; 6.430, 13.222; 6.136, 12.441; 5.515, 10.796; 5.221, of which 12.5 is rounded up;
    /// 4.600; 4.011. For a length of at most 1, 20.5 is rounded up; for 10^4 all formulas are negative.
    #[test]
    fn sizes_by_architecture_and_row_length() {
        let lengths = [0.0, 1.0, 5.0, 8.0, 10.0, 16.0, 20.0, 32.0, 50.0, 1e4];
        let by = |is_volta| {
            lengths.map(|row_length| {
                let [srs, ssrs] = gpu(is_volta, row_length, case(row_length));
                (ssrs, srs)
            })
        };
        let [short, of_32] = [(9, 10), (20, 10)];
        let volta = [short, short, (7, 8), (6, 7), (9, 14), (8, 12), of_32, of_32, of_32, (5, 3)];
        let [short, of_32] = [(9, 21), (13, 39)];
        let ampere = [short, short, (7, 15), (6, 13), (6, 48), (6, 44), of_32, of_32, (8, 16), (2, 4)];
        assert_eq!(by(true), volta);
        assert_eq!(by(false), ampere);
    }

    /// With one thread per row, the sizes are those of the formulas for every mean row length.
    #[test]
    fn the_case_may_differ_from_that_of_the_row_length() {
        assert_eq!(gpu(true, 20.0, SERIAL), [6, 5]);
        assert_eq!(gpu(true, 5.0, 1), [16, 11]);
        assert_eq!(gpu(false, 1e4, SERIAL), [1, 1]);
    }
}
