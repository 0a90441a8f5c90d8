//! Edge lists: a line `FROM TO [WEIGHT]` per edge, as of SNAP, KONECT and the Network Repository. Lines that begin with
//! `#` or `%` are comments, of which some say whether the edges have a direction.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::super::entry::{Entry, number};
use super::super::error::{Defect, Fault};
use super::super::header::{Field, Symmetry, check_count};
use super::super::text::Text;
use super::words::Words;
use super::{Stored, Triplets};
use crate::csr::MAX_INDEX;

const COMMENTS: [u8; 2] = [b'#', b'%'];

/// What edge lists mean, as far as the user declares it: `undirected,base=1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Edges {
    pub direction: Option<Direction>,
    /// The number of the first node: 0 or 1.
    pub base: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Directed,
    /// An edge is in both rows, as an entry of a symmetric matrix.
    Undirected,
    /// Rows and columns are numbered independently.
    Bipartite,
}

const WORDS: [(&str, Edges); 5] = [
    ("directed", Edges { direction: Some(Direction::Directed), base: None }),
    ("undirected", Edges { direction: Some(Direction::Undirected), base: None }),
    ("bipartite", Edges { direction: Some(Direction::Bipartite), base: None }),
    ("base=0", Edges { direction: None, base: Some(0) }),
    ("base=1", Edges { direction: None, base: Some(1) }),
];

impl FromStr for Edges {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut edges = Self::default();
        for word in text.split(',') {
            let Some((_, meant)) = WORDS.iter().find(|(known, _)| *known == word) else {
                let known = WORDS.map(|(word, _)| word).join(", ");
                return Err(format!("'{word}' is not one of {known}"));
            };
            let is_repeated = meant.direction.and(edges.direction).is_some()
                || meant.base.and(edges.base).is_some();
            if is_repeated {
                return Err(format!("'{word}' contradicts a word before it"));
            }
            edges.direction = edges.direction.or(meant.direction);
            edges.base = edges.base.or(meant.base);
        }
        Ok(edges)
    }
}

impl fmt::Display for Edges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_part = |meant: &Edges| {
            meant.direction.is_some() && meant.direction == self.direction
                || meant.base.is_some() && meant.base == self.base
        };
        let words: Vec<_> =
            WORDS.iter().filter(|(_, meant)| is_part(meant)).map(|(word, _)| *word).collect();
        f.write_str(&words.join(","))
    }
}

impl From<Edges> for String {
    fn from(edges: Edges) -> Self {
        edges.to_string()
    }
}

impl TryFrom<String> for Edges {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() { Ok(Self::default()) } else { text.parse() }
    }
}

/// What the comments of a file say.
#[derive(Default)]
struct Comments {
    edges: Edges,
    /// The numbers of rows and columns, where the file states them.
    sizes: [u64; 2],
}

impl Comments {
    /// Reads a comment. Only those at the start of the file count.
    fn read(&mut self, comment: &str) {
        let words: Vec<_> = comment[1..].split_ascii_whitespace().collect();
        let known = [
            ("% sym", Direction::Undirected, Some(1)),
            ("% asym", Direction::Directed, Some(1)),
            ("% bip", Direction::Bipartite, Some(1)),
            ("# Undirected graph", Direction::Undirected, None),
            ("# Directed graph", Direction::Directed, None),
        ];
        let found = known.iter().find(|(begin, ..)| comment.starts_with(begin));
        if let Some(&(_, direction, base)) = found {
            self.edges = Edges { direction: Some(direction), base };
        }
        // KONECT's second line: the numbers of edges, rows and columns.
        let numbers: Vec<u64> = words.iter().map_while(|word| word.parse().ok()).collect();
        if let [_, rows, cols] = numbers[..]
            && comment.starts_with('%')
        {
            self.sizes = [rows, cols];
        }
    }
}

pub fn read<'c>(text: &Text<'c>, declared: Edges) -> Result<Stored<'c>, Fault> {
    let mut words = Words::of(text);
    let (mut comments, mut list) = (Comments::default(), List::new(text));
    while words.advance()? {
        match words.begin()? {
            None => {}
            Some(first) if COMMENTS.contains(&first) => {
                let comment = words.comment()?;
                if list.entries.len() == 0 {
                    comments.read(&comment);
                }
            }
            Some(_) => list.edge(&mut words)?,
        }
    }
    list.stored(declared, &comments, words.bytes)
}

/// The edges so far, with the numbers of their nodes as in the file.
struct List<'c> {
    entries: Triplets<'c>,
    /// The smallest and the largest number of a row and of a column.
    range: [(u32, u32); 2],
    /// Whether edges have weights, once the first one has been read.
    has_weights: Option<bool>,
    has_more: bool,
}

impl<'c> List<'c> {
    fn new(text: &Text<'c>) -> Self {
        let entries = Triplets::new(true, text.input.bounds);
        Self { entries, range: [(u32::MAX, 0); 2], has_weights: None, has_more: false }
    }

    fn edge(&mut self, words: &mut Words) -> Result<(), Fault> {
        let row = words.number_in_line("the first node", MAX_INDEX as u64)? as u32;
        let col = words.number_in_line("the second node", MAX_INDEX as u64)? as u32;
        let weight = words.next()?.map(|word| number(word, Field::Real)).transpose();
        let weight = weight.map_err(|defect| words.fault(defect))?;
        if *self.has_weights.get_or_insert(weight.is_some()) != weight.is_some() {
            let what = if weight.is_some() { "a weight" } else { "no weight" };
            return Err(words.fault(format!("this edge has {what}, unlike those before it")));
        }
        self.has_more |= words.begin()?.is_some();
        for (range, node) in self.range.iter_mut().zip([row, col]) {
            *range = (range.0.min(node), range.1.max(node));
        }
        self.entries.push(Entry { row, col, value: weight.unwrap_or(1.0) })
    }

    fn stored(
        mut self,
        declared: Edges,
        comments: &Comments,
        bytes: u64,
    ) -> Result<Stored<'c>, Fault> {
        let [rows, cols] = self.range;
        let least = rows.0.min(cols.0);
        let guessed = if least == 0 { 0 } else { 1 };
        let base = declared.base.or(comments.edges.base).unwrap_or(guessed);
        if least < base {
            return Err(Defect::from(
                "node 0: nodes are counted from 1 here; --edges base=0 if it is a node",
            )
            .into());
        }
        self.entries.renumber(base);
        let direction = declared.direction.or(comments.edges.direction);
        let mut sizes = [rows.1, cols.1].map(|last| u64::from((last + 1).saturating_sub(base)));
        if direction != Some(Direction::Bipartite) {
            sizes = [sizes[0].max(sizes[1]); 2];
        }
        for (size, stated) in sizes.iter_mut().zip(comments.sizes) {
            check_count(stated, "nodes")?;
            *size = stated.max(*size);
        }
        let is_mirrored = direction == Some(Direction::Undirected);
        let field = if self.has_weights == Some(true) { Field::Real } else { Field::Pattern };
        Ok(Stored {
            rows: sizes[0] as usize,
            cols: sizes[1] as usize,
            field,
            symmetry: if is_mirrored { Symmetry::Symmetric } else { Symmetry::General },
            remarks: self.remarks(direction, declared.base.or(comments.edges.base), base),
            entries: self.entries,
            bytes,
        })
    }

    fn remarks(&self, direction: Option<Direction>, stated: Option<u32>, base: u32) -> Vec<String> {
        let mut guesses = Vec::new();
        if direction.is_none() {
            guesses.push("directed".to_owned());
        }
        if stated.is_none() && self.entries.len() > 0 {
            guesses.push(format!("base={base}"));
        }
        let guessed = (!guesses.is_empty()).then(|| {
            let guesses = guesses.join(",");
            format!("the edge list was read as {guesses}, because the file does not say it; --edges declares it")
        });
        let more = self.has_more.then(|| {
            "what follows the weights of its edges (times, for example) was left out".to_owned()
        });
        guessed.into_iter().chain(more).collect()
    }
}
