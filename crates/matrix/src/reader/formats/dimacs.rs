//! Graphs of the DIMACS challenges: `p sp NODES ARCS` and a line `a FROM TO WEIGHT` per arc (shortest paths), or
//! `p edge NODES EDGES` and a line `e NODE NODE` per edge, which has no direction (colourings). Comments begin with
//! `c`.

use super::super::arrays::check_count;
use super::super::entry::Entry;
use super::super::error::{Fault, quote};
use super::super::field::{Field, Symmetry};
use super::super::matrix::ReadMatrix;
use super::super::options::Options;
use super::super::syntax::{body, first_line, words};
use super::super::text::Text;
use super::format::Format;
use super::stored::Stored;
use super::triplets::Triplets;
use super::words::Words;

pub static FORMAT: Format = Format {
    name: "DIMACS",
    // Those of shortest paths and of colourings.
    extensions: &[".gr", ".col"],
    common_extensions: &[],
    document: [
        "the line `p sp`, `p edge` or `p col`",
        "the weights of `p sp`, otherwise 1",
        "`p sp` is directed, the others are not; other problems are refused",
    ],
    sniff: |signs| is_dimacs(signs.head),
    size_hint: None,
    read,
};

struct Problem {
    nodes: usize,
    edges: u64,
    /// Whether the edges have a direction and a weight.
    is_directed: bool,
}

/// Returns whether the first line after comments is that of DIMACS: `p sp 4 5`.
fn is_dimacs(head: &[u8]) -> bool {
    let mut found = words(first_line(body(head)));
    let is_line = found.next() == Some(b"p");
    let is_problem = found.next().is_some_and(|word| word.iter().all(u8::is_ascii_alphabetic));
    is_line && is_problem && found.any(|word| word.iter().all(u8::is_ascii_digit))
}

fn read(text: &Text, options: &Options) -> Result<ReadMatrix, Fault> {
    let stored = Words::read(text, |words| stored(text, words))?;
    let mut matrix = stored.matrix(text, options)?;
    if matrix.field == Field::Pattern {
        // Many files of colourings have each edge in both directions. It counts once.
        matrix.csr.values.fill(1.0);
        (matrix.duplicates, matrix.triangles) = (0, [0; 2]);
    }
    Ok(matrix)
}

fn stored<'c>(text: &Text<'c>, words: &mut Words) -> Result<Stored<'c>, Fault> {
    let mut found: Option<(Problem, Triplets)> = None;
    while words.advance()? {
        let Some(first) = words.begin()?.filter(|first| *first != b'c') else { continue };
        let is_letter = words.next()?.is_some_and(|word| word.len() == 1);
        match (first, &mut found) {
            (b'p', None) if is_letter => {
                let problem = Problem::read(words)?;
                let entries = Triplets::new(problem.is_directed, text.input.bounds);
                found = Some((problem, entries));
            }
            (b'a', Some((problem, entries))) if is_letter && problem.is_directed => {
                entries.push(problem.edge(words)?)?;
            }
            (b'e', Some((problem, entries))) if is_letter && !problem.is_directed => {
                entries.push(problem.edge(words)?)?;
            }
            // Values of nodes, and the dimension and the parameters of a drawing.
            (b'n' | b'd' | b'v' | b'x', Some((problem, _))) if !problem.is_directed => {}
            _ => return Err("the line must begin with c, with p once, and then a or e".into()),
        }
    }
    let Some((problem, entries)) = found else {
        return Err("the line `p sp NODES ARCS` or `p edge NODES EDGES` is missing".into());
    };
    problem.check_count(entries.len() as u64)?;
    let sizes = [problem.nodes; 2];
    if problem.is_directed {
        return Ok(Stored::general(sizes, Field::Real, entries, words.bytes));
    }
    let general = Stored::general(sizes, Field::Pattern, entries, words.bytes);
    Ok(Stored { symmetry: Symmetry::Symmetric, ..general })
}

impl Problem {
    /// Reads the rest of the line `p`.
    fn read(words: &mut Words) -> Result<Self, Fault> {
        let is_directed = match words.next()?.unwrap_or_default() {
            b"sp" => true,
            b"edge" | b"edges" | b"col" => false,
            word => {
                let what = format!("a DIMACS file of the problem {}", quote(word));
                let mend = "write the matrix by `scipy.io.mmwrite`";
                return Err(format!("{what}, not sp, edge or col; {mend}").into());
            }
        };
        let nodes = words.number_in_line("the number of nodes", u64::MAX)?;
        let edges = words.number_in_line("the number of edges", u64::MAX)?;
        check_count(nodes, "nodes")?;
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
    fn check_count(&self, found: u64) -> Result<(), Fault> {
        let is_twice = !self.is_directed && self.edges == found.saturating_mul(2);
        if found == self.edges || is_twice {
            return Ok(());
        }
        Err(format!("there are {found} edges, not the {} of the line p", self.edges).into())
    }
}
