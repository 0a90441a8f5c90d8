//! The graph of a matrix: a vertex per row, an edge wherever A or Aᵀ has an entry.

use std::ops::Range;

use rayon::prelude::*;

use super::Csr;

/// Rows that one task merges.
const ROWS_PER_TASK: usize = 4096;

/// An undirected graph as adjacency lists. Loops are kept; they do no harm.
pub struct Graph {
    /// Vertex v's neighbours are `neighbours[offsets[v]..offsets[v + 1]]`. A + Aᵀ has less than 2^32
    /// entries, since A has less than 2^31.
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
    /// Edges of the finest graph that each edge stands for; empty when that is 1 for all.
    edge_weights: Vec<u32>,
    /// What each vertex adds to a group: the entries of its rows, and 1 per row, so that empty rows
    /// fill groups too.
    pub vertex_weights: Vec<u32>,
}

/// Which group each vertex belongs to.
pub struct Groups {
    /// By vertex.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

impl Graph {
    /// Of the pattern of A + Aᵀ; A is square.
    pub fn of<T: Sync>(csr: &Csr<T>) -> Self {
        assert_eq!(csr.rows, csr.cols, "a square matrix");
        let Csr { row_offsets: offsets, column_indices: neighbours, .. } =
            csr.transposed_with(|_| ());
        let symmetric = offsets == csr.row_offsets && neighbours == csr.column_indices;
        let (offsets, neighbours) = match symmetric {
            true => (offsets, neighbours),
            false => merged(csr, &offsets, &neighbours),
        };
        let vertex_weights = csr.row_lengths().map(|length| length + 1).collect();
        Self { offsets, neighbours, edge_weights: Vec::new(), vertex_weights }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of neighbours of a vertex.
    pub fn degree(&self, vertex: u32) -> u32 {
        self.offsets[vertex as usize + 1] - self.offsets[vertex as usize]
    }

    /// The neighbours of a vertex.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours[self.range(vertex)]
    }

    /// The neighbours of a vertex and the weights of the edges to them.
    pub fn edges(&self, vertex: u32) -> impl Iterator<Item = (u32, u32)> {
        let weight = |k: usize| self.edge_weights.get(k).copied().unwrap_or(1);
        self.range(vertex).map(move |k| (self.neighbours[k], weight(k)))
    }

    fn range(&self, vertex: u32) -> Range<usize> {
        self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize
    }

    /// The graph whose vertices are the groups of this one's; edges within a group vanish.
    pub fn collapsed(&self, groups: &Groups) -> Self {
        let (starts, members) = groups.members(0..self.len() as u32);
        let mut coarse = Self {
            offsets: vec![0],
            neighbours: Vec::new(),
            edge_weights: Vec::new(),
            vertex_weights: vec![0; groups.count],
        };
        // One more than where in `neighbours` each group was last put.
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
    /// Groups of consecutive vertices of an order, from the positions where they start and the end.
    pub fn consecutive(starts: &[u32], order: &[u32]) -> Self {
        let mut of = vec![0; order.len()];
        for (group, bounds) in starts.windows(2).enumerate() {
            for &vertex in &order[bounds[0] as usize..bounds[1] as usize] {
                of[vertex as usize] = group as u32;
            }
        }
        Self { of, count: starts.len() - 1 }
    }

    /// The vertices group by group, within a group as `order` has them, and where each group starts.
    pub fn members(&self, order: impl Iterator<Item = u32>) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0; self.count + 1];
        for &group in &self.of {
            starts[group as usize + 1] += 1;
        }
        for group in 0..self.count {
            starts[group + 1] += starts[group];
        }
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

/// Offsets and columns of A + Aᵀ.
fn merged<T: Sync>(csr: &Csr<T>, offsets: &[u32], columns: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let starts: Vec<_> = (0..csr.rows).step_by(ROWS_PER_TASK).collect();
    let merge = |start: usize| {
        let (mut lengths, mut merged, mut row) = (Vec::new(), Vec::new(), Vec::new());
        for index in start..(start + ROWS_PER_TASK).min(csr.rows) {
            row.clear();
            row.extend_from_slice(&csr.column_indices[csr.row(index)]);
            row.extend_from_slice(&columns[offsets[index] as usize..offsets[index + 1] as usize]);
            // Two ascending runs: a stable sort only merges them.
            row.sort();
            row.dedup();
            lengths.push(row.len() as u32);
            merged.extend_from_slice(&row);
        }
        (lengths, merged)
    };
    let parts: Vec<_> = starts.into_par_iter().map(merge).collect();
    let mut ends = vec![0];
    let mut end = 0;
    ends.extend(parts.iter().flat_map(|(lengths, _)| lengths).map(|length| {
        end += length;
        end
    }));
    (ends, parts.into_iter().flat_map(|(_, merged)| merged).collect())
}
