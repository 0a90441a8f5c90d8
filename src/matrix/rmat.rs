//! R-MAT graphs: Chakrabarti, Zhan and Faloutsos, "R-MAT: A Recursive Model for Graph Mining" (2004),
//! with the Graph500 probabilities.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::Csr;

/// Probabilities of the upper left, upper right and lower left quadrant.
const QUADRANTS: [f64; 3] = [0.57, 0.19, 0.19];
/// Edges drawn from one random stream; a fixed size makes the graph the same on any number of threads.
const CHUNK: usize = 1 << 16;

/// A graph of 2^scale points from `edges` draws. Edges drawn twice are kept once, so that there are
/// fewer; all values are 1.
pub fn rmat(scale: u32, edges: usize, seed: u64) -> Csr<f64> {
    let chunks = (0..edges.div_ceil(CHUNK)).into_par_iter();
    let mut drawn: Vec<u64> = chunks
        .flat_map_iter(|chunk| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ (chunk as u64) << 20);
            let count = CHUNK.min(edges - chunk * CHUNK);
            (0..count).map(move |_| edge(scale, &mut random))
        })
        .collect();
    drawn.par_sort_unstable();
    drawn.dedup();
    let points = 1usize << scale;
    let mut row_offsets = vec![0; points + 1];
    drawn.iter().for_each(|edge| row_offsets[(edge >> 32) as usize + 1] += 1);
    (0..points).for_each(|row| row_offsets[row + 1] += row_offsets[row]);
    let column_indices: Vec<_> = drawn.par_iter().map(|edge| *edge as u32).collect();
    let values = vec![1.0; drawn.len()];
    Csr { rows: points, cols: points, row_offsets, column_indices, values }
}

/// Row in the upper, column in the lower half.
fn edge(scale: u32, random: &mut Xoshiro256PlusPlus) -> u64 {
    let [a, b, c] = QUADRANTS;
    (0..scale).fold(0, |edge, _| {
        let draw: f64 = random.random();
        let (down, right) = (draw >= a + b, draw >= a && draw < a + b || draw >= a + b + c);
        edge << 1 | u64::from(down) << 32 | u64::from(right)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_valid_skewed_and_the_same_each_time() {
        let graph = rmat(10, 200_000, 1);
        assert!(graph.is_valid());
        assert_eq!((graph.rows, graph.cols), (1024, 1024));
        assert!(graph.nnz() < 200_000);
        let length = |row: usize| graph.row(row).len();
        assert!(length(0) > 2 * length(1023) + 100, "{} and {}", length(0), length(1023));
        let again = rmat(10, 200_000, 1);
        assert_eq!(graph.column_indices, again.column_indices);
        assert_ne!(graph.column_indices, rmat(10, 200_000, 2).column_indices);
    }

    #[test]
    fn quadrants_have_their_shares() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut counts = [0; 4];
        for _ in 0..100_000 {
            let edge = edge(1, &mut random);
            counts[(edge >> 31 | edge & 1) as usize] += 1;
        }
        for (count, share) in counts.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
            assert!((f64::from(count) / 1e5 - share).abs() < 0.01, "{counts:?}");
        }
    }
}
