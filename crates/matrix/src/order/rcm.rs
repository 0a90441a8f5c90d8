//! Reverse Cuthill-McKee (George and Liu), with weighted edges as in the Band-k order of csr-k.
//!
//! Each connected component is searched breadth first from a pseudo-peripheral vertex, and the order of the
//! search is reversed. Components are sorted by their first vertices. The neighbours of a vertex are visited
//! by decreasing edge weight and, for equal weights, by increasing degree. If all weights are equal, this is
//! the classical order.

use std::cmp::Reverse;

use super::graph::Graph;

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

/// The state of the breadth-first searches of a graph, one connected component after another.
struct Search<'a> {
    graph: &'a Graph,
    /// The number of the current search. A component of n vertices needs at most 2n searches, so the number
    /// stays below 2^32.
    round: u32,
    /// The number of the last search that reached each vertex; 0 if none has.
    seen: Vec<u32>,
    /// The vertices in the order of the last call of `levels`.
    queue: Vec<u32>,
}

impl Search<'_> {
    /// Finds a pseudo-peripheral vertex by the algorithm of George and Liu: it moves to the vertex of lowest
    /// degree in the last level as long as this increases the number of levels.
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

    /// Searches a component breadth first. Returns the number of the last level and its start in the queue.
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

    /// Appends the vertices of the component of `root` to `order` in Cuthill-McKee order.
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
