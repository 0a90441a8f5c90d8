//! Edge lists: a line `FROM TO [WEIGHT]` per edge, as of SNAP, KONECT and the Network Repository. Lines that begin with
//! `#` or `%` are comments, of which some say whether the edges have a direction. A first line may have the names of
//! the columns, or the numbers of nodes and edges.

pub mod comments;
mod compact;
pub mod declared;
mod line;
mod list;
pub mod names;
mod table;

use super::super::error::Fault;
use super::super::syntax::begins_with_numbers;
use super::super::text::Text;
use super::format::{Format, Signs};
use super::stored::Stored;
use super::words::Words;
use comments::{Comments, is_konect};
use declared::Edges;
use list::List;
use names::Names;

pub static FORMAT: Format = Format {
    name: "edge list (SNAP, KONECT, Network Repository, networkx)",
    extensions: &[".el", ".wel", ".edges", ".edgelist"],
    common_extensions: &[".txt", ".tsv"],
    document: [
        "its extension; a first line that begins with `#`, or that of KONECT (`% sym unweighted`); any other name, \
         such as `.csv`, with `--edges`",
        "the third column, otherwise 1",
        "blanks, commas or semicolons between columns; see [below](#edge-lists)",
    ],
    sniff: is_list,
    size_hint: None,
    read: |text, options| {
        let stored = Words::read(text, |words| stored(text, words, options.edges))?;
        stored.matrix(text, options)
    },
};

const COMMENTS: [u8; 2] = [b'#', b'%'];

fn is_list(signs: &Signs) -> bool {
    let has_columns = begins_with_numbers(signs.head) || !signs.has_extension && Names::of(signs.head).is_some();
    is_konect(signs.head) || signs.is_named || signs.head.starts_with(b"#") || signs.declares_edges && has_columns
}

fn stored<'c>(text: &Text<'c>, words: &mut Words, declared: Edges) -> Result<Stored<'c>, Fault> {
    let mut names = Names::of(&text.head);
    let mut comments = Comments::default();
    let mut list = List::new(text.input.bounds, declared);
    while words.advance()? {
        let Some(first) = words.begin()? else { continue };
        if COMMENTS.contains(&first) {
            let comment = words.comment()?;
            if list.entries.len() == 0 {
                comments.read(words.line, &comment);
            }
        } else if let Some(names) = names.as_mut().filter(|names| names.line.is_none()) {
            names.skip(words.line)?;
        } else {
            list.edge(words)?;
        }
    }
    list.stored(&comments, names, words.bytes)
}
