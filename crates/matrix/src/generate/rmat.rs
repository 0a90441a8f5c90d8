//! R-MAT graphs: Chakrabarti, Zhan and Faloutsos, "R-MAT: A Recursive Model for Graph Mining" (2004),
//! with the Graph500 probabilities.

use std::ops::Range;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// The probabilities of the upper left, upper right and lower left quadrant.
const QUADRANTS: [f64; 3] = [0.57, 0.19, 0.19];
/// The number of edges drawn from one random stream. It is fixed so that the graph does not depend on the
/// number of threads.
const CHUNK: usize = 1 << 16;

/// Returns the edges from the points in `rows` of a graph of 2^scale points, in ascending order, with the row
/// in the upper and the column in the lower half. `edges` edges are drawn, and duplicates are removed. All
/// edges of the graph are drawn even if `rows` are only a part of it.
pub fn rmat(scale: usize, edges: usize, seed: u64, rows: Range<usize>) -> Vec<u64> {
    let chunks = (0..edges.div_ceil(CHUNK)).into_par_iter();
    let mut drawn: Vec<u64> = chunks
        .flat_map_iter(|chunk| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ (chunk as u64) << 20);
            let count = CHUNK.min(edges - chunk * CHUNK);
            (0..count).map(move |_| edge(scale, &mut random))
        })
        .filter(|edge| rows.contains(&((edge >> 32) as usize)))
        .collect();
    drawn.par_sort_unstable();
    drawn.dedup();
    drawn
}

/// Draws an edge, with the row in the upper and the column in the lower half.
fn edge(scale: usize, random: &mut Xoshiro256PlusPlus) -> u64 {
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
    fn a_graph_is_skewed_reproducible_and_the_same_in_parts() {
        let graph = rmat(10, 200_000, 1, 0..1024);
        assert!(graph.is_sorted_by(|a, b| a < b) && graph.len() < 200_000);
        // The chunks draw different edges.
        assert!(graph.len() > CHUNK, "{}", graph.len());
        let length = |row: u64| graph.iter().filter(|edge| *edge >> 32 == row).count();
        assert!(length(0) > 2 * length(1023) + 100, "{} and {}", length(0), length(1023));
        let part = |rows| rmat(10, 200_000, 1, rows);
        assert_eq!(graph, [part(0..3), part(3..700), part(700..1024)].concat());
        assert_ne!(graph, rmat(10, 200_000, 2, 0..1024));
    }
}
