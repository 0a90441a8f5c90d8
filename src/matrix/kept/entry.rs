//! The file of a kept matrix: a magic number with the version, the length and the checksum of a JSON
//! head, the head, and from the next multiple of 64 bytes on the arrays, each beginning at one. Numbers
//! are in the machine's byte order, which the magic number shows.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use memmap2::Mmap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Stamp, now};
use crate::matrix::Csr;
use crate::matrix::source::{Facts, Loaded};

/// Changes whenever anything about the file does, or what the reader makes of a matrix.
const MAGIC: u64 = u64::from_be_bytes(*b"spmvcsr2");
/// Magic number, length and checksum of the head.
const PRELUDE: usize = 24;
const ALIGNMENT: usize = 64;
/// Bytes of an array that share a checksum; a multiple of every element's size.
const CHUNK: usize = 4 << 20;

/// What an entry says of its matrix.
#[derive(Debug, Deserialize, Serialize)]
pub struct Head {
    /// The file that was parsed.
    pub source: String,
    pub stamp: Stamp,
    /// Of its contents.
    pub hash: u64,
    pub kept_at: Duration,
    facts: Option<Facts>,
    rows: usize,
    cols: usize,
    nnz: usize,
    /// All values are 1 and not in the file.
    ones: bool,
    /// Of the chunks of row offsets, column indices and values.
    checksums: [Vec<u64>; 3],
}

/// Why an entry is of no use.
#[derive(Debug)]
pub enum Problem {
    Absent,
    /// In what way it is damaged.
    Damaged(&'static str),
}

/// An entry's file, mapped.
pub struct Entry {
    pub head: Head,
    file: Mmap,
    arrays: usize,
}

/// The head of a matrix that was just read.
pub fn head(source: &Path, stamp: Stamp, hash: u64, loaded: &Loaded) -> Head {
    let Csr { rows, cols, row_offsets, column_indices, values } = &loaded.csr;
    let ones = values.par_iter().all(|value| *value == 1.0);
    let values: &[f64] = if ones { &[] } else { values };
    Head {
        source: source.display().to_string(),
        stamp,
        hash,
        kept_at: now(),
        facts: loaded.market.clone(),
        rows: *rows,
        cols: *cols,
        nnz: column_indices.len(),
        ones,
        checksums: [checksums(row_offsets), checksums(column_indices), checksums(values)],
    }
}

impl Head {
    /// Bytes of the three arrays.
    fn sizes(&self) -> [usize; 3] {
        let values = if self.ones { 0 } else { size_of::<f64>() * self.nnz };
        [size_of::<u32>() * (self.rows + 1), size_of::<u32>() * self.nnz, values]
    }

    /// Bytes of the file, near enough.
    pub fn bytes(&self) -> usize {
        self.sizes().iter().map(|size| size.next_multiple_of(ALIGNMENT)).sum()
    }
}

fn checksums<T: Pod>(array: &[T]) -> Vec<u64> {
    cast_slice::<T, u8>(array).par_chunks(CHUNK).map(xxh3_64).collect()
}

/// Writes an entry.
///
/// # Errors
/// Those of the file.
pub fn write(head: &Head, csr: &Csr<f64>, file: &mut File) -> io::Result<()> {
    let text = serde_json::to_vec(head)?;
    for number in [MAGIC, text.len() as u64, xxh3_64(&text)] {
        file.write_all(&number.to_ne_bytes())?;
    }
    file.write_all(&text)?;
    let values: &[f64] = if head.ones { &[] } else { &csr.values };
    let mut written = PRELUDE + text.len();
    for array in [cast_slice(&csr.row_offsets), cast_slice(&csr.column_indices), cast_slice(values)]
    {
        let padding = written.next_multiple_of(ALIGNMENT) - written;
        file.write_all(&[0; ALIGNMENT][..padding])?;
        file.write_all(array)?;
        written += padding + array.len();
    }
    Ok(())
}

impl Entry {
    /// Maps an entry and reads its head.
    ///
    /// # Errors
    /// No such file, or a damaged one.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let Ok(file) = File::open(path) else { return Err(Problem::Absent) };
        // SAFETY: the map is read-only, and entries are replaced, never shortened.
        let mapped = unsafe { Mmap::map(&file) };
        let file = mapped.map_err(|_| Problem::Damaged("cannot be mapped"))?;
        let damaged = Problem::Damaged("has no valid head");
        let Some((head, arrays)) = read_head(&file) else { return Err(damaged) };
        Ok(Self { head, file, arrays })
    }

    /// Copies the matrix out.
    ///
    /// # Errors
    /// A damaged entry.
    pub fn load(self) -> Result<Loaded, Problem> {
        let mut at = self.arrays;
        let mut next = |size: usize| {
            at = at.next_multiple_of(ALIGNMENT);
            let array = self.file.get(at..at.checked_add(size)?);
            at += size;
            array
        };
        let [offsets, columns, values] = self.head.sizes().map(&mut next);
        let [offset_sums, column_sums, value_sums] = &self.head.checksums;
        let truncated = Problem::Damaged("is too short");
        let (Some(offsets), Some(columns), Some(values)) = (offsets, columns, values) else {
            return Err(truncated);
        };
        let &Head { rows, cols, nnz, ones, .. } = &self.head;
        let values = if ones { vec_of_ones(nnz) } else { copied(values, value_sums)? };
        let csr = Csr::new(
            rows,
            cols,
            copied(offsets, offset_sums)?,
            copied(columns, column_sums)?,
            values,
        );
        let Some(csr) = csr else { return Err(Problem::Damaged("holds no valid matrix")) };
        let bytes = [size_of_val(&csr.row_offsets[..]), size_of_val(&csr.column_indices[..])];
        let bytes = Some((bytes.iter().sum::<usize>() + size_of_val(&csr.values[..])) as u64);
        Ok(Loaded { market: self.head.facts, bytes, from_cache: true, ..Loaded::new(csr) })
    }
}

/// The head and where the arrays begin.
fn read_head(file: &[u8]) -> Option<(Head, usize)> {
    let number = |at: usize| Some(u64::from_ne_bytes(file.get(at..at + 8)?.try_into().ok()?));
    let end = PRELUDE.checked_add(usize::try_from(number(8)?).ok()?)?;
    let text = file.get(PRELUDE..end)?;
    if number(0)? != MAGIC || number(16)? != xxh3_64(text) {
        return None;
    }
    let head: Head = serde_json::from_slice(text).ok()?;
    // Sizes are computed without overflow after this.
    let sane = head.rows.max(head.cols).max(head.nnz) <= crate::matrix::csr::MAX_INDEX;
    sane.then_some((head, end))
}

/// On all threads: most of the time goes into memory that the system has yet to find.
fn vec_of_ones(size: usize) -> Vec<f64> {
    let mut ones = vec![0.0; size];
    ones.par_chunks_mut(CHUNK).for_each(|chunk| chunk.fill(1.0));
    ones
}

/// An array out of its bytes, if these have the checksums.
fn copied<T: Pod + Send>(bytes: &[u8], checksums: &[u64]) -> Result<Vec<T>, Problem> {
    let mut array = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    let into = cast_slice_mut::<T, u8>(&mut array).par_chunks_mut(CHUNK);
    let right = checksums.len() == bytes.len().div_ceil(CHUNK)
        && into.zip(bytes.par_chunks(CHUNK)).zip(checksums).all(|((into, chunk), checksum)| {
            into.copy_from_slice(chunk);
            xxh3_64(into) == *checksum
        });
    if right { Ok(array) } else { Err(Problem::Damaged("has a wrong checksum")) }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => write!(f, "is absent"),
            Self::Damaged(how) => write!(f, "{how}"),
        }
    }
}
