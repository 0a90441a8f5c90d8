//! The banner, the comments below it and the size line.

use super::super::super::arrays::{check_count, too_many};
use super::super::super::entry::Entry;
use super::super::super::error::{Defect, Fault, quote, shown};
use super::super::super::field::{Field, Symmetry};
use super::super::super::lines::Lines;
use super::super::super::number::digits;
use super::super::super::syntax::{after_banner, begins_with_numbers, tokens, without_mark};
use super::super::edges::names::Names;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Coordinate,
    Array,
}

/// The meaning of the banner, the first line.
#[derive(Clone, Debug)]
pub struct Banner {
    layout: Layout,
    /// The type of the values, or the reason why it is not supported.
    field: Result<Field, Defect>,
    pub symmetry: Symmetry,
}

#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub rows: u64,
    pub cols: u64,
    /// The number of entries; `None` for an array, which contains all elements.
    pub entries: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub layout: Layout,
    pub field: Field,
    pub symmetry: Symmetry,
    pub rows: usize,
    pub cols: usize,
    pub stored: u64,
    pub bytes: u64,
}

/// The largest size in bytes of the banner and the comments before the size line.
pub const LONGEST_HEAD: u64 = 16 << 20;
/// The number of bytes to which the kind of problem is truncated.
const LONGEST_KIND: usize = 200;

// The words of the banner with their meanings. A word with the meaning `None` is not supported.
const OBJECTS: Words<()> = &[("matrix", Some(())), ("vector", None)];
const LAYOUTS: Words<Layout> = &[("coordinate", Some(Layout::Coordinate)), ("array", Some(Layout::Array))];
const FIELDS: Words<Field> = &[
    ("real", Some(Field::Real)),
    ("double", Some(Field::Real)),
    ("integer", Some(Field::Integer)),
    ("unsigned-integer", Some(Field::UnsignedInteger)),
    ("pattern", Some(Field::Pattern)),
    ("complex", None),
];
const SYMMETRIES: Words<Symmetry> = &[
    ("general", Some(Symmetry::General)),
    ("symmetric", Some(Symmetry::Symmetric)),
    ("skew-symmetric", Some(Symmetry::SkewSymmetric)),
    ("hermitian", Some(Symmetry::Symmetric)),
];

type Words<T> = &'static [(&'static str, Option<T>)];

impl Banner {
    pub fn parse(line: &[u8]) -> Result<Self, Defect> {
        let Some(words) = after_banner(line) else {
            let usual = "`%%MatrixMarket matrix coordinate real general`";
            let list = "; an edge list needs a name that ends in .el, .edges or .txt, or --edges";
            let is_table = Names::of(line).is_some() && line.contains(&b',');
            let mend = if begins_with_numbers(line) || is_table { list } else { "" };
            let line = quote(line.trim_ascii());
            return Err(format!("the first line must be like {usual}, not {line}{mend}").into());
        };
        let mut words = tokens(words);
        choose(words.next(), "object", OBJECTS)?;
        let layout = choose(words.next(), "format", LAYOUTS)?;
        let field = match choose(words.next(), "field", FIELDS) {
            Err(defect) if defect.is_unsupported => Err(defect),
            other => Ok(other?),
        };
        let symmetry = choose(words.next(), "symmetry", SYMMETRIES)?;
        match (layout, &field, symmetry, words.next()) {
            (.., Some(word)) => Err(format!("unexpected {} in the banner", quote(word)).into()),
            (Layout::Array, Ok(Field::Pattern), ..) => Err("the array format cannot have the field `pattern`".into()),
            (_, Ok(Field::Pattern), Symmetry::SkewSymmetric, _) => {
                Err("a pattern has no values and cannot be skew-symmetric".into())
            }
            _ => Ok(Self { layout, field, symmetry }),
        }
    }

    /// Parses a line after the banner. Returns `None` if it is blank or a comment.
    pub fn sizes(&self, line: &[u8]) -> Result<Option<Sizes>, Defect> {
        let wanted: &[&str] = match self.layout {
            Layout::Coordinate => &["rows", "columns", "entries"],
            Layout::Array => &["rows", "columns"],
        };
        let found = tokens(line).count();
        if found == 0 {
            return Ok(None);
        }
        if found != wanted.len() {
            let wanted = wanted.join(", ");
            let line = quote(line.trim_ascii());
            return Err(format!("the size line must contain {wanted}, not {line}").into());
        }
        let sizes = tokens(line).zip(wanted).map(|(word, things)| size(word, things));
        let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
        let rows = sizes[0];
        let cols = sizes[1];
        let entries = sizes.get(2).copied();
        if self.symmetry != Symmetry::General && rows != cols {
            let symmetry = self.symmetry.name();
            return Err(format!("a {symmetry} matrix must be square, not {rows} x {cols}").into());
        }
        Ok(Some(Sizes { rows, cols, entries }))
    }
}

impl Header {
    /// Returns whether the kind of file may forbid this entry, which [`coordinate`](super::line::coordinate) then
    /// decides. The faster parsers have checked that the line is well formed and the entry within the matrix.
    #[inline(always)]
    pub fn doubts(&self, entry: &Entry) -> bool {
        self.symmetry == Symmetry::SkewSymmetric && entry.row == entry.col
            || self.field == Field::UnsignedInteger && entry.value < 0.0
    }

    /// Reads up to and including the size line. Returns also the kind of problem from the comment `% kind: …`.
    pub fn read(lines: &mut Lines) -> Result<(Self, Option<String>), Fault> {
        let banner = banner(lines)?;
        let field = banner.field.clone().map_err(|defect| lines.fault(defect))?;
        let (sizes, kind) = sizes(lines, &banner)?;
        let Sizes { rows, cols, entries } = sizes;
        // Ranks of MPI may divide more entries than 32-bit indices allow among them, so whoever reads all checks that.
        let checked = check_count(rows, "rows").and_then(|()| check_count(cols, "columns"));
        checked.map_err(|defect| lines.fault(defect))?;
        let Banner { layout, symmetry, .. } = banner;
        let stored = entries.unwrap_or_else(|| elements(symmetry, rows, cols));
        let rows = rows as usize;
        let cols = cols as usize;
        let bytes = lines.bytes;
        Ok((Self { layout, field, symmetry, rows, cols, stored, bytes }, kind))
    }
}

/// Reads the first line that is not empty.
fn banner(lines: &mut Lines) -> Result<Banner, Fault> {
    loop {
        let line = lines.next()?.ok_or(Defect::from("the file is empty"))?;
        if !without_mark(line).trim_ascii().is_empty() {
            return Banner::parse(line).map_err(|defect| lines.fault(defect));
        }
        if lines.bytes > LONGEST_HEAD {
            return Err(lines.fault(format!("no banner within the first {LONGEST_HEAD} bytes")));
        }
    }
}

fn choose<T: Copy>(word: Option<&[u8]>, what: &str, choices: Words<T>) -> Result<T, Defect> {
    let supported = choices.iter().filter(|choice| choice.1.is_some());
    let supported = supported.map(|choice| choice.0).collect::<Vec<_>>().join(", ");
    let Some(word) = word else {
        return Err(format!("the banner lacks the {what} ({supported})").into());
    };
    match choices.iter().find(|choice| word.eq_ignore_ascii_case(choice.0.as_bytes())) {
        Some((_, Some(meaning))) => Ok(*meaning),
        Some((word, None)) => {
            let message = format!("{what} `{word}` is not supported, only {supported}");
            Err(Defect::unsupported(message))
        }
        None => {
            let word = quote(word);
            Err(format!("unknown {what} {word}, it must be one of {supported}").into())
        }
    }
}

fn sizes(lines: &mut Lines, banner: &Banner) -> Result<(Sizes, Option<String>), Fault> {
    let mut kind = None;
    loop {
        let Some(line) = lines.next()? else {
            return Err(lines.fault("the file ends before the size line"));
        };
        let found = kind_in_comment(line);
        let sizes = banner.sizes(line).map_err(|defect| lines.fault(defect))?;
        if let Some(sizes) = sizes {
            return Ok((sizes, kind));
        }
        kind = kind.or(found);
        if lines.bytes > LONGEST_HEAD {
            return Err(lines.fault(format!("no size line within the first {LONGEST_HEAD} bytes")));
        }
    }
}

/// Returns the printable text after `% kind:`, truncated if it is long.
fn kind_in_comment(line: &[u8]) -> Option<String> {
    let comment = line.trim_ascii().strip_prefix(b"%")?.trim_ascii_start();
    let kind = comment.strip_prefix(b"kind:")?.trim_ascii();
    (!kind.is_empty()).then(|| shown(kind, LONGEST_KIND))
}

fn size(word: &[u8], things: &str) -> Result<u64, Defect> {
    if !word.iter().all(u8::is_ascii_digit) {
        let what = format!("the number of {things} must be a whole number of at least 0");
        return Err(format!("{what}, not {}", quote(word)).into());
    }
    digits(word).ok_or_else(|| too_many(shown(word, 40), things))
}

fn elements(symmetry: Symmetry, rows: u64, cols: u64) -> u64 {
    match symmetry {
        Symmetry::General => rows * cols,
        Symmetry::Symmetric => rows * (rows + 1) / 2,
        Symmetry::SkewSymmetric => rows * rows.saturating_sub(1) / 2,
    }
}
