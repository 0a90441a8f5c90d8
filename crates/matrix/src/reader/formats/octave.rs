//! Sparse matrices in the text format of GNU Octave (`save -text`): comments with the name, the type and the sizes of a
//! variable, and then a line `ROW COLUMN VALUE` per entry, counted from 1.

use super::super::arrays::check_count;
use super::super::entry::Entry;
use super::super::error::{Defect, Fault, quote};
use super::super::field::Field;
use super::super::number::whole;
use super::super::text::Text;
use super::format::Format;
use super::stored::Stored;
use super::triplets::Triplets;
use super::words::Words;

pub static FORMAT: Format = Format {
    name: "Octave (`save -text`)",
    extensions: &[],
    common_extensions: &[],
    document: ["its comments", "as stored", "one variable of the type `sparse matrix`"],
    sniff: |signs| is_octave(signs.head),
    size_hint: None,
    read: |text, options| Words::read(text, |words| stored(text, words))?.matrix(text, options),
};

const SIZES: [&str; 3] = ["rows", "columns", "nnz"];
/// Words of which the name of a type has one.
const TYPES: [&str; 6] = ["matrix", "scalar", "cell", "struct", "string", "range"];
const SAVE: &str = "in Octave, `A = sparse(A); save -text FILE A` writes what is read";

/// What the comments say.
#[derive(Default)]
struct Header {
    has_name: bool,
    is_sparse: bool,
    sizes: [Option<usize>; 3],
}

/// Returns whether the comments at the beginning of a text are those of Octave.
fn is_octave(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let comments: Vec<_> = text.lines().take_while(|line| line.starts_with('#')).collect();
    let is_type = |line: &str| line.starts_with("# type: ") && TYPES.iter().any(|known| line.contains(known));
    let is_variable = |pair: &[&str]| pair[0].starts_with("# name: ") && is_type(pair[1]);
    text.starts_with("# Created by Octave") || comments.windows(2).any(is_variable)
}

fn stored<'c>(text: &Text<'c>, words: &mut Words) -> Result<Stored<'c>, Fault> {
    let mut header = Header::default();
    let mut entries = Triplets::new(true, text.input.bounds);
    while words.advance()? {
        match words.begin()? {
            None => {}
            Some(b'#') => header.read(&words.comment()?)?,
            Some(_) => {
                let [rows, cols, _] = header.sizes()?;
                let row = words.index_in_line("the row", rows)?;
                let col = words.index_in_line("the column", cols)?;
                let value = words.value_in_line("the value")?;
                words.expect_line_end()?;
                entries.push(Entry { row, col, value })?;
            }
        }
    }
    let [rows, cols, nonzeros] = header.sizes()?;
    if entries.len() != nonzeros {
        let found = entries.len();
        return Err(format!("there are {found} entries, not {nonzeros} (`# nnz`)").into());
    }
    Ok(Stored::general([rows, cols], Field::Real, entries, words.bytes))
}

impl Header {
    fn read(&mut self, comment: &str) -> Result<(), Defect> {
        let Some((key, value)) = comment[1..].split_once(':') else { return Ok(()) };
        let key = key.trim();
        let value = value.trim();
        match key {
            "name" if self.has_name => {
                return Err(format!("the file has more than one variable; {SAVE}").into());
            }
            "name" => self.has_name = true,
            "type" => self.is_sparse = is_sparse(value)?,
            _ => {}
        }
        if let Some(place) = SIZES.iter().position(|known| *known == key) {
            let size = whole(value.as_bytes(), &format!("the number of {key}"), u64::MAX)?;
            check_count(size, key)?;
            self.sizes[place] = Some(size as usize);
        }
        Ok(())
    }

    fn sizes(&self) -> Result<[usize; 3], Defect> {
        if let ([Some(rows), Some(cols), Some(nonzeros)], true) = (self.sizes, self.is_sparse) {
            return Ok([rows, cols, nonzeros]);
        }
        let wanted = "`# type: sparse matrix`, `# nnz`, `# rows` and `# columns`";
        Err(format!("this is a text of Octave, but it lacks one of {wanted}; {SAVE}").into())
    }
}

/// Checks the type of a variable.
fn is_sparse(kind: &str) -> Result<bool, Defect> {
    match kind.strip_prefix("global ").unwrap_or(kind) {
        "sparse matrix" | "sparse bool matrix" => Ok(true),
        "sparse complex matrix" => {
            Err(Defect::unsupported("a text of Octave with complex values, which are not supported".into()))
        }
        kind => {
            let kind = quote(kind.as_bytes());
            Err(format!("this is a text of Octave with the type {kind}, not `sparse matrix`; {SAVE}").into())
        }
    }
}
