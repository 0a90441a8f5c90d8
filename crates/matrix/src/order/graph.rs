//! The graph of a square matrix: one vertex per row and an edge for each entry of A or Aᵀ.

use std::ops::Range;

use rayon::prelude::*;

use crate::Csr;
use crate::csr::offsets_of;

const ROWS_PER_TASK: usize = 4096;

/// An undirected graph as adjacency lists. It may contain loops, which do not affect the orderings.
pub struct Graph {
    /// The offsets into `neighbours`: those of vertex v are `neighbours[offsets[v]..offsets[v + 1]]`. 32 bits
    /// suffice because A has less than 2^31 entries, and A + Aᵀ therefore less than 2^32.
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
    /// The number of edges of the finest graph that each edge represents; empty if all weights are 1.
    edge_weights: Vec<u32>,
    /// The weight of each vertex: the entries of its rows plus 1 per row, so that empty rows count too.
    pub vertex_weights: Vec<u32>,
}

pub struct Groups {
    pub of: Vec<u32>,
    pub count: usize,
}

impl Graph {
    /// Creates the graph of the pattern of A + Aᵀ. A must be square.
    pub fn of<T: Sync>(csr: &Csr<T>) -> Self {
        assert_eq!(csr.rows, csr.cols, "a square matrix");
        let (offsets, neighbours, _) = csr.transposed_with(|_| ()).into_arrays();
        let symmetric = offsets == csr.row_offsets && neighbours == csr.column_indices;
        let (offsets, neighbours) = if symmetric { (offsets, neighbours) } else { merged(csr, &offsets, &neighbours) };
        let vertex_weights = csr.row_lengths().map(|length| length + 1).collect();
        Self { offsets, neighbours, edge_weights: Vec::new(), vertex_weights }
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn degree(&self, vertex: u32) -> u32 {
        self.offsets[vertex as usize + 1] - self.offsets[vertex as usize]
    }

    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours[self.range(vertex)]
    }

    /// Returns the neighbours of a vertex and the weights of the edges to them.
    pub fn edges(&self, vertex: u32) -> impl Iterator<Item = (u32, u32)> {
        let weight = |k: usize| self.edge_weights.get(k).copied().unwrap_or(1);
        self.range(vertex).map(move |k| (self.neighbours[k], weight(k)))
    }

    fn range(&self, vertex: u32) -> Range<usize> {
        self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize
    }

    /// Creates the graph whose vertices are the groups of this graph. Edges within a group are dropped.
    pub fn collapsed(&self, groups: &Groups) -> Self {
        let (starts, members) = groups.members(0..self.len() as u32);
        let mut coarse = Self {
            offsets: vec![0],
            neighbours: Vec::new(),
            edge_weights: Vec::new(),
            vertex_weights: vec![0; groups.count],
        };
        // For each group, one more than its last position in `neighbours`.
        let mut place = vec![0; groups.count];
        for group in 0..groups.count {
            let first = coarse.neighbours.len();
            for &member in &members[starts[group] as usize..starts[group + 1] as usize] {
                coarse.vertex_weights[group] += self.vertex_weights[member as usize];
                for (neighbour, weight) in self.edges(member) {
                    let other = groups.of[neighbour as usize];
                    let place = &mut place[other as usize];
                    if other as usize == group {
                        continue;
                    }
                    if *place <= first {
                        coarse.neighbours.push(other);
                        coarse.edge_weights.push(0);
                        *place = coarse.neighbours.len();
                    }
                    coarse.edge_weights[*place - 1] += weight;
                }
            }
            coarse.offsets.push(coarse.neighbours.len() as u32);
        }
        coarse
    }
}

impl Groups {
    /// Creates groups of consecutive vertices of `order`. `starts` holds their first positions and the end.
    pub fn consecutive(starts: &[u32], order: &[u32]) -> Self {
        let mut of = vec![0; order.len()];
        for (group, bounds) in starts.windows(2).enumerate() {
            for &vertex in &order[bounds[0] as usize..bounds[1] as usize] {
                of[vertex as usize] = group as u32;
            }
        }
        Self { of, count: starts.len() - 1 }
    }

    /// Returns where each group starts and the vertices sorted by group, within a group in the sequence of
    /// `order`.
    pub fn members(&self, order: impl Iterator<Item = u32>) -> (Vec<u32>, Vec<u32>) {
        let mut sizes = vec![0; self.count];
        self.of.iter().for_each(|&group| sizes[group as usize] += 1);
        let starts = offsets_of(sizes.into_iter());
        let mut next = starts.clone();
        let mut members = vec![0; self.of.len()];
        for vertex in order {
            let slot = &mut next[self.of[vertex as usize] as usize];
            members[*slot as usize] = vertex;
            *slot += 1;
        }
        (starts, members)
    }
}

/// Computes the row offsets and columns of A + Aᵀ from A and the arrays of Aᵀ.
fn merged<T: Sync>(csr: &Csr<T>, offsets: &[u32], columns: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let starts: Vec<_> = (0..csr.rows).step_by(ROWS_PER_TASK).collect();
    let merge = |start: usize| {
        let (mut lengths, mut merged, mut row) = (Vec::new(), Vec::new(), Vec::new());
        for index in start..(start + ROWS_PER_TASK).min(csr.rows) {
            row.clear();
            row.extend_from_slice(&csr.column_indices[csr.row(index)]);
            row.extend_from_slice(&columns[offsets[index] as usize..offsets[index + 1] as usize]);
            // The row consists of two ascending runs, which the stable sort merges in linear time.
            row.sort();
            row.dedup();
            lengths.push(row.len() as u32);
            merged.extend_from_slice(&row);
        }
        (lengths, merged)
    };
    let parts: Vec<_> = starts.into_par_iter().map(merge).collect();
    let offsets = offsets_of(parts.iter().flat_map(|(lengths, _)| lengths).copied());
    (offsets, parts.into_iter().flat_map(|(_, merged)| merged).collect())
}
