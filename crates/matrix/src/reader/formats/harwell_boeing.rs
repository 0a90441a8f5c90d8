//! Harwell-Boeing and Rutherford-Boeing files: four or five lines of header, and then the column offsets, the row
//! indices and the values, counted from 1, in columns of fixed width as Fortran formats say. The header of
//! Harwell-Boeing has right-hand sides too, which are not read.

use std::iter::repeat_with;

use super::super::entry::{Entry, number};
use super::super::error::{Defect, Fault, quote};
use super::super::header::{Field, Symmetry, check_count};
use super::super::text::{Lines, Text, tokens, words};
use super::triplets::push;
use super::words::whole;
use super::{Stored, Triplets};
use crate::memory::ReadBounds;

/// The size of the blocks in which the text is read, in bytes.
const BLOCK: usize = 1 << 16;
/// The longest format, which limits how deep its parentheses are. The files have 20 characters for it.
const LONGEST_FORMAT: usize = 80;

struct Header {
    rows: usize,
    cols: usize,
    nonzeros: usize,
    field: Field,
    symmetry: Symmetry,
    /// The formats of column offsets, row indices and values.
    formats: [Format; 3],
    /// The number of lines of right-hand sides.
    sides: u64,
}

pub fn read<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let mut lines = text.lines(BLOCK);
    let header = Header::read(&mut lines)?;
    let bounds = text.input.bounds;
    let offsets = header.column_offsets(&mut lines, bounds)?;
    let mut entries = Triplets::new(header.field != Field::Pattern, bounds);
    entries.hold(size_of_val(&offsets[..]) as u64)?;
    let (mut col, mut place) = (0, 0);
    header.formats[1].each(&mut lines, header.nonzeros, |word| {
        let row = match whole(word, "row index", header.rows as u64)? {
            0 => return Err(Defect::from("row index 0: indices start at 1").into()),
            index => index as u32 - 1,
        };
        while offsets[col + 1] as usize <= entries.len() + 1 {
            col += 1;
        }
        entries.push(Entry { row, col: col as u32, value: 1.0 })
    })?;
    if header.field != Field::Pattern {
        header.formats[2].each(&mut lines, header.nonzeros, |word| {
            entries.set_value(place, number(word, header.field)?);
            place += 1;
            Ok(())
        })?;
    }
    expect_end(&mut lines, header.sides)?;
    let Header { rows, cols, field, symmetry, .. } = header;
    let remarks = Vec::new();
    Ok(Stored { rows, cols, field, symmetry, entries, bytes: lines.bytes, remarks })
}

impl Header {
    fn read(lines: &mut Lines) -> Result<Self, Fault> {
        line(lines)?;
        // The counts of lines: in all, and of offsets, indices, values and right-hand sides.
        let counts = line(lines)?;
        let of_sides = words(&counts).nth(4).map(|word| whole(word, "a number of lines", u64::MAX));
        let sides = of_sides.transpose().map_err(|defect| lines.fault(defect))?.unwrap_or(0);
        let sizes_line = line(lines)?;
        let (field, symmetry) = kind(&sizes_line).map_err(|defect| lines.fault(defect))?;
        let sizes = ["rows", "columns", "nonzeros"].into_iter().zip(words(&sizes_line).skip(1));
        let sizes = sizes.map(|(things, word)| {
            let size = whole(word, &format!("the number of {things}"), u64::MAX)?;
            check_count(size, things)?;
            Ok(size as usize)
        });
        let sizes: Result<Vec<_>, Defect> = sizes.collect();
        let [rows, cols, nonzeros] = sizes.map_err(|defect| lines.fault(defect))?[..] else {
            return Err(
                lines.fault("the numbers of rows, columns and nonzeros must follow the type")
            );
        };
        if symmetry != Symmetry::General && rows != cols {
            let symmetry = symmetry.name();
            return Err(
                lines.fault(format!("a {symmetry} matrix must be square, not {rows} x {cols}"))
            );
        }
        let format_line = line(lines)?;
        let mut found =
            Format::all(&format_line).chain(repeat_with(|| Err("a format is missing".into())));
        let mut format = || found.next().expect("the iterator does not end");
        let (offsets, indices) = (format(), format());
        let values = if field == Field::Pattern { Ok(Format::NONE) } else { format() };
        let formats = [offsets, indices, values].into_iter().collect::<Result<Vec<_>, Defect>>();
        let formats = formats.map_err(|defect| lines.fault(defect))?;
        if sides > 0 {
            line(lines)?;
        }
        let formats = formats.try_into().ok().expect("three formats");
        Ok(Self { rows, cols, nonzeros, field, symmetry, formats, sides })
    }

    /// Reads the offsets of the columns, which ascend from 1.
    fn column_offsets(&self, lines: &mut Lines, bounds: ReadBounds) -> Result<Vec<u32>, Fault> {
        let (mut offsets, end) = (Vec::new(), self.nonzeros as u32 + 1);
        self.formats[0].each(lines, self.cols + 1, |word| {
            let offset = whole(word, "a column offset", end.into())? as u32;
            let before = offsets.last().copied().unwrap_or(1);
            if offset < before || offsets.is_empty() && offset != 1 {
                let what = "the offsets must ascend from 1";
                let found = format!("column offset {offset} follows {before}: {what}");
                return Err(Defect::from(found).into());
            }
            push(&mut offsets, offset, bounds)
        })?;
        match offsets.last() {
            Some(&last) if last != end => {
                Err(lines.fault(format!("the last column offset is {last}, not {end}")))
            }
            _ => Ok(offsets),
        }
    }
}

/// Returns the field and the symmetry for the three letters of a type such as `RUA`.
fn kind(sizes_line: &[u8]) -> Result<(Field, Symmetry), Defect> {
    let word = words(sizes_line).next().unwrap_or_default();
    let &[values, symmetry, form] = &word.to_ascii_uppercase()[..] else {
        return Err(format!("the type must have three letters, not {}", quote(word)).into());
    };
    let unsupported =
        |what: &str| Err(Defect::unsupported(format!("type {}: {what}", quote(word))));
    let field = match values {
        b'R' => Field::Real,
        b'I' => Field::Integer,
        b'P' => Field::Pattern,
        b'C' => return unsupported("complex values are not supported"),
        _ => return unsupported("only the values R, I and P are supported"),
    };
    let symmetry = match symmetry {
        b'U' | b'R' => Symmetry::General,
        b'S' | b'H' => Symmetry::Symmetric,
        b'Z' => Symmetry::SkewSymmetric,
        _ => return unsupported("the second letter must be U, R, S, H or Z"),
    };
    if form != b'A' {
        return unsupported("only assembled matrices (A) are supported");
    }
    Ok((field, symmetry))
}

/// A Fortran format for lines: `(8I10)` is eight numbers of ten characters.
struct Format {
    per_line: usize,
    width: usize,
}

impl Format {
    const NONE: Self = Self { per_line: 1, width: 1 };

    /// Returns the formats of a line, which are in parentheses.
    fn all(line: &[u8]) -> impl Iterator<Item = Result<Self, Defect>> {
        let mut depth = 0;
        let is_between = move |byte: &u8| {
            depth += usize::from(*byte == b'(');
            let was_inside = depth > 0;
            depth -= usize::from(*byte == b')' && was_inside);
            !was_inside || depth == 0
        };
        // The last parenthesis of a format is between it and the next one.
        let texts = line.split(is_between).filter_map(|text| text.strip_prefix(b"("));
        texts.map(|text| {
            let parsed = Some(text).filter(|text| text.len() <= LONGEST_FORMAT);
            parsed.and_then(|text| Self::parse(&upper(text)?)).ok_or_else(|| {
                let example = "such as (10I8) or (4E20.12)";
                format!("({}) is not a Fortran format {example}", quote(text).replace('`', ""))
                    .into()
            })
        })
    }

    /// Parses a format without its parentheses. It may be another one in parentheses, repeated: `3(1PE12.4)`. A scale
    /// factor before it (`1P,`) does not change what is read.
    fn parse(text: &str) -> Option<Self> {
        let scaled = text.split_once('P').filter(|(scale, _)| !scale.contains('('));
        let text = scaled.map_or(text, |(_, rest)| rest.trim_start_matches(','));
        let nested = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (count, inner) = match nested {
            Some((count, inner)) => (count, Self::parse(inner)?),
            None if text.contains(',') => return None,
            None => {
                let (count, width) = text.split_once(|letter: char| "IEDFG".contains(letter))?;
                let width = width.split(['.', 'E']).next()?.parse().ok()?;
                (count, Self { per_line: 1, width })
            }
        };
        let count: usize = if count.is_empty() { 1 } else { count.parse().ok()? };
        let per_line = count.checked_mul(inner.per_line)?;
        (per_line > 0 && inner.width > 0).then_some(Self { per_line, ..inner })
    }

    /// Calls `take` for each of `count` numbers, which are in the following lines.
    fn each(
        &self,
        lines: &mut Lines,
        count: usize,
        mut take: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut left = count;
        while left > 0 {
            let line = line(lines)?;
            let in_line = left.min(self.per_line);
            let (numbers, rest) = self.numbers(&line, in_line);
            let taken = numbers.into_iter().try_for_each(&mut take);
            taken.map_err(|fault| fault.in_line(lines.line))?;
            if let Some(word) = tokens(rest).next() {
                return Err(
                    lines.fault(format!("unexpected {} at the end of the line", quote(word)))
                );
            }
            left -= in_line;
        }
        Ok(())
    }

    /// Returns the `count` numbers of a line, and the rest of it. Between blanks they are told apart by these, because
    /// scipy writes other widths than its format says.
    fn numbers<'l>(&self, line: &'l [u8], count: usize) -> (Vec<&'l [u8]>, &'l [u8]) {
        let found: Vec<_> = words(line).take(count + 1).collect();
        if found.len() == count {
            return (found, b"");
        }
        let place = |at: usize| line.len().min(at.saturating_mul(self.width));
        // The numbers that the line does not have are empty, of which the first one is an error.
        let count = count.min(line.len() + 1);
        let numbers = (0..count).map(|at| line[place(at)..place(at + 1)].trim_ascii());
        (numbers.collect(), &line[place(count)..])
    }
}

fn upper(text: &[u8]) -> Option<String> {
    Some(std::str::from_utf8(text).ok()?.to_ascii_uppercase().replace(' ', ""))
}

/// Checks that nothing follows the matrix but this number of lines.
fn expect_end(lines: &mut Lines, sides: u64) -> Result<(), Fault> {
    let mut left = sides;
    while let Some(line) = lines.next()? {
        let word = tokens(line).next().filter(|_| left == 0).map(quote);
        if let Some(word) = word {
            return Err(lines.fault(format!("unexpected {word} after the end of the matrix")));
        }
        left = left.saturating_sub(1);
    }
    Ok(())
}

/// Returns the next line without its end.
fn line(lines: &mut Lines) -> Result<Vec<u8>, Fault> {
    let line = lines.next()?.map(|line| line.trim_ascii_end().to_vec());
    line.ok_or_else(|| lines.fault("the file ends before the end of the matrix"))
}
