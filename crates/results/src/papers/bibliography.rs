//! The bibliography, `docs/papers.bib`: the publications and libraries that the sources of methods and experiments
//! cite.

/// The text of the bibliography: a paragraph per entry, sorted by key.
const BIBLIOGRAPHY: &str = include_str!("../../papers.bib");

/// The beginning of the comment above an entry whose sources cite it by other words than its key.
const CITED_AS: &str = "% cited as: ";

pub struct BibEntry {
    /// The key, which is also the short name of a paper: `merge-spmv-sc16`.
    pub key: &'static str,
    /// The words by which sources cite the entry: `Bell & Garland 2009`.
    cited_as: &'static str,
    pub text: &'static str,
}

impl BibEntry {
    /// Returns whether a source, such as `merge-spmv-sc16, Table 1`, cites the entry.
    pub fn is_cited_in(&self, source: &str) -> bool {
        source.contains(self.cited_as)
    }
}

pub fn entries() -> impl Iterator<Item = BibEntry> {
    BIBLIOGRAPHY.split("\n\n").filter_map(|paragraph| {
        let start = paragraph.find('@')?;
        let (comment, text) = paragraph.split_at(start);
        let key = text.split(['{', ',']).nth(1)?;
        let cited_as = comment.strip_prefix(CITED_AS).map_or(key, str::trim_end);
        Some(BibEntry { key, cited_as, text: text.trim_end() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_complete() {
        let keys: Vec<_> = entries().map(|entry| entry.key).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert_eq!(keys.len(), BIBLIOGRAPHY.matches("\n@").count());
        assert!(entries().all(|entry| entry.text.ends_with("\n}")));
    }
}
