//! Tests of the reader and the writer. The result must not depend on the size of the chunks and the number of
//! threads.

pub mod archive;
mod fuzz;
mod input;
mod limits;
mod malformed;
mod wellformed;

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Options, ReadError, ReadMatrix, read};

const CHUNKS: [usize; 6] = [0, 1, 2, 7, 30, 1 << 20];
const TEXT: &str = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 1.5\n2 3 -2\n";

/// Creates a file in a folder of its own.
pub fn file(name: &str, contents: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    (folder, path)
}

/// Returns the message without the folder of the file.
pub fn message(error: &ReadError, path: &Path) -> String {
    error.to_string().replace(&format!("{}/", path.parent().unwrap().display()), "")
}

/// Reads `text` from a file named `a.mtx`.
fn read_text(text: &[u8], expand: bool, chunk: usize) -> Result<ReadMatrix, String> {
    read_file("a.mtx", text, expand, chunk)
}

fn read_file(
    name: &str,
    contents: &[u8],
    expand: bool,
    chunk: usize,
) -> Result<ReadMatrix, String> {
    let (_folder, path) = file(name, contents);
    let market = read(&path, &Options { expand, chunk, ..Options::default() })
        .map_err(|error| message(&error, &path))?;
    assert!(market.csr.is_valid());
    Ok(market)
}

/// Reads `text` with every chunk size and 1 to 3 threads, plain and compressed. All results must be equal.
fn read_in_every_way(text: &[u8], expand: bool) -> Result<ReadMatrix, String> {
    let expected = read_text(text, expand, CHUNKS[0]);
    let compressed = gzip(text);
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for chunk in CHUNKS {
            for file in [text, &compressed] {
                let found = pool.install(|| read_text(file, expand, chunk));
                assert_same(&found, &expected);
            }
        }
    }
    expected
}

fn assert_same(found: &Result<ReadMatrix, String>, expected: &Result<ReadMatrix, String>) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found.csr, expected.csr);
            let facts =
                |m: &ReadMatrix| (m.field, m.symmetry, m.stored, m.duplicates, m.text_bytes);
            assert_eq!(facts(found), facts(expected));
        }
        (found, expected) => {
            assert_eq!(found.as_ref().err(), expected.as_ref().err());
        }
    }
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn triplets(csr: &super::Csr<f64>) -> Vec<(usize, usize, f64)> {
    let entry = |row: usize, k: usize| (row, csr.column_indices[k] as usize, csr.values[k]);
    (0..csr.rows).flat_map(|row| csr.row(row).map(move |k| entry(row, k))).collect()
}
