//! Verification over all ranks: each rank compares every row that it stores with the reference.

use std::collections::BTreeMap;

use rand::rngs::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::load::Distributed;
use super::partition::Partition;
use super::ranks::Ranks;
use crate::bench::alteration::{Alteration, changes_of_rows, choose};
use crate::bench::inputs::Inputs;
use spmv_matrix::Csr;
use spmv_matrix::scalar::Scalar;
use spmv_matrix::verify::{Reference, RowSum, Verdict};

/// Computes the reference of the rows that this rank stores. `x` has one value per column of `share`, and `y0` has the
/// rows stored here.
pub fn reference<T: Scalar>(
    ranks: &Ranks,
    partition: &Partition,
    share: &Csr<T>,
    x: &[T],
    (alpha, beta): (T, T),
    y0: &[T],
) -> Reference {
    let mut sums: Vec<_> = (0..share.rows()).map(|row| RowSum::of(share, row, x)).collect();
    let tail = sums.pop().expect("a share ends with its tail");
    for tail in exchange_tails(ranks, partition, tail) {
        sums[0] = sums[0].plus(tail);
    }
    Reference::of_sums(&sums, alpha, beta, y0)
}

/// Sends the sums of this rank's tail to the rank that stores the row, and returns those of the tails that belong to
/// the first row stored here.
fn exchange_tails(ranks: &Ranks, partition: &Partition, tail: RowSum) -> Vec<RowSum> {
    let parts = tail.to_parts().map(|part| ranks.gather(part));
    let of = |sender: usize| RowSum::from_parts([0, 1, 2, 3].map(|part| parts[part][sender]));
    partition.senders(ranks.rank()).into_iter().map(of).collect()
}

/// Chooses other values for a few elements of x, and computes their effect on the rows that this rank stores. All ranks
/// must call it with equal x and with `random` in the same state.
pub fn alteration<T: Scalar>(
    ranks: &Ranks,
    matrix: &Distributed,
    share: &Csr<T>,
    inputs: &Inputs<T>,
    random: &mut Xoshiro256PlusPlus,
) -> Alteration<T> {
    let first: usize = ranks.gather(share.nnz())[..ranks.rank()].iter().sum();
    // Only the rank that has an entry knows its column.
    let index_of = |entry: usize| {
        let own = entry.checked_sub(first).and_then(|at| share.column_indices().get(at));
        let column = own.map_or(0, |&number| matrix.columns[number as usize]);
        ranks.max([u64::from(column)])[0] as usize
    };
    let elements = choose(matrix.shape.nnz, index_of, &inputs.x, random);
    let number = |column: usize| matrix.columns.binary_search(&(column as u32)).ok();
    let own = elements.iter().filter_map(|(&column, &values)| Some((number(column)?, values)));
    let mut changes: BTreeMap<_, _> = changes_of_rows(share, &own.collect()).collect();
    let tail = changes.remove(&(share.rows() - 1)).unwrap_or_default();
    for tail in exchange_tails(ranks, &matrix.partition, tail) {
        let first = changes.entry(0).or_default();
        *first = first.plus(tail);
    }
    Alteration::of(inputs, &elements, changes.into_par_iter())
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
