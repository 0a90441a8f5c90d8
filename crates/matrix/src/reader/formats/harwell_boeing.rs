//! Harwell-Boeing and Rutherford-Boeing files: four or five lines of header, and then the column offsets, the row
//! indices and the values, counted from 1, in columns of fixed width as Fortran formats say. The header of
//! Harwell-Boeing has right-hand sides too, which are not read.

use super::super::arrays::{check_count, push};
use super::super::entry::Entry;
use super::super::error::{Defect, Fault, quote};
use super::super::field::{Field, Symmetry};
use super::super::lines::Lines;
use super::super::number::{value, whole};
use super::super::syntax::{first_line, tokens, words};
use super::super::text::Text;
use super::format::Format;
use super::fortran::{Columns, next_line};
use super::stored::Stored;
use super::triplets::Triplets;
use crate::memory::ReadBounds;

pub static FORMAT: Format = Format {
    name: "Rutherford-Boeing, Harwell-Boeing",
    // Also the type of the matrix.
    extensions: &[".rb", ".hb", ".rua", ".rsa", ".rza", ".rra", ".pua", ".psa", ".pra", ".iua", ".isa"],
    common_extensions: &[],
    document: [
        "the type in the third line, or its extension",
        "as stored; 1 for a pattern",
        "assembled, not complex; right-hand sides are not read, and what follows them is refused",
    ],
    sniff: |signs| signs.is_named || is_harwell_boeing(signs.head),
    size_hint: None,
    read: |text, options| stored(text)?.matrix(text, options),
};

/// The size of the blocks in which the text is read, in bytes.
const BLOCK: usize = 1 << 16;

struct Header {
    rows: usize,
    cols: usize,
    nonzeros: usize,
    field: Field,
    symmetry: Symmetry,
    /// The formats of column offsets, row indices and values.
    formats: [Columns; 3],
    /// The number of lines of right-hand sides.
    sides: u64,
}

/// Returns whether the third line has the type and the sizes of a Harwell-Boeing matrix: `RSA   3   3   4   0`.
pub fn is_harwell_boeing(head: &[u8]) -> bool {
    let third = head.splitn(3, |&byte| byte == b'\n').nth(2).unwrap_or_default();
    let mut found = words(first_line(third));
    let kind = found.next().unwrap_or_default().to_ascii_uppercase();
    let letters = ["RCPIQX", "SUHZR", "AE"];
    let is_kind =
        kind.len() == letters.len() && kind.iter().zip(letters).all(|(&letter, of)| of.contains(char::from(letter)));
    let sizes: Vec<_> = found.collect();
    is_kind && sizes.len() >= 3 && sizes.iter().all(|word| word.iter().all(u8::is_ascii_digit))
}

fn stored<'c>(text: &Text<'c>) -> Result<Stored<'c>, Fault> {
    let mut lines = text.lines(BLOCK);
    let stored = read(&mut lines, text.input.bounds);
    stored.map_err(|fault| fault.in_line(lines.line))
}

fn read<'c>(lines: &mut Lines, bounds: ReadBounds<'c>) -> Result<Stored<'c>, Fault> {
    let header = Header::read(lines)?;
    let Header { rows, cols, nonzeros, field, symmetry, .. } = header;
    let offsets = header.column_offsets(lines, bounds)?;
    let mut entries = Triplets::new(field != Field::Pattern, bounds);
    entries.hold(size_of_val(&offsets[..]) as u64)?;
    let mut col = 0;
    header.formats[1].each(lines, nonzeros, |word| {
        let row = whole(word, "row index", rows as u64)?;
        let row = row.checked_sub(1).ok_or("row index 0: indices start at 1")? as u32;
        while offsets[col + 1] as usize <= entries.len() + 1 {
            col += 1;
        }
        entries.push(Entry { row, col: col as u32, value: 1.0 })
    })?;
    if field != Field::Pattern {
        let mut place = 0;
        header.formats[2].each(lines, nonzeros, |word| {
            entries.set_value(place, value(word, field)?);
            place += 1;
            Ok(())
        })?;
    }
    expect_end(lines, header.sides)?;
    Ok(Stored { symmetry, ..Stored::general([rows, cols], field, entries, lines.bytes) })
}

impl Header {
    fn read(lines: &mut Lines) -> Result<Self, Fault> {
        next_line(lines)?;
        // The counts of lines: in all, and of offsets, indices, values and right-hand sides.
        let counts = next_line(lines)?;
        let of_sides = words(&counts).nth(4);
        let sides = of_sides.map_or(Ok(0), |word| whole(word, "a number of lines", u64::MAX))?;
        let sizes_line = next_line(lines)?;
        let (field, symmetry) = kind(&sizes_line)?;
        let [rows, cols, nonzeros] = sizes(&sizes_line)?;
        if symmetry != Symmetry::General && rows != cols {
            let symmetry = symmetry.name();
            return Err(format!("a {symmetry} matrix must be square, not {rows} x {cols}").into());
        }
        let format_line = next_line(lines)?;
        let mut found = Columns::all(&format_line);
        let mut next = || found.next().unwrap_or(Err("a format is missing".into()));
        let offsets = next()?;
        let indices = next()?;
        let values = if field == Field::Pattern { Columns::NONE } else { next()? };
        if sides > 0 {
            next_line(lines)?;
        }
        let formats = [offsets, indices, values];
        Ok(Self { rows, cols, nonzeros, field, symmetry, formats, sides })
    }

    /// Reads the offsets of the columns, which ascend from 1.
    fn column_offsets(&self, lines: &mut Lines, bounds: ReadBounds) -> Result<Vec<u32>, Fault> {
        let mut offsets = Vec::new();
        let end = self.nonzeros as u32 + 1;
        self.formats[0].each(lines, self.cols + 1, |word| {
            let offset = whole(word, "a column offset", end.into())? as u32;
            let before = offsets.last().copied().unwrap_or(1);
            if offset < before || offsets.is_empty() && offset != 1 {
                let what = "the offsets must ascend from 1";
                return Err(format!("column offset {offset} follows {before}: {what}").into());
            }
            push(&mut offsets, offset, bounds)
        })?;
        match offsets.last() {
            Some(&last) if last != end => Err(format!("the last column offset is {last}, not {end}").into()),
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
    let unsupported = |what: &str| Err(Defect::unsupported(format!("type {}: {what}", quote(word))));
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

/// Returns the numbers of rows, columns and nonzeros, which follow the type.
fn sizes(sizes_line: &[u8]) -> Result<[usize; 3], Defect> {
    let mut words = words(sizes_line).skip(1);
    let mut sizes = [0; 3];
    for (size, things) in sizes.iter_mut().zip(["rows", "columns", "nonzeros"]) {
        let missing = "the numbers of rows, columns and nonzeros must follow the type";
        let word = words.next().ok_or(missing)?;
        let count = whole(word, &format!("the number of {things}"), u64::MAX)?;
        check_count(count, things)?;
        *size = count as usize;
    }
    Ok(sizes)
}

/// Checks that nothing follows the matrix but this number of lines.
fn expect_end(lines: &mut Lines, sides: u64) -> Result<(), Fault> {
    let mut left = sides;
    while let Some(line) = lines.next()? {
        if let Some(word) = tokens(line).next().filter(|_| left == 0) {
            return Err(format!("unexpected {} after the end of the matrix", quote(word)).into());
        }
        left = left.saturating_sub(1);
    }
    Ok(())
}
