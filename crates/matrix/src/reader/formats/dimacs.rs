//! Graphs of the DIMACS challenges: `p sp NODES ARCS` and a line `a FROM TO WEIGHT` per arc (shortest paths), or
//! `p edge NODES EDGES` and a line `e NODE NODE` per edge, which has no direction (colourings). Comments begin with
//! `c`.

use super::super::chunk::Entries;
use super::super::entry::Entry;
use super::super::error::{Fault, quote};
use super::super::header::{Field, Symmetry, check_count};
use super::super::text::Text;
use super::words::Words;
use super::{Stored, Triplets};

struct Problem {
    nodes: usize,
    edges: u64,
    /// Whether the edges have a direction and a weight.
    is_directed: bool,
}

pub fn read<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let mut words = Words::of(text);
    let mut found: Option<(Problem, Triplets)> = None;
    while words.advance()? {
        let Some(first) = words.begin()?.filter(|first| *first != b'c') else { continue };
        let is_letter = words.next()?.is_some_and(|word| word.len() == 1);
        match (first, &mut found) {
            (b'p', None) if is_letter => {
                let problem = Problem::read(&mut words)?;
                let entries = Triplets::new(problem.is_directed, text.input.bounds);
                found = Some((problem, entries));
            }
            (b'a', Some((problem, entries))) if is_letter && problem.is_directed => {
                entries.push(problem.edge(&mut words)?)?;
            }
            (b'e', Some((problem, entries))) if is_letter && !problem.is_directed => {
                entries.push(problem.edge(&mut words)?)?;
            }
            // Values of nodes, and the dimension and the parameters of a drawing.
            (b'n' | b'd' | b'v' | b'x', Some((problem, _))) if !problem.is_directed => {}
            _ => {
                return Err(words.fault("the line must begin with c, with p once, and then a or e"));
            }
        }
    }
    let Some((problem, entries)) = found else {
        return Err(words.fault("the line `p sp NODES ARCS` or `p edge NODES EDGES` is missing"));
    };
    problem.check_count(entries.len() as u64).map_err(|message| words.fault(message))?;
    Ok(Stored {
        rows: problem.nodes,
        cols: problem.nodes,
        field: if problem.is_directed { Field::Real } else { Field::Pattern },
        symmetry: if problem.is_directed { Symmetry::General } else { Symmetry::Symmetric },
        entries,
        bytes: words.bytes,
        remarks: Vec::new(),
    })
}

/// Counts each edge without a weight once. Many files of colourings have it in both directions.
pub fn count_once(built: &mut Entries) {
    built.csr.values.fill(1.0);
    (built.duplicates, built.triangles) = (0, [0; 2]);
}

impl Problem {
    /// Reads the rest of the line `p`.
    fn read(words: &mut Words) -> Result<Self, Fault> {
        let is_directed = match words.next()?.unwrap_or_default() {
            b"sp" => true,
            b"edge" | b"edges" | b"col" => false,
            word => {
                let word = quote(word);
                let mend = "write the matrix by `scipy.io.mmwrite`";
                let message =
                    format!("a DIMACS file of the problem {word}, not sp, edge or col; {mend}");
                return Err(words.fault(message));
            }
        };
        let nodes = words.number_in_line("the number of nodes", u64::MAX)?;
        let edges = words.number_in_line("the number of edges", u64::MAX)?;
        check_count(nodes, "nodes").map_err(|defect| words.fault(defect))?;
        words.expect_line_end()?;
        Ok(Self { nodes: nodes as usize, edges, is_directed })
    }

    fn edge(&self, words: &mut Words) -> Result<Entry, Fault> {
        let row = words.index_in_line("the first node", self.nodes)?;
        let col = words.index_in_line("the second node", self.nodes)?;
        let value = if self.is_directed { words.value_in_line("the weight")? } else { 1.0 };
        words.expect_line_end()?;
        Ok(Entry { row, col, value })
    }

    /// Checks the number of edges. Files of colourings also count each edge twice.
    fn check_count(&self, found: u64) -> Result<(), String> {
        let is_twice = !self.is_directed && self.edges == found.saturating_mul(2);
        if found == self.edges || is_twice {
            return Ok(());
        }
        Err(format!("there are {found} edges, not the {} of the line p", self.edges))
    }
}
