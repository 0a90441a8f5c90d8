//! A first line with the names of the columns, as in CSV: `source,target,weight`.

use super::super::super::error::{Defect, shown};
use super::super::super::field::Field;
use super::super::super::number::value;
use super::super::super::syntax::{body, first_line};

/// The usual names of the columns of the first and of the second node.
const NODES: [&[&str]; 2] = [&["source", "src", "from"], &["target", "tgt", "dest", "dst", "to"]];
/// The number of bytes of the names that a message shows.
const SHOWN: usize = 80;

pub struct Names {
    names: Vec<String>,
    /// The line in which they are, once it has been read.
    pub line: Option<u64>,
}

impl Names {
    /// Returns the names in the first line of a text that is no comment: at least two words, none of them a number.
    pub fn of(head: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(first_line(body(head))).ok()?.trim();
        let between = [',', ';', '\t'].into_iter().find(|it| line.contains(*it)).unwrap_or(' ');
        let words = line.split(between).map(|word| unquoted(word.trim().as_bytes()));
        let words: Vec<_> = words.filter(|word| between != ' ' || !word.is_empty()).collect();
        let names: Option<Vec<_>> = words.iter().map(|word| name(word)).collect();
        Some(Self { names: names.filter(|names| names.len() > 1)?, line: None })
    }

    /// Skips their line, unless they say that the nodes are in other columns than the first two.
    pub fn skip(&mut self, line: u64) -> Result<(), Defect> {
        self.line = Some(line);
        for (place, name) in self.names.iter().enumerate() {
            let wanted = NODES.iter().position(|it| it.contains(&&*name.to_ascii_lowercase()));
            if wanted.is_some_and(|wanted| wanted != place) {
                let mend = "`pandas.read_csv('FILE')[['source', 'target', 'weight']].to_csv('a.edges', index=False)`";
                let rule = "the columns of a list must be the first node, the second and a weight";
                return Err(format!("column {} has the name {name}: {rule}; {mend}", place + 1).into());
            }
        }
        Ok(())
    }

    pub fn shown(&self) -> String {
        shown(self.names.join(",").as_bytes(), SHOWN)
    }
}

fn name(word: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(word).ok()?;
    let is_name = name.contains(char::is_alphabetic) && !name.contains(char::is_control);
    (is_name && value(word, Field::Real).is_err()).then(|| name.to_owned())
}

/// Returns a word without the quotes around it.
pub fn unquoted(word: &[u8]) -> &[u8] {
    match word {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        _ => word,
    }
}
