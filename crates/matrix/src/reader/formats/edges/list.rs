//! The edges of a list, and what their nodes are.

use super::super::super::arrays::check_count;
use super::super::super::entry::Entry;
use super::super::super::error::Fault;
use super::super::super::field::{Field, Symmetry};
use super::super::stored::Stored;
use super::super::triplets::Triplets;
use super::super::words::Words;
use super::comments::{Comments, SIZES_LINE};
use super::compact::Compact;
use super::declared::{Direction, Edges, Nodes};
use super::line::{DENSE, Edge};
use super::names::Names;
use super::table::Table;
use crate::memory::ReadBounds;

/// A matrix may have so many rows or columns for each edge, and so many more. Real graphs have more edges than nodes. A
/// row without an entry takes 4 bytes in CSR, so that these take 20 times the memory of the entries: node numbers that
/// are larger are not numbers of rows, but identifiers.
const MOST_PER_EDGE: u64 = 64;
const FEW_NODES: u64 = 1_000_000;

/// The edges so far, with the numbers of their nodes as in the file.
pub struct List<'c> {
    declared: Edges,
    /// The first line and its number: it may state the sizes. Until that is known, its entry is empty.
    first: Option<(Edge, u64)>,
    pub entries: Triplets<'c>,
    compact: Option<Compact>,
    /// The smallest and the largest number of a row and of a column, and the first lines with 0 and the largest one.
    range: [(u64, u64); 2],
    zero: u64,
    largest: u64,
    /// Whether edges have weights, once the second one has been read, and its line.
    has_weights: Option<bool>,
    second: u64,
    has_more: bool,
    table: Table,
    remarks: Vec<String>,
}

impl<'c> List<'c> {
    pub fn new(bounds: ReadBounds<'c>, declared: Edges) -> Self {
        let is_compact = declared.nodes == Some(Nodes::Compact);
        Self {
            declared,
            first: None,
            entries: Triplets::new(true, bounds),
            compact: is_compact.then(Compact::default),
            range: [(u64::MAX, 0); 2],
            zero: u64::MAX,
            largest: 0,
            has_weights: None,
            second: 0,
            has_more: false,
            table: Table::EMPTY,
            remarks: Vec::new(),
        }
    }

    pub fn edge(&mut self, words: &mut Words) -> Result<(), Fault> {
        let edge = Edge::read(words, self.compact.is_some())?;
        self.table.add(&edge, words)?;
        self.has_more |= edge.has_more;
        if self.entries.len() == 0 {
            self.first = Some((edge, words.line));
            return self.entries.push(Entry { row: 0, col: 0, value: 1.0 });
        }
        if self.has_weights.is_none() {
            (self.has_weights, self.second) = (Some(edge.weight.is_some()), words.line);
        } else if self.has_weights != Some(edge.weight.is_some()) {
            return Err(edge.differs().into());
        }
        let entry = self.entry(&edge, words.line)?;
        self.entries.push(entry)
    }

    fn entry(&mut self, edge: &Edge, line: u64) -> Result<Entry, Fault> {
        if edge.nodes.iter().max() > self.range.iter().map(|range| &range.1).max() {
            self.largest = line;
        }
        if edge.nodes.contains(&0) {
            self.zero = self.zero.min(line);
        }
        for (range, node) in self.range.iter_mut().zip(edge.nodes) {
            *range = (range.0.min(node), range.1.max(node));
        }
        let [row, col] = match &mut self.compact {
            Some(compact) => compact.places(edge.nodes, &mut self.entries).map_err(|fault| fault.in_line(line))?,
            None => edge.nodes.map(|node| node as u32),
        };
        Ok(Entry { row, col, value: edge.weight.unwrap_or(1.0) })
    }

    pub fn stored(mut self, comments: &Comments, names: Option<Names>, bytes: u64) -> Result<Stored<'c>, Fault> {
        self.check_names(names)?;
        self.check_table(comments)?;
        let direction = self.declared.direction.or(comments.edges.direction);
        let stated = self.declared.nodes.or(comments.edges.nodes);
        let first = self.settle_first(comments, stated)?;
        self.remarks.extend(comments.remark(self.entries.len() as u64));
        self.guesses(direction, stated);
        let sizes = match self.compact.take() {
            Some(compact) => compact.renumber(&mut self.entries, direction == Some(Direction::Bipartite)),
            None => self.sizes(comments, direction, first, stated)?,
        };
        let sizes = sizes.map(|size| size as usize);
        let field = if self.has_weights == Some(true) { Field::Real } else { Field::Pattern };
        let general = Stored::general(sizes, field, self.entries, bytes);
        let is_mirrored = direction == Some(Direction::Undirected);
        let symmetry = if is_mirrored { Symmetry::Symmetric } else { general.symmetry };
        Ok(Stored { symmetry, remarks: self.remarks, ..general })
    }

    fn check_names(&mut self, names: Option<Names>) -> Result<(), Fault> {
        let Some((names, line)) = names.and_then(|names| Some((names.shown(), names.line?))) else {
            return Ok(());
        };
        if self.entries.len() == 0 {
            let why = "it has only names, and no edge `FROM TO [WEIGHT]` follows";
            return Err(Fault::at(line, format!("`{names}` is no edge list: {why}")));
        }
        self.remarks.push(format!("line {line} was skipped as the names of its columns: {names}"));
        Ok(())
    }

    /// Checks whether the lines are those of a dense matrix. If the user declared what they are, that counts.
    fn check_table(&mut self, comments: &Comments) -> Result<(), Fault> {
        let Some(doubt) = self.table.doubt(comments.shape) else { return Ok(()) };
        let why = doubt.why;
        if doubt.is_certain && self.declared == Edges::default() {
            let mend = "if it is an edge list, --edges says what it means";
            let message = format!("this seems to be a dense matrix: {why}; {DENSE}; {mend}");
            return Err(Fault::at(self.table.line, message));
        }
        self.remarks.push(format!("it was read as an edge list, but {why}; {DENSE}"));
        Ok(())
    }

    /// Takes the first line as an edge, unless it states the sizes of all others, which this then returns. KONECT
    /// states them in a comment.
    fn settle_first(&mut self, comments: &Comments, stated: Option<Nodes>) -> Result<Option<[u64; 2]>, Fault> {
        let Some((edge, line)) = self.first.take() else { return Ok(None) };
        let others = self.entries.len() as u64 - 1;
        let base = u64::from(self.base(stated));
        let fits = |sizes: &[u64; 2]| {
            let mut sides = self.range.iter().zip(sizes);
            sides.all(|(range, size)| range.1 < size.saturating_add(base))
        };
        let sizes = edge.sizes(others).filter(fits);
        if sizes.is_some() && others > 0 && comments.edges.nodes.is_none() {
            self.entries.remove_first();
            self.largest = line;
            self.remarks.push(edge.sizes_remark(line));
            return Ok(sizes);
        }
        if self.has_weights.is_some_and(|has_weights| has_weights != edge.weight.is_some()) {
            let second = Edge { weight: edge.weight.xor(Some(1.0)), ..edge };
            return Err(Fault::at(self.second, second.differs()));
        }
        self.has_weights = Some(edge.weight.is_some());
        let entry = self.entry(&edge, line)?;
        self.entries.set_first(entry);
        Ok(None)
    }

    /// Returns the number of the first node, as it is stated or as the numbers have it.
    fn base(&self, stated: Option<Nodes>) -> u32 {
        match stated {
            Some(Nodes::From(base)) => base,
            _ => u32::from(self.range.iter().all(|range| range.0 > 0)),
        }
    }

    /// Counts nodes from 0 and returns the numbers of rows and columns: those of a first line, or those that the
    /// numbers of nodes need, or more if KONECT's comment says so.
    fn sizes(
        &mut self,
        comments: &Comments,
        direction: Option<Direction>,
        first: Option<[u64; 2]>,
        stated: Option<Nodes>,
    ) -> Result<[u64; 2], Fault> {
        let base = self.base(stated);
        if self.range.iter().any(|range| range.0 < u64::from(base)) {
            let mend = "nodes are counted from 1 here; --edges base=0 if it is a node";
            return Err(Fault::at(self.zero, format!("node 0: {mend}")));
        }
        self.entries.renumber(|row| row - base, |col| col - base);
        let edges = self.entries.len() as u64;
        let needed = self.range.map(|range| range.1 + u64::from(edges > 0 && base == 0));
        let mut sizes = first.unwrap_or(needed);
        let in_comment = comments.sizes(edges).unwrap_or_default();
        self.check_sizes(sizes, in_comment)?;
        for (size, stated) in sizes.iter_mut().zip(in_comment) {
            let line = if stated > *size { SIZES_LINE } else { self.largest.max(1) };
            *size = stated.max(*size);
            check_count(*size, "nodes").map_err(|defect| Fault::at(line, defect))?;
        }
        let is_rectangle =
            direction == Some(Direction::Bipartite) || first.is_some() && direction != Some(Direction::Undirected);
        Ok(if is_rectangle { sizes } else { [sizes[0].max(sizes[1]); 2] })
    }

    /// Checks that there are not far more rows or columns than edges, unless a comment states them.
    fn check_sizes(&self, sizes: [u64; 2], stated: [u64; 2]) -> Result<(), Fault> {
        let edges = self.entries.len() as u64;
        let most = MOST_PER_EDGE * edges + FEW_NODES;
        let large = sizes.into_iter().zip(stated).find(|(size, stated)| size > stated.max(&most));
        let Some((size, _)) = large else { return Ok(()) };
        let mend = "--edges compact numbers the nodes anew; if the matrix is so large, write it by `scipy.io.mmwrite`";
        let message = format!("{size} nodes are too many for {edges} edges; {mend}");
        Err(Fault::at(self.largest.max(1), message))
    }

    fn guesses(&mut self, direction: Option<Direction>, stated: Option<Nodes>) {
        let mut guesses = Vec::new();
        if direction.is_none() {
            guesses.push("directed".to_owned());
        }
        if stated.is_none() && self.entries.len() > 0 {
            guesses.push(format!("base={}", self.base(stated)));
        }
        if !guesses.is_empty() {
            let guesses = guesses.join(",");
            self.remarks.push(format!(
                "the edge list was read as {guesses}, because the file does not say it; --edges declares it"
            ));
        }
        if self.has_more {
            let what = "what follows the weights of its edges (times, for example) was left out";
            self.remarks.push(what.to_owned());
        }
    }
}
