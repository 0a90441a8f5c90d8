//! The file format of a cached matrix: a magic number that includes the version, the length and the checksum
//! of the JSON header, the header, and then the arrays, each aligned to 64 bytes. Numbers are in the native
//! byte order of the machine; the magic number is different in another byte order.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::Csr;
use crate::cache::{Unusable, open_own};
use crate::loaded::{FileFacts, Loaded, Pending, Stamp};

/// The magic number. It must change whenever the file format changes or the reader returns another matrix.
const MAGIC: u64 = u64::from_be_bytes(*b"spmvcsr7");
/// The size in bytes of the magic number, the length and the checksum of the header.
const PRELUDE: usize = 24;
/// The alignment of the arrays in the file, in bytes.
const ALIGNMENT: usize = 64;
/// The number of bytes of an array that share a checksum; a multiple of the size of every element type.
const CHUNK: usize = 4 << 20;

#[derive(Debug, Deserialize, Serialize)]
pub struct Head {
    /// The bytes of the path of the file that was parsed.
    pub source: Vec<u8>,
    /// How the file was read: see [`Options::words`](crate::reader::Options::words).
    pub how: String,
    pub stamp: Stamp,
    pub hash: u64,
    /// The time at which the entry was written, since 1970.
    pub kept_at: Duration,
    facts: Option<FileFacts>,
    rows: usize,
    cols: usize,
    nnz: usize,
    /// Whether all values are 1. They are then not stored.
    ones: bool,
    /// The checksums of the chunks of the row offsets, column indices and values.
    checksums: [Vec<u64>; 3],
}

/// An open entry.
///
/// Its file is read into memory and not mapped, so that it does no harm if another program changes or
/// truncates it: the checksums are verified on the bytes in memory.
pub struct CachedMatrix {
    pub head: Head,
    file: File,
    bytes: u64,
    /// The end of the header in the file, in bytes.
    arrays: usize,
}

impl Head {
    pub fn of(pending: &Pending, hash: u64, loaded: &Loaded) -> Self {
        let Csr { rows, cols, row_offsets, column_indices, values } = &loaded.csr;
        let ones = values.par_iter().all(|value| *value == 1.0);
        let values: &[f64] = if ones { &[] } else { values };
        Self {
            source: pending.source.as_os_str().as_bytes().to_vec(),
            how: pending.how.clone(),
            stamp: pending.stamp,
            hash,
            kept_at: now(),
            facts: loaded.facts.clone(),
            rows: *rows,
            cols: *cols,
            nnz: column_indices.len(),
            ones,
            checksums: [checksums(row_offsets), checksums(column_indices), checksums(values)],
        }
    }

    /// Returns the sizes of the three stored arrays, in bytes.
    fn sizes(&self) -> [usize; 3] {
        let values = if self.ones { 0 } else { size_of::<f64>() * self.nnz };
        [size_of::<u32>() * (self.rows + 1), size_of::<u32>() * self.nnz, values]
    }

    /// Returns an upper bound on the size of the file, in bytes.
    pub fn bytes(&self) -> serde_json::Result<usize> {
        let begin = PRELUDE + serde_json::to_vec(self)?.len();
        let parts = self.sizes().into_iter().chain([begin]);
        Ok(parts.map(|size| size.next_multiple_of(ALIGNMENT)).sum())
    }
}

fn checksums<T: Pod>(array: &[T]) -> Vec<u64> {
    cast_slice::<T, u8>(array).par_chunks(CHUNK).map(xxh3_64).collect()
}

pub fn write(head: &Head, csr: &Csr<f64>, file: &mut File) -> io::Result<()> {
    let text = serde_json::to_vec(head)?;
    for number in [MAGIC, text.len() as u64, xxh3_64(&text)] {
        file.write_all(&number.to_ne_bytes())?;
    }
    file.write_all(&text)?;
    let values: &[f64] = if head.ones { &[] } else { &csr.values };
    let mut written = PRELUDE + text.len();
    for array in [cast_slice(&csr.row_offsets), cast_slice(&csr.column_indices), cast_slice(values)] {
        let padding = written.next_multiple_of(ALIGNMENT) - written;
        file.write_all(&[0; ALIGNMENT][..padding])?;
        file.write_all(array)?;
        written += padding + array.len();
    }
    Ok(())
}

impl CachedMatrix {
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        let file = open_own(path)?;
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let head = read_head(&file, bytes);
        let (head, arrays) = head.ok_or(Some("is damaged or of another version"))?;
        Ok(Self { head, file, bytes, arrays })
    }

    /// Notes that the entry is used: those that were not used for the longest time make room for others.
    pub fn used(self) -> Self {
        // In a folder that cannot be written, nothing is removed either.
        let _ = self.file.set_modified(SystemTime::now());
        self
    }

    pub fn load(self) -> Result<Loaded, Unusable> {
        let [offsets, columns, values] = self.places().ok_or(Some("is too short"))?;
        let [offset_sums, column_sums, value_sums] = &self.head.checksums;
        let &Head { rows, cols, nnz, ones, .. } = &self.head;
        let values = if ones { vec_of_ones(nnz)? } else { self.read(values, nnz, value_sums)? };
        let offsets = self.read(offsets, rows + 1, offset_sums)?;
        let columns = self.read(columns, nnz, column_sums)?;
        let csr = Csr::new(rows, cols, offsets, columns, values);
        let csr = csr.ok_or(Some("does not contain a valid matrix"))?;
        if !csr.values.par_iter().all(|value| value.is_finite()) {
            return Err(Some("contains a value that is not finite"));
        }
        let bytes = Some(csr.bytes());
        Ok(Loaded { facts: self.head.facts, bytes, from_cache: true, ..Loaded::new(csr) })
    }

    /// Returns the position of each array in the file, or `None` if the file is too short.
    fn places(&self) -> Option<[usize; 3]> {
        let mut at = self.arrays;
        let places = self.head.sizes().map(|size| {
            let begin = at.checked_next_multiple_of(ALIGNMENT)?;
            at = begin.checked_add(size)?;
            Some(begin)
        });
        let [Some(offsets), Some(columns), Some(values)] = places else { return None };
        (at as u64 <= self.bytes).then_some([offsets, columns, values])
    }

    /// Reads an array of `count` elements at byte `begin` on all threads and verifies its checksums.
    fn read<T>(&self, begin: usize, count: usize, checksums: &[u64]) -> Result<Vec<T>, Unusable>
    where
        T: Pod + Send,
    {
        let mut array = zeroed::<T>(count)?;
        let chunks = cast_slice_mut::<T, u8>(&mut array).par_chunks_mut(CHUNK);
        if checksums.len() != chunks.len() {
            return Err(WRONG_CHECKSUM);
        }
        chunks.zip(checksums).enumerate().try_for_each(|(number, (chunk, checksum))| {
            let read = self.file.read_exact_at(chunk, (begin + number * CHUNK) as u64);
            read.map_err(|_| Some("cannot be read"))?;
            (xxh3_64(chunk) == *checksum).then_some(()).ok_or(WRONG_CHECKSUM)
        })?;
        Ok(array)
    }
}

const WRONG_CHECKSUM: Unusable = Some("has a wrong checksum");

/// Reads the header of a file of `bytes` bytes. Returns it with its end in the file.
fn read_head(file: &File, bytes: u64) -> Option<(Head, usize)> {
    let mut prelude = [0; PRELUDE];
    file.read_exact_at(&mut prelude, 0).ok()?;
    let [magic, length, checksum] =
        [0, 8, 16].map(|at| u64::from_ne_bytes(prelude[at..at + 8].try_into().expect("8 bytes")));
    if magic != MAGIC || length > bytes.saturating_sub(PRELUDE as u64) {
        return None;
    }
    let mut text = try_zeroed_vec(usize::try_from(length).ok()?).ok()?;
    file.read_exact_at(&mut text, PRELUDE as u64).ok()?;
    if checksum != xxh3_64(&text) {
        return None;
    }
    let head: Head = serde_json::from_slice(&text).ok()?;
    // This check excludes overflow when sizes are computed from the header.
    let sane = head.rows.max(head.cols).max(head.nnz) <= crate::csr::MAX_INDEX;
    sane.then_some((head, PRELUDE + text.len()))
}

fn zeroed<T: Pod>(count: usize) -> Result<Vec<T>, Unusable> {
    try_zeroed_vec(count).map_err(|()| Some("does not fit into memory"))
}

/// Allocates an array of ones. All threads fill it, because most of the time is spent on page faults.
fn vec_of_ones(count: usize) -> Result<Vec<f64>, Unusable> {
    let mut ones = zeroed(count)?;
    ones.par_chunks_mut(CHUNK).for_each(|chunk: &mut [f64]| chunk.fill(1.0));
    Ok(ones)
}

pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
