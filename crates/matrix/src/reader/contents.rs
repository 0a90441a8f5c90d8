//! What a file contains, told by its first bytes and, where they leave it open, by the extension of its name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::compression::Compression;
use super::formats::{Names, is_octave, konect};
use super::text::{BYTE_ORDER_MARK, LONGEST_LINE, after_banner, words};
use crate::archive::{EDGE_LISTS, HARWELL_BOEING, METIS, SMTX, inner_extension};

/// The largest length of the first line of a file of KONECT, in bytes.
const LONGEST_KONECT: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contents {
    Market,
    EdgeList,
    Metis,
    Smtx,
    HarwellBoeing,
    Octave,
    Dimacs,
    Npz,
}

impl Contents {
    /// Returns what a text contains. Numbers alone, or names above them, are an edge list if the user `declares` one.
    pub fn of(head: &[u8], name: &Path, declares: bool) -> Self {
        Self::recognized(head, name, declares).unwrap_or(Self::Market)
    }

    fn recognized(head: &[u8], name: &Path, declares: bool) -> Option<Self> {
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let extension = inner_extension(name).unwrap_or_default();
        let is_list =
            begins_with_numbers(head) || extension.is_empty() && Names::of(head).is_some();
        Some(match () {
            () if after_banner(head).is_some() => Self::Market,
            () if is_harwell_boeing(head) || HARWELL_BOEING.contains(&extension) => {
                Self::HarwellBoeing
            }
            () if is_octave(head) => Self::Octave,
            () if is_dimacs(head) => Self::Dimacs,
            () if is_konect(head) => Self::EdgeList,
            () if METIS.contains(&extension) => Self::Metis,
            () if extension == SMTX => Self::Smtx,
            () if EDGE_LISTS.contains(&extension) || head.starts_with(b"#") => Self::EdgeList,
            () if declares && is_list => Self::EdgeList,
            () => return None,
        })
    }
}

/// Returns whether the first line that is neither empty nor a comment has not ended yet in a text.
pub fn is_begun(head: &[u8]) -> bool {
    head.len() <= LONGEST_LINE && !body(head).contains(&b'\n')
}

/// Returns whether a text that is not known to its end may be that of a matrix.
pub fn may_be_a_matrix(head: &[u8]) -> bool {
    let is_compressed = !matches!(Compression::of(head), Some(Compression::Plain));
    is_compressed || Contents::recognized(head, Path::new(""), true).is_some()
}

/// Returns whether a file has the name and the first line of a matrix of the KONECT collection, `out.NAME`.
pub fn is_konect_file(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    if !name.starts_with(b"out.") {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_KONECT).read_to_end(&mut head));
    read.is_ok() && is_konect(&head)
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n')
}

/// Returns a text from the first line on that is neither empty nor a comment of any of the formats.
pub fn body(head: &[u8]) -> &[u8] {
    let mut body = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    while !body.is_empty() {
        let line = lines(body).next().unwrap_or_default();
        let first = words(line).next().unwrap_or_default();
        let begins: [&[u8]; 3] = [b"#", b"%", b"//"];
        let is_comment = first.is_empty() || begins.iter().any(|begin| first.starts_with(begin));
        if !is_comment && first != b"c" && first != b"*" {
            break;
        }
        body = body.get(line.len() + 1..).unwrap_or_default();
    }
    body
}

/// Returns whether the third line has the type and the sizes of a Harwell-Boeing matrix: `RSA   3   3   4   0`.
pub fn is_harwell_boeing(head: &[u8]) -> bool {
    let mut found = words(lines(head).nth(2).unwrap_or_default());
    let kind = found.next().unwrap_or_default().to_ascii_uppercase();
    let letters = ["RCPIQX", "SUHZR", "AE"];
    let is_kind = kind.len() == letters.len()
        && kind.iter().zip(letters).all(|(&letter, of)| of.contains(char::from(letter)));
    let sizes: Vec<_> = found.collect();
    is_kind && sizes.len() >= 3 && sizes.iter().all(|word| word.iter().all(u8::is_ascii_digit))
}

/// Returns whether the first line after comments is that of DIMACS: `p sp 4 5`.
fn is_dimacs(head: &[u8]) -> bool {
    let mut found = words(lines(body(head)).next().unwrap_or_default());
    let is_line = found.next() == Some(b"p");
    let is_problem = found.next().is_some_and(|word| word.iter().all(u8::is_ascii_alphabetic));
    is_line && is_problem && found.any(|word| word.iter().all(u8::is_ascii_digit))
}

fn is_konect(head: &[u8]) -> bool {
    let line = lines(head).next().unwrap_or_default();
    konect(&String::from_utf8_lossy(line)).is_some()
}

/// Returns whether the first line that is no comment begins with numbers.
pub fn begins_with_numbers(head: &[u8]) -> bool {
    let line = lines(body(head)).next().unwrap_or_default();
    let words = line.split(|byte| b" \t\r,;".contains(byte)).filter(|word| !word.is_empty());
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b".+-eE\"".contains(byte);
    let first: Vec<_> = words.take(2).collect();
    first.iter().any(|word| word.iter().any(u8::is_ascii_digit))
        && first.iter().all(|word| word.iter().all(is_of_number))
}
