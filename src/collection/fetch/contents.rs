//! Checks whether a Matrix Market file contains the requested matrix: the banner, the size line, and the number of
//! entry lines. The values are not read, so that complex matrices, and those that are too large for the benchmark, are
//! accepted.

use std::io::{self, BufRead, Read};

use super::error::{FetchError, refused};
use crate::collection::Matrix;
use spmv_matrix::reader::{Banner, LONGEST_LINE, Sizes, Symmetry};

pub struct Head {
    symmetry: Symmetry,
    sizes: Sizes,
    /// The number of the size line, from 1.
    line: u64,
}

impl Head {
    pub fn read(text: &mut impl BufRead, file: &str) -> io::Result<Self> {
        let (mut banner, mut line) = (None, 0);
        loop {
            line += 1;
            let mut bytes = Vec::new();
            text.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut bytes)?;
            let wrong = |defect| FetchError::Refused(format!("{file}:{line}: {defect}"));
            match &banner {
                _ if bytes.is_empty() => {
                    return refused(format!("{file}: it ends before the size line"));
                }
                _ if bytes.len() > LONGEST_LINE => {
                    return refused(format!("{file}: a line of its header is too long"));
                }
                None => banner = Some(Banner::parse(&bytes).map_err(wrong)?),
                Some(banner) => {
                    if let Some(sizes) = banner.sizes(&bytes).map_err(wrong)? {
                        return Ok(Self { symmetry: banner.symmetry, sizes, line });
                    }
                }
            }
        }
    }

    /// Checks whether the numbers of rows and columns are those of the matrix. `place` is for messages.
    pub fn check_shape(&self, matrix: &Matrix, place: &str) -> io::Result<()> {
        let Sizes { rows, cols, .. } = self.sizes;
        if (rows, cols) == (matrix.rows, matrix.cols) {
            return Ok(());
        }
        let wanted = format!("{} has {} x {}", matrix.id, matrix.rows, matrix.cols);
        refused(format!("{place}: {rows} x {cols}, but {wanted}"))
    }

    fn check_entries(&self, matrix: &Matrix, place: &str) -> io::Result<()> {
        let all = matrix.entries;
        let (least, most) = match self.symmetry {
            Symmetry::General => (all, all),
            Symmetry::Symmetric => (all.div_ceil(2), all.saturating_add(matrix.rows) / 2),
            Symmetry::SkewSymmetric => (all / 2, all / 2),
        };
        let Some(found) = self.sizes.entries.filter(|found| !(least..=most).contains(found)) else {
            return Ok(());
        };
        let wanted = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        let id = &matrix.id;
        refused(format!("{place}: {found} entries, but a file of {id} stores {wanted}"))
    }
}

/// Reads a file to its end and checks whether it contains the matrix.
pub fn check(text: &mut impl BufRead, matrix: &Matrix, file: &str) -> io::Result<()> {
    let head = Head::read(text, file)?;
    let place = format!("{file}:{}", head.line);
    head.check_shape(matrix, &place)?;
    head.check_entries(matrix, &place)?;
    // Whether the first non-blank character of the current line has been read.
    let (mut found, mut known) = (0, false);
    loop {
        let piece = text.fill_buf()?;
        for line in piece.split_inclusive(|&byte| byte == b'\n') {
            if !known && let Some(first) = line.iter().find(|c| !c.is_ascii_whitespace()) {
                known = true;
                found += u64::from(*first != b'%');
            }
            known &= !line.ends_with(b"\n");
        }
        match piece.len() {
            0 => break,
            bytes => text.consume(bytes),
        }
    }
    match head.sizes.entries.filter(|wanted| *wanted != found) {
        Some(wanted) => refused(format!("{file}: {found} entry lines, but its size line specifies {wanted}")),
        None => Ok(()),
    }
}

/// Refuses an archive of the matrix if it has another SHA-256 than the datasets file gives.
pub fn check_sha256(matrix: &Matrix, found: &str) -> Result<(), FetchError> {
    match matrix.sha256.as_ref().filter(|known| *known != found) {
        None => Ok(()),
        Some(known) => Err(FetchError::Refused(format!(
            "its SHA-256 is {found}, but the datasets file gives {known} for {}; --any-archive accepts the archive \
             anyway",
            matrix.id
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Checks a text in one piece and byte by byte; both results must be the same.
    fn checked(text: &str, rows: u64, cols: u64, entries: u64) -> Result<(), String> {
        let matrix = Matrix::of_size("G/m", rows, cols, entries);
        let of = |piece: usize| {
            let mut text = BufReader::with_capacity(piece, text.as_bytes());
            check(&mut text, &matrix, "m.mtx").map_err(|error| error.to_string())
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
        let complex = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 1\n";
        for (text, [rows, cols, entries]) in [
            (coordinate("general", "2 3 2", "1 1 1\n2 3 5"), [2, 3, 2]),
            (coordinate("general", "2 3 2", "\n1 1 1\n \n% c\n2 3 5\n\n"), [2, 3, 2]),
            (coordinate("general", "0 0 0", ""), [0, 0, 0]),
            // Two, one and no entries on the diagonal.
            (coordinate("symmetric", "2 2 3", "1 1 1\n2 1 1\n2 2 1\n"), [2, 2, 4]),
            (coordinate("symmetric", "2 2 2", "1 1 1\n2 1 1\n"), [2, 2, 3]),
            (coordinate("hermitian", "2 2 1", "2 1 1\n"), [2, 2, 2]),
            (coordinate("skew-symmetric", "2 2 1", "2 1 1\n"), [2, 2, 2]),
            ("%%MatrixMarket matrix array real general\n2 1\n1\n2\n".into(), [2, 1, 1]),
            (complex.into(), [2, 2, 2]),
        ] {
            assert_eq!(checked(&text, rows, cols, entries), Ok(()), "{text}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let banner = "%%MatrixMarket matrix coordinate real general\n";
        let general = |size, lines| coordinate("general", size, lines);
        let of_9 = |symmetry| coordinate(symmetry, "9 9 9", "");
        let large = general("9999999999 1 9999999999", "");
        for (text, [rows, cols, entries], expected) in [
            (String::new(), [2, 3, 2], ": it ends before the size line"),
            (format!("{banner}%\n"), [2, 3, 2], ": it ends before the size line"),
            ("<html>".into(), [2, 3, 2], ":1: the first line must be like `%%MatrixMarket matrix"),
            (general("2 3", ""), [2, 3, 2], ":4: the size line must contain rows, columns, entries, not `2 3`"),
            (general("2 3 -2", ""), [2, 3, 2], ":4: the number of entries must be a whole number"),
            (general("3 2 2", ""), [2, 3, 2], ":4: 3 x 2, but G/m has 2 x 3"),
            (general("2 3 3", ""), [2, 3, 2], ":4: 3 entries, but a file of G/m stores 2"),
            (of_9("symmetric"), [9, 9, 31], ":4: 9 entries, but a file of G/m stores 16 to 20"),
            (of_9("skew-symmetric"), [9, 9, 32], ":4: 9 entries, but a file of G/m stores 16"),
            (general("2 3 2", "1 1 1\n\n1 2\n1"), [2, 3, 2], ": 3 entry lines, but its size line specifies 2"),
            (large, [9_999_999_999, 1, 9_999_999_999], ": 0 entry lines, but its size line specifies 9999999999"),
            ("x".repeat(LONGEST_LINE + 1), [2, 3, 2], ": a line of its header is too long"),
        ] {
            let error = checked(&text, rows, cols, entries).unwrap_err();
            assert!(error.starts_with(&format!("m.mtx{expected}")), "{text:.90}: {error}");
        }
    }
}
