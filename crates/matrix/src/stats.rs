//! Statistics of a matrix: row lengths and their histogram as merge-spmv prints them, the number of distinct
//! values, and the symmetry of the pattern.

use std::collections::HashSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Csr;
use super::scalar::Scalar;

/// The size of a matrix and the statistics of its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub rows: usize,
    pub cols: usize,
    pub nnz: usize,
    pub row_length: RowStatistics,
}

impl Shape {
    pub fn sizes(&self) -> [usize; 3] {
        [self.rows, self.cols, self.nnz]
    }

    pub fn of<T>(csr: &Csr<T>) -> Self {
        let (rows, cols, nnz) = (csr.rows, csr.cols, csr.nnz());
        Self { rows, cols, nnz, row_length: RowStatistics::of(csr) }
    }
}

/// Statistics of the row lengths (population moments). A field is `None` if its formula would divide by
/// zero: for a matrix without rows, a mean of 0, or rows of equal length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowStatistics {
    /// The mean row length: nnz / rows.
    pub mean: Option<f64>,
    /// The population standard deviation of the row lengths.
    pub std_dev: Option<f64>,
    /// The coefficient of variation: std_dev / mean.
    pub variation: Option<f64>,
    /// The skewness: the third standardised moment.
    pub skewness: Option<f64>,
    /// The population variance: std_dev².
    pub variance: Option<f64>,
    /// The number of entries of the longest row.
    pub max: u32,
    pub empty: usize,
    /// The number of rows by order of magnitude of their length: `[0]` counts empty rows, `[k]` rows of
    /// 10^(k−1) to 10^k − 1 entries. The last bin is that of the longest row.
    pub histogram: Vec<usize>,
}

impl RowStatistics {
    pub fn of<T>(csr: &Csr<T>) -> Self {
        Self::of_lengths(csr.row_lengths(), csr.rows, csr.nnz())
    }

    /// Computes the statistics of `rows` rows with these lengths and `nnz` entries in total.
    pub fn of_lengths(lengths: impl Iterator<Item = u32> + Clone, rows: usize, nnz: usize) -> Self {
        let mean = (rows > 0).then(|| nnz as f64 / rows as f64);
        let moment = |power: i32| {
            let about_mean = |length: u32| (f64::from(length) - mean.unwrap_or(0.0)).powi(power);
            mean.map(|_| lengths.clone().map(about_mean).sum::<f64>() / rows as f64)
        };
        let variance = moment(2);
        let std_dev = variance.map(f64::sqrt);
        let over = |a: Option<f64>, b: Option<f64>| Some(a? / b.filter(|&b| b > 0.0)?);
        Self {
            mean,
            std_dev,
            variation: over(std_dev, mean),
            skewness: over(moment(3), std_dev.map(|s| s.powi(3))),
            variance,
            max: lengths.clone().max().unwrap_or(0),
            empty: lengths.clone().filter(|&length| length == 0).count(),
            histogram: histogram(lengths),
        }
    }
}

fn histogram(lengths: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut counts = vec![0];
    for length in lengths {
        let bin = length.checked_ilog10().map_or(0, |magnitude| magnitude as usize + 1);
        counts.resize(counts.len().max(bin + 1), 0);
        counts[bin] += 1;
    }
    counts
}

const MOST_DISTINCT: usize = 1 << 16;

/// Returns the number of values with different bit patterns, or `None` if there are more than 65,536:
/// counting them would take as much memory as the matrix.
pub fn distinct_values(values: &[f64]) -> Option<usize> {
    let both = |mut all: HashSet<_>, part| {
        all.extend(part);
        (all.len() <= MOST_DISTINCT).then_some(all)
    };
    Some(values.par_chunks(1 << 20).map(distinct).try_reduce(HashSet::new, both)?.len())
}

/// The number of classes of values by the first bits of their hashes, a power of two.
const CLASSES: usize = 1 << 12;

/// Estimates the number of different values within about 5 %, with the memory of a few kilobytes per task: HyperLogLog
/// (P. Flajolet, E. Fusy, O. Gandouet and F. Meunier, AofA 2007).
pub fn about_distinct<T: Scalar>(values: &[T]) -> f64 {
    // For each class the largest number of leading zeros of the other bits of a hash, plus one.
    let of_part = |part: &[T]| {
        let mut longest = vec![0; CLASSES];
        for value in part {
            let hash = xxh3_64(&value.widen().to_bits().to_ne_bytes());
            let class = &mut longest[hash as usize % CLASSES];
            *class = (hash.leading_zeros() + 1).max(*class);
        }
        longest
    };
    let longer = |a: Vec<u32>, b: Vec<u32>| a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
    let longest = values.par_chunks(1 << 20).map(of_part).reduce(|| vec![0; CLASSES], longer);
    let classes = CLASSES as f64;
    let sum: f64 = longest.iter().map(|&zeros| 0.5f64.powi(zeros as i32)).sum();
    let estimate = 0.7213 / (1.0 + 1.079 / classes) * classes * classes / sum;
    let empty = longest.iter().filter(|&&zeros| zeros == 0).count();
    // While many classes are empty, their share is more exact.
    if estimate < 2.5 * classes && empty > 0 {
        classes * (classes / empty as f64).ln()
    } else {
        estimate
    }
}

fn distinct(values: &[f64]) -> Option<HashSet<u64>> {
    let mut known = HashSet::new();
    // A table of recent values saves most look-ups in the set, because most values repeat soon.
    let mut seen = vec![None; 1 << 12];
    for bits in values.iter().map(|value| value.to_bits()) {
        let slot = &mut seen[(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize];
        if *slot != Some(bits) {
            *slot = Some(bits);
            if known.insert(bits) && known.len() > MOST_DISTINCT {
                return None;
            }
        }
    }
    Some(known)
}

/// Returns the fraction of the entries a_ij for which a_ji is also an entry: 1 for a structurally
/// symmetric matrix. Returns `None` if the matrix is not square or has no entries.
pub fn pattern_symmetry<T>(csr: &Csr<T>) -> Option<f64> {
    if csr.rows != csr.cols || csr.nnz() == 0 {
        return None;
    }
    // Rows i are visited in ascending order, so the columns i < j that are searched for in row j also
    // ascend: one cursor per row passes over each entry below the diagonal once.
    let columns = &csr.column_indices[..];
    let mut cursors = csr.row_offsets[..csr.rows].to_vec();
    let mut mirrored = 0usize;
    for row in 0..csr.rows {
        let entries = &columns[csr.row(row)];
        let upper = &entries[entries.partition_point(|&column| (column as usize) < row)..];
        for &column in upper {
            let column = column as usize;
            let (cursor, end) = (&mut cursors[column], csr.row_offsets[column + 1]);
            while *cursor < end && (columns[*cursor as usize] as usize) < row {
                *cursor += 1;
            }
            let found = *cursor < end && columns[*cursor as usize] as usize == row;
            mirrored += usize::from(found) * if column == row { 1 } else { 2 };
        }
    }
    Some(mirrored as f64 / csr.nnz() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;

    fn with_lengths(lengths: &[usize]) -> Csr<f64> {
        let entries = lengths.iter().enumerate();
        let triplets: Vec<_> = entries.flat_map(|(row, &n)| (0..n).map(move |col| (row, col, 1.0))).collect();
        Csr::from_triplets(lengths.len(), 1000, &triplets)
    }

    #[test]
    fn moments_of_a_small_sample() {
        // Lengths 0, 0, 3: mean 1, variance 2, third moment (−1 −1 + 8)/3 = 2.
        let stats = RowStatistics::of(&with_lengths(&[0, 0, 3]));
        assert_eq!((stats.mean, stats.variance), (Some(1.0), Some(2.0)));
        assert_eq!(stats.variation, Some(2f64.sqrt()));
        assert!((stats.skewness.unwrap() - 0.5f64.sqrt()).abs() < 1e-15);
        assert_eq!((stats.max, stats.empty), (3, 2));
    }

    #[test]
    fn undefined_moments_are_none_and_the_histogram_counts_rows_by_powers_of_ten() {
        let of = |lengths: &[usize]| RowStatistics::of(&with_lengths(lengths));
        let (equal, empty, none) = (of(&[2, 2]), of(&[0, 0]), of(&[]));
        assert_eq!((equal.std_dev, equal.skewness), (Some(0.0), None));
        assert_eq!((empty.mean, empty.variation), (Some(0.0), None));
        assert_eq!((none.mean, none.std_dev, none.variance), (None, None, None));
        assert_eq!(of(&[0, 1, 9, 10, 99, 100, 999, 0]).histogram, [2, 2, 2, 2]);
        assert_eq!(none.histogram, [0]);
    }

    #[test]
    fn symmetry_is_the_fraction_of_mirrored_entries() {
        let of = |triplets: &[_]| pattern_symmetry(&Csr::<f64>::from_triplets(3, 3, triplets));
        assert_eq!(of(&[(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (1, 2, 1.0)]), Some(0.5));
        assert_eq!(of(&[]), None);
        for spec in ["rmat,scale=8,edges=4000", "uniform,rows=40,nnz=700", "wheel,spokes=9"] {
            let csr = Generator::parse(spec).unwrap().generate().unwrap();
            let columns = |row: usize| &csr.column_indices[csr.row(row)];
            let mirrored = (0..csr.rows)
                .flat_map(|row| columns(row).iter().map(move |&column| (row, column)))
                .filter(|&(row, column)| columns(column as usize).contains(&(row as u32)))
                .count();
            assert_eq!(pattern_symmetry(&csr), Some(mirrored as f64 / csr.nnz() as f64), "{spec}");
        }
    }

    #[test]
    fn values_are_distinguished_by_their_bits_up_to_a_limit() {
        assert_eq!(distinct_values(&[]), Some(0));
        assert_eq!(distinct_values(&[1.0, -1.0, 1.0, 0.0, -0.0]), Some(4));
        // More values than one chunk, some of which share a slot in the table of recent values.
        let cycling = |count: usize| (0..3 << 20).map(|k| (k % count) as f64).collect::<Vec<_>>();
        assert_eq!(distinct_values(&cycling(1)), Some(1));
        assert_eq!(distinct_values(&cycling(1 << 16)), Some(1 << 16));
        assert_eq!(distinct_values(&cycling((1 << 16) + 1)), None);
        // No chunk alone exceeds the limit.
        let parts: Vec<_> = (0..(1 << 20) + (1 << 15)).map(|k| (k >> 4) as f64).collect();
        assert_eq!(distinct_values(&parts), None);
    }
}
