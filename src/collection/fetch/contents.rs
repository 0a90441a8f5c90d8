//! Checks whether a Matrix Market file contains the requested matrix, while the file is being unpacked: the
//! banner, the size line, and the number of entry lines.

use std::io::{BufRead, Read};
use std::mem::take;

use super::error::{ContentsError, Mismatch};
use crate::collection::Matrix;
use spmv_matrix::market::{Banner, Defect, LONGEST_LINE, Sizes, Symmetry};

/// The header of a Matrix Market file.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    symmetry: Symmetry,
    sizes: Sizes,
}

/// A parser that reads the header line by line.
#[derive(Default)]
struct HeadReader {
    lines: u64,
    banner: Option<Banner>,
}

impl HeadReader {
    /// Parses a line. Returns the header after its last line.
    fn take(&mut self, line: &[u8]) -> Result<Option<Head>, Defect> {
        self.lines += 1;
        let Some(banner) = &self.banner else {
            self.banner = Some(Banner::parse(line)?);
            return Ok(None);
        };
        let sizes = banner.sizes(line)?;
        Ok(sizes.map(|sizes| Head { symmetry: banner.symmetry, sizes }))
    }
}

impl Head {
    /// Reads the header at the beginning of a file.
    ///
    /// # Errors
    /// Returns an error with the line number if the header is not valid.
    pub fn read(mut from: impl BufRead, file: &str) -> Result<Self, ContentsError> {
        let mut reader = HeadReader::default();
        loop {
            let mut line = Vec::new();
            let mut limited = Read::take(&mut from, LONGEST_LINE as u64);
            let read = limited.read_until(b'\n', &mut line);
            if read.map_err(|error| Mismatch::Io(error).of(file))? == 0 {
                return Err(Mismatch::NoSizeLine.of(file));
            }
            let head = reader.take(&line);
            let head = head.map_err(|defect| Mismatch::Defect(defect).at(file, reader.lines))?;
            if let Some(head) = head {
                return Ok(head);
            }
        }
    }

    /// Checks whether the numbers of rows and columns are those of the matrix.
    ///
    /// # Errors
    /// Returns an error with both sizes if they differ.
    pub fn check_shape(&self, matrix: &Matrix) -> Result<(), Mismatch> {
        let found = (self.sizes.rows, self.sizes.cols);
        let wanted = (matrix.rows, matrix.cols);
        match found == wanted {
            true => Ok(()),
            false => Err(Mismatch::Shape { found, id: matrix.id.clone(), wanted }),
        }
    }

    /// Checks whether the number of entries is possible for the matrix.
    fn check_entries(&self, matrix: &Matrix) -> Result<(), Mismatch> {
        let Some(found) = self.sizes.entries else { return Ok(()) };
        let all = matrix.entries;
        let (least, most) = match self.symmetry {
            Symmetry::General => (all, all),
            Symmetry::Symmetric => (all.div_ceil(2), all.saturating_add(matrix.rows) / 2),
            Symmetry::SkewSymmetric => (all / 2, all / 2),
        };
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let wanted = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        Err(Mismatch::Entries { found, id: matrix.id.clone(), wanted })
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
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), ContentsError> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            match &mut self.stage {
                Stage::Head(_, line) if line.len() + piece.len() > LONGEST_LINE => {
                    return Err(Mismatch::LongLine.of(&self.file));
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
    fn head_line(&mut self) -> Result<(), ContentsError> {
        let Stage::Head(reader, line) = &mut self.stage else { return Ok(()) };
        let head = reader.take(&take(line)).map_err(Mismatch::Defect).and_then(|head| {
            let Some(head) = head else { return Ok(None) };
            head.check_shape(self.matrix)?;
            head.check_entries(self.matrix)?;
            Ok(Some(head))
        });
        if let Some(head) = head.map_err(|mismatch| mismatch.at(&self.file, reader.lines))? {
            self.stage = Stage::Entries { head, found: 0, known: false };
        }
        Ok(())
    }

    /// Checks the file after its last byte.
    ///
    /// # Errors
    /// Returns an error if the number of entry lines differs from the size line.
    pub fn end(mut self) -> Result<(), ContentsError> {
        if matches!(&self.stage, Stage::Head(_, line) if !line.is_empty()) {
            self.head_line()?;
        }
        let mismatch = match self.stage {
            Stage::Head(..) => Mismatch::NoSizeLine,
            Stage::Entries { head, found, .. } => match head.sizes.entries {
                Some(wanted) if found != wanted => Mismatch::EntryLines { found, wanted },
                _ => return Ok(()),
            },
        };
        Err(mismatch.of(&self.file))
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
            let taken = text.as_bytes().chunks(size).try_for_each(|piece| contents.take(piece));
            taken.and_then(|()| contents.end()).map_err(|error| error.to_string())
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
            ("<html>".into(), "m.mtx:1: the first line must be like `%%MatrixMarket matrix"),
            (
                general("2 3", ""),
                "m.mtx:4: the size line must contain rows, columns, entries, not `2 3`",
            ),
            (general("2 3 -2", ""), "m.mtx:4: the number of entries must be a whole number"),
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
        let read = |text: &str| Head::read(text.as_bytes(), "m.mtx");
        let sizes = read(&coordinate("general", "2 3 2", "anything")).unwrap().sizes;
        assert_eq!((sizes.rows, sizes.cols), (2, 3));
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error(&"x".repeat(LONGEST_LINE * 2)).starts_with("m.mtx:1: the first"));
        assert_eq!(error(""), "m.mtx: it ends before the size line");
    }

    /// The collection has complex matrices, and matrices that are too large for the benchmark.
    #[test]
    fn matrices_that_cannot_be_measured_are_accepted() {
        let complex = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 1\n";
        assert_eq!(check(complex, &matrix(2, 2, 2)), Ok(()));
        let large = coordinate("general", "9999999999 1 9999999999", "");
        let error = check(&large, &matrix(9_999_999_999, 1, 9_999_999_999)).unwrap_err();
        assert_eq!(error, "m.mtx: 0 entry lines, but its size line specifies 9999999999");
    }
}
