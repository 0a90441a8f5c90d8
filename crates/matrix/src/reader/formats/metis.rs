//! METIS graphs: a line `VERTICES EDGES [FORMAT [WEIGHTS]]`, and then a line per vertex with its neighbours. Vertices
//! are counted from 1. The three digits of the format say whether sizes of vertices, weights of vertices (`WEIGHTS` of
//! them) and weights of edges are there. Each edge is in the lines of both its vertices. Comments begin with `%`.

use super::super::arrays::{check_count, zeros};
use super::super::entry::Entry;
use super::super::error::Fault;
use super::super::field::Field;
use super::super::matrix::ReadMatrix;
use super::super::number::{value, whole};
use super::super::options::Options;
use super::super::text::Text;
use super::edges::comments::is_konect;
use super::format::Format;
use super::stored::Stored;
use super::triplets::Triplets;
use super::words::Words;
use crate::Csr;
use crate::csr::MAX_INDEX;

pub static FORMAT: Format = Format {
    name: "METIS",
    extensions: &[".graph", ".metis"],
    common_extensions: &[],
    document: [
        "its extension",
        "the weights of edges, otherwise 1",
        "sizes and weights of vertices are skipped; what `graphchk` of METIS refuses is refused: edges that only one \
         of their vertices has, twice or with two weights, and lines after those of the vertices",
    ],
    sniff: |signs| signs.is_named && !is_konect(signs.head),
    size_hint: None,
    read,
};

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

/// Reads a graph and checks that each edge is in the lines of both its vertices, with the same weight.
fn read(text: &Text, options: &Options) -> Result<ReadMatrix, Fault> {
    let stored = Words::read(text, |words| stored(text, words))?;
    let matrix = stored.matrix(text, options)?;
    let Some((vertex, what)) = objection(&matrix.csr, text)? else { return Ok(matrix) };
    Err(Fault::at(line_of(vertex, text)?, format!("{what}; {GRAPHCHK}")))
}

fn stored<'c>(text: &Text<'c>, words: &mut Words) -> Result<Stored<'c>, Fault> {
    let header = Header::read(words)?;
    let Header { vertices, edges, .. } = header;
    let mut entries = Triplets::new(header.has_edge_weights, text.input.bounds);
    for vertex in 0..vertices {
        if !next_vertex(words)? {
            return Err(format!("the file ends after {vertex} of {vertices} vertices").into());
        }
        header.neighbours(vertex as u32, words, &mut entries)?;
    }
    if words.next_line(COMMENT)? {
        return Err(format!("the file has more lines than its {vertices} vertices").into());
    }
    let found = entries.len() as u64;
    let wanted = 2 * edges;
    if found != wanted {
        let what = format!("the vertices have {found} neighbours, not {wanted}");
        let why = "edges must be in the lines of both its vertices";
        return Err(format!("{what}: each of the {edges} {why}").into());
    }
    let field = if header.has_edge_weights { Field::Real } else { Field::Pattern };
    Ok(Stored::general([vertices; 2], field, entries, words.bytes))
}

impl Header {
    fn read(words: &mut Words) -> Result<Self, Fault> {
        if !words.next_line(COMMENT)? {
            return Err("the file has no line".into());
        }
        let vertices = words.number_in_line("the number of vertices", u64::MAX)?;
        let edges = words.number_in_line("the number of edges", u64::MAX / 2)?;
        check_count(vertices, "vertices")?;
        check_count(2 * edges, "neighbours")?;
        let format = words.next()?.map_or(Ok(0), |word| whole(word, "the format", 111))?;
        let digits = [format / 100, format / 10 % 10, format % 10];
        if digits.iter().any(|&digit| digit > 1) {
            let what = "the format must have the digits 0 and 1";
            return Err(format!("{what}, not {format:03}").into());
        }
        let things = "the number of weights of a vertex";
        let weights = words.next()?.map_or(Ok(1), |word| whole(word, things, MOST_WEIGHTS))?;
        words.expect_line_end()?;
        Ok(Self {
            vertices: vertices as usize,
            edges,
            has_edge_weights: digits[2] == 1,
            before: digits[0] + digits[1] * weights,
        })
    }

    /// Reads the rest of the line of a vertex.
    fn neighbours(&self, vertex: u32, words: &mut Words, entries: &mut Triplets) -> Result<(), Fault> {
        for _ in 0..self.before {
            words.number_in_line("the size or weight of a vertex", u64::MAX)?;
        }
        let own = u64::from(vertex) + 1;
        let first = entries.len();
        while let Some(word) = words.next()? {
            let neighbour = whole(word, "neighbour", self.vertices.min(MAX_INDEX) as u64)?;
            if neighbour == 0 {
                return Err("neighbour 0: vertices are counted from 1".into());
            }
            if neighbour == own {
                return Err(format!("vertex {own} is its own neighbour; {GRAPHCHK}").into());
            }
            let value = if self.has_edge_weights {
                let weight = words.next()?.ok_or("the weight of the last edge is missing")?;
                value(weight, Field::Real)?
            } else {
                1.0
            };
            entries.push(Entry { row: vertex, col: neighbour as u32 - 1, value })?;
        }
        if let Some(neighbour) = entries.repeated_column(first) {
            let what = format!("vertex {own} has the neighbour {} more than once", neighbour + 1);
            return Err(format!("{what}; {GRAPHCHK}").into());
        }
        Ok(())
    }
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
    let vertex = at + 1;
    let neighbour = other + 1;
    (at, format!("vertex {vertex} has the neighbour {neighbour}, which does not have {vertex}"))
}

fn two_weights(at: usize, other: usize, [weight, of_other]: [f64; 2]) -> (usize, String) {
    let vertex = at + 1;
    let neighbour = other + 1;
    let what = format!("the edge {vertex}-{neighbour} has the weight {weight} in the line of {vertex}");
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
