//! Band-k: csr-k, Listing 2. Rows are collapsed into super-rows and those into super-super-rows; each
//! graph is ordered by weighted reverse Cuthill-McKee; from the coarsest down, the members of each group
//! follow in its place, among each other as in their own graph's order.
//!
//! The paper leaves the coarsening open. The authors' code uses [`Coarsening::Hand`] in all its
//! programs, so that is the default here; it visits the rows in their natural order and super-rows in
//! that of their graph. Departures: the authors leave the rows of a super-row in natural order, where
//! the paper orders them; groups are filled up by the entries of their rows at every level, not by
//! degrees in the graph at hand, so that they stay balanced when the pattern is not symmetric.

use super::graph::{Graph, Groups};
use super::rcm::reverse_cuthill_mckee;
use super::{Csr, Permutation};

/// Rows in a super-row: the paper's constant for CPUs (section 4.2).
pub const SUPER_ROW: usize = 96;

/// How a graph becomes a coarser one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coarsening {
    /// A sweep: a group ends as soon as it weighs as much as the given number of mean vertices.
    Hand,
    /// Pairs joined by the heaviest edges, again and again until there are as few as with groups of
    /// the given size. It ends early where little can be paired: around the hub of a star.
    HeavyEdge,
}

/// A matrix' rows in Band-k order, with their groups.
pub struct BandK {
    /// The order.
    pub permutation: Permutation,
    /// See [`grouped`]; of the rows in the new order.
    pub levels: Vec<Vec<u32>>,
}

/// Orders a square matrix; `sizes` has one size per level of groups, the rows' first.
pub fn band_k<T: Sync>(csr: &Csr<T>, coarsening: Coarsening, sizes: &[usize]) -> BandK {
    let mut graph = Graph::of(csr);
    let mut finer = Vec::new();
    for (level, &size) in sizes.iter().enumerate() {
        let order = reverse_cuthill_mckee(&graph);
        let groups = match (coarsening, level) {
            (Coarsening::HeavyEdge, _) => matched(&graph, size),
            (Coarsening::Hand, 0) => {
                swept(&graph, &(0..graph.len() as u32).collect::<Vec<_>>(), size)
            }
            (Coarsening::Hand, _) => swept(&graph, &order, size),
        };
        graph = graph.collapsed(&groups);
        finer.push((order, groups));
    }
    let mut order = reverse_cuthill_mckee(&graph);
    let mut levels = Vec::new();
    for (finer, groups) in finer.into_iter().rev() {
        let (starts, members) = expanded(order, groups, finer);
        levels.push(starts);
        order = members;
    }
    levels.reverse();
    BandK { permutation: order.into(), levels }
}

/// Rows of these lengths as they are in groups like those of [`Coarsening::Hand`]. Level by level, the
/// finest first, where each group starts in the level below (in the rows for the first), and the end.
pub fn grouped(lengths: impl Iterator<Item = u32>, sizes: &[usize]) -> Vec<Vec<u32>> {
    let mut weights: Vec<_> = lengths.map(|length| length + 1).collect();
    let of_level = |&size: &usize| {
        let starts = sweep(weights.iter().copied(), size);
        let group = |bounds: &[u32]| weights[bounds[0] as usize..bounds[1] as usize].iter().sum();
        weights = starts.windows(2).map(group).collect();
        starts
    };
    sizes.iter().map(of_level).collect()
}

/// Where groups start that weigh as much as `size` mean vertices, or up to a vertex more; and the end.
fn sweep(weights: impl ExactSizeIterator<Item = u32> + Clone, size: usize) -> Vec<u32> {
    let vertices = weights.len() as u64;
    let total: u64 = weights.clone().map(u64::from).sum();
    let full = (size as u64 * total).div_ceil(vertices.max(1));
    let mut starts = vec![0];
    let mut weight = 0;
    for (vertex, of_vertex) in weights.enumerate() {
        weight += u64::from(of_vertex);
        if weight >= full || vertex as u64 + 1 == vertices {
            starts.push(vertex as u32 + 1);
            weight = 0;
        }
    }
    starts
}

fn swept(graph: &Graph, order: &[u32], size: usize) -> Groups {
    let weights = order.iter().map(|&vertex| graph.vertex_weights[vertex as usize]);
    Groups::consecutive(&sweep(weights, size), order)
}

/// Heavy-edge matchings until there is one vertex left of `size`, or a tenth or less was paired.
fn matched(graph: &Graph, size: usize) -> Groups {
    let few = graph.len().div_ceil(size);
    let mut groups = Groups { of: (0..graph.len() as u32).collect(), count: graph.len() };
    let mut coarse = None;
    while groups.count > few {
        let pairs = heavy_edge_pairs(coarse.as_ref().unwrap_or(graph));
        if pairs.count * 20 > groups.count * 19 {
            break;
        }
        coarse = Some(coarse.as_ref().unwrap_or(graph).collapsed(&pairs));
        groups.of.iter_mut().for_each(|group| *group = pairs.of[*group as usize]);
        groups.count = pairs.count;
    }
    groups
}

/// Joins each vertex, in order, to the free neighbour at its heaviest edge; some stay alone.
fn heavy_edge_pairs(graph: &Graph) -> Groups {
    const FREE: u32 = u32::MAX;
    let mut of = vec![FREE; graph.len()];
    let mut count = 0;
    for vertex in 0..graph.len() as u32 {
        if of[vertex as usize] == FREE {
            of[vertex as usize] = count;
            let free = graph.edges(vertex).filter(|&(other, _)| of[other as usize] == FREE);
            if let Some((other, _)) = free.min_by_key(|&(_, weight)| std::cmp::Reverse(weight)) {
                of[other as usize] = count;
            }
            count += 1;
        }
    }
    Groups { of, count: count as usize }
}

/// The vertices of the finer graph: group by group as `order` has them, within a group as `finer` has
/// them; and where each group starts.
fn expanded(order: Vec<u32>, groups: Groups, finer: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    let rank = Permutation::from(order);
    let of = groups.of.iter().map(|&group| rank.new_of_old()[group as usize]).collect();
    Groups { of, ..groups }.members(finer.into_iter())
}
