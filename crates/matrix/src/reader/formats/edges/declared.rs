//! What edge lists mean, as far as the user declares it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What edge lists mean, as far as the user declares it: `undirected,base=1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Edges {
    pub direction: Option<Direction>,
    pub nodes: Option<Nodes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Directed,
    /// An edge is in both rows, as an entry of a symmetric matrix.
    Undirected,
    /// Rows and columns are numbered independently.
    Bipartite,
}

/// How the nodes become rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// By their numbers, of which the first one is 0 or 1.
    From(u32),
    /// By the order of their numbers, which may be any.
    Compact,
}

const WORDS: [(&str, Edges); 6] = [
    ("directed", Edges { direction: Some(Direction::Directed), nodes: None }),
    ("undirected", Edges { direction: Some(Direction::Undirected), nodes: None }),
    ("bipartite", Edges { direction: Some(Direction::Bipartite), nodes: None }),
    ("base=0", Edges { direction: None, nodes: Some(Nodes::From(0)) }),
    ("base=1", Edges { direction: None, nodes: Some(Nodes::From(1)) }),
    ("compact", Edges { direction: None, nodes: Some(Nodes::Compact) }),
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
            let is_repeated = meant.direction.and(edges.direction).is_some() || meant.nodes.and(edges.nodes).is_some();
            if is_repeated {
                return Err(format!("'{word}' contradicts a word before it"));
            }
            edges = Self { direction: edges.direction.or(meant.direction), nodes: edges.nodes.or(meant.nodes) };
        }
        Ok(edges)
    }
}

impl fmt::Display for Edges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_part = |meant: &Edges| {
            meant.direction.is_some() && meant.direction == self.direction
                || meant.nodes.is_some() && meant.nodes == self.nodes
        };
        let words: Vec<_> = WORDS.iter().filter(|(_, meant)| is_part(meant)).map(|(word, _)| *word).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_and_shown_again() {
        let words = "undirected,compact";
        assert_eq!(words.parse::<Edges>().unwrap().to_string(), words);
        let known = "directed, undirected, bipartite, base=0, base=1, compact";
        for (words, expected) in [
            ("directed,undirected", "'undirected' contradicts a word before it".to_owned()),
            ("compact,base=1", "'base=1' contradicts a word before it".to_owned()),
            ("base=2", format!("'base=2' is not one of {known}")),
        ] {
            assert_eq!(words.parse::<Edges>(), Err(expected));
        }
    }
}
