//! How much memory is available, and how much matrices and methods need. A matrix or method that does not fit is
//! skipped with these figures, before an allocation fails or the process is killed.

pub mod extent;
mod limits;
mod size;

pub use limits::Available;
pub use size::{Size, SizeError};

/// Returns the reason for skipping `what`, which needs `bytes`; `None` if the memory is sufficient.
pub fn refusal(what: &str, bytes: u64, available: Available) -> Option<String> {
    let Available { bytes: left, by } = available;
    (bytes > left).then(|| {
        format!("needs {} of memory {what}, and {} are available ({by})", Size(bytes), Size(left))
    })
}

/// Splits a list of memory needs into parts that fit into `available` bytes. Returns the indices in each part: in
/// order, as many as fit, and at most `most`. A need that does not fit alone is in no part.
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
        // 4 + 5 (2 does not fit); 2 + 0 (9 does not fit); 9; 10 + 0. 11 never fits.
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
