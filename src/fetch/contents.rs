//! Checks whether a Matrix Market file contains the requested matrix, while the file is being unpacked: the
//! banner, the size line, and the number of entry lines.

use std::io::BufRead;

use crate::datasets::Matrix;

/// The longest permitted line in the header of a file, in bytes.
const LONGEST_LINE: usize = 1 << 16;

/// The header of a Matrix Market file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    stored: Stored,
    pub rows: u64,
    pub cols: u64,
    /// The number of entry lines; `None` for an array, where it follows from the size.
    entries: Option<u64>,
}

/// The part of the matrix that the file stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    All,
    Triangle,
    /// A triangle without the diagonal.
    StrictTriangle,
}

/// A parser that reads the header line by line.
#[derive(Default)]
struct HeadReader {
    lines: u64,
    /// Whether the file is an array, and which part of the matrix it stores.
    banner: Option<(bool, Stored)>,
}

impl HeadReader {
    /// Parses a line. Returns the header after its last line.
    fn take(&mut self, line: &[u8]) -> Result<Option<Head>, String> {
        self.lines += 1;
        let line = String::from_utf8_lossy(line);
        let Some((array, stored)) = self.banner else {
            self.banner = Some(banner(&line)?);
            return Ok(None);
        };
        if line.starts_with('%') || line.trim().is_empty() {
            return Ok(None);
        }
        let sizes: Option<Vec<u64>> =
            line.split_whitespace().map(|word| word.parse().ok()).collect();
        match (sizes.as_deref(), array) {
            (Some(&[rows, cols]), true) => Ok(Some(Head { stored, rows, cols, entries: None })),
            (Some(&[rows, cols, entries]), false) => {
                Ok(Some(Head { stored, rows, cols, entries: Some(entries) }))
            }
            _ => Err(format!("{} is not a size line", shown(&line))),
        }
    }
}

fn banner(line: &str) -> Result<(bool, Stored), String> {
    let words = line.to_ascii_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", format, _, symmetry] = words[..] else {
        let line = shown(line);
        return Err(format!("the first line must begin with %%MatrixMarket matrix, not {line}"));
    };
    let array = match format {
        "array" => true,
        "coordinate" => false,
        _ => return Err(format!("unknown format {}", shown(format))),
    };
    let stored = match symmetry {
        "general" => Stored::All,
        "symmetric" | "hermitian" => Stored::Triangle,
        "skew-symmetric" => Stored::StrictTriangle,
        _ => return Err(format!("unknown symmetry {}", shown(symmetry))),
    };
    Ok((array, stored))
}

/// Escapes and shortens a line for a message.
fn shown(line: &str) -> String {
    format!("`{:.40}`", line.trim().escape_debug().to_string())
}

impl Head {
    /// Reads the header at the beginning of a file.
    ///
    /// # Errors
    /// Returns an error with the line number if the header is not valid.
    pub fn read(mut from: impl BufRead, file: &str) -> Result<Self, String> {
        let mut reader = HeadReader::default();
        loop {
            let mut line = Vec::new();
            let mut limited = std::io::Read::take(&mut from, LONGEST_LINE as u64);
            limited.read_until(b'\n', &mut line).map_err(|error| format!("{file}: {error}"))?;
            if line.is_empty() {
                return Err(format!("{file}: it ends before the size line"));
            }
            let head = reader.take(&line);
            match head.map_err(|message| format!("{file}:{}: {message}", reader.lines))? {
                Some(head) => return Ok(head),
                None => continue,
            }
        }
    }

    /// Checks whether the numbers of rows and columns are those of the matrix.
    ///
    /// # Errors
    /// Returns an error with both sizes if they differ.
    pub fn check_shape(&self, matrix: &Matrix) -> Result<(), String> {
        let (Self { rows, cols, .. }, Matrix { id, .. }) = (self, matrix);
        match (*rows, *cols) == (matrix.rows, matrix.cols) {
            true => Ok(()),
            false => {
                Err(format!("{rows} x {cols}, but {id} has {} x {}", matrix.rows, matrix.cols))
            }
        }
    }

    /// Checks whether the number of entries is possible for the matrix.
    fn check_entries(&self, matrix: &Matrix) -> Result<(), String> {
        let Some(entries) = self.entries else { return Ok(()) };
        let all = matrix.entries;
        let (least, most) = match self.stored {
            Stored::All => (all, all),
            Stored::Triangle => (all.div_ceil(2), all.saturating_add(matrix.rows) / 2),
            Stored::StrictTriangle => (all / 2, all / 2),
        };
        if (least..=most).contains(&entries) {
            return Ok(());
        }
        let wanted = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        Err(format!("{entries} entries, but a file of {} stores {wanted}", matrix.id))
    }
}

/// A check of a file that is read in pieces.
pub struct Contents<'m> {
    matrix: &'m Matrix,
    file: String,
    stage: Stage,
}

/// The position in the file.
enum Stage {
    /// In the header, with the beginning of the current line.
    Head(HeadReader, Vec<u8>),
    Entries {
        head: Head,
        found: u64,
        /// Whether the first non-blank character of the current line has been read.
        known: bool,
    },
}

impl<'m> Contents<'m> {
    /// Creates a check of the file with this name, which must contain the matrix.
    pub fn of(matrix: &'m Matrix, file: String) -> Self {
        Self { matrix, file, stage: Stage::Head(HeadReader::default(), Vec::new()) }
    }

    /// Checks the next bytes.
    ///
    /// # Errors
    /// Returns an error if they do not belong to the matrix.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            match &mut self.stage {
                Stage::Head(_, line) if line.len() + piece.len() > LONGEST_LINE => {
                    return Err(format!("{}: a line of its header is too long", self.file));
                }
                Stage::Head(_, line) => {
                    line.extend_from_slice(piece);
                    if piece.ends_with(b"\n") {
                        self.head_line()?;
                    }
                }
                Stage::Entries { found, known, .. } => {
                    if !*known && let Some(first) = piece.iter().find(|c| !c.is_ascii_whitespace())
                    {
                        *known = true;
                        *found += u64::from(*first != b'%');
                    }
                    *known &= !piece.ends_with(b"\n");
                }
            }
        }
        Ok(())
    }

    /// Parses the current line of the header.
    fn head_line(&mut self) -> Result<(), String> {
        let Stage::Head(reader, line) = &mut self.stage else { return Ok(()) };
        let head = reader.take(&std::mem::take(line)).and_then(|head| match head {
            Some(head) => {
                head.check_shape(self.matrix)?;
                head.check_entries(self.matrix)?;
                Ok(Some(head))
            }
            None => Ok(None),
        });
        let head = head.map_err(|message| format!("{}:{}: {message}", self.file, reader.lines))?;
        if let Some(head) = head {
            self.stage = Stage::Entries { head, found: 0, known: false };
        }
        Ok(())
    }

    /// Checks the file after its last byte.
    ///
    /// # Errors
    /// Returns an error if the number of entry lines differs from the size line.
    pub fn end(mut self) -> Result<(), String> {
        if matches!(&self.stage, Stage::Head(_, line) if !line.is_empty()) {
            self.head_line()?;
        }
        match self.stage {
            Stage::Entries { head: Head { entries: Some(entries), .. }, found, .. }
                if found != entries =>
            {
                Err(format!(
                    "{}: {found} entry lines, but its size line specifies {entries}",
                    self.file
                ))
            }
            Stage::Entries { .. } => Ok(()),
            Stage::Head(..) => Err(format!("{}: it ends before the size line", self.file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: u64, cols: u64, entries: u64) -> Matrix {
        Matrix::of_size("G/m", rows, cols, entries)
    }

    /// Checks a text in one piece and byte by byte; both results must be the same.
    fn check(text: &str, matrix: &Matrix) -> Result<(), String> {
        let of = |size: usize| {
            let mut contents = Contents::of(matrix, "m.mtx".into());
            text.as_bytes().chunks(size).try_for_each(|piece| contents.take(piece))?;
            contents.end()
        };
        let result = of(text.len().max(1));
        assert_eq!(of(1), result);
        result
    }

    fn coordinate(symmetry: &str, size: &str, lines: &str) -> String {
        format!("%%MatrixMarket matrix coordinate real {symmetry}\n% a\n\n{size}\n{lines}")
    }

    #[test]
    fn a_file_of_the_matrix_is_accepted() {
        for (text, matrix) in [
            (coordinate("general", "2 3 2", "1 1 1\n2 3 5"), matrix(2, 3, 2)),
            (coordinate("general", "2 3 2", "\n1 1 1\n \n% c\n2 3 5\n\n"), matrix(2, 3, 2)),
            (coordinate("general", "0 0 0", ""), matrix(0, 0, 0)),
            // Two, one and no entries on the diagonal.
            (coordinate("symmetric", "2 2 3", "1 1 1\n2 1 1\n2 2 1\n"), matrix(2, 2, 4)),
            (coordinate("symmetric", "2 2 2", "1 1 1\n2 1 1\n"), matrix(2, 2, 3)),
            (coordinate("hermitian", "2 2 1", "2 1 1\n"), matrix(2, 2, 2)),
            (coordinate("skew-symmetric", "2 2 1", "2 1 1\n"), matrix(2, 2, 2)),
            ("%%MatrixMarket matrix array real general\n2 1\n1\n2\n".into(), matrix(2, 1, 1)),
        ] {
            assert_eq!(check(&text, &matrix), Ok(()), "{text}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let general = |size, lines| coordinate("general", size, lines);
        for (text, expected) in [
            (String::new(), "m.mtx: it ends before the size line"),
            ("%%MatrixMarket matrix coordinate real general\n%\n".into(), "m.mtx: it ends before"),
            ("<html>".into(), "m.mtx:1: the first line must begin with %%MatrixMarket matrix, not"),
            (general("2 3", ""), "m.mtx:4: `2 3` is not a size line"),
            (general("2 3 -2", ""), "m.mtx:4: `2 3 -2` is not a size line"),
            (general("3 2 2", ""), "m.mtx:4: 3 x 2, but G/m has 2 x 3"),
            (general("2 3 3", ""), "m.mtx:4: 3 entries, but a file of G/m stores 2"),
            (general("2 3 2", "1 1 1\n"), "m.mtx: 1 entry lines, but its size line specifies 2"),
            (
                general("2 3 2", "1 1 1\n\n1 2\n1"),
                "m.mtx: 3 entry lines, but its size line specifies 2",
            ),
            ("x".repeat(LONGEST_LINE + 1), "m.mtx: a line of its header is too long"),
        ] {
            let error = check(&text, &matrix(2, 3, 2)).unwrap_err();
            assert!(error.starts_with(expected), "{text:.90}: {error}");
        }
        let error = check(&coordinate("symmetric", "9 9 9", ""), &matrix(9, 9, 31)).unwrap_err();
        assert_eq!(error, "m.mtx:4: 9 entries, but a file of G/m stores 16 to 20");
        let error =
            check(&coordinate("skew-symmetric", "9 9 9", ""), &matrix(9, 9, 32)).unwrap_err();
        assert_eq!(error, "m.mtx:4: 9 entries, but a file of G/m stores 16");
    }

    #[test]
    fn only_the_header_is_read() {
        let text = coordinate("general", "2 3 2", "anything");
        let head = Head::read(text.as_bytes(), "m.mtx").unwrap();
        assert_eq!((head.rows, head.cols), (2, 3));
        let long = "x".repeat(LONGEST_LINE * 2);
        assert!(
            Head::read(long.as_bytes(), "m.mtx").unwrap_err().starts_with("m.mtx:1: the first")
        );
        assert_eq!(
            Head::read("".as_bytes(), "m.mtx").unwrap_err(),
            "m.mtx: it ends before the size line"
        );
    }
}
