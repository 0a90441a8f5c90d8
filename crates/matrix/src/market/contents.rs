//! What a file contains, told by its first bytes and, where they leave it open, by the extension of its name.

use std::path::Path;

use super::compression::Compression;
use super::error::Defect;
use super::text::{after_banner, words};
use crate::archive::{EDGE_LISTS, HARWELL_BOEING, METIS, SMTX, inner_extension};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contents {
    Market,
    EdgeList,
    Metis,
    Smtx,
    HarwellBoeing,
    Npz,
}

impl Contents {
    /// Returns what a text contains. Numbers alone are an edge list if the user `declares` one.
    pub fn of(head: &[u8], name: &Path, declares: bool) -> Self {
        let extension = inner_extension(name).unwrap_or_default();
        match () {
            () if after_banner(head).is_some() => Self::Market,
            () if is_harwell_boeing(head) || HARWELL_BOEING.contains(&extension) => {
                Self::HarwellBoeing
            }
            () if is_konect(head) => Self::EdgeList,
            () if METIS.contains(&extension) => Self::Metis,
            () if extension == SMTX => Self::Smtx,
            () if EDGE_LISTS.contains(&extension) || head.starts_with(b"#") => Self::EdgeList,
            () if declares && begins_with_numbers(head) => Self::EdgeList,
            () => Self::Market,
        }
    }
}

/// Returns whether a text that is not known to its end may be that of a matrix.
pub fn may_be_a_matrix(head: &[u8]) -> bool {
    let is_compressed = !matches!(Compression::of(head), Some(Compression::Plain));
    let is_text = after_banner(head).is_some() || begins_with_numbers(head);
    is_compressed || is_text || is_harwell_boeing(head) || head.starts_with(b"#") || is_konect(head)
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n')
}

/// Returns whether the third line has the type and the sizes of a Harwell-Boeing matrix: `RSA   3   3   4   0`.
fn is_harwell_boeing(head: &[u8]) -> bool {
    let mut found = words(lines(head).nth(2).unwrap_or_default());
    let kind = found.next().unwrap_or_default().to_ascii_uppercase();
    let letters = ["RCPIQX", "SUHZR", "AE"];
    let is_kind = kind.len() == letters.len()
        && kind.iter().zip(letters).all(|(&letter, of)| of.contains(char::from(letter)));
    let sizes: Vec<_> = found.collect();
    is_kind && sizes.len() >= 3 && sizes.iter().all(|word| word.iter().all(u8::is_ascii_digit))
}

/// Returns whether the first line is that of the KONECT collection: `% sym unweighted`.
fn is_konect(head: &[u8]) -> bool {
    let line = lines(head).next().unwrap_or_default();
    let Some(line) = line.strip_prefix(b"%") else { return false };
    words(line).next().is_some_and(|word| [&b"sym"[..], b"asym", b"bip"].contains(&word))
}

/// Returns whether the first line that is no comment has numbers only.
pub fn begins_with_numbers(head: &[u8]) -> bool {
    let is_comment = |line: &&[u8]| line.trim_ascii().is_empty() || line.starts_with(b"%");
    let line = lines(head).find(|line| !is_comment(line)).unwrap_or_default();
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b" \t\r,;.+-eE".contains(byte);
    line.iter().any(u8::is_ascii_digit) && line.iter().all(is_of_number)
}

/// Begins of files that some program wrote, what they are, and what their user can do.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (as of MATLAB 7.3, Binsparse or AnnData)", WRITE),
    (b"MATLAB 7.3", "a MATLAB file", WRITE),
    (b"MATLAB 5.0", "a MATLAB file", WRITE),
    (
        b"\x93NUMPY",
        "a dense NumPy array",
        "`scipy.sparse.save_npz` writes sparse matrices that are read",
    ),
    (
        b"version https://git-lfs",
        "a Git LFS pointer, not the file itself",
        "`git lfs pull` fetches the file",
    ),
    (b"\xff\xfe", "UTF-16 text", "convert it by `iconv -f UTF-16 -t UTF-8`"),
    (b"\xfe\xff", "UTF-16 text", "convert it by `iconv -f UTF-16 -t UTF-8`"),
    (b"%\0", "UTF-16 text", "convert it by `iconv -f UTF-16LE -t UTF-8`"),
    (b"7z\xbc\xaf", "a 7-Zip archive", DECOMPRESS),
    (b"Rar!", "a RAR archive", DECOMPRESS),
    (b"\x1f\x9d", "compressed by `compress`", DECOMPRESS),
    (b"\x04\x22\x4d\x18", "compressed by lz4", DECOMPRESS),
];
const WRITE: &str =
    "write the matrix in the Matrix Market format, for example by `scipy.io.mmwrite`";
const DECOMPRESS: &str = "decompress it; gzip, bzip2, xz, zstd and zip are read as they are";
const WEB_PAGES: [&[u8]; 4] = [b"<!doctype", b"<html", b"<?xml", b"<head"];

/// Refuses a file whose first bytes show what it is instead of a matrix.
pub fn refuse_what_is_no_matrix(head: &[u8]) -> Result<(), Defect> {
    let refused = |what: &str, mend: &str| Err(Defect::from(format!("this is {what}: {mend}")));
    if let Some((_, what, mend)) = FOREIGN.iter().find(|(begin, ..)| head.starts_with(begin)) {
        return refused(what, mend);
    }
    let begin = head.trim_ascii_start().to_ascii_lowercase();
    if WEB_PAGES.iter().any(|page| begin.starts_with(page)) {
        let mend = "the address of the download was wrong, or the server wants a login";
        return refused("a web page, not a matrix", mend);
    }
    if head.contains(&b'\r') && !head.contains(&b'\n') && after_banner(head).is_some() {
        return refused("a text whose lines end with CR alone", "convert it by `tr '\\r' '\\n'`");
    }
    Ok(())
}
