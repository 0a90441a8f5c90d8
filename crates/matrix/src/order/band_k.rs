//! The Band-k order (csr-k, Listing 2). Rows are grouped into super-rows and these into super-super-rows.
//! The graph of each level is ordered by weighted reverse Cuthill-McKee. Then, from the coarsest level to the
//! finest, each group is replaced by its members, sorted by the order of their own graph.
//!
//! The paper does not specify the coarsening. The authors' code uses [`Coarsening::Hand`] in all its programs, so it is
//! the default here. Departures: the sweep visits the vertices of each level in the order of that level's graph. The
//! authors' code visits the rows in natural order, which puts rows that have nothing in common into a super-row unless
//! the matrix has a good order already: the band is then many times as wide as that of reverse Cuthill-McKee, and the
//! paper says that it is slightly wider. The rows of a super-row are ordered as in the paper, whereas the authors' code
//! leaves them in natural order. The size of a group is measured at every level by the entries of its rows and not by
//! degrees in the current graph, so that groups stay balanced for unsymmetric patterns.

use super::graph::{Graph, Groups};
use super::permutation::Permutation;
use super::rcm::reverse_cuthill_mckee;
use crate::Csr;

/// The algorithm that groups the vertices of a graph into a coarser graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coarsening {
    /// A sweep over the vertices. A group ends as soon as its weight reaches that of the given number of
    /// vertices of mean weight.
    Hand,
    /// Repeated matching along the heaviest edges until there are as few vertices as with groups of the given
    /// size. It ends early if few vertices can be matched, for example around the hub of a star.
    HeavyEdge,
}

/// An order of the rows.
pub struct BandK {
    pub permutation: Permutation,
    /// The start of each group per level, as in [`grouped`], for the rows in the new order. None for other orders.
    pub levels: Vec<Vec<u32>>,
}

/// Computes the Band-k order of a square matrix. `sizes` gives the group size of each level, super-rows first.
pub fn band_k<T: Sync>(csr: &Csr<T>, coarsening: Coarsening, sizes: &[usize]) -> BandK {
    let mut graph = Graph::of(csr);
    let mut finer = Vec::new();
    for &size in sizes {
        let order = reverse_cuthill_mckee(&graph);
        let groups = match coarsening {
            Coarsening::HeavyEdge => matched(&graph, size),
            Coarsening::Hand => swept(&graph, &order, size),
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

/// Groups rows of these lengths, in their natural order, by the sweep of [`Coarsening::Hand`]. Returns for
/// each level, the finest first, where each group starts in the level below (in the rows for the first
/// level), followed by the end.
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

/// Returns where the groups start, followed by the end. A group ends with the vertex by which its weight
/// reaches that of `size` vertices of mean weight.
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

/// Repeats heavy-edge matching until there is one vertex per `size` original vertices. It ends early if a
/// matching pairs less than a tenth of the vertices.
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

/// Matches each vertex, in order, with the unmatched neighbour along its heaviest edge. Vertices without an
/// unmatched neighbour form groups of one.
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

/// Returns where each group starts and the vertices of the finer graph: the groups are sorted by `order`, and
/// the vertices of a group by `finer`.
fn expanded(order: Vec<u32>, groups: Groups, finer: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    let rank = Permutation::from(order);
    let of = groups.of.iter().map(|&group| rank.new_of_old()[group as usize]).collect();
    Groups { of, ..groups }.members(finer.into_iter())
}
