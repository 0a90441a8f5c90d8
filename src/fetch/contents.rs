//! What a Matrix Market file must say to be the matrix that was asked for, looked at while it streams
//! by: the banner, the size line, and as many entry lines as that says.

use std::io::BufRead;

use crate::datasets::Matrix;

/// Longer lines in a file's head are not Matrix Market.
const LONGEST_LINE: usize = 1 << 16;

/// What a file's head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    stored: Stored,
    pub rows: u64,
    pub cols: u64,
    /// Entry lines that follow; `None` in an array, where the size says it.
    entries: Option<u64>,
}

/// Which part of the matrix is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    All,
    Triangle,
    /// Without the diagonal.
    StrictTriangle,
}

/// Reads a head line by line.
#[derive(Default)]
struct HeadReader {
    lines: u64,
    /// Whether the file is an array, and what of the matrix is in it.
    banner: Option<(bool, Stored)>,
}

impl HeadReader {
    /// Takes a line; the head at its end.
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
            _ => Err(format!("{} is no size line", shown(&line))),
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

/// A line as shown in a message: printable and not too long.
fn shown(line: &str) -> String {
    format!("`{:.40}`", line.trim().escape_debug().to_string())
}

impl Head {
    /// The head at the beginning of a file.
    ///
    /// # Errors
    /// When there is none, with the line.
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

    /// Whether the rows and columns are the matrix's.
    ///
    /// # Errors
    /// With both.
    pub fn check_shape(&self, matrix: &Matrix) -> Result<(), String> {
        let (Self { rows, cols, .. }, Matrix { id, .. }) = (self, matrix);
        match (*rows, *cols) == (matrix.rows, matrix.cols) {
            true => Ok(()),
            false => {
                Err(format!("{rows} x {cols}, but {id} has {} x {}", matrix.rows, matrix.cols))
            }
        }
    }

    /// Whether as many entries follow as the matrix has.
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
        Err(format!("{entries} entries, but of {} {wanted} are stored", matrix.id))
    }
}

/// Looks at a file that comes in pieces.
pub struct Contents<'m> {
    matrix: &'m Matrix,
    file: String,
    stage: Stage,
}

enum Stage {
    /// And the line that has begun.
    Head(HeadReader, Vec<u8>),
    Entries {
        head: Head,
        found: u64,
        /// Whether the line at hand has shown what it is.
        known: bool,
    },
}

impl<'m> Contents<'m> {
    /// Of a file of that name that must be this matrix.
    pub fn of(matrix: &'m Matrix, file: String) -> Self {
        Self { matrix, file, stage: Stage::Head(HeadReader::default(), Vec::new()) }
    }

    /// Looks at the next bytes.
    ///
    /// # Errors
    /// When they are not the matrix's.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            match &mut self.stage {
                Stage::Head(_, line) if line.len() + piece.len() > LONGEST_LINE => {
                    return Err(format!("{}: a line of its head has no end", self.file));
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

    /// Ends the line of the head.
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

    /// Ends the file.
    ///
    /// # Errors
    /// When it has not as many entries as it said.
    pub fn end(mut self) -> Result<(), String> {
        if matches!(&self.stage, Stage::Head(_, line) if !line.is_empty()) {
            self.head_line()?;
        }
        match self.stage {
            Stage::Entries { head: Head { entries: Some(entries), .. }, found, .. }
                if found != entries =>
            {
                Err(format!("{}: {found} entry lines, but its size line says {entries}", self.file))
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

    /// Whole, and byte by byte.
    fn look(text: &str, matrix: &Matrix) -> Result<(), String> {
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
    fn what_is_the_matrix() {
        for (text, matrix) in [
            (coordinate("general", "2 3 2", "1 1 1\n2 3 5"), matrix(2, 3, 2)),
            (coordinate("general", "2 3 2", "\n1 1 1\n \n% c\n2 3 5\n\n"), matrix(2, 3, 2)),
            (coordinate("general", "0 0 0", ""), matrix(0, 0, 0)),
            // With two, one and no entry on the diagonal.
            (coordinate("symmetric", "2 2 3", "1 1 1\n2 1 1\n2 2 1\n"), matrix(2, 2, 4)),
            (coordinate("symmetric", "2 2 2", "1 1 1\n2 1 1\n"), matrix(2, 2, 3)),
            (coordinate("hermitian", "2 2 1", "2 1 1\n"), matrix(2, 2, 2)),
            (coordinate("skew-symmetric", "2 2 1", "2 1 1\n"), matrix(2, 2, 2)),
            ("%%MatrixMarket matrix array real general\n2 1\n1\n2\n".into(), matrix(2, 1, 1)),
        ] {
            assert_eq!(look(&text, &matrix), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_is_not() {
        let general = |size, lines| coordinate("general", size, lines);
        for (text, expected) in [
            (String::new(), "m.mtx: it ends before the size line"),
            ("%%MatrixMarket matrix coordinate real general\n%\n".into(), "m.mtx: it ends before"),
            ("<html>".into(), "m.mtx:1: the first line must begin with %%MatrixMarket matrix, not"),
            (general("2 3", ""), "m.mtx:4: `2 3` is no size line"),
            (general("2 3 -2", ""), "m.mtx:4: `2 3 -2` is no size line"),
            (general("3 2 2", ""), "m.mtx:4: 3 x 2, but G/m has 2 x 3"),
            (general("2 3 3", ""), "m.mtx:4: 3 entries, but of G/m 2 are stored"),
            (general("2 3 2", "1 1 1\n"), "m.mtx: 1 entry lines, but its size line says 2"),
            (general("2 3 2", "1 1 1\n\n1 2\n1"), "m.mtx: 3 entry lines, but its size line says 2"),
            ("x".repeat(LONGEST_LINE + 1), "m.mtx: a line of its head has no end"),
        ] {
            let error = look(&text, &matrix(2, 3, 2)).unwrap_err();
            assert!(error.starts_with(expected), "{text:.90}: {error}");
        }
        let error = look(&coordinate("symmetric", "9 9 9", ""), &matrix(9, 9, 31)).unwrap_err();
        assert_eq!(error, "m.mtx:4: 9 entries, but of G/m 16 to 20 are stored");
        let error =
            look(&coordinate("skew-symmetric", "9 9 9", ""), &matrix(9, 9, 32)).unwrap_err();
        assert_eq!(error, "m.mtx:4: 9 entries, but of G/m 16 are stored");
    }

    #[test]
    fn a_head_is_read_alone() {
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
