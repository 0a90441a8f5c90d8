//! Tells the lines of a dense matrix, as `numpy.savetxt` writes them, from those of an edge list.

use super::super::super::error::Fault;
use super::super::super::field::Field;
use super::super::super::number::value;
use super::super::words::Words;
use super::line::Edge;
use super::names::unquoted;

/// The number of lines whose columns are counted.
const LOOKED: u64 = 1 << 10;
/// The most columns of an edge list: two nodes, a weight and a time.
const MOST_COLUMNS: u64 = 4;

pub struct Table {
    lines: u64,
    /// The first line.
    pub line: u64,
    /// The number of columns, if all lines have the same one and only numbers.
    columns: Option<u64>,
    is_binary: bool,
    /// Whether a weight is 0. An edge list rarely has an edge without a weight, a dense matrix has many zeros.
    has_zero: bool,
}

/// Why the lines may be those of a dense matrix.
pub struct Doubt {
    pub why: String,
    /// Whether an edge list can hardly look so.
    pub is_certain: bool,
}

impl Table {
    pub const EMPTY: Self = Self { lines: 0, line: 0, columns: None, is_binary: true, has_zero: false };

    /// Adds the line of an edge, whose rest the words are.
    pub fn add(&mut self, edge: &Edge, words: &mut Words) -> Result<(), Fault> {
        self.lines += 1;
        self.is_binary &= edge.nodes.iter().all(|node| *node <= 1);
        self.is_binary &= edge.weight.is_none_or(is_bit);
        self.has_zero |= edge.weight == Some(0.0);
        if self.lines > LOOKED {
            return Ok(());
        }
        let rest = words.comment()?;
        let rest = rest.split(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | ';'));
        let rest = rest.filter(|word| !word.is_empty()).take(MOST_COLUMNS as usize);
        let rest = rest.map(|word| value(unquoted(word.as_bytes()), Field::Real).ok());
        let rest = rest.collect::<Option<Vec<_>>>().filter(|_| !edge.has_attributes);
        self.is_binary &= rest.iter().flatten().all(|number| is_bit(*number));
        let columns = rest.map(|rest| 2 + u64::from(edge.weight.is_some()) + rest.len() as u64);
        if self.lines == 1 {
            (self.line, self.columns) = (words.line, columns);
        } else if self.columns != columns {
            self.columns = None;
        }
        Ok(())
    }

    /// Returns why the lines may be those of a dense matrix. `shape` are the two numbers of a comment.
    pub fn doubt(&self, shape: Option<[u64; 2]>) -> Option<Doubt> {
        let lines = self.lines;
        let columns = self.columns?;
        let is_stated = shape == Some([lines, columns]) && (columns > 2 || self.is_binary);
        let is_square = columns > 2 && lines == columns;
        let (why, is_certain) = if columns > MOST_COLUMNS {
            (format!("each line has more than {MOST_COLUMNS} numbers"), true)
        } else if is_stated {
            (format!("a comment states the shape {lines} x {columns}, which its lines have"), true)
        } else if self.is_binary && lines > 2 {
            let is_certain = self.has_zero && (is_square || lines > MOST_COLUMNS);
            ("all its numbers are 0 and 1".to_owned(), is_certain)
        } else if is_square && self.has_zero {
            (format!("it has {lines} lines of {columns} numbers, with zeros"), false)
        } else {
            return None;
        };
        Some(Doubt { why, is_certain })
    }
}

fn is_bit(number: f64) -> bool {
    number == 0.0 || number == 1.0
}
