use std::fmt::Display;

use super::contents::begins_with_numbers;
use super::error::{Defect, Fault, quote, shown};
use super::formats::Names;
use super::text::{BYTE_ORDER_MARK, Lines, after_banner, tokens};
use crate::csr::MAX_INDEX;

/// The type of the values of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Floating-point numbers: `real` or `double`.
    Real,
    Integer,
    /// Integers that are not negative: `unsigned-integer`.
    UnsignedInteger,
    /// Positions without values: `pattern`.
    Pattern,
}

impl Field {
    pub fn name(self) -> &'static str {
        word_of(self, FIELDS)
    }
}

/// The symmetry of the matrix, which determines the part that a file stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    General,
    /// The file stores one triangle; the other is its mirror image. `hermitian` has the same meaning because
    /// no value is complex.
    Symmetric,
    /// The file stores one triangle; the other is its mirror image with the opposite sign.
    SkewSymmetric,
}

impl Symmetry {
    pub fn name(self) -> &'static str {
        word_of(self, SYMMETRIES)
    }

    /// Returns the factor of mirrored values; `None` if entries are not mirrored.
    pub(super) const fn mirror_sign(self) -> Option<f64> {
        match self {
            Self::General => None,
            Self::Symmetric => Some(1.0),
            Self::SkewSymmetric => Some(-1.0),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Coordinate,
    Array,
}

/// The meaning of the banner, the first line.
#[derive(Clone, Debug)]
pub struct Banner {
    format: Format,
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
    pub format: Format,
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

// The words of the banner with their meanings, the usual one of several words first. A word with the meaning `None` is
// not supported.
const OBJECTS: Words<()> = &[("matrix", Some(())), ("vector", None)];
const FORMATS: Words<Format> =
    &[("coordinate", Some(Format::Coordinate)), ("array", Some(Format::Array))];
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

fn word_of<T: Copy + PartialEq>(meaning: T, words: Words<T>) -> &'static str {
    let found = words.iter().find(|(_, known)| *known == Some(meaning));
    found.expect("each meaning has a word").0
}

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
        let format = choose(words.next(), "format", FORMATS)?;
        let field = match choose(words.next(), "field", FIELDS) {
            Err(defect) if defect.is_unsupported => Err(defect),
            other => Ok(other?),
        };
        let symmetry = choose(words.next(), "symmetry", SYMMETRIES)?;
        match (format, &field, symmetry, words.next()) {
            (.., Some(word)) => Err(format!("unexpected {} in the banner", quote(word)).into()),
            (Format::Array, Ok(Field::Pattern), ..) => {
                Err("the array format cannot have the field `pattern`".into())
            }
            (_, Ok(Field::Pattern), Symmetry::SkewSymmetric, _) => {
                Err("a pattern has no values and cannot be skew-symmetric".into())
            }
            _ => Ok(Self { format, field, symmetry }),
        }
    }

    /// Parses a line after the banner. Returns `None` if it is blank or a comment.
    pub fn sizes(&self, line: &[u8]) -> Result<Option<Sizes>, Defect> {
        let wanted: &[&str] = match self.format {
            Format::Coordinate => &["rows", "columns", "entries"],
            Format::Array => &["rows", "columns"],
        };
        let found = tokens(line).count();
        if found == 0 {
            return Ok(None);
        }
        if found != wanted.len() {
            let (wanted, line) = (wanted.join(", "), quote(line.trim_ascii()));
            return Err(format!("the size line must contain {wanted}, not {line}").into());
        }
        let sizes = tokens(line).zip(wanted).map(|(word, things)| size(word, things));
        let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
        let (rows, cols, entries) = (sizes[0], sizes[1], sizes.get(2).copied());
        if self.symmetry != Symmetry::General && rows != cols {
            let symmetry = self.symmetry.name();
            return Err(format!("a {symmetry} matrix must be square, not {rows} x {cols}").into());
        }
        Ok(Some(Sizes { rows, cols, entries }))
    }
}

impl Header {
    /// Reads up to and including the size line. Returns also the kind of problem from the comment `% kind: …`.
    pub fn read(lines: &mut Lines) -> Result<(Self, Option<String>), Fault> {
        let banner = banner(lines)?;
        let field = banner.field.clone().map_err(|defect| lines.fault(defect))?;
        let (sizes, kind) = sizes(lines, &banner)?;
        let Sizes { rows, cols, entries } = sizes;
        // Ranks of MPI may divide more entries than 32-bit indices allow among them, so whoever reads all checks that.
        let checked = check_count(rows, "rows").and_then(|()| check_count(cols, "columns"));
        checked.map_err(|defect| lines.fault(defect))?;
        let Banner { format, symmetry, .. } = banner;
        let stored = entries.unwrap_or_else(|| elements(symmetry, rows, cols));
        let (rows, cols, bytes) = (rows as usize, cols as usize, lines.bytes);
        Ok((Self { format, field, symmetry, rows, cols, stored, bytes }, kind))
    }
}

/// Checks that 32-bit indices suffice for this number of rows, columns or entries.
pub fn check_count(count: u64, things: &str) -> Result<(), Defect> {
    if count > MAX_INDEX as u64 { Err(too_many(count, things)) } else { Ok(()) }
}

fn too_many(count: impl Display, things: &str) -> Defect {
    let most = format!("32-bit indices allow at most {MAX_INDEX}");
    let mend = match things {
        "entries" | "nonzeros" => "; several ranks of MPI can divide them (docs/mpi.md)",
        _ => "",
    };
    Defect::unsupported(format!("{count} {things} are too many: {most}{mend}"))
}

/// Reads the first line that is not empty.
fn banner(lines: &mut Lines) -> Result<Banner, Fault> {
    loop {
        let line = lines.next()?.ok_or(Defect::from("the file is empty"))?;
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if !text.trim_ascii().is_empty() {
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
    let digits = std::str::from_utf8(word).ok();
    let Some(digits) = digits.filter(|text| text.bytes().all(|c| c.is_ascii_digit())) else {
        let what = format!("the number of {things} must be a whole number of at least 0");
        return Err(format!("{what}, not {}", quote(word)).into());
    };
    digits.parse().map_err(|_| too_many(shown(word, 40), things))
}

fn elements(symmetry: Symmetry, rows: u64, cols: u64) -> u64 {
    match symmetry {
        Symmetry::General => rows * cols,
        Symmetry::Symmetric => rows * (rows + 1) / 2,
        Symmetry::SkewSymmetric => rows * rows.saturating_sub(1) / 2,
    }
}
