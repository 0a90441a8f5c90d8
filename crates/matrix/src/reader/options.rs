use super::formats::edges::declared::Edges;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether a symmetric or skew-symmetric file is expanded to the whole matrix. Otherwise only the stored
    /// triangle is returned.
    pub expand: bool,
    /// What an edge list means, as far as the user declares it.
    pub edges: Edges,
    /// The approximate size in bytes of the chunks of text that a thread parses. It does not affect the result.
    pub chunk: usize,
}

impl Options {
    pub fn new(expand: bool, edges: Option<Edges>) -> Self {
        Self { expand, edges: edges.unwrap_or_default(), ..Self::default() }
    }

    /// Returns what determines the matrix that is read from a file, in words.
    pub fn words(&self) -> String {
        let expanded = if self.expand { "expanded" } else { "as stored" };
        format!("{expanded} {}", self.edges).trim_end().to_owned()
    }
}

impl Default for Options {
    fn default() -> Self {
        // The entries of a chunk of this size fit into the second-level cache of a core.
        Self { expand: true, edges: Edges::default(), chunk: 1 << 20 }
    }
}
