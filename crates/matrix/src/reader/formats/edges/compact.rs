//! Numbers nodes anew whose numbers are large or far apart.

use std::collections::HashMap;

use super::super::super::arrays::check_count;
use super::super::super::error::Fault;
use super::super::triplets::Triplets;

/// The most memory for a node in bytes: twice in a hash table that grows, in lists, and its new number.
const BYTES_PER_NODE: u64 = 128;
/// The number of further nodes after which the memory is checked again.
const FEW: u64 = 1 << 12;

/// The nodes of a file in the order of their first edges, those of rows and those of columns.
#[derive(Default)]
pub struct Compact([Side; 2]);

#[derive(Default)]
struct Side {
    places: HashMap<u64, u32>,
    nodes: Vec<u64>,
}

impl Compact {
    /// Returns the places of the nodes of an edge, which [`Compact::renumber`] replaces by their numbers.
    pub fn places(&mut self, nodes: [u64; 2], entries: &mut Triplets) -> Result<[u32; 2], Fault> {
        let before = self.count();
        let places = [0, 1].map(|side| self.0[side].place(nodes[side]));
        let known = self.count();
        if known / FEW != before / FEW {
            check_count(known, "nodes")?;
            entries.hold(BYTES_PER_NODE * known)?;
        }
        Ok(places)
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|side| side.nodes.len() as u64).sum()
    }

    /// Numbers the nodes by their old numbers, and rows and columns together unless they are `apart`. Returns how many
    /// rows and columns there are.
    pub fn renumber(self, entries: &mut Triplets, apart: bool) -> [u64; 2] {
        let [rows, cols] = self.0.map(|side| side.nodes);
        let all = |nodes: &[u64], others: &[u64]| {
            let others = if apart { &[] } else { others };
            let mut all = [nodes, others].concat();
            all.sort_unstable();
            all.dedup();
            all
        };
        let ordered = [all(&rows, &cols), all(&cols, &rows)];
        let numbers = |nodes: &[u64], ordered: &[u64]| -> Vec<u32> {
            let number = |node: &u64| ordered.partition_point(|other| other < node) as u32;
            nodes.iter().map(number).collect()
        };
        let rows = numbers(&rows, &ordered[0]);
        let cols = numbers(&cols, &ordered[1]);
        entries.renumber(|place| rows[place as usize], |place| cols[place as usize]);
        ordered.map(|nodes| nodes.len() as u64)
    }
}

impl Side {
    fn place(&mut self, node: u64) -> u32 {
        *self.places.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        })
    }
}
