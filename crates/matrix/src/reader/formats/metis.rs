//! METIS graphs: a line `VERTICES EDGES [FORMAT [WEIGHTS]]`, and then a line per vertex with its neighbours. Vertices
//! are counted from 1. The three digits of the format say whether sizes of vertices, weights of vertices (`WEIGHTS` of
//! them) and weights of edges are there. Each edge is in the lines of both its vertices. Comments begin with `%`.

use super::super::chunk::zeros;
use super::super::entry::{Entry, number};
use super::super::error::Fault;
use super::super::header::{Field, Symmetry, check_count};
use super::super::text::Text;
use super::words::{Words, whole};
use super::{Stored, Triplets};
use crate::Csr;
use crate::csr::MAX_INDEX;

const COMMENT: &[u8] = b"%";
const GRAPHCHK: &str = "`graphchk` of METIS shows all such edges";
/// More weights of a vertex are an error.
const MOST_WEIGHTS: u64 = 1 << 10;

struct Header {
    vertices: usize,
    edges: u64,
    has_edge_weights: bool,
    /// The number of words before the neighbours of a vertex.
    before: u64,
}

pub fn read<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let mut words = Words::of(text);
    let header = Header::read(&mut words)?;
    let mut entries = Triplets::new(header.has_edge_weights, text.input.bounds);
    for vertex in 0..header.vertices {
        if !next_vertex(&mut words)? {
            let all = header.vertices;
            return Err(words.fault(format!("the file ends after {vertex} of {all} vertices")));
        }
        header.neighbours(vertex as u32, &mut words, &mut entries)?;
    }
    if words.next_line(COMMENT)? {
        let all = header.vertices;
        return Err(words.fault(format!("the file has more lines than its {all} vertices")));
    }
    let (found, wanted) = (entries.len() as u64, 2 * header.edges);
    if found != wanted {
        let edges = header.edges;
        return Err(words.fault(format!(
            "the vertices have {found} neighbours, not {wanted}: each of the {edges} edges must be in the lines of \
             both its vertices"
        )));
    }
    let field = if header.has_edge_weights { Field::Real } else { Field::Pattern };
    Ok(Stored {
        rows: header.vertices,
        cols: header.vertices,
        field,
        symmetry: Symmetry::General,
        entries,
        bytes: words.bytes,
        remarks: Vec::new(),
    })
}

impl Header {
    fn read(words: &mut Words) -> Result<Self, Fault> {
        if !words.next_line(COMMENT)? {
            return Err(words.fault("the file has no line"));
        }
        let vertices = words.number_in_line("the number of vertices", u64::MAX)?;
        let edges = words.number_in_line("the number of edges", u64::MAX / 2)?;
        for (count, things) in [(vertices, "vertices"), (2 * edges, "neighbours")] {
            check_count(count, things).map_err(|defect| words.fault(defect))?;
        }
        let format = match words.next()? {
            Some(word) => whole(word, "the format", 111).map_err(|defect| words.fault(defect))?,
            None => 0,
        };
        let digits = [format / 100, format / 10 % 10, format % 10];
        if digits.iter().any(|&digit| digit > 1) {
            return Err(
                words.fault(format!("the format must have the digits 0 and 1, not {format:03}"))
            );
        }
        let weights = match words.next()? {
            Some(word) => whole(word, "the number of weights of a vertex", MOST_WEIGHTS)
                .map_err(|defect| words.fault(defect))?,
            None => 1,
        };
        words.expect_line_end()?;
        Ok(Self {
            vertices: vertices as usize,
            edges,
            has_edge_weights: digits[2] == 1,
            before: digits[0] + digits[1] * weights,
        })
    }

    /// Reads the rest of the line of a vertex.
    fn neighbours(
        &self,
        vertex: u32,
        words: &mut Words,
        entries: &mut Triplets,
    ) -> Result<(), Fault> {
        for _ in 0..self.before {
            words.number_in_line("the size or weight of a vertex", u64::MAX)?;
        }
        let first = entries.len();
        while let Some(word) = words.next()? {
            let neighbour = whole(word, "neighbour", self.vertices.min(MAX_INDEX) as u64);
            let neighbour = neighbour.and_then(|neighbour| match neighbour {
                0 => Err("neighbour 0: vertices are counted from 1".into()),
                own if own == u64::from(vertex) + 1 => {
                    Err(format!("vertex {own} is its own neighbour; {GRAPHCHK}").into())
                }
                _ => Ok(neighbour as u32 - 1),
            });
            let col = neighbour.map_err(|defect| words.fault(defect))?;
            let value = match self.has_edge_weights {
                false => 1.0,
                true => match words.next()? {
                    Some(word) => {
                        number(word, Field::Real).map_err(|defect| words.fault(defect))?
                    }
                    None => return Err(words.fault("the weight of the last edge is missing")),
                },
            };
            entries.push(Entry { row: vertex, col, value })?;
        }
        if let Some(neighbour) = entries.repeated_column(first) {
            let (vertex, neighbour) = (vertex + 1, neighbour + 1);
            let what = format!("vertex {vertex} has the neighbour {neighbour} more than once");
            return Err(words.fault(format!("{what}; {GRAPHCHK}")));
        }
        Ok(())
    }
}

/// Checks that each edge is in the lines of both its vertices, with the same weight.
pub fn check(csr: &Csr<f64>, text: &Text) -> Result<(), Fault> {
    let Some((vertex, what)) = objection(csr, text)? else { return Ok(()) };
    Err(Fault::at(line_of(vertex, text)?, format!("{what}; {GRAPHCHK}")))
}

/// Returns the first vertex that another one contradicts, and how.
fn objection(csr: &Csr<f64>, text: &Text) -> Result<Option<(usize, String)>, Fault> {
    text.input.bounds.allow(csr.bytes() + (size_of::<u32>() * csr.rows) as u64)?;
    // The next entry of each row. The rows are visited in ascending order, and so are the entries of a column.
    let mut next: Vec<u32> = zeros(csr.rows)?;
    next.copy_from_slice(&csr.row_offsets[..csr.rows]);
    for row in 0..csr.rows {
        for place in csr.row(row) {
            let col = csr.column_indices[place] as usize;
            let opposite = next[col] as usize;
            let other = csr.row(col).contains(&opposite).then(|| csr.column_indices[opposite]);
            match other.map(|other| other as usize) {
                Some(other) if other == row => {}
                Some(other) if other < row => return Ok(Some(one_sided(col, other))),
                _ => return Ok(Some(one_sided(row, col))),
            }
            let weights = [csr.values[place], csr.values[opposite]];
            if weights[0] != weights[1] {
                return Ok(Some(two_weights(row, col, weights)));
            }
            next[col] += 1;
        }
    }
    Ok(None)
}

fn one_sided(at: usize, other: usize) -> (usize, String) {
    let (vertex, neighbour) = (at + 1, other + 1);
    (at, format!("vertex {vertex} has the neighbour {neighbour}, which does not have {vertex}"))
}

fn two_weights(at: usize, other: usize, [weight, of_other]: [f64; 2]) -> (usize, String) {
    let (vertex, neighbour) = (at + 1, other + 1);
    let what =
        format!("the edge {vertex}-{neighbour} has the weight {weight} in the line of {vertex}");
    (at, format!("{what} and {of_other} in that of {neighbour}"))
}

fn line_of(vertex: usize, text: &Text) -> Result<u64, Fault> {
    let mut words = Words::of(text);
    words.next_line(COMMENT)?;
    for _ in 0..=vertex {
        next_vertex(&mut words)?;
    }
    Ok(words.line)
}

/// Goes to the next line that is no comment. A blank line is a vertex without neighbours.
fn next_vertex(words: &mut Words) -> Result<bool, Fault> {
    while words.advance()? {
        if words.begin()? != Some(COMMENT[0]) {
            return Ok(true);
        }
    }
    Ok(false)
}
