//! Lines of numbers in columns of fixed width, as Fortran formats say.

use super::super::error::{Defect, Fault, quote};
use super::super::lines::Lines;
use super::super::syntax::{tokens, words};

/// The longest format, which limits how deep its parentheses are. The files have 20 characters for it.
const LONGEST_FORMAT: usize = 80;

/// A Fortran format for lines: `(8I10)` is eight numbers of ten characters.
pub struct Columns {
    per_line: usize,
    width: usize,
}

impl Columns {
    pub const NONE: Self = Self { per_line: 1, width: 1 };

    /// Returns the formats of a line, which are in parentheses.
    pub fn all(line: &[u8]) -> impl Iterator<Item = Result<Self, Defect>> {
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
                format!("({}) is not a Fortran format {example}", quote(text).replace('`', "")).into()
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
    pub fn each(
        &self,
        lines: &mut Lines,
        count: usize,
        mut take: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut left = count;
        while left > 0 {
            let line = next_line(lines)?;
            let in_line = left.min(self.per_line);
            let (numbers, rest) = self.numbers(&line, in_line);
            numbers.into_iter().try_for_each(&mut take)?;
            if let Some(word) = tokens(rest).next() {
                return Err(format!("unexpected {} at the end of the line", quote(word)).into());
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

/// Returns the next line without its end.
pub fn next_line(lines: &mut Lines) -> Result<Vec<u8>, Fault> {
    let line = lines.next()?.ok_or("the file ends before the end of the matrix")?;
    Ok(line.trim_ascii_end().to_vec())
}
