//! Reverse Cuthill-McKee (George and Liu), with weighted edges as in csr-k's Band-k.
//!
//! Each connected component is searched breadth first from a vertex at its periphery, and the search's
//! order reversed; components follow one another by their first vertices. The neighbours of a vertex
//! come by weight, the heaviest edge first, then by degree, the lowest first; where all weights are
//! equal that is the classical order.

use std::cmp::Reverse;

use super::graph::Graph;

/// The vertices in their new order.
pub fn reverse_cuthill_mckee(graph: &Graph) -> Vec<u32> {
    let vertices = graph.len();
    let mut search = Search { graph, round: 0, seen: vec![0; vertices], queue: Vec::new() };
    let mut order = Vec::with_capacity(vertices);
    for vertex in 0..vertices as u32 {
        if search.seen[vertex as usize] == 0 {
            let root = search.pseudo_peripheral(vertex);
            let start = order.len();
            search.cuthill_mckee(root, &mut order);
            order[start..].reverse();
        }
    }
    order
}

/// Searches of one graph, a component at a time.
struct Search<'a> {
    graph: &'a Graph,
    /// Counts the searches. A component of n vertices takes 2n of them at most, so that this stays
    /// below 2^32.
    round: u32,
    /// The last search that met each vertex; 0: none has.
    seen: Vec<u32>,
    /// The vertices in the order of the last level search.
    queue: Vec<u32>,
}

impl Search<'_> {
    /// A vertex from which the component is deep: George and Liu's search, which moves to the vertex of
    /// lowest degree in the last level as long as that makes it deeper.
    fn pseudo_peripheral(&mut self, start: u32) -> u32 {
        let mut root = start;
        let (mut depth, mut last) = self.levels(root);
        while depth > 0 {
            let farthest = self.queue[last..].iter().min_by_key(|&&v| self.graph.degree(v));
            let candidate = *farthest.expect("a level holds a vertex");
            let deeper = self.levels(candidate);
            if deeper.0 <= depth {
                break;
            }
            (root, (depth, last)) = (candidate, deeper);
        }
        root
    }

    /// Searches breadth first; returns the last level's number and where in the queue it begins.
    fn levels(&mut self, root: u32) -> (usize, usize) {
        let Self { graph, round, seen, queue } = self;
        *round += 1;
        queue.clear();
        queue.push(root);
        seen[root as usize] = *round;
        let (mut depth, mut level) = (0, 0..1);
        loop {
            for at in level.clone() {
                for &neighbour in graph.neighbours(queue[at]) {
                    let seen = &mut seen[neighbour as usize];
                    if *seen != *round {
                        *seen = *round;
                        queue.push(neighbour);
                    }
                }
            }
            if queue.len() == level.end {
                return (depth, level.start);
            }
            (depth, level) = (depth + 1, level.end..queue.len());
        }
    }

    /// Appends the component to the order.
    fn cuthill_mckee(&mut self, root: u32, order: &mut Vec<u32>) {
        let Self { graph, round, seen, .. } = self;
        *round += 1;
        seen[root as usize] = *round;
        let mut next = order.len();
        order.push(root);
        let mut met = Vec::new();
        while let Some(&vertex) = order.get(next) {
            next += 1;
            met.clear();
            for (neighbour, weight) in graph.edges(vertex) {
                let seen = &mut seen[neighbour as usize];
                if *seen != *round {
                    *seen = *round;
                    met.push((Reverse(weight), graph.degree(neighbour), neighbour));
                }
            }
            met.sort_unstable();
            order.extend(met.iter().map(|&(.., neighbour)| neighbour));
        }
    }
}
