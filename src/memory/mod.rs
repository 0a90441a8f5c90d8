//! How much memory there is, and how much matrices and methods need: so that what does not fit is left
//! out with its figures before anything is lost to it.

pub mod extent;
mod limits;
mod size;

pub use limits::Available;
pub use size::Size;

/// What a skipped row says of `what`, which needs `bytes`; `None` if they are there.
pub fn refusal(what: &str, bytes: u64, available: Available) -> Option<String> {
    let Available { bytes: left, by } = available;
    (bytes > left).then(|| {
        format!("needs {} of memory {what}, and {} are available ({by})", Size(bytes), Size(left))
    })
}

/// For each part of a list of needs, which of them are met together: in order, as many in each part as
/// fit. What alone is too much is in no part; no part has more than `most`.
pub fn parts(needs: &[u64], available: u64, most: usize) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut left = 0;
    for (index, &need) in needs.iter().enumerate().filter(|&(_, &need)| need <= available) {
        match parts.last_mut() {
            Some(part) if need <= left && part.len() < most => part.push(index),
            _ => {
                parts.push(vec![index]);
                left = available;
            }
        }
        left -= need;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_large_as_fits_and_in_order() {
        let needs = [4, 5, 11, 2, 0, 9, 10, 0];
        // 4 + 5, then 2 no longer; 2 + 0, then 9 no longer; 9; 10 + 0. 11 never fits.
        let expected: [&[usize]; 4] = [&[0, 1], &[3, 4], &[5], &[6, 7]];
        assert_eq!(parts(&needs, 10, usize::MAX), expected);
        assert_eq!(parts(&needs, 41, usize::MAX), [(0..8).collect::<Vec<_>>()]);
        assert_eq!(parts(&[1, 1, 1], 10, 1), [[0], [1], [2]]);
        assert!(parts(&[1, 2], 0, 9).is_empty());
        assert_eq!(parts(&[u64::MAX, u64::MAX], u64::MAX, 9), [[0], [1]], "no overflow");
    }

    #[test]
    fn a_refusal_has_its_figures() {
        let available = Available { bytes: 3 << 29, by: "--max-memory" };
        assert_eq!(refusal("to load", 3 << 29, available), None);
        let words = "needs 2.0 GiB of memory to load, and 1.5 GiB are available (--max-memory)";
        assert_eq!(refusal("to load", 2 << 30, available).as_deref(), Some(words));
    }
}
