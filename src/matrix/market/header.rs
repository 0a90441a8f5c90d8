//! The header of a Matrix Market file: the banner, comments and the size line.

use std::fmt::Display;

use super::entry::tokens;
use super::error::{Fault, Reason, quote, shown};
use super::text::Lines;
use crate::matrix::csr::MAX_INDEX;

/// The type of the values of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Floating-point numbers: `real` or `double`.
    Real,
    /// Integers: `integer`.
    Integer,
    /// Integers that are not negative: `unsigned-integer`.
    UnsignedInteger,
    /// Positions without values: `pattern`.
    Pattern,
}

impl Field {
    /// Returns the word in the banner.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::UnsignedInteger => "unsigned-integer",
            Self::Pattern => "pattern",
        }
    }
}

/// The symmetry of the matrix, which determines the part that a file stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// No symmetry: the file stores the whole matrix.
    General,
    /// The file stores one triangle; the other is its mirror image. `hermitian` has the same meaning because
    /// no value is complex.
    Symmetric,
    /// The file stores one triangle; the other is its mirror image with the opposite sign.
    SkewSymmetric,
}

impl Symmetry {
    /// Returns the word in the banner.
    pub const fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
        }
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

/// The contents of the header.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub format: Format,
    pub field: Field,
    pub symmetry: Symmetry,
    pub rows: usize,
    pub cols: usize,
    /// The number of entries that must follow.
    pub stored: u64,
    /// The length of the header in bytes.
    pub bytes: u64,
}

/// The largest size in bytes of the banner and the comments before the size line.
pub const LONGEST_HEAD: u64 = 16 << 20;
/// The number of bytes to which the kind of problem is truncated.
const LONGEST_KIND: usize = 200;
const BANNER: &[u8] = b"%%MatrixMarket";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

// The words of the banner with their meanings. A word with the meaning `None` is not supported.
const OBJECTS: &[(&str, Option<()>)] = &[("matrix", Some(())), ("vector", None)];
const FORMATS: &[(&str, Option<Format>)] =
    &[("coordinate", Some(Format::Coordinate)), ("array", Some(Format::Array))];
const FIELDS: &[(&str, Option<Field>)] = &[
    ("real", Some(Field::Real)),
    ("double", Some(Field::Real)),
    ("integer", Some(Field::Integer)),
    ("unsigned-integer", Some(Field::UnsignedInteger)),
    ("pattern", Some(Field::Pattern)),
    ("complex", None),
];
const SYMMETRIES: &[(&str, Option<Symmetry>)] = &[
    ("general", Some(Symmetry::General)),
    ("symmetric", Some(Symmetry::Symmetric)),
    ("skew-symmetric", Some(Symmetry::SkewSymmetric)),
    ("hermitian", Some(Symmetry::Symmetric)),
];

impl Header {
    /// Reads up to and including the size line. Returns also the kind of problem from the comment `% kind: …`.
    pub fn read(lines: &mut Lines) -> Result<(Self, Option<String>), Fault> {
        let (format, field, symmetry) = banner(lines)?;
        let (sizes, kind) = sizes(lines, format)?;
        let header = Self {
            format,
            field,
            symmetry,
            rows: sizes[0] as usize,
            cols: sizes[1] as usize,
            stored: match format {
                Format::Coordinate => sizes[2],
                Format::Array => elements(symmetry, sizes[0], sizes[1]),
            },
            bytes: lines.bytes,
        };
        let name = symmetry.name();
        if symmetry != Symmetry::General && header.rows != header.cols {
            let (rows, cols) = (header.rows, header.cols);
            return Err(
                lines.broken(format!("a {name} matrix must be square, not {rows} x {cols}"))
            );
        }
        Ok((header, kind))
    }

    /// Checks that 32-bit indices suffice for the entries. The last line read must be the size line.
    pub fn check_entries(&self, lines: &Lines) -> Result<(), Fault> {
        match self.stored > MAX_INDEX as u64 {
            true => Err(lines.unsupported(too_many(self.stored, "entries"))),
            false => Ok(()),
        }
    }
}

/// Returns the error message for more rows, columns or entries than 32-bit indices allow.
pub fn too_many(count: impl Display, things: &str) -> String {
    format!("{count} {things} are too many: 32-bit indices allow at most {MAX_INDEX}")
}

/// Returns whether the text begins with the first word of a Matrix Market banner.
pub fn is_banner(text: &[u8]) -> bool {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let first = text.split(u8::is_ascii_whitespace).next();
    first.is_some_and(|word| word.eq_ignore_ascii_case(BANNER))
}

fn banner(lines: &mut Lines) -> Result<(Format, Field, Symmetry), Fault> {
    let Some(line) = lines.next()? else {
        let reason = Reason::Broken("the file is empty".into());
        return Err(Fault::whole(reason));
    };
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).to_vec();
    if !is_banner(&line) {
        let example = "`%%MatrixMarket matrix coordinate real general`";
        let found = quote(line.trim_ascii());
        return Err(lines.broken(format!("the first line must be like {example}, not {found}")));
    }
    let mut words = tokens(&line[BANNER.len()..]);
    choose(lines, words.next(), "object", OBJECTS)?;
    let format = choose(lines, words.next(), "format", FORMATS)?;
    let field = choose(lines, words.next(), "field", FIELDS)?;
    let symmetry = choose(lines, words.next(), "symmetry", SYMMETRIES)?;
    match (format, field, symmetry, words.next()) {
        (_, _, _, Some(word)) => Err(format!("unexpected {} in the banner", quote(word))),
        (Format::Array, Field::Pattern, ..) => {
            Err("the array format cannot have the field `pattern`".into())
        }
        (_, Field::Pattern, Symmetry::SkewSymmetric, _) => {
            Err("a pattern has no values and cannot be skew-symmetric".into())
        }
        _ => Ok((format, field, symmetry)),
    }
    .map_err(|message| lines.broken(message))
}

/// Returns the meaning of one word of the banner.
fn choose<T: Copy>(
    lines: &Lines,
    word: Option<&[u8]>,
    what: &str,
    choices: &[(&str, Option<T>)],
) -> Result<T, Fault> {
    let supported: Vec<&str> = choices.iter().filter(|c| c.1.is_some()).map(|c| c.0).collect();
    let supported = supported.join(", ");
    let Some(word) = word else {
        return Err(lines.broken(format!("the banner lacks the {what} ({supported})")));
    };
    let known = choices.iter().find(|c| word.eq_ignore_ascii_case(c.0.as_bytes()));
    match known {
        Some((_, Some(meaning))) => Ok(*meaning),
        Some((name, None)) => {
            Err(lines.unsupported(format!("{what} `{name}` is not supported, only {supported}")))
        }
        None => {
            let word = quote(word);
            Err(lines.broken(format!("unknown {what} {word}, it must be one of {supported}")))
        }
    }
}

/// Reads up to and including the size line. Returns its numbers (two for an array) and the kind of problem.
fn sizes(lines: &mut Lines, format: Format) -> Result<(Vec<u64>, Option<String>), Fault> {
    let mut kind = None;
    let line = loop {
        let Some(line) = lines.next()? else {
            return Err(lines.broken("the file ends before the size line".into()));
        };
        if tokens(line).next().is_some() {
            break line.to_vec();
        }
        kind = kind.or_else(|| kind_in_comment(line));
        if lines.bytes > LONGEST_HEAD {
            let message = format!("no size line within the first {LONGEST_HEAD} bytes");
            return Err(lines.broken(message));
        }
    };
    let wanted: &[&str] = match format {
        Format::Coordinate => &["rows", "columns", "entries"],
        Format::Array => &["rows", "columns"],
    };
    if tokens(&line).count() != wanted.len() {
        let (wanted, found) = (wanted.join(", "), quote(line.trim_ascii()));
        return Err(lines.broken(format!("the size line must contain {wanted}, not {found}")));
    }
    let sizes = tokens(&line).zip(wanted);
    let sizes =
        sizes.map(|(token, things)| size(lines, token, things)).collect::<Result<_, _>>()?;
    Ok((sizes, kind))
}

/// Returns the printable text after `% kind:`, truncated if it is long.
fn kind_in_comment(line: &[u8]) -> Option<String> {
    let comment = line.trim_ascii().strip_prefix(b"%")?.trim_ascii_start();
    let kind = comment.strip_prefix(b"kind:")?.trim_ascii();
    (!kind.is_empty()).then(|| shown(kind, LONGEST_KIND))
}

fn size(lines: &Lines, token: &[u8], things: &str) -> Result<u64, Fault> {
    let digits = std::str::from_utf8(token).ok();
    let Some(digits) = digits.filter(|text| text.bytes().all(|c| c.is_ascii_digit())) else {
        let token = quote(token);
        return Err(lines.broken(format!(
            "the number of {things} must be a whole number of at least 0, not {token}"
        )));
    };
    match digits.parse() {
        Ok(size) if size <= MAX_INDEX as u64 => Ok(size),
        _ => Err(lines.unsupported(too_many(shown(token, 40), things))),
    }
}

/// Returns the number of elements that an array stores.
fn elements(symmetry: Symmetry, rows: u64, cols: u64) -> u64 {
    match symmetry {
        Symmetry::General => rows * cols,
        Symmetry::Symmetric => rows * (rows + 1) / 2,
        Symmetry::SkewSymmetric => rows * rows.saturating_sub(1) / 2,
    }
}
