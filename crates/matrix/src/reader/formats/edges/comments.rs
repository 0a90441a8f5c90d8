//! What the comments of an edge list say. Their words are those of KONECT and SNAP; any others say nothing.

use super::super::super::syntax::first_line;
use super::declared::{Direction, Edges, Nodes};

/// The words of KONECT for the values of edges.
const WEIGHTS: [&str; 9] = [
    "unweighted",
    "positive",
    "posweighted",
    "weighted",
    "signed",
    "multisigned",
    "multiweighted",
    "multiposweighted",
    "dynamic",
];
/// Words of which one is in a comment on a graph, but not in one on the shape of a matrix.
const OF_GRAPHS: [&str; 4] = ["node", "edge", "vert", "link"];

/// The line in which a file of KONECT states its sizes.
pub const SIZES_LINE: u64 = 2;

#[derive(Default)]
pub struct Comments {
    pub edges: Edges,
    /// The numbers of edges, rows and columns in the second line of KONECT.
    konect: Option<[u64; 3]>,
    /// The numbers of a comment with two numbers, which may be the shape of a dense matrix.
    pub shape: Option<[u64; 2]>,
}

impl Comments {
    /// Reads the comment in a line of the file. Only those before the edges count.
    pub fn read(&mut self, line: u64, comment: &str) {
        let is_konect = self.edges.nodes.is_some();
        if let Some(direction) = konect(comment).filter(|_| line == 1) {
            self.edges = Edges { direction: Some(direction), nodes: Some(Nodes::From(1)) };
        } else if line == SIZES_LINE && is_konect {
            self.konect = numbers(&comment[1..]);
        } else if let Some(direction) = snap(comment) {
            self.edges.direction = Some(direction);
        } else {
            self.shape = shape(comment).or(self.shape);
        }
    }

    /// Returns the numbers of rows and columns, if the file states them for this number of edges.
    pub fn sizes(&self, edges: u64) -> Option<[u64; 2]> {
        self.konect.filter(|sizes| sizes[0] == edges).map(|[_, rows, cols]| [rows, cols])
    }

    /// Returns a remark if the file states another number of edges than it has.
    pub fn remark(&self, edges: u64) -> Option<String> {
        let stated = self.konect?[0];
        (stated != edges)
            .then(|| format!("its second line states {stated} edges, but {edges} follow; its sizes were not used"))
    }
}

/// Returns whether a text begins with the first line of a file of the KONECT collection.
pub fn is_konect(head: &[u8]) -> bool {
    konect(&String::from_utf8_lossy(first_line(head))).is_some()
}

/// Returns what the first line of a file of the KONECT collection says: `% sym unweighted`.
fn konect(line: &str) -> Option<Direction> {
    let mut words = line.strip_prefix('%')?.split_ascii_whitespace();
    let direction = match words.next()? {
        "sym" => Direction::Undirected,
        "asym" => Direction::Directed,
        "bip" => Direction::Bipartite,
        _ => return None,
    };
    let is_known = words.next().is_none_or(|word| WEIGHTS.contains(&word));
    (is_known && words.next().is_none()).then_some(direction)
}

/// Returns what a comment of SNAP says: `# Undirected graph: a.txt`.
fn snap(comment: &str) -> Option<Direction> {
    let words = comment.strip_prefix('#')?.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut words = words.filter(|word| !word.is_empty());
    match [words.next()?, words.next()?] {
        ["Undirected", "graph"] => Some(Direction::Undirected),
        ["Directed", "graph"] => Some(Direction::Directed),
        _ => None,
    }
}

/// Returns the two numbers of a comment that is not about a graph: `# 3 3`, as `numpy.savetxt` writes a header.
fn shape(comment: &str) -> Option<[u64; 2]> {
    let comment = comment.to_ascii_lowercase();
    let is_of_graph = OF_GRAPHS.iter().any(|word| comment.contains(word));
    numbers(&comment).filter(|_| !is_of_graph)
}

/// Returns the numbers of a text, if it has so many.
fn numbers<const COUNT: usize>(text: &str) -> Option<[u64; COUNT]> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().ok()).collect::<Option<Vec<u64>>>()?.try_into().ok()
}
