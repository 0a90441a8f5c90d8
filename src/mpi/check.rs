//! Verification over all ranks: each rank compares every row that it stores with the reference.

use super::partition::Partition;
use super::ranks::Ranks;
use crate::matrix::Csr;
use crate::scalar::Scalar;
use crate::verify::{Reference, RowSum, Verdict};

/// Computes the reference of the rows that this rank stores. The column indices of `share` are those of the matrix,
/// `x` is complete, and `y0` has the rows stored here. Other ranks send their partial sums of the first row in higher
/// precision.
pub fn reference<T: Scalar>(
    ranks: &Ranks,
    partition: &Partition,
    share: &Csr<T>,
    x: &[T],
    (alpha, beta): (T, T),
    y0: &[T],
) -> Reference {
    let mut sums: Vec<_> = (0..share.rows).map(|row| RowSum::of(share, row, x)).collect();
    let tail = sums.pop().expect("a share ends with its tail").to_parts();
    let parts = [0, 1, 2, 3].map(|part| ranks.gather(tail[part]));
    for sender in partition.senders(ranks.rank()) {
        let tail = RowSum::from_parts([0, 1, 2, 3].map(|part| parts[part][sender]));
        sums[0] = sums[0].plus(tail);
    }
    Reference::of_sums(&sums, alpha, beta, y0)
}

/// Returns the verdict over the rows of all ranks, which is the same on every rank. `first` is the first row that this
/// rank stores.
pub fn judge<T: Scalar>(ranks: &Ranks, reference: &Reference, y: &[T], first: usize) -> Verdict {
    let Verdict { error_ratio, worst } = reference.judge(y);
    let has_rows = ranks.gather(u8::from(worst.is_some()));
    let (row, got, expected) = worst.unwrap_or_default();
    let ratios = ranks.gather(error_ratio);
    let rows = ranks.gather(first + row);
    let (got, expected) = (ranks.gather(got), ranks.gather(expected));
    let judged = (0..ranks.count()).filter(|&rank| has_rows[rank] == 1);
    let worst = judged.max_by(|&a, &b| ratios[a].total_cmp(&ratios[b]).then(b.cmp(&a)));
    Verdict {
        error_ratio: worst.map_or(0.0, |rank| ratios[rank]),
        worst: worst.map(|rank| (rows[rank], got[rank], expected[rank])),
    }
}
