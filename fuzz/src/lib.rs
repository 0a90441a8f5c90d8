//! What the fuzz targets share: a folder for the files that they read, the reading, and what must hold for every matrix
//! that was read.

pub mod conversions;

use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::{ThreadPool, ThreadPoolBuilder};
use spmv_matrix::Csr;
use spmv_matrix::reader::{self, Options, ReadMatrix, Symmetry};
use tempfile::TempDir;

/// More rows than these are valid, but their offsets take longer than a run of a target may.
const MOST_ROWS: u64 = 1 << 16;
const MAX_INDEX: u64 = i32::MAX as u64;
const CHUNKS: [usize; 6] = [0, 2, 7, 30, 300, 1 << 20];

pub struct Bench(TempDir);

pub static BENCH: LazyLock<Bench> = LazyLock::new(Bench::default);

/// The thread of the target alone, for speed and so that what is found can be repeated.
static ALONE: LazyLock<ThreadPool> = LazyLock::new(|| {
    let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    alone.build().expect("no other pool of this thread")
});
static PAIR: LazyLock<ThreadPool> =
    LazyLock::new(|| ThreadPoolBuilder::new().num_threads(2).build().expect("two threads"));

impl Default for Bench {
    fn default() -> Self {
        let folder = tempfile::Builder::new().prefix("spmv-fuzz").tempdir();
        Self(folder.expect("a folder for temporary files"))
    }
}

pub fn alone<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    ALONE.install(work)
}

impl Bench {
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("a file is written");
        path
    }

    /// Reads `bytes` as a file with this name. An error is returned without the name. `how` chooses the size of chunks
    /// and the number of threads.
    pub fn read(&self, name: &str, bytes: &[u8], expand: bool, how: u8) -> Result<ReadMatrix, String> {
        let path = self.put(name, bytes);
        let pool = if how >= 0xf0 { &PAIR } else { &ALONE };
        let options = Options { expand, chunk: CHUNKS[usize::from(how) % CHUNKS.len()], ..Options::default() };
        let read = pool.install(|| reader::read(&path, &options)).map_err(|error| {
            let shown = error.to_string();
            assert!(!shown.contains("changed while it was being read"), "no defect was found");
            shown.replacen(&path.display().to_string(), "", 1)
        })?;
        check(&read);
        Ok(read)
    }
}

fn check(read: &ReadMatrix) {
    check_csr(&read.csr);
    assert!(read.csr.values().iter().all(|value| value.is_finite()));
    let (nnz, stored) = (read.csr.nnz() as u64, read.stored);
    match read.symmetry {
        Symmetry::General => assert_eq!(nnz + read.duplicates, stored),
        _ => assert!(nnz <= 2 * stored && read.duplicates <= stored),
    }
}

/// Checks the invariants of CSR in another way than the library does.
pub fn check_csr(csr: &Csr<f64>) {
    assert_eq!(csr.values().len(), csr.nnz());
    let mut end = 0;
    for row in 0..csr.rows() {
        let entries = csr.row(row);
        assert!(entries.start == end && entries.end >= end, "row {row}");
        end = entries.end;
        let columns = &csr.column_indices()[entries];
        assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "row {row}");
        assert!(columns.iter().all(|&column| (column as usize) < csr.cols()), "row {row}");
    }
    assert_eq!(end, csr.nnz());
}

pub fn assert_same_csr(one: &Csr<f64>, other: &Csr<f64>) {
    let arrays = |csr: &Csr<f64>| {
        let bits: Vec<_> = csr.values().iter().map(|value| value.to_bits()).collect();
        (csr.rows(), csr.cols(), csr.row_offsets().to_vec(), csr.column_indices().to_vec(), bits)
    };
    assert_eq!(arrays(one), arrays(other));
}

/// Asserts that both are the same matrix with the same facts, or the same error.
pub fn assert_same(one: &Result<ReadMatrix, String>, other: &Result<ReadMatrix, String>) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            assert_same_csr(&one.csr, &other.csr);
            let facts = |m: &ReadMatrix| (m.field, m.symmetry, m.stored, m.kind.clone(), m.duplicates);
            assert_eq!(facts(one), facts(other));
        }
        _ => assert_eq!(one.as_ref().err(), other.as_ref().err()),
    }
}

pub fn gzip(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a vector takes all bytes")
}

/// Returns whether a text announces so many rows that reading it would only take time and memory.
pub fn announces_too_much(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').skip(1).map(<[u8]>::trim_ascii_start);
    lines.find(|line| !line.is_empty() && !line.starts_with(b"%")).is_some_and(has_many_rows)
}

/// Returns whether any line of the bytes would announce too many rows if it were the size line.
pub fn may_announce_too_much(bytes: &[u8]) -> bool {
    bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start).any(has_many_rows)
}

fn has_many_rows(size_line: &[u8]) -> bool {
    let rows = size_line.split(u8::is_ascii_whitespace).next();
    let rows = rows.and_then(|rows| std::str::from_utf8(rows).ok()?.parse().ok());
    rows.is_some_and(|rows: u64| (MOST_ROWS..=MAX_INDEX).contains(&rows))
}
